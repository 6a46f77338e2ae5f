"""The specification language: typed state, guarded actions, services and repairs, in a subset of Python that
CPython executes as it stands.

`docs/language.md` teaches it. Authors import from here; engines take a `Program` or a `Machine`.

A module of the language is loaded when one of its names is first used: a process of a group needs only
`foreign`, which keeps foreign code apart, and nothing else of the language.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from antiphon.spec.lang.hints import WORDS

if TYPE_CHECKING:
    from antiphon.spec.lang.components import instance
    from antiphon.spec.lang.errors import Disabled, Location, SpecError
    from antiphon.spec.lang.machine import Machine, Refusal, State, Step, Transition
    from antiphon.spec.lang.program import Program, program
    from antiphon.spec.lang.spec import Spec
    from antiphon.spec.lang.values import (
        AtMost,
        Between,
        Const,
        In,
        Index,
        Map,
        Seq,
        Set,
        action,
        always,
        always_eventually,
        budget,
        constraint,
        emit,
        environment,
        eventually,
        eventually_always,
        everywhere,
        expect,
        fair,
        guard,
        implies,
        initial,
        invariant,
        leads_to,
        obligation,
        on,
        present,
        record,
        require,
        step_invariant,
        witness,
    )
    from antiphon.spec.lang.variants import Ambiguity, ambiguity, mutation, repair, restriction

__all__ = [
    "Ambiguity", "AtMost", "Between", "Const", "Disabled", "In", "Index", "Location", "Machine", "Map",
    "Program", "Refusal", "Seq", "Set", "Spec", "SpecError", "State", "Step",
    "Transition", "action", "always", "always_eventually", "ambiguity", "budget", "constraint", "emit",
    "environment", "eventually", "eventually_always", "everywhere", "expect", "fair", "guard", "implies",
    "initial", "instance", "invariant", "leads_to", "mutation", "obligation", "on",
    "present", "program", "record", "repair", "require", "restriction", "step_invariant", "witness",
]  # fmt: skip

WORDS[:] = __all__

_MODULES = {
    "components": ("instance",),
    "errors": ("Disabled", "Location", "SpecError"),
    "machine": ("Machine", "Refusal", "State", "Step", "Transition"),
    "program": ("Program", "program"),
    "spec": ("Spec",),
    "values": (
        "AtMost", "Between", "Const", "In", "Index", "Map", "Seq", "Set", "action", "always",
        "always_eventually", "budget", "constraint", "emit", "environment", "eventually",
        "eventually_always", "everywhere", "expect", "fair", "guard", "implies", "initial", "invariant",
        "leads_to", "obligation", "on", "present", "record", "require", "step_invariant", "witness",
    ),
    "variants": ("Ambiguity", "ambiguity", "mutation", "repair", "restriction"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


class _Package(ModuleType):
    """Class of this package's module object. It makes the name `program` mean the function, even after the
    module of that name was loaded.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _MODULE_OF or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


def __getattr__(name: str) -> Any:
    """Load the module that defines `name`, when the name is first used, and return its value."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    setattr(sys.modules[__name__], name, found)
    return found


sys.modules[__name__].__class__ = _Package
