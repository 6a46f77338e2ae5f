"""Exploration at the speed of the machine: kernels compiled from the ground form, and the store of states
around them.
"""

from antiphon.model.engines.native.compiler.kernel import Kernel, kernel_of
from antiphon.model.engines.native.driver.space import NativeSpace

__all__ = ["Kernel", "NativeSpace", "kernel_of"]
