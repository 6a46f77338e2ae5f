"""Operations on sets as bits. For each set two groups of ranks are known: those surely in it, and those
possibly in it; they decide most questions about one rank.

A question about one rank goes down through unions, differences and choices to the leaves that can hold it.
This file does not know the elements behind the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.model.ground.form import (
    CHOOSE,
    CONSTANT,
    COUNT,
    DIFFERENCE,
    HAS,
    INTERSECTION,
    SINGLE,
    SYMMETRIC_DIFFERENCE,
    UNION,
    Bits,
    Expression,
    Number,
    Operator,
)
from antiphon.model.ground.intern import BOOLEAN, FALSE, TRUE, Table, bits, forget_too, number, table
from antiphon.model.ground.logic import choose, conjunction, disjunction, equal_booleans, equality, negation
from antiphon.model.ground.numbers import equal_numbers, in_range, interval

_HAS, _COUNT = table(), table()
_UNION, _INTERSECTION, _DIFFERENCE, _SYMMETRIC = table(), table(), table(), table()
_singles: dict[tuple[int, Expression], Expression] = {}
_known: dict[Expression, tuple[int, int]] = {}
forget_too(_singles)
forget_too(_known)


def width(expression: Expression) -> int:
    """Return the number of ranks that the set may hold."""
    sort = expression.sort
    if not isinstance(sort, Bits):
        raise TypeError(f"{expression.operator.value} of sort {sort} where a set is needed")
    return sort.width


def rank_bounds(expression: Expression) -> tuple[int, int]:
    """Return the ranks that are surely in the set, and those that can be, as bits of two numbers."""
    if expression.operator is CONSTANT:
        return int(expression.value), int(expression.value)
    found = _known.get(expression)
    if found is None:
        found = _known[expression] = _know(expression)
    return found


def _know(expression: Expression) -> tuple[int, int]:
    everything = (1 << width(expression)) - 1
    if expression.operator is SINGLE:
        sort = interval(expression.operands[0])
        low, high = max(sort.low, 0), min(sort.high, width(expression) - 1)
        return 0, ((1 << high + 1) - (1 << low)) if low <= high else 0
    if expression.operator is CHOOSE:
        sure, can = rank_bounds(expression.operands[1])
        sure_else, can_else = rank_bounds(expression.operands[2])
        return sure & sure_else, can | can_else
    if len(expression.operands) != 2:
        return 0, everything
    (a, a_can), (b, b_can) = rank_bounds(expression.operands[0]), rank_bounds(expression.operands[1])
    match expression.operator:
        case Operator.UNION:
            return a | b, a_can | b_can
        case Operator.INTERSECTION:
            return a & b, a_can & b_can
        case Operator.DIFFERENCE:
            return a & ~b_can, a_can & ~b
        case _:
            return (a & ~b_can) | (b & ~a_can), (a_can | b_can) & ~(a & b)


def _node(entries: Table, operator: Operator, left: Expression, right: Expression) -> Expression:
    made = entries.get((left, right))
    if made is None:
        made = Expression(operator, Bits(width(left)), (left, right))
        sure, can = _know(made)
        if sure == can:
            made = bits(width(left), sure)
        else:
            _known[made] = sure, can
        entries[left, right] = made
    return made


def union(left: Expression, right: Expression) -> Expression:
    """Return the union of two sets."""
    if left.operator is CONSTANT:
        left, right = right, left
    a, b = rank_bounds(left), rank_bounds(right)
    if a[1] & ~b[0] == 0:
        return right
    if b[1] & ~a[0] == 0 or left is right:
        return left
    if right.operator is CONSTANT and left.operator is UNION and left.operands[1].operator is CONSTANT:
        return union(left.operands[0], bits(width(left), int(left.operands[1].value) | b[0]))
    return _node(_UNION, UNION, left, right)


def intersection(left: Expression, right: Expression) -> Expression:
    """Return the intersection of two sets."""
    if left.operator is CONSTANT:
        left, right = right, left
    a, b = rank_bounds(left), rank_bounds(right)
    if a[1] & ~b[0] == 0 or left is right:
        return left
    if b[1] & ~a[0] == 0:
        return right
    return _node(_INTERSECTION, INTERSECTION, left, right)


def difference(left: Expression, right: Expression) -> Expression:
    """Return the left set without the right one."""
    a, b = rank_bounds(left), rank_bounds(right)
    if a[1] & b[1] == 0:
        return left
    if left is right or a[1] & ~b[0] == 0:
        return bits(width(left), 0)
    if right.operator is CONSTANT and left.operator is DIFFERENCE and left.operands[1].operator is CONSTANT:
        return difference(left.operands[0], bits(width(left), int(left.operands[1].value) | b[0]))
    return _node(_DIFFERENCE, DIFFERENCE, left, right)


def symmetric_difference(left: Expression, right: Expression) -> Expression:
    """Return the ranks that are in exactly one of the sets."""
    if left.operator is CONSTANT:
        left, right = right, left
    if rank_bounds(right)[1] == 0:
        return left
    if rank_bounds(left)[1] == 0:
        return right
    if left is right:
        return bits(width(left), 0)
    return _node(_SYMMETRIC, SYMMETRIC_DIFFERENCE, left, right)


def single(size: int, rank: Expression) -> Expression:
    """Return the set of this one rank; the empty set where the rank is not below `size`."""
    if rank.operator is CONSTANT:
        value = int(rank.value)
        return bits(size, 1 << value if 0 <= value < size else 0)
    made = _singles.get((size, rank))
    if made is None:
        made = _singles[size, rank] = Expression(SINGLE, Bits(size), (rank,))
    return made


def has(members: Expression, rank: Expression) -> Expression:
    """Return the condition that the set holds this rank; a rank outside the width is in no set."""
    sure, can = rank_bounds(members)
    sort = interval(rank)
    low, high = max(sort.low, 0), min(sort.high, width(members) - 1)
    asked = (1 << high + 1) - (1 << low) if low <= high else 0
    if can & asked == 0:
        return FALSE
    if sure & asked == asked and low == sort.low and high == sort.high:
        return TRUE
    made = _HAS.get((members, rank))
    if made is None:
        made = _HAS[members, rank] = _ask(members, rank)
    return made


def _ask(members: Expression, rank: Expression) -> Expression:
    if members.operator is CONSTANT and int(members.value).bit_count() == 1:
        return equal_numbers(rank, number(int(members.value).bit_length() - 1))
    if members.operator is SINGLE:
        return conjunction(in_range(rank, 0, width(members) - 1), equal_numbers(members.operands[0], rank))
    if members.operator is CHOOSE:
        condition, then, otherwise = members.operands
        return choose(condition, has(then, rank), has(otherwise, rank))
    if len(members.operands) == 2:
        left, right = (has(operand, rank) for operand in members.operands)
        match members.operator:
            case Operator.UNION:
                return disjunction(left, right)
            case Operator.INTERSECTION:
                return conjunction(left, right)
            case Operator.DIFFERENCE:
                return conjunction(left, negation(right))
            case _:
                return negation(equal_booleans(left, right))
    return Expression(HAS, BOOLEAN, (members, rank))


def count(members: Expression) -> Expression:
    """Return the number of ranks in the set."""
    sure, can = rank_bounds(members)
    low, high = sure.bit_count(), can.bit_count()
    if low == high:
        return number(low)
    made = _COUNT.get((members,))
    if made is None:
        made = _COUNT[members,] = Expression(COUNT, Number(low, high), (members,))
    return made


def equal_bits(left: Expression, right: Expression) -> Expression:
    """Return the condition that two sets have the same members."""
    if left is right:
        return TRUE
    (a, a_can), (b, b_can) = rank_bounds(left), rank_bounds(right)
    if a & ~b_can or b & ~a_can:
        return FALSE
    if a == a_can and b == b_can:
        return TRUE
    if left.operator is CONSTANT:
        left, right = right, left
    return equality(left, right)


def subset(left: Expression, right: Expression) -> Expression:
    """Return the condition that every member of the left set is in the right one."""
    return equal_bits(difference(left, right), bits(width(left), 0))


def members(set_bits: int) -> Iterator[int]:
    """Return the ranks of the members of a set, in order."""
    while set_bits:
        lowest = set_bits & -set_bits
        set_bits ^= lowest
        yield lowest.bit_length() - 1
