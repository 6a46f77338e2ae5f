"""Random expressions of the ground form over given slots, with every operator, and random states of them.

The readers of the form (machine code, Z3) are tested on them; what an expression means stands in `meaning`.
"""

from __future__ import annotations

import random

from tests.ground.meaning import Leaves

from antiphon.model.ground.form import Bits, Boolean, Expression, Number, Operator, SlotInfo, Sort

WIDE = Number(-(1 << 40), 1 << 40)

_LOGIC = (Operator.NOT, Operator.AND, Operator.OR, Operator.EQUAL, Operator.LESS, Operator.HAS)
_BOOLEANS = (*_LOGIC, Operator.CHOOSE)
_ARITHMETIC = (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE, Operator.MODULO)
_NUMBERS = (*_ARITHMETIC, Operator.CHOOSE, Operator.COUNT)
_SETS = (Operator.UNION, Operator.INTERSECTION, Operator.DIFFERENCE, Operator.SYMMETRIC_DIFFERENCE)
_BITS = (*_SETS, *_SETS, Operator.SINGLE, Operator.CHOOSE)


def random_state(source: random.Random, slots: tuple[SlotInfo, ...]) -> Leaves:
    """A value for each slot."""
    return tuple(_value(source, info.sort) for info in slots)


def _value(source: random.Random, sort: Sort) -> int | bool:
    match sort:
        case Boolean():
            return source.random() < 0.5
        case Number(low=low, high=high):
            return source.choice((low, high, source.randint(low, high)))
        case Bits(width=width):
            return source.choice((0, (1 << width) - 1, source.getrandbits(width), source.getrandbits(width)))


class Maker:
    """Makes random expressions over slots; with `zero_divisors` a divisor may be 0."""

    def __init__(
        self, source: random.Random, slots: tuple[SlotInfo, ...], *, zero_divisors: bool = True
    ) -> None:
        self.source, self.slots, self.zero_divisors = source, slots, zero_divisors
        self.widths = sorted({info.sort.width for info in slots if isinstance(info.sort, Bits)})

    def expression(self, sort: Sort, depth: int) -> Expression:
        """One of this sort; the interval of a number is wide enough for whatever it may be."""
        source = self.source
        if depth == 0 or source.random() < 0.1:
            return self._leaf(sort)

        def part(wanted: Sort) -> Expression:
            return self.expression(wanted, depth - 1)

        boolean, number, bits = Boolean(), WIDE, Bits(source.choice(self.widths))
        of_sort = _BOOLEANS if isinstance(sort, Boolean) else _NUMBERS if isinstance(sort, Number) else _BITS
        operator = source.choice(of_sort)
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
                operands = (part(number), self._divisor())
            case _:
                operands = (
                    (part(sort), part(sort))
                    if isinstance(sort, Bits)
                    else (self._small(depth - 1), self._small(depth - 1))
                )
        return Expression(operator, sort, operands)

    def _divisor(self) -> Expression:
        if self.zero_divisors and self.source.random() < 0.3:
            return self._leaf(WIDE)
        value = self.source.choice((-3, -2, -1, 0, 1, 2, 3) if self.zero_divisors else (-3, -2, -1, 1, 2, 3))
        return self._constant(Number(-3, 3), value)

    def _leaf(self, sort: Sort) -> Expression:
        number = isinstance(sort, Number)
        same = [
            place
            for place, info in enumerate(self.slots)
            if (number and isinstance(info.sort, Number)) or info.sort == sort
        ]
        if self.source.random() < 0.75:
            slot = self.source.choice(same)
            return Expression(Operator.SLOT, self.slots[slot].sort, (), slot)
        return self._constant(sort, self.source.randint(-3, 140) if number else _value(self.source, sort))

    @staticmethod
    def _constant(sort: Sort, value: int | bool) -> Expression:
        return Expression(Operator.CONSTANT, sort, (), value)

    def _small(self, depth: int) -> Expression:
        """A number whose product with another fits the interval."""
        return Expression(
            Operator.MODULO,
            Number(0, 999),
            (self.expression(WIDE, depth), self._constant(Number(1000, 1000), 1000)),
        )

    def _rank(self, width: int) -> Expression:
        """A rank: a constant within the width, a slot that may lie outside, or a number that lies within.

        Constants outside are not made: `make` folds them away.
        """
        within = Number(0, width - 1)
        kind = self.source.randrange(3)
        if kind == 0:
            return self._constant(within, self.source.randrange(width))
        if kind == 1:
            slot = self.source.choice(
                [place for place, info in enumerate(self.slots) if isinstance(info.sort, Number)]
            )
            return Expression(Operator.SLOT, self.slots[slot].sort, (), slot)
        return Expression(
            Operator.MODULO, within, (self._leaf(WIDE), self._constant(Number(width, width), width))
        )
