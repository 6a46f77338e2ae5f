"""In which explored states does only a spent budget keep a step from happening? There what is missing may only be missing for lack of budget.

This file knows how states are asked; what a budget is, `antiphon.model.budgets` knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from antiphon.model.budgets import held_back, held_step, unspent
from antiphon.model.explicit.over_machine import MachineSpace
from antiphon.model.explicit.packing import Packing
from antiphon.model.explicit.source import compile_functions, predicate_source
from antiphon.model.explicit.space import Space
from antiphon.model.ground import flatten, layout
from antiphon.spec.lang import Program


def excused(program: Program, space: Space) -> bytearray | None:
    """For every known state 1 where a step of the algorithm is kept back by a spent budget only; None when there are no such steps."""
    if unspent(program) is None:
        return None
    if isinstance(space, MachineSpace):
        return bytearray(held_step(program, space.value(state)) is not None for state in range(len(space)))
    condition = held_back(program)
    if condition is None:
        return None
    def flattened(state: int) -> Sequence[int | bool]:
        return flatten(program, space.value(state))

    leaves: Callable[[int], Sequence[int | bool]] = getattr(space, "leaves", flattened)  # a native space need not make values
    packing = Packing(layout(program).slots)
    function = compile_functions([("held", predicate_source("held", condition, (), packing))])["held"]
    is_held = cast("Callable[[int], bool]", function)
    return bytearray(is_held(packing.pack(leaves(state))) for state in range(len(space)))
