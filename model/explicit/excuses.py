"""In which explored states does only a spent budget keep a step from happening? There what is missing may only be missing for lack of budget.

This file knows how states are asked; what a budget is, `antiphon.model.budgets` knows.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import cast

from antiphon.model.budgets import held_back, held_back_among, held_step, unspent
from antiphon.model.explicit.generated import GeneratedSpace
from antiphon.model.explicit.over_machine import MachineSpace
from antiphon.model.explicit.packing import Packing
from antiphon.model.explicit.source import compile_functions, predicate_source
from antiphon.model.explicit.space import Space
from antiphon.model.ground import flatten, layout
from antiphon.model.ground.form import Expression
from antiphon.model.ground.layout import plan
from antiphon.spec.lang import Program, State
from antiphon.spec.lang.types import SetOf


def excused(program: Program, space: Space) -> bytearray | None:
    """For every known state 1 where a step of the algorithm is kept back by a spent budget only; None when there are no such steps."""
    if unspent(program) is None:
        return None
    if isinstance(space, MachineSpace):
        return bytearray(held_step(program, space.value(state)) is not None for state in range(len(space)))
    if isinstance(space, GeneratedSpace):
        packing, packed = space.catalogue.packing, space.packed()
        guards = {item.step: item.ground.enabled for item in space.catalogue.steps}
        condition = held_back_among(program, _union(program, packing, packed), guards)
        return None if condition is None else bytearray(map(_compiled(condition, packing), packed))
    packing, condition = Packing(layout(program).slots), held_back(program)
    if condition is None:
        return None

    def flattened(state: int) -> Sequence[int | bool]:
        return flatten(program, space.value(state))

    leaves: Callable[[int], Sequence[int | bool]] = getattr(space, "leaves", flattened)  # a native space need not make values
    is_held = _compiled(condition, packing)
    return bytearray(is_held(packing.pack(leaves(state))) for state in range(len(space)))


def _compiled(condition: Expression, packing: Packing) -> Callable[[int], bool]:
    return cast("Callable[[int], bool]", compile_functions([("held", predicate_source("held", condition, (), packing))])["held"])


def _union(program: Program, packing: Packing, packed: Sequence[int]) -> State:
    """For each variable that is a set all elements that it holds in some state; nothing (None) for the others."""
    leaves = packing.unpack(functools.reduce(operator.or_, packed, 0))
    places = plan(program).variables.values()
    return tuple(shape.value(leaves[offset : offset + shape.width]) if isinstance(shape.type, SetOf) else None for shape, offset in places)
