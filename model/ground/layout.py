"""Layout of a state: each part lies in numbered slots, the leaves of the variables, in order of declaration.

`flatten` and `unflatten` are exact inverses on the states of a program, and equal states have equal slots.
Initial states come from the reference machine (CPython executes the text once for each): one that a front end
misread would make every engine wrong in the same way.

This file knows nothing of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from antiphon.model.ground.form import Boolean, Layout, SlotInfo
from antiphon.model.ground.shape import Raw, Shape, Shapes
from antiphon.model.ground.sizes import refuse_large
from antiphon.spec.lang import Program, SpecError, State
from antiphon.spec.lang.assignment import frozen

_PROGRAMS = 32


class Plan:
    """Slots of a program: its layout, and for each variable its shape and the places of its leaves."""

    def __init__(self, program: Program) -> None:
        self.shapes = Shapes(program.constants)
        self.variables: dict[str, tuple[Shape, int]] = {}
        slots: list[SlotInfo] = []
        for variable, (name, domain) in zip(
            program.declaration.variables, program.domains.items(), strict=True
        ):
            try:
                shape = self.shapes[domain.type]
            except SpecError as error:
                at = error.at or variable.at
                raise SpecError(f"{program.name}.{name}: {error.reason}", at, error.instead) from error
            self.variables[name] = shape, len(slots)
            for leaf, sort in zip(shape.names(name), shape.sorts, strict=True):
                slots.append(SlotInfo(leaf, name, sort or Boolean()))
        self.layout = Layout(tuple(slots))


@lru_cache(maxsize=_PROGRAMS)
def plan(program: Program) -> Plan:
    """Return the slots of `program`, made once.

    Raises:
        SpecError: a domain is too large to be enumerated (`sizes`).
    """
    refuse_large(program)
    return Plan(program)


def layout(program: Program) -> Layout:
    """Return the slots of a state of `program`, in order.

    Raises:
        SpecError: a set ranges over more elements than can be compiled.
    """
    return plan(program).layout


def flatten(program: Program, state: State) -> tuple[Raw, ...]:
    """Return the slots of a state: bool, int, or for a set the int whose bit k says whether the element of
    rank k is in it.
    """
    shapes = plan(program).variables.values()
    return tuple(raw for (shape, _), value in zip(shapes, state, strict=True) for raw in shape.raw(value))


def unflatten(program: Program, slots: Sequence[Raw]) -> State:
    """Return the state with these slots; the inverse of `flatten`."""
    leaves = tuple(slots)
    return tuple(
        frozen(shape.value(leaves[offset : offset + shape.width]), shape.domain)
        for shape, offset in plan(program).variables.values()
    )


def ground_initial(program: Program) -> tuple[tuple[Raw, ...], ...]:
    """Return the initial states, flattened, in the order of the reference machine, which finds them."""
    return tuple(flatten(program, state) for state in program.reference.initial())
