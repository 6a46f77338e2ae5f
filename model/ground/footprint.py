"""Footprint of a step: the bits of a state that it depends on; with the bits that it changes, it lets an
engine cache the step's result.

A step that reads few bits has the same result in all states that agree on them. Two things keep the footprint
small:

1. a test for one member of a set reads one bit, not the set;
2. an update that adds to a set or takes from it (`network |= ...`) needs not read it: it is a pair of a mask
   to keep and bits to add, and neither depends on the rest of the set.

This file knows nothing of Python source or searching.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from antiphon.model.ground.form import (
    AND,
    CHOOSE,
    CONSTANT,
    DIFFERENCE,
    HAS,
    INTERSECTION,
    SLOT,
    UNION,
    Bits,
    Boolean,
    Expression,
    Number,
)
from antiphon.model.ground.intern import BOOLEAN
from antiphon.model.ground.packing import Packing
from antiphon.model.ground.walk import fold, parts, reachable

TRUE = Expression(CONSTANT, BOOLEAN, (), True)
FALSE = Expression(CONSTANT, BOOLEAN, (), False)
_JOINS = frozenset({UNION, INTERSECTION, DIFFERENCE})


@dataclass(frozen=True)
class Update:
    """Update of a slot: the bits of the old value that `keep` selects, joined with `add`.

    For a bit set `keep` is a bit set and the new value is `old & keep | add`; for a boolean or a number it is
    a boolean, and the new value is the old one where `keep` is true, else `add`.
    """

    slot: int
    keep: Expression
    add: Expression


class Reads:
    """Slots that expressions read, as masks with a bit for each slot. The mask of an expression is computed
    once.
    """

    def __init__(self) -> None:
        self.masks: dict[Expression, int] = {}
        """Mask of the slots that an expression and its operands read, by expression."""

    def of(self, node: Expression) -> int:
        """Return the slots that the value of a node depends on, as a mask."""
        found = self.masks.get(node)
        return fold(node, self.masks, self._mask, parts) if found is None else found

    def _mask(self, node: Expression) -> int:
        mask = 1 << node.value if node.operator is SLOT else 0
        for operand in node.operands:
            mask |= self.masks[operand]
        return mask


def split(slot: int, value: Expression, reads: Reads | None = None) -> Update:
    """Split an update of `slot` into keep and add. If the old value is used in another way than being kept,
    `keep` keeps nothing and `add` reads the old value.

    `reads` may be shared with other expressions, of the same step for example.
    """
    parts = _Split(slot, reads or Reads()).parts(value)
    keep, add = _replacement(value) if parts is None else parts
    return Update(slot, keep, add)


def footprint(expressions: Iterable[Expression], packing: Packing) -> int:
    """Return the bits that the values of these expressions depend on, as a mask over the packed state."""
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
    """Return the bit that `HAS(slot, constant)` tests, in place; None for any other expression."""
    if node.operator is not HAS:
        return None
    bits, rank = node.operands
    if bits.operator is not SLOT or rank.operator is not CONSTANT:
        return None
    place = packing.places[bits.value]
    return 1 << place.offset + rank.value if 0 <= rank.value < place.width else None


def conjuncts(node: Expression) -> tuple[Expression, ...]:
    """Return the operands of a conjunction, which `make` has flattened; for another expression the expression
    itself.
    """
    return node.operands if node.operator is AND else (node,)


def _some_bits(node: Expression, packing: Packing) -> int | None:
    """Return the bits that a node reads, if they are fewer than those of all its operands; else None."""
    if node.operator is SLOT:
        return packing.places[node.value].mask
    if (bit := member_test(node, packing)) is not None:
        return bit
    if node.operator is INTERSECTION:
        for one, other in (node.operands, node.operands[::-1]):
            if one.operator is SLOT and other.operator is CONSTANT:
                return int(other.value) << packing.places[one.value].offset
    return None


def _empty(like: Expression) -> Expression:
    match like.sort:
        case Boolean():
            return FALSE
        case Number(low=low):
            return Expression(CONSTANT, Number(low, low), (), low)
        case Bits():
            return Expression(CONSTANT, like.sort, (), 0)


def _keeps_all(sort: Boolean | Number | Bits) -> Expression:
    """Return the mask `keep` of an update that keeps the whole old value of a slot of this sort."""
    return Expression(CONSTANT, sort, (), (1 << sort.width) - 1) if isinstance(sort, Bits) else TRUE


def _replacement(value: Expression) -> tuple[Expression, Expression]:
    """Return the parts of an update that replaces the value of a slot: a mask `keep` that keeps nothing, and
    the value as `add`.
    """
    return (_empty(value) if isinstance(value.sort, Bits) else FALSE), value


class _Split:
    """Splitter of the updates of one slot; results are shared like the expressions."""

    def __init__(self, slot: int, reads: Reads) -> None:
        self._slot = 1 << slot
        self._known: dict[Expression, tuple[Expression, Expression] | None] = {}
        self._reads = reads

    def parts(self, value: Expression) -> tuple[Expression, Expression] | None:
        """Return (keep, add) for a value of the slot; None if the old value is used in another way than being
        kept.
        """
        if not self._reads.of(value) & self._slot:
            return _replacement(value)
        return fold(value, self._known, self._make_parts, self._values)

    def _reads_slot(self, node: Expression) -> bool:
        return self._reads.masks[node] & self._slot != 0

    def _values(self, node: Expression) -> list[Expression]:
        """Return the operands, values of the same slot, from which a value is made."""
        values = node.operands[1:] if node.operator is CHOOSE else node.operands
        masks, slot = self._reads.masks, self._slot
        return [value for value in values if masks[value] & slot]

    def _part(self, value: Expression) -> tuple[Expression, Expression] | None:
        """Return (keep, add) for an operand that contains the old value of the slot, or for one that does
        not.
        """
        return self._known[value] if self._reads_slot(value) else _replacement(value)

    def _make_parts(self, node: Expression) -> tuple[Expression, Expression] | None:
        if node.operator is SLOT:
            return _keeps_all(node.sort), _empty(node)
        if node.operator is CHOOSE and not self._reads_slot(node.operands[0]):
            return self._choose(node)
        if node.operator in _JOINS and isinstance(node.sort, Bits):
            return self._combine(node)
        return None

    def _choose(self, node: Expression) -> tuple[Expression, Expression] | None:
        condition, then, otherwise = node.operands
        left, right = self._part(then), self._part(otherwise)
        if left is None or right is None:
            return None
        keep_sort = node.sort if isinstance(node.sort, Bits) else BOOLEAN
        keep = _choice(keep_sort, condition, left[0], right[0])
        return keep, _choice(node.sort, condition, left[1], right[1])

    def _combine(self, node: Expression) -> tuple[Expression, Expression] | None:
        one, other = node.operands
        if node.operator is not DIFFERENCE and self._reads_slot(other):
            one, other = other, one
        if self._reads_slot(other):
            return None
        parts = self._part(one)
        if parts is None:
            return None
        keep, add = parts
        if node.operator is UNION:
            return keep, Expression(UNION, node.sort, (add, other))
        return Expression(node.operator, node.sort, (keep, other)), Expression(
            node.operator, node.sort, (add, other)
        )


def _choice(
    sort: Boolean | Number | Bits, condition: Expression, then: Expression, otherwise: Expression
) -> Expression:
    same = then is otherwise or (
        then.operator is otherwise.operator is CONSTANT
        and (then.value, type(then.value)) == (otherwise.value, type(otherwise.value))
    )
    return then if same else Expression(CHOOSE, sort, (condition, then, otherwise))
