"""Meaning of an expression of the ground form in one state.

Written down from `model/ground/form.py` a second time, over Python integers; it shares nothing with any
reader of the form.
"""

from __future__ import annotations

from collections.abc import Callable

from antiphon.model.ground.form import Bits, Expression, Operator

Leaves = tuple[int | bool, ...]
"""A value for each slot of a layout."""

_MEANING: dict[Operator, Callable[..., int | bool]] = {
    Operator.NOT: lambda a: not a,
    Operator.AND: lambda *all_of: all(all_of),
    Operator.OR: lambda *any_of: any(any_of),
    Operator.CHOOSE: lambda condition, then, otherwise: then if condition else otherwise,
    Operator.EQUAL: lambda a, b: a == b,
    Operator.LESS: lambda a, b: a < b,
    Operator.ADD: lambda a, b: a + b,
    Operator.SUBTRACT: lambda a, b: a - b,
    Operator.MULTIPLY: lambda a, b: a * b,
    Operator.DIVIDE: lambda a, b: a // b if b else 0,
    Operator.MODULO: lambda a, b: a % b if b else 0,
    Operator.UNION: lambda a, b: a | b,
    Operator.INTERSECTION: lambda a, b: a & b,
    Operator.DIFFERENCE: lambda a, b: a & ~b,
    Operator.SYMMETRIC_DIFFERENCE: lambda a, b: a ^ b,
    Operator.COUNT: lambda members: members.bit_count(),
}


def meaning(node: Expression, state: Leaves) -> int | bool:
    """The value of an expression in a state; division by zero is 0."""
    if node.operator is Operator.CONSTANT:
        return node.value
    if node.operator is Operator.SLOT:
        return state[node.value]
    values = [meaning(operand, state) for operand in node.operands]
    if node.operator is Operator.HAS:
        return values[1] >= 0 and bool(values[0] >> values[1] & 1)
    if node.operator is Operator.SINGLE:
        assert isinstance(node.sort, Bits)
        return 1 << values[0] if 0 <= values[0] < node.sort.width else 0
    return _MEANING[node.operator](*values)
