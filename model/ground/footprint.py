"""The footprint of a step are the bits of a state that it depends on; with those it changes, it lets an
engine remember what the step does.

A step that reads few bits does the same in every state in which those bits are the same. Two things keep the
footprint small:

1. a test for one member of a set reads one bit, not the set;
2. an update that adds to a set or takes from it (`network |= ...`) needs not read it: it is a pair of a mask
   to keep and bits to add, and neither depends on the rest of the set.

This file knows nothing of Python source or searching.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from antiphon.model.ground.form import Bits, Boolean, Expression, Number, Operator
from antiphon.model.ground.packing import Packing
from antiphon.model.ground.walk import fold, parts, reachable

TRUE = Expression(Operator.CONSTANT, Boolean(), (), True)
FALSE = Expression(Operator.CONSTANT, Boolean(), (), False)


@dataclass(frozen=True)
class Update:
    """The new value of a slot: what `keep` leaves of the old value, joined with `add`.

    For a bit set `keep` is a bit set and the new value is `old & keep | add`; for a boolean or a number it is
    a boolean, and the new value is the old one where `keep` is true, else `add`.
    """

    slot: int
    keep: Expression
    add: Expression


class Reads:
    """The slots that expressions read, as masks with a bit a slot; found once for each expression."""

    def __init__(self) -> None:
        self._masks: dict[Expression, int] = {}

    def of(self, node: Expression) -> int:
        """The slots that the value depends on."""
        return fold(node, self._masks, self._mask, parts)

    def _mask(self, node: Expression) -> int:
        mask = 1 << node.value if node.operator is Operator.SLOT else 0
        for operand in node.operands:
            mask |= self._masks[operand]
        return mask


def split(slot: int, value: Expression, reads: Reads | None = None) -> Update:
    """An update of `slot` as keep and add; where the old value is read in another way, nothing is kept and
    `add` reads it.

    `reads` may have looked at other expressions before, of the same step for example.
    """
    parts = _Split(slot, reads or Reads()).parts(value)
    zero = _empty(value) if isinstance(value.sort, Bits) else FALSE
    keep, add = parts if parts is not None else (zero, value)
    return Update(slot, keep, add)


def footprint(expressions: Iterable[Expression], packing: Packing) -> int:
    """The bits that the values of these expressions depend on, as a mask over the packed state."""
    mask = 0

    def below(node: Expression) -> tuple[Expression, ...]:
        nonlocal mask
        bits = _some_bits(node, packing)
        mask |= bits or 0
        return node.operands if bits is None else ()

    for _ in reachable(expressions, below):
        pass
    return mask


def member_test(node: Expression, packing: Packing) -> int | None:
    """The bit that `HAS(slot, constant)` tests, in place; None for any other expression."""
    if node.operator is not Operator.HAS:
        return None
    bits, rank = node.operands
    if bits.operator is not Operator.SLOT or rank.operator is not Operator.CONSTANT:
        return None
    place = packing.places[bits.value]
    return 1 << place.offset + rank.value if 0 <= rank.value < place.width else None


def conjuncts(node: Expression) -> tuple[Expression, ...]:
    """The operands of a conjunction, which `make` has flattened; an expression that is none is its own one
    conjunct.
    """
    return node.operands if node.operator is Operator.AND else (node,)


def _some_bits(node: Expression, packing: Packing) -> int | None:
    """The bits that a node reads, where they are not those of all its operands."""
    if node.operator is Operator.SLOT:
        return packing.places[node.value].mask
    if (bit := member_test(node, packing)) is not None:
        return bit
    if node.operator is Operator.INTERSECTION:
        for one, other in (node.operands, node.operands[::-1]):
            if one.operator is Operator.SLOT and other.operator is Operator.CONSTANT:
                return int(other.value) << packing.places[one.value].offset
    return None


def _empty(like: Expression) -> Expression:
    match like.sort:
        case Boolean():
            return FALSE
        case Number(low=low):
            return Expression(Operator.CONSTANT, Number(low, low), (), low)
        case Bits():
            return Expression(Operator.CONSTANT, like.sort, (), 0)


def _everything(sort: Boolean | Number | Bits) -> Expression:
    """The `keep` that keeps all of the old value."""
    return Expression(Operator.CONSTANT, sort, (), (1 << sort.width) - 1) if isinstance(sort, Bits) else TRUE


class _Split:
    """Splits updates of one slot; results are shared like the expressions they come from."""

    def __init__(self, slot: int, reads: Reads) -> None:
        self.slot = slot
        self._parts: dict[Expression, tuple[Expression, Expression] | None] = {}
        self._reads = reads

    def reads(self, node: Expression) -> bool:
        """Whether the value depends on the slot."""
        return bool(self._reads.of(node) >> self.slot & 1)

    def parts(self, node: Expression) -> tuple[Expression, Expression] | None:
        """(keep, add) for a value of the slot, or None when the old value does more than stay."""
        return fold(node, self._parts, self._make_parts, self._values)

    def _values(self, node: Expression) -> tuple[Expression, ...]:
        """The values of the slot of which a value is made."""
        values = node.operands[1:] if node.operator is Operator.CHOOSE else node.operands
        return tuple(value for value in values if self.reads(value))

    def _make_parts(self, node: Expression) -> tuple[Expression, Expression] | None:
        is_bits = isinstance(node.sort, Bits)
        if not self.reads(node):
            return (_empty(node) if is_bits else FALSE), node
        if node.operator is Operator.SLOT:
            return _everything(node.sort), _empty(node)
        if node.operator is Operator.CHOOSE and not self.reads(node.operands[0]):
            return self._choose(node)
        if is_bits and node.operator in (Operator.UNION, Operator.INTERSECTION, Operator.DIFFERENCE):
            return self._combine(node)
        return None

    def _choose(self, node: Expression) -> tuple[Expression, Expression] | None:
        condition, then, otherwise = node.operands
        left, right = self.parts(then), self.parts(otherwise)
        if left is None or right is None:
            return None
        keep_sort = node.sort if isinstance(node.sort, Bits) else Boolean()
        keep = _choice(keep_sort, condition, left[0], right[0])
        return keep, _choice(node.sort, condition, left[1], right[1])

    def _combine(self, node: Expression) -> tuple[Expression, Expression] | None:
        one, other = node.operands
        if node.operator is not Operator.DIFFERENCE and self.reads(other):
            one, other = other, one
        if self.reads(other):
            return None
        parts = self.parts(one)
        if parts is None:
            return None
        keep, add = parts
        if node.operator is Operator.UNION:
            return keep, Expression(Operator.UNION, node.sort, (add, other))
        return Expression(node.operator, node.sort, (keep, other)), Expression(
            node.operator, node.sort, (add, other)
        )


def _choice(
    sort: Boolean | Number | Bits, condition: Expression, then: Expression, otherwise: Expression
) -> Expression:
    same = then is otherwise or (
        then.operator is otherwise.operator is Operator.CONSTANT
        and (then.value, type(then.value)) == (otherwise.value, type(otherwise.value))
    )
    return then if same else Expression(Operator.CHOOSE, sort, (condition, then, otherwise))
