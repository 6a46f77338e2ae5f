"""In some explored states only a spent budget keeps a step from happening: there what is missing may be missing for lack of budget alone.

This file knows how states are asked; what a budget is, `antiphon.model.ground.budgets` knows.
"""

from __future__ import annotations

from typing import cast

from antiphon.model.engines.interface import PackedSpace, StateSpace
from antiphon.model.engines.reference import ReferenceSpace
from antiphon.model.ground.budgets import held_back_among, held_step, unspent
from antiphon.model.ground.layout import plan
from antiphon.spec.lang import Program, State
from antiphon.spec.lang.types import SetOf


def budget_limited(program: Program, space: StateSpace) -> bytearray | None:
    """For every known state 1 where a step of the algorithm is kept back by a spent budget only; None when there are no such steps."""
    if unspent(program) is None:
        return None
    if isinstance(space, ReferenceSpace):
        return bytearray(held_step(program, space.value(state)) is not None for state in range(len(space)))
    asked = cast("PackedSpace", space)
    condition = held_back_among(program, _sets(program, asked.union()))
    return None if condition is None else asked.where(condition)


def _sets(program: Program, leaves: tuple[int | bool, ...]) -> State:
    """For each variable that is a set its value in a state with these leaves; nothing (None) for the others."""
    places = plan(program).variables.values()
    return tuple(shape.value(leaves[offset : offset + shape.width]) if isinstance(shape.type, SetOf) else None for shape, offset in places)
