"""Estimate of the values that an expression can have, if each slot independently has any of its own values.

Constant propagation over sets of values: a bound from above. Values of a boolean or a number are a set of
ints, None when there are too many to list; those of a bit set the mask of the ranks that may be in it.

This file knows nothing of steps or of the languages that models are written in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from antiphon.model.ground import make
from antiphon.model.ground.form import Bits, Boolean, Expression, Operator, Sort
from antiphon.model.ground.walk import fold, parts

MOST_VALUES = 4_096
"""Largest number of values of one number that are listed; beyond that only its interval is known."""

MOST_TRIED = 64
"""Largest number of values of a slot that are tried one by one, to see which of them a guard rules out."""


Listed = frozenset[int]
Values = Listed | int | None
"""Possible values of a boolean or number (None: any of its interval); for a bit set the mask of its possible
members.
"""

BOTH = frozenset((0, 1))


class Estimate:
    """Estimate of the values that expressions may have, from the values that the slots may have."""

    def __init__(self, slots: Sequence[Values]) -> None:
        self.slots = slots
        self._known: dict[Expression, Values] = {}

    def __call__(self, root: Expression) -> Values:
        """Return the values that the expression may have."""
        return fold(root, self._known, self._make, parts)

    def certain(self, node: Expression) -> int | None:
        """Return the value of a boolean or number, if it can have only one; else None."""
        found = self(node)
        return next(iter(found)) if isinstance(found, frozenset) and len(found) == 1 else None

    def members(self, node: Expression) -> int:
        """Return the mask of the possible members of a bit set."""
        found = self(node)
        assert isinstance(found, int)
        return found

    def _make(self, node: Expression) -> Values:
        parts = [self._known[part] for part in node.operands]
        match node.operator:
            case Operator.CONSTANT:
                return int(node.value) if isinstance(node.sort, Bits) else frozenset((int(node.value),))
            case Operator.SLOT:
                return self.slots[node.value]
            case Operator.INPUT:
                return every_value(node.sort)
            case Operator.CHOOSE:
                return _choice(parts)
            case Operator.HAS:
                return _has(*parts)
            case Operator.EQUAL if isinstance(node.operands[0].sort, Bits):
                return BOTH
        if isinstance(node.sort, Bits):
            return _set(node, parts)
        return _numbers(node, parts)


def every_value(sort: Sort) -> Values:
    """Return all values of a sort."""
    if isinstance(sort, Boolean):
        return BOTH
    if isinstance(sort, Bits):
        return (1 << sort.width) - 1
    return frozenset(range(sort.low, sort.high + 1)) if sort.high - sort.low < MOST_VALUES else None


def _choice(parts: list[Values]) -> Values:
    condition, then, otherwise = parts
    if condition == frozenset((1,)):
        return then
    if condition == frozenset((0,)):
        return otherwise
    return joined(then, otherwise)


def joined(one: Values, other: Values) -> Values:
    """Return the union of two estimates."""
    if isinstance(one, int) and isinstance(other, int):
        return one | other
    if one is None or other is None:
        return None
    assert isinstance(one, frozenset)
    assert isinstance(other, frozenset)
    return one | other


def _has(members: Values, ranks: Values) -> Values:
    assert isinstance(members, int)
    if isinstance(ranks, frozenset) and not any(rank >= 0 and members >> rank & 1 for rank in ranks):
        return frozenset((0,))
    return BOTH


def _set(node: Expression, parts: list[Values]) -> Values:
    assert isinstance(node.sort, Bits)
    if node.operator is Operator.SINGLE:
        (ranks,) = parts
        if not isinstance(ranks, frozenset):
            return (1 << node.sort.width) - 1
        return sum(1 << rank for rank in ranks if 0 <= rank < node.sort.width)
    left, right = parts
    assert isinstance(left, int)
    assert isinstance(right, int)
    if node.operator is Operator.INTERSECTION:
        return left & right
    if node.operator is Operator.DIFFERENCE:
        taken = node.operands[1]
        return left & ~int(taken.value) if taken.operator is Operator.CONSTANT else left
    return left | right


def _numbers(node: Expression, parts: list[Values]) -> Values:
    if node.operator is Operator.COUNT:
        (members,) = parts
        assert isinstance(members, int)
        return frozenset(range(members.bit_count() + 1))
    listed = [part for part in parts if isinstance(part, frozenset)]
    if len(listed) < len(parts):
        return every_value(node.sort)
    if node.operator in (Operator.AND, Operator.OR):
        return _junction(node.operator is Operator.AND, listed)
    size = 1
    for part in listed:
        size *= len(part)
    if size > MOST_VALUES:
        return every_value(node.sort)
    work = _WORK[node.operator]
    return frozenset(int(work(*values)) for values in itertools.product(*listed))


def _junction(every: bool, parts: list[Listed]) -> Values:
    stop = frozenset((0 if every else 1,))
    if stop in parts:
        return stop
    go = frozenset((1 if every else 0,))
    return go if all(part == go for part in parts) else BOTH


_WORK: dict[Operator, Callable[..., int]] = {
    Operator.NOT: lambda a: not a,
    Operator.EQUAL: lambda a, b: a == b,
    Operator.LESS: lambda a, b: a < b,
    Operator.ADD: lambda a, b: a + b,
    Operator.SUBTRACT: lambda a, b: a - b,
    Operator.MULTIPLY: lambda a, b: a * b,
    Operator.DIVIDE: lambda a, b: a // b if b else 0,
    Operator.MODULO: lambda a, b: a % b if b else 0,
}


def narrowed(slots: Sequence[Values], condition: Expression) -> list[Values]:
    """Return the possible values of the slots where a conjunction holds.

    Each conjunct that reads one boolean or number rules values of it out.
    """
    found = list(slots)
    parts = condition.operands if condition.operator is Operator.AND else (condition,)
    for part in parts:
        read = _only_slot(part)
        values = found[read] if read is not None else None
        if read is not None and isinstance(values, frozenset) and 1 < len(values) <= MOST_TRIED:
            trial = list(slots)
            kept = set()
            for value in values:
                trial[read] = frozenset((value,))
                if Estimate(trial)(part) != frozenset((0,)):
                    kept.add(value)
            found[read] = frozenset(kept) if kept else values
    return found


def escapes(update: Expression, mask: int, estimate: Estimate) -> Expression:
    """Return the condition that a new value of a bit set has a member outside the mask; False if it never
    has.
    """
    match update.operator:
        case Operator.CHOOSE:
            condition, then, otherwise = update.operands
            return make.choose(condition, escapes(then, mask, estimate), escapes(otherwise, mask, estimate))
        case Operator.UNION | Operator.SYMMETRIC_DIFFERENCE:
            return make.disjunction(*(escapes(part, mask, estimate) for part in update.operands))
        case Operator.INTERSECTION | Operator.DIFFERENCE:
            return escapes(update.operands[0], mask, estimate)
        case Operator.SINGLE if estimate.members(update) & ~mask:
            (rank,) = update.operands
            inside = [
                make.equal(rank, make.number(member))
                for member in range(mask.bit_length())
                if mask >> member & 1
            ]
            assert isinstance(update.sort, Bits)
            return make.conjunction(
                make.in_range(rank, 0, update.sort.width - 1), make.negation(make.disjunction(*inside))
            )
    return make.boolean(bool(estimate.members(update) & ~mask))


def _only_slot(node: Expression) -> int | None:
    """Return the only slot that an expression reads, if it is no set; None if it reads several slots or is
    large.
    """
    read: set[int] = set()
    todo, seen = [node], {id(node)}
    while todo:
        here = todo.pop()
        if here.operator is Operator.SLOT:
            read.add(int(here.value))
            if len(read) > 1 or isinstance(here.sort, Bits):
                return None
        for part in here.operands:
            if id(part) not in seen:
                seen.add(id(part))
                todo.append(part)
    return next(iter(read)) if len(read) == 1 else None
