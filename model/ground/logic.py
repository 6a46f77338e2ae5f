"""When is a boolean expression simpler than it looks? When an operand decides it, occurs twice, or stands beside its own negation.

Only what costs no search is simplified. This file knows nothing of numbers and sets, except that a choice may be between them.
"""

from __future__ import annotations

from antiphon.model.ground.form import Boolean, Expression, Number, Operator, Sort
from antiphon.model.ground.intern import BOOLEAN, FALSE, TRUE, number, table

_NOT, _AND, _OR, _CHOOSE = table(), table(), table(), table()


def negation(operand: Expression) -> Expression:
    """Not `operand`."""
    if operand is TRUE:
        return FALSE
    if operand is FALSE:
        return TRUE
    if operand.operator is Operator.NOT:
        return operand.operands[0]
    made = _NOT.get((operand,))
    if made is None:
        made = _NOT[operand,] = Expression(Operator.NOT, BOOLEAN, (operand,))
    return made


def conjunction(*operands: Expression) -> Expression:
    """All of `operands`; nested conjunctions are flattened."""
    found: dict[Expression, None] = {}
    for operand in operands:
        if operand.operator is Operator.AND:
            found.update(dict.fromkeys(operand.operands))
        elif operand is FALSE:
            return FALSE
        elif operand is not TRUE:
            found[operand] = None
    if len(found) < 2:
        return next(iter(found), TRUE)
    for operand in found:
        if operand.operator is Operator.NOT and _decided(operand.operands[0], found, Operator.AND, Operator.OR):
            return FALSE
    key = tuple(found)
    made = _AND.get(key)
    if made is None:
        made = _AND[key] = Expression(Operator.AND, BOOLEAN, key)
    return made


def _decided(operand: Expression, found: dict[Expression, None], every: Operator, some: Operator) -> bool:
    """Whether `operand` is there already: itself, all its operands (of the operator `every`) or one of them (of `some`)."""
    if operand in found:
        return True
    if operand.operator is every:
        return all(part in found for part in operand.operands)
    return operand.operator is some and any(part in found for part in operand.operands)


def disjunction(*operands: Expression) -> Expression:
    """Some of `operands`; nested disjunctions are flattened."""
    found: dict[Expression, None] = {}
    for operand in operands:
        if operand.operator is Operator.OR:
            found.update(dict.fromkeys(operand.operands))
        elif operand is TRUE:
            return TRUE
        elif operand is not FALSE:
            found[operand] = None
    if len(found) < 2:
        return next(iter(found), FALSE)
    for operand in found:
        if operand.operator is Operator.NOT and _decided(operand.operands[0], found, Operator.OR, Operator.AND):
            return TRUE
    key = tuple(found)
    made = _OR.get(key)
    if made is None:
        made = _OR[key] = Expression(Operator.OR, BOOLEAN, key)
    return made


def choose(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """`then` where `condition` is true, else `otherwise`; both of one sort, up to the interval of numbers."""
    if then is otherwise or condition is TRUE:
        return then
    if condition is FALSE:
        return otherwise
    if condition.operator is Operator.NOT:
        condition, then, otherwise = condition.operands[0], otherwise, then
    if then.operator is Operator.CHOOSE and then.operands[0] is condition:
        then = then.operands[1]
    if otherwise.operator is Operator.CHOOSE:
        inner, inner_then, inner_otherwise = otherwise.operands
        if inner is condition:
            otherwise = inner_otherwise
        elif inner_then is then:
            return choose(disjunction(condition, inner), then, inner_otherwise)
    if then is otherwise:
        return then
    if isinstance(then.sort, Boolean):
        decided = _choose_boolean(condition, then, otherwise)
        if decided is not None:
            return decided
    key = (condition, then, otherwise)
    made = _CHOOSE.get(key)
    if made is None:
        made = _CHOOSE[key] = Expression(Operator.CHOOSE, _hull(then.sort, otherwise.sort), key)
    return made


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
    """Whether two booleans are the same."""
    if left is right:
        return TRUE
    if left.operator is Operator.CONSTANT:
        left, right = right, left
    if right is TRUE:
        return left
    if right is FALSE:
        return negation(left)
    flip = False
    if left.operator is Operator.NOT:
        left, flip = left.operands[0], not flip
    if right.operator is Operator.NOT:
        right, flip = right.operands[0], not flip
    made = TRUE if left is right else equality(left, right)
    return negation(made) if flip else made


_EQUAL = table()


def equality(left: Expression, right: Expression) -> Expression:
    """The node that compares two expressions of one sort, as it is."""
    made = _EQUAL.get((left, right)) or _EQUAL.get((right, left))
    if made is None:
        made = _EQUAL[left, right] = Expression(Operator.EQUAL, BOOLEAN, (left, right))
    return made


def _hull(left: Sort, right: Sort) -> Sort:
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(min(left.low, right.low), max(left.high, right.high))
    if left != right:
        raise TypeError(f"a choice between {left} and {right}")
    return left


def indicator(condition: Expression) -> Expression:
    """1 where the condition is true, else 0."""
    return choose(condition, number(1), number(0))
