"""Random steps in the ground form, with every operator and with sets of one word and of several, and what they mean in one state."""

from __future__ import annotations

import random

from tests.ground.meaning import Leaves, meaning

from antiphon.model.ground.form import Bits, Boolean, Break, Check, Expression, GroundStep, Number, Operator, SlotInfo, Sort
from antiphon.spec.lang.errors import Location

SORTS: tuple[Sort, ...] = (
    Boolean(), Boolean(), Number(-2, 3), Number(0, 4), Number(0, 150), Number(-70_000, 70_000), Number(7, 7),
    Bits(5), Bits(5), Bits(64), Bits(64), Bits(70), Bits(70), Bits(130), Bits(130),
)  # fmt: skip
SLOTS = tuple(SlotInfo(f"leaf{number}", f"leaf{number}", sort) for number, sort in enumerate(SORTS))
WIDTHS = (5, 64, 70, 130)
WIDE = Number(-(1 << 40), 1 << 40)
ENABLED, WRONG, BROKEN = 1, 2, 256
"""What a function of a step answers, as `model/native/steps.py` says."""

_BOOLEANS = (Operator.NOT, Operator.AND, Operator.OR, Operator.CHOOSE, Operator.EQUAL, Operator.LESS, Operator.HAS)
_NUMBERS = (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE, Operator.MODULO, Operator.CHOOSE, Operator.COUNT)
_SETS = (Operator.UNION, Operator.INTERSECTION, Operator.DIFFERENCE, Operator.SYMMETRIC_DIFFERENCE)
_BITS = (*_SETS, *_SETS, Operator.SINGLE, Operator.CHOOSE)


def random_state(source: random.Random) -> Leaves:
    """A value for each slot."""
    return tuple(_value(source, sort) for sort in SORTS)


def _value(source: random.Random, sort: Sort) -> int | bool:
    match sort:
        case Boolean():
            return source.random() < 0.5
        case Number(low=low, high=high):
            return source.choice((low, high, source.randint(low, high)))
        case Bits(width=width):
            return source.choice((0, (1 << width) - 1, source.getrandbits(width), source.getrandbits(width)))


class Maker:
    """Makes random expressions and steps over SLOTS."""

    def __init__(self, source: random.Random) -> None:
        self.source = source

    def expression(self, sort: Sort, depth: int) -> Expression:
        """One of this sort; the interval of a number is wide enough for whatever it may be."""
        source = self.source
        if depth == 0 or source.random() < 0.1:
            return self._leaf(sort)

        def part(wanted: Sort) -> Expression:
            return self.expression(wanted, depth - 1)

        boolean, number, bits = Boolean(), WIDE, Bits(source.choice(WIDTHS))
        operator = source.choice(_BOOLEANS if isinstance(sort, Boolean) else _NUMBERS if isinstance(sort, Number) else _BITS)
        match operator:
            case Operator.NOT:
                operands = (part(boolean),)
            case Operator.AND | Operator.OR:
                operands = tuple(part(boolean) for _ in range(source.randint(2, 3)))
            case Operator.CHOOSE:
                operands = (part(boolean), part(sort), part(sort))
            case Operator.EQUAL:
                both = source.choice((boolean, number, bits))
                one = part(both)
                operands = (one, one if source.random() < 0.2 else part(both))
            case Operator.HAS:
                operands = (self.expression(bits, max(depth - 1, 1)), self._rank(bits.width))
            case Operator.SINGLE:
                assert isinstance(sort, Bits)
                operands = (self._rank(sort.width),)
            case Operator.COUNT:
                operands = (part(bits),)
            case Operator.DIVIDE | Operator.MODULO:
                divisor = self._constant(Number(-3, 3), source.randint(-3, 3)) if source.random() < 0.7 else self._leaf(number)
                operands = (part(number), divisor)
            case _:
                operands = (part(sort), part(sort)) if isinstance(sort, Bits) else (self._small(depth - 1), self._small(depth - 1))
        return Expression(operator, sort, operands)

    def _leaf(self, sort: Sort) -> Expression:
        same = [place for place, info in enumerate(SLOTS) if (isinstance(sort, Number) and isinstance(info.sort, Number)) or info.sort == sort]
        if self.source.random() < 0.75:
            slot = self.source.choice(same)
            return Expression(Operator.SLOT, SLOTS[slot].sort, (), slot)
        return self._constant(sort, self.source.randint(-3, 140) if isinstance(sort, Number) else _value(self.source, sort))

    @staticmethod
    def _constant(sort: Sort, value: int | bool) -> Expression:
        return Expression(Operator.CONSTANT, sort, (), value)

    def _small(self, depth: int) -> Expression:
        """A number whose product with another fits the interval."""
        return Expression(Operator.MODULO, Number(0, 999), (self.expression(WIDE, depth), self._constant(Number(1000, 1000), 1000)))

    def _rank(self, width: int) -> Expression:
        """A rank: a constant within the width (`make` folds those outside away), a slot that may lie outside, or a number that lies within."""
        within = Number(0, width - 1)
        kind = self.source.randrange(3)
        if kind == 0:
            return self._constant(within, self.source.randrange(width))
        if kind == 1:
            slot = self.source.choice([place for place, sort in enumerate(SORTS) if isinstance(sort, Number)])
            return Expression(Operator.SLOT, SORTS[slot], (), slot)
        return Expression(Operator.MODULO, within, (self._leaf(WIDE), self._constant(Number(width, width), width)))

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
