"""Kinds of properties, one for each property of a program; they determine how it is judged."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.model.verdict import PropertyKind
from antiphon.spec.lang import Program, SpecError
from antiphon.spec.lang.hints import known_names

DEADLOCK = PropertyKind.DEADLOCK.value
"""Name of the absence of deadlock as a property."""
SPECIFICATION = PropertyKind.SPECIFICATION.value
"""Name of the verdict about an error of the text."""


def kinds_of(program: Program) -> dict[str, PropertyKind]:
    """Return every property of the program and its kind: invariants, services, step invariants, obligations,
    witnesses, liveness, each in order of declaration.
    """
    marked = program.declaration.marked
    kinds = {method.mark.name: PropertyKind.INVARIANT for method in marked("invariant") if method.mark}
    kinds |= dict.fromkeys(program.module.properties, PropertyKind.SERVICE)
    kinds |= {item.name: PropertyKind.STEP for item in program.module.step_invariants}
    for kind in (PropertyKind.OBLIGATION, PropertyKind.WITNESS):
        kinds |= {method.mark.name: kind for method in marked(kind.value) if method.mark}
    kinds |= {liveness.name: PropertyKind.LIVENESS for liveness in program.module.liveness}
    return kinds


def kinds_asked(program: Program, properties: Iterable[str] | None) -> dict[str, PropertyKind]:
    """Return the properties of these names and their kinds; None stands for all but deadlock.

    Raises:
        SpecError: the program has no such property; the known ones are listed.
    """
    known = kinds_of(program)
    if properties is None:
        return known
    asked = {}
    for name in properties:
        if name != DEADLOCK and name not in known:
            raise SpecError(
                f"{program.name} has no property {name!r}; {known_names(name, [*known, DEADLOCK])}"
            )
        asked[name] = known.get(name, PropertyKind.DEADLOCK)
    return asked
