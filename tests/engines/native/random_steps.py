"""Random steps in the ground form, with sets of one word and of several, and what they mean in one state."""

from __future__ import annotations

import random

from tests.ground.meaning import Leaves, meaning
from tests.ground.random_expressions import WIDE, Maker

from antiphon.model.ground.form import (
    Bits,
    Boolean,
    Break,
    Check,
    Expression,
    GroundStep,
    Number,
    Operator,
    SlotInfo,
    Sort,
)
from antiphon.spec.lang.errors import Location

SORTS: tuple[Sort, ...] = (
    Boolean(), Boolean(), Number(-2, 3), Number(0, 4), Number(0, 150), Number(-70_000, 70_000), Number(7, 7),
    Bits(5), Bits(5), Bits(64), Bits(64), Bits(70), Bits(70), Bits(130), Bits(130),
)  # fmt: skip
SLOTS = tuple(SlotInfo(f"leaf{number}", f"leaf{number}", sort) for number, sort in enumerate(SORTS))
ENABLED, WRONG, BROKEN = 1, 2, 256
"""Results of a step's function, as defined in `model/native/compiler/steps.py`."""



class StepMaker(Maker):
    """Makes random steps over SLOTS."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source, SLOTS)

    def _update(self, slot: int) -> Expression:
        """A new value of a slot that lies in its domain; of a set often itself with elements more or less."""
        sort, source = SLOTS[slot].sort, self.source
        if isinstance(sort, Number):
            count = sort.high - sort.low + 1
            rest = Expression(Operator.MODULO, Number(0, count - 1), (self.expression(WIDE, 2), self._constant(Number(count, count), count)))
            return Expression(Operator.ADD, sort, (rest, self._constant(Number(sort.low, sort.low), sort.low)))
        if isinstance(sort, Boolean) or source.random() < 0.3:
            return self.expression(sort, 3)
        value = Expression(Operator.SLOT, sort, (), slot)
        for _ in range(source.randint(1, 3)):
            few = self.expression(sort, 1) if source.random() < 0.4 else Expression(Operator.SINGLE, sort, (self._rank(sort.width),))
            if source.random() < 0.3:
                few = Expression(Operator.UNION, sort, (few, Expression(Operator.SINGLE, sort, (self._rank(sort.width),))))
            operator = source.choice((Operator.UNION, Operator.DIFFERENCE, Operator.DIFFERENCE, Operator.INTERSECTION))
            changed = Expression(operator, sort, (value, few))
            for _ in range(source.choice((0, 0, 1, 2))):
                changed = Expression(Operator.CHOOSE, sort, (self.expression(Boolean(), 1), changed, value))
            value = changed
        return value

    def step(self, number: int) -> GroundStep:
        """A step with one to three guards, two checks (the second counts after the guards), updates of a third of the slots, and two properties."""
        source, nowhere = self.source, Location("", 0, 0)
        guards = tuple(self.expression(Boolean(), 2) for _ in range(source.randint(1, 3)))
        enabled = Expression(Operator.AND, Boolean(), guards) if len(guards) > 1 else guards[0]
        rare = [Expression(Operator.AND, Boolean(), tuple(self.expression(Boolean(), 1) for _ in range(3))) for _ in range(2)]
        late = Expression(Operator.AND, Boolean(), (*guards, rare[1]))
        return GroundStep(
            name=f"step{number}", fault=False, inputs=(), arguments=(), enabled=enabled, guards=(),
            checks=(Check(rare[0], nowhere, "early"), Check(late, nowhere, "late")),
            updates=tuple((slot, self._update(slot)) for slot in sorted(source.sample(range(len(SLOTS)), len(SLOTS) // 3))),
            breaks=tuple(Break(f"property{item}", self.expression(Boolean(), 2), nowhere, "") for item in range(2)), events=(),
        )  # fmt: skip


def taken(step: GroundStep, state: Leaves) -> tuple[int, Leaves | None]:
    """The answer of a step's function, and the successor where there is one."""
    if any(meaning(check.wrong, state) for check in step.checks):
        return WRONG, None
    if not meaning(step.enabled, state):
        return 0, None
    after = list(state)
    for slot, value in step.updates:
        after[slot] = meaning(value, state)
    broken = sum(BROKEN << number for number, item in enumerate(step.breaks) if meaning(item.broken, state))
    return ENABLED | broken, tuple(after)
