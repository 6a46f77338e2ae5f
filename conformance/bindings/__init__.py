"""What joins a specification to an implementation: one binding a protocol, used by lockstep, Hypothesis machines and replay alike."""

from antiphon.conformance.bindings.binding import Binding, Effect, Refused, Stimulus
from antiphon.conformance.bindings.registry import BINDINGS, FAULTS, SMALL, binding_of

__all__ = ["BINDINGS", "FAULTS", "SMALL", "Binding", "Effect", "Refused", "Stimulus", "binding_of"]
