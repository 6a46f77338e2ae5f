"""A binding joins specification and implementation, for lockstep, Hypothesis machines and replay alike."""

from antiphon.conformance.compare.bindings.binding import (
    EVENTS,
    Binding,
    Bound,
    Effect,
    Forgets,
    Misreports,
    Refused,
    Stimulus,
    Unsteady,
)
from antiphon.conformance.compare.bindings.guarded import BindingError, Guarded, guarded
from antiphon.conformance.compare.bindings.registry import (
    binding_of,
    bound_protocol,
    bound_protocols,
    protocols_of_groups,
)

__all__ = [
    "EVENTS",
    "Binding",
    "BindingError",
    "Bound",
    "Effect",
    "Forgets",
    "Guarded",
    "Misreports",
    "Refused",
    "Stimulus",
    "Unsteady",
    "binding_of",
    "bound_protocol",
    "bound_protocols",
    "guarded",
    "protocols_of_groups",
]
