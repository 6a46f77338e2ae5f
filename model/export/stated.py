"""Selection of the properties that an exported model states: those that its language can express, all of them
or the requested ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.spec.lang import Program, SpecError, ir
from antiphon.spec.lang.hints import known_names


def stated(program: Program, asked: Iterable[str] | None, *, liveness: bool = False) -> frozenset[str]:
    """Return the names of invariants, of properties of steps and, with `liveness`, of liveness properties to
    state.

    Raises:
        SpecError: an asked name is none of these properties; the message lists them.
    """
    module = program.module
    known = [item.name for item in module.predicates if item.kind is ir.PredicateKind.INVARIANT]
    known += module.properties
    known += [item.name for item in module.liveness] if liveness else []
    wanted = known if asked is None else list(asked)
    for name in wanted:
        if name not in known:
            raise SpecError(
                f"{program.name} has no property {name!r} that is exported; {known_names(name, known)}"
            )
    return frozenset(wanted)
