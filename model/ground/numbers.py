"""Numbers with intervals, so that comparisons fold, and sums and comparisons have one normal form.

1. `x + c` has its constant on the right, and constants are added up; `x - c` is `x + (-c)`.
2. A comparison with a constant has the constant on the right, and none on the left: `x + 1 < 4` is `x < 3`,
   `2 < x` is `not x < 3`.
3. A comparison that leaves one value of the interval is an equality.
4. A number whose interval has one value is that constant.

Division and remainder by zero are 0 here: they occur only on paths whose check has failed. This file knows
nothing of steps.
"""

from __future__ import annotations

from antiphon.model.ground.form import (
    ADD,
    CHOOSE,
    CONSTANT,
    DIVIDE,
    LESS,
    MODULO,
    MULTIPLY,
    SUBTRACT,
    Expression,
    Number,
    Operator,
)
from antiphon.model.ground.intern import BOOLEAN, FALSE, TRUE, Table, number, table
from antiphon.model.ground.logic import choose, conjunction, equality, negation

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _MODULO, _LESS = table(), table(), table(), table(), table(), table()


def interval(expression: Expression) -> Number:
    """Return the interval in which a number lies."""
    sort = expression.sort
    if not isinstance(sort, Number):
        raise TypeError(f"{expression.operator.value} of sort {sort} where a number is needed")
    return sort


def _node(
    entries: Table, operator: Operator, low: int, high: int, left: Expression, right: Expression
) -> Expression:
    if low == high:
        return number(low)
    made = entries.get((left, right))
    if made is None:
        made = entries[left, right] = Expression(operator, Number(low, high), (left, right))
    return made


def _split(expression: Expression) -> tuple[Expression, int]:
    """Return x and c for `x + c`; for any other expression the expression itself, and 0."""
    if expression.operator is ADD and expression.operands[1].operator is CONSTANT:
        return expression.operands[0], int(expression.operands[1].value)
    return expression, 0


def add(left: Expression, right: Expression) -> Expression:
    """Return the sum."""
    if left.operator is CONSTANT:
        left, right = right, left
    a, b = interval(left), interval(right)
    if right.operator is CONSTANT:
        if left.operator is CONSTANT:
            return number(a.low + b.low)
        base, offset = _split(left)
        offset += b.low
        if offset == 0:
            return base
        right, left, a, b = number(offset), base, interval(base), Number(offset, offset)
    return _node(_ADD, ADD, a.low + b.low, a.high + b.high, left, right)


def subtract(left: Expression, right: Expression) -> Expression:
    """Return the difference."""
    if right.operator is CONSTANT:
        return add(left, number(-int(right.value)))
    if left is right:
        return number(0)
    a, b = interval(left), interval(right)
    return _node(_SUBTRACT, SUBTRACT, a.low - b.high, a.high - b.low, left, right)


def multiply(left: Expression, right: Expression) -> Expression:
    """Return the product."""
    if left.operator is CONSTANT:
        left, right = right, left
    if right is number(1):
        return left
    a, b = interval(left), interval(right)
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return _node(_MULTIPLY, MULTIPLY, min(corners), max(corners), left, right)


def divide(left: Expression, right: Expression) -> Expression:
    """Return the quotient, rounded down; 0 when the divisor is 0."""
    if right is number(1):
        return left
    a, b = interval(left), interval(right)
    divisors = {divisor for divisor in (b.low, -1, 1, b.high) if divisor != 0 and b.low <= divisor <= b.high}
    corners = [x // divisor for x in (a.low, a.high) for divisor in divisors]
    if b.low <= 0 <= b.high:
        corners.append(0)
    return _node(_DIVIDE, DIVIDE, min(corners), max(corners), left, right)


def modulo(left: Expression, right: Expression) -> Expression:
    """Return the remainder, with the sign of the divisor; 0 when the divisor is 0."""
    a, b = interval(left), interval(right)
    if left.operator is CONSTANT and right.operator is CONSTANT:
        return number(a.low % b.low if b.low else 0)
    if a.low >= 0 and a.high < b.low:
        return left
    return _node(_MODULO, MODULO, min(0, b.low + 1), max(0, b.high - 1), left, right)


def equal_numbers(left: Expression, right: Expression) -> Expression:
    """Return the condition that two numbers are the same."""
    if left is right:
        return TRUE
    if left.operator is CONSTANT:
        left, right = right, left
    a, b = interval(left), interval(right)
    if a.high < b.low or b.high < a.low:
        return FALSE
    if right.operator is CONSTANT:
        return _equal_constant(left, b.low)
    (x, c), (y, d) = _split(left), _split(right)
    if x is y:
        return TRUE if c == d else FALSE
    return equality(left, right)


def _equal_constant(left: Expression, value: int) -> Expression:
    left, offset = _split(left)
    value -= offset
    if left.operator is CHOOSE and _has_constant(left):
        condition, then, otherwise = left.operands
        return choose(condition, equal_numbers(then, number(value)), equal_numbers(otherwise, number(value)))
    sort = interval(left)
    if sort.high == sort.low + 1 and value == sort.high:
        return negation(equality(left, number(sort.low)))
    return equality(left, number(value))


def _has_constant(choice: Expression) -> bool:
    return choice.operands[1].operator is CONSTANT or choice.operands[2].operator is CONSTANT


def less(left: Expression, right: Expression) -> Expression:
    """Return the condition that `left` is smaller."""
    a, b = interval(left), interval(right)
    if a.high < b.low:
        return TRUE
    if a.low >= b.high:
        return FALSE
    if left.operator is CONSTANT:
        return negation(less(right, number(a.low + 1)))
    if right.operator is CONSTANT:
        return _less_constant(left, b.low)
    (x, c), (y, d) = _split(left), _split(right)
    if x is y:
        return TRUE if c < d else FALSE
    made = _LESS.get((left, right))
    if made is None:
        made = _LESS[left, right] = Expression(LESS, BOOLEAN, (left, right))
    return made


def _less_constant(left: Expression, bound: int) -> Expression:
    left, offset = _split(left)
    bound -= offset
    sort = interval(left)
    if bound == sort.low + 1:
        return equal_numbers(left, number(sort.low))
    if bound == sort.high:
        return negation(equal_numbers(left, number(sort.high)))
    if left.operator is CHOOSE and _has_constant(left):
        condition, then, otherwise = left.operands
        return choose(condition, less(then, number(bound)), less(otherwise, number(bound)))
    key = left, number(bound)
    made = _LESS.get(key)
    if made is None:
        made = _LESS[key] = Expression(LESS, BOOLEAN, key)
    return made


def at_most(left: Expression, right: Expression) -> Expression:
    """Return the condition that `left` is not greater."""
    return negation(less(right, left))


def in_range(expression: Expression, low: int, high: int) -> Expression:
    """Return the condition that a number lies in low..high."""
    sort = interval(expression)
    if low <= sort.low and sort.high <= high:
        return TRUE
    return conjunction(negation(less(expression, number(low))), less(expression, number(high + 1)))
