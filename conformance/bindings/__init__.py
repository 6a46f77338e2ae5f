"""What joins a specification to an implementation: one binding a protocol, used by lockstep, Hypothesis machines and replay alike."""

from antiphon.conformance.bindings.binding import Binding, Bound, Effect, Refused, Stimulus
from antiphon.conformance.bindings.registry import binding_of, bound_protocol, bound_protocols

__all__ = ["Binding", "Bound", "Effect", "Refused", "Stimulus", "binding_of", "bound_protocol", "bound_protocols"]
