"""Which protocols are bound, by the name that people type, and which faults are planted for each?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from antiphon.conformance.bindings import rbp_faults
from antiphon.conformance.bindings.binding import Binding
from antiphon.conformance.bindings.rbp import RbpBinding
from antiphon.spec.lang import SpecError
from antiphon.spec.lang.hints import known_names

BINDINGS: dict[str, Callable[..., Binding]] = {"rbp": RbpBinding}
"""A binding's constructor takes the constants of its specification as keywords, and `fault`, the name of a planted one."""

SMALL: dict[str, dict[str, int | bool]] = {
    "rbp": {"processes": 3, "messages": 1, "losses": 1, "timeouts": 1, "urgent": True},
}
"""Of each protocol the constants of a model that is walked in seconds: what the commands use when none are named."""

FAULTS: dict[str, dict[str, str]] = {
    "rbp": {name: (core.__doc__ or "").partition("\n")[0] for name, core in rbp_faults.FAULTS.items()},
}
"""Of each protocol the planted faults, with one sentence about each."""


def binding_of(name: str, *, fault: str | None = None, **constants: Any) -> Binding:
    """The binding of the protocol `name`, its specification bound to `constants`; with `fault`, of an implementation with that mistake.

    Raises:
        SpecError: no such protocol or fault; the known ones are listed.
    """
    if name not in BINDINGS:
        raise SpecError(f"no implementation is bound to {name!r}; {known_names(name, sorted(BINDINGS))}")
    if fault is None:
        return BINDINGS[name](**constants)
    if fault not in FAULTS[name]:
        raise SpecError(f"{name} has no planted fault {fault!r}; {known_names(fault, sorted(FAULTS[name]))}")
    return BINDINGS[name](fault=fault, **constants)
