"""Simplification of boolean expressions: an operand may decide the whole, occur twice, or occur beside its
own negation.

Only simplifications without a search are made. This file knows nothing of numbers and sets, except that a
choice may be between them.
"""

from __future__ import annotations

from antiphon.model.ground.form import (
    AND,
    CHOOSE,
    CONSTANT,
    EQUAL,
    NOT,
    OR,
    Boolean,
    Expression,
    Number,
    Operator,
    Sort,
)
from antiphon.model.ground.intern import BOOLEAN, FALSE, TRUE, forget_too, number, table

_NOT, _AND, _OR, _CHOOSE = table(), table(), table(), table()
_JUNCTIONS = frozenset({AND, OR})
_JOINED: dict[tuple[Expression, ...], Expression] = {}
"""Conjunctions by their operands as given, since the condition of a path is asked for again and again."""
forget_too(_JOINED)


def negation(operand: Expression) -> Expression:
    """Return the negation of `operand`."""
    if operand is TRUE:
        return FALSE
    if operand is FALSE:
        return TRUE
    if operand.operator is NOT:
        return operand.operands[0]
    made = _NOT.get((operand,))
    if made is None:
        made = _NOT[operand,] = Expression(NOT, BOOLEAN, (operand,))
    return made


def conjunction(*operands: Expression) -> Expression:
    """Return the conjunction of `operands`; nested conjunctions are flattened."""
    made = _JOINED.get(operands)
    if made is None:
        made = _JOINED[operands] = _join(operands)
    return made


def _join(operands: tuple[Expression, ...]) -> Expression:
    found: dict[Expression, None] = {}
    for operand in operands:
        if operand.operator is AND:
            found.update(dict.fromkeys(operand.operands))
        elif operand is FALSE:
            return FALSE
        elif operand is not TRUE:
            found[operand] = None
    if len(found) < 2:
        return next(iter(found), TRUE)
    for operand in found:
        if operand.operator is NOT:
            opposite = operand.operands[0]
            if opposite in found or (opposite.operator in _JUNCTIONS and _decided(opposite, found, AND)):
                return FALSE
    key = tuple(found)
    made = _AND.get(key)
    if made is None:
        made = _AND[key] = Expression(AND, BOOLEAN, key)
    return made


def _decided(operand: Expression, found: dict[Expression, None], every: Operator) -> bool:
    """Return True if an operand is known already: for the operator `every` all its operands are in `found`,
    else one of them.
    """
    return (all if operand.operator is every else any)(part in found for part in operand.operands)


def disjunction(*operands: Expression) -> Expression:
    """Return the disjunction of `operands`; nested disjunctions are flattened."""
    found: dict[Expression, None] = {}
    for operand in operands:
        if operand.operator is OR:
            found.update(dict.fromkeys(operand.operands))
        elif operand is TRUE:
            return TRUE
        elif operand is not FALSE:
            found[operand] = None
    if len(found) < 2:
        return next(iter(found), FALSE)
    for operand in found:
        if operand.operator is NOT:
            opposite = operand.operands[0]
            if opposite in found or (opposite.operator in _JUNCTIONS and _decided(opposite, found, OR)):
                return TRUE
    key = tuple(found)
    made = _OR.get(key)
    if made is None:
        made = _OR[key] = Expression(OR, BOOLEAN, key)
    return made


def choose(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """Return `then` where `condition` is true, else `otherwise`; both of one sort, up to the interval of
    numbers.
    """
    if then is otherwise or condition is TRUE:
        return then
    if condition is FALSE:
        return otherwise
    if condition.operator is NOT:
        condition, then, otherwise = condition.operands[0], otherwise, then
    key = condition, then, otherwise
    made = _CHOOSE.get(key)
    if made is None:
        made = _CHOOSE[key] = _choice(condition, then, otherwise)
    return made


def _choice(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    if then.operator is CHOOSE and then.operands[0] is condition:
        return choose(condition, then.operands[1], otherwise)
    if otherwise.operator is CHOOSE and otherwise.operands[0] is condition:
        return choose(condition, then, otherwise.operands[2])
    nested = _choose_nested(condition, then, otherwise)
    if nested is not None:
        return nested
    if isinstance(then.sort, Boolean):
        decided = _choose_boolean(condition, then, otherwise)
        if decided is not None:
            return decided
    return Expression(CHOOSE, _hull(then.sort, otherwise.sort), (condition, then, otherwise))


def _choose_nested(condition: Expression, then: Expression, otherwise: Expression) -> Expression | None:
    """Return one choice in place of two nested choices between the same two values, or None. Nested branches
    of a body leave such choices behind for every leaf that they may write; the conditions are joined once for
    all these leaves.
    """
    if then.operator is CHOOSE:
        inner, first, second = then.operands
        if second is otherwise:
            return choose(conjunction(condition, inner), first, otherwise)
        if first is otherwise:
            return choose(conjunction(condition, negation(inner)), second, otherwise)
    if otherwise.operator is CHOOSE:
        inner, first, second = otherwise.operands
        if first is then:
            return choose(disjunction(condition, inner), then, second)
        if second is then:
            return choose(conjunction(negation(condition), inner), first, then)
    return None


def _choose_boolean(condition: Expression, then: Expression, otherwise: Expression) -> Expression | None:
    if then is TRUE or then is condition:
        return disjunction(condition, otherwise)
    if then is FALSE:
        return conjunction(negation(condition), otherwise)
    if otherwise is TRUE:
        return disjunction(negation(condition), then)
    if otherwise is FALSE or otherwise is condition:
        return conjunction(condition, then)
    return None


def equal_booleans(left: Expression, right: Expression) -> Expression:
    """Return the condition that two booleans are the same."""
    if left is right:
        return TRUE
    if left.operator is CONSTANT:
        left, right = right, left
    if right is TRUE:
        return left
    if right is FALSE:
        return negation(left)
    flip = False
    if left.operator is NOT:
        left, flip = left.operands[0], not flip
    if right.operator is NOT:
        right, flip = right.operands[0], not flip
    made = TRUE if left is right else equality(left, right)
    return negation(made) if flip else made


_EQUAL = table()


def equality(left: Expression, right: Expression) -> Expression:
    """Return the node that compares two expressions of one sort, unsimplified."""
    made = _EQUAL.get((left, right)) or _EQUAL.get((right, left))
    if made is None:
        made = _EQUAL[left, right] = Expression(EQUAL, BOOLEAN, (left, right))
    return made


def _hull(left: Sort, right: Sort) -> Sort:
    if left is right:
        return left
    if isinstance(left, Number) and isinstance(right, Number):
        if left.low <= right.low and right.high <= left.high:
            return left
        if right.low <= left.low and left.high <= right.high:
            return right
        return Number(min(left.low, right.low), max(left.high, right.high))
    if left != right:
        raise TypeError(f"a choice between {left} and {right}")
    return left


def indicator(condition: Expression) -> Expression:
    """Return 1 where the condition is true, else 0."""
    return choose(condition, number(1), number(0))
