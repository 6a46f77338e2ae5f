"""Exploration at the speed of the machine: kernels compiled from the ground form, and the store of states around them."""

from antiphon.model.explicit.space import Refused
from antiphon.model.native.kernel import Kernel, kernel_of
from antiphon.model.native.space import NativeSpace

__all__ = ["Kernel", "NativeSpace", "Refused", "kernel_of"]
