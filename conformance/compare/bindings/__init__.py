"""A binding joins specification and implementation, for lockstep, Hypothesis machines and replay alike."""

from antiphon.conformance.compare.bindings.binding import (
    Binding,
    Bound,
    Effect,
    Misreports,
    Refused,
    Stimulus,
)
from antiphon.conformance.compare.bindings.guarded import BindingError, Guarded, guarded
from antiphon.conformance.compare.bindings.registry import (
    binding_of,
    bound_protocol,
    bound_protocols,
    protocols_of_groups,
)

__all__ = [
    "Binding",
    "BindingError",
    "Bound",
    "Effect",
    "Guarded",
    "Misreports",
    "Refused",
    "Stimulus",
    "binding_of",
    "bound_protocol",
    "bound_protocols",
    "guarded",
    "protocols_of_groups",
]
