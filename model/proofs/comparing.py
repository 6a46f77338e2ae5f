"""Translation of comparisons to formulas: of equal values, of orders, of inclusion, and of sizes with sums of
constants.

This file knows nothing of other expressions.
"""

from __future__ import annotations

from antiphon.model.proofs.formula import (
    FALSE,
    TRUE,
    App,
    Formula,
    Symbol,
    conjunction,
    disjunction,
    implication,
    negation,
)
from antiphon.model.proofs.frame import Frame, Reader
from antiphon.model.proofs.sequences import is_empty
from antiphon.model.proofs.theory import Linear
from antiphon.model.proofs.values import (
    Leaf,
    Member,
    Outside,
    Place,
    Scalar,
    SequenceValue,
    SetValue,
    Value,
    as_term,
    at_most,
    in_one_sequence,
    less,
)
from antiphon.spec.lang import ir, types
from antiphon.spec.lang.errors import Location

_TURNED = {
    ir.Comparison.LESS: ir.Comparison.GREATER, ir.Comparison.GREATER: ir.Comparison.LESS,
    ir.Comparison.AT_MOST: ir.Comparison.AT_LEAST, ir.Comparison.AT_LEAST: ir.Comparison.AT_MOST,
}  # fmt: skip


def compared(reader: Reader, expression: ir.Compare, frame: Frame) -> Formula:
    """Return the truth of a comparison.

    Raises:
        Outside: the comparison counts elements that cannot be counted, or orders values without an order.
    """
    operator, at = expression.operator, expression.at
    counted = _counted(reader, expression, frame)
    if counted is not None:
        return counted
    numbered = _numbered(reader, expression, frame)
    if numbered is not None:
        return numbered
    emptied = _emptied(reader, expression, frame)
    if emptied is not None:
        return emptied
    if isinstance(expression.left.type, types.SequenceOf):
        raise Outside("sequences are compared", at, "a comparison of their lengths, or of their items")
    left, right = reader.value(expression.left, frame), reader.value(expression.right, frame)
    if operator is ir.Comparison.EQUAL:
        return reader.sorts.same(left, right, at)
    if operator is ir.Comparison.UNEQUAL:
        return negation(reader.sorts.same(left, right, at))
    if isinstance(left, SetValue) and isinstance(right, SetValue):
        return _included(reader, left, right, operator, at)
    return _ordered(left, right, operator, at)


def ordered(left: Value, right: Value, at: Location) -> Formula:
    """Return the condition that one value is before another in the order of their type."""
    return _ordered(left, right, ir.Comparison.LESS, at)


def _included(
    reader: Reader, left: SetValue, right: SetValue, operator: ir.Comparison, at: Location
) -> Formula:
    if operator in (ir.Comparison.GREATER, ir.Comparison.AT_LEAST):
        left, right = right, left
    kind = left.of
    inside = reader.sorts.every_value(kind, "e", lambda e: implication(left.member(e), right.member(e)), at)
    if operator in (ir.Comparison.AT_MOST, ir.Comparison.AT_LEAST):
        return inside
    more = reader.sorts.some_value(
        kind, "e", lambda e: conjunction(right.member(e), negation(left.member(e))), at
    )
    return conjunction(inside, more)


def _emptied(reader: Reader, expression: ir.Compare, frame: Frame) -> Formula | None:
    """Return the formula of a comparison of the length of a log with 0; None for any other comparison."""
    match expression.left, expression.right:
        case (ir.Size(collection=collection), ir.Literal(value=0)):
            operator = expression.operator
        case (ir.Literal(value=0), ir.Size(collection=collection)):
            operator = _TURNED.get(expression.operator, expression.operator)
        case _:
            return None
    log = reader.value(collection, frame)
    if not isinstance(log, SequenceValue):
        return None
    empty = is_empty(log)
    match operator:
        case ir.Comparison.EQUAL | ir.Comparison.AT_MOST:
            return empty
        case ir.Comparison.UNEQUAL | ir.Comparison.GREATER:
            return negation(empty)
    return FALSE if operator is ir.Comparison.LESS else TRUE


def _numbered(reader: Reader, expression: ir.Compare, frame: Frame) -> Formula | None:
    """Return the formula of a comparison of the numbers of two members of one open index, or of a member's
    number with 0, or of a remainder with a member's number: `m.index % n == p.index`. None for any other
    comparison.
    """
    left, right = expression.left, expression.right
    turn = _turn(reader, left, right, frame) or _turn(reader, right, left, frame)
    if turn is not None and expression.operator in (ir.Comparison.EQUAL, ir.Comparison.UNEQUAL):
        return turn if expression.operator is ir.Comparison.EQUAL else negation(turn)
    sides = [
        side.index if isinstance(side, ir.IndexNumber) and _is_open(reader, side.index) else None
        for side in (left, right)
    ]
    values: list[Value] = []
    for side, whole, other in ((sides[0], left, sides[1]), (sides[1], right, sides[0])):
        if side is not None:
            values.append(reader.value(side, frame))
        elif isinstance(whole, ir.Literal) and whole.value == 0 and other is not None:
            assert isinstance(other.type, types.IndexType)
            values.append(Scalar.of(reader.theory.first(reader.sorts.sort(other.type))))
        else:
            return None
    if sides[0] is not None and sides[1] is not None and sides[0].type != sides[1].type:
        return None
    if expression.operator in (ir.Comparison.EQUAL, ir.Comparison.UNEQUAL):
        same = reader.sorts.same(values[0], values[1], expression.at)
        return same if expression.operator is ir.Comparison.EQUAL else negation(same)
    return _ordered(values[0], values[1], expression.operator, expression.at)


def _turn(
    reader: Reader, left: ir.Expression, right: ir.Expression, frame: Frame
) -> Formula | None:
    """Return the formula of `m.index % n == p.index`, where n is the size of p's index: an uninterpreted
    function gives the p of each m. None for any other equation.
    """
    match left, right:
        case (
            ir.Arithmetic(
                operator=ir.Operation.MODULO, left=ir.IndexNumber(index=of), right=ir.Constant(name=name)
            ),
            ir.IndexNumber(index=of_turn),
        ) if _is_open(reader, of) and _is_open(reader, of_turn):
            given, turned = of.type, of_turn.type
            assert isinstance(given, types.IndexType)
            assert isinstance(turned, types.IndexType)
            if turned.size != name:
                return None
            symbol = Symbol(
                f"{given.name} % {name}", (reader.sorts.sort(given),), reader.sorts.sort(turned)
            )
            value = reader.value(of, frame)
            assert isinstance(value, Scalar)
            cases: list[tuple[Formula, Leaf]] = [
                (condition, App(symbol, (term,)))
                for condition, leaf in value.cases
                if (term := as_term(leaf)) is not None
            ]
            return reader.sorts.same(Scalar(tuple(cases)), reader.value(of_turn, frame), left.at)
    return None


def _is_open(reader: Reader, expression: ir.Expression) -> bool:
    return reader.sorts.is_open(expression.type)


def _counted(reader: Reader, expression: ir.Compare, frame: Frame) -> Formula | None:
    """Return the formula of a comparison of the size of one set with a number or a sum of constants; None for
    any other comparison.
    """
    sizes: list[tuple[SetValue, int]] = []
    total: dict[str, int] = {}
    if not _mentions_size(expression.left) and not _mentions_size(expression.right):
        return None
    for side, sign in ((expression.left, 1), (expression.right, -1)):
        _linear(reader, side, sign, sizes, total, frame)
    if len(sizes) != 1:
        raise Outside(
            "the sizes of several sets are compared: counting is outside the fragment", expression.at,
            instead="one set against a number or the size of its index, as in `2 * len(q) > n`",
        )  # fmt: skip
    some, factor = sizes[0]
    operator = expression.operator
    if factor < 0:
        factor, total = -factor, {name: -number for name, number in total.items()}
        operator = _TURNED.get(operator, operator)
    bound = {name: -number for name, number in total.items()}

    def linear(more: int) -> Linear:
        needed = bound | {"": bound.get("", 0) + more}
        return tuple(sorted((name, number) for name, number in needed.items() if number))

    def at_least(more: int) -> Formula:
        return reader.theory.is_large(some, factor, linear(more), expression.at)

    def less_than(more: int) -> Formula:
        return reader.theory.is_small(some, factor, linear(more), expression.at)

    match operator:
        case ir.Comparison.AT_LEAST:
            return at_least(0)
        case ir.Comparison.GREATER:
            return at_least(1)
        case ir.Comparison.LESS:
            return less_than(0)
        case ir.Comparison.AT_MOST:
            return less_than(1)
    same = conjunction(at_least(0), negation(at_least(1)))
    return same if operator is ir.Comparison.EQUAL else negation(same)


def _linear(
    reader: Reader, side: ir.Expression, sign: int, sizes: list[tuple[SetValue, int]], total: dict[str, int],
    frame: Frame,
) -> None:  # fmt: skip
    """Add an integer expression, times `sign`, to a linear sum of set sizes and constants."""
    match side:
        case ir.Size(collection=collection):
            sizes.append((reader.collection(collection, frame), sign))
        case ir.Reduce(
            reduction=ir.Reduction.SUM, binders=(binder,), body=ir.Literal(value=1)
        ) if isinstance(binder.source, types.Type):
            sizes.append((reader.where(binder, frame), sign))
        case ir.Arithmetic(operator=ir.Operation.ADD | ir.Operation.SUBTRACT as operator):
            _linear(reader, side.left, sign, sizes, total, frame)
            turned = sign if operator is ir.Operation.ADD else -sign
            _linear(reader, side.right, turned, sizes, total, frame)
        case ir.Arithmetic(
            operator=ir.Operation.MULTIPLY, left=ir.Literal(value=int(factor)), right=inner
        ) | ir.Arithmetic(
            operator=ir.Operation.MULTIPLY, left=inner, right=ir.Literal(value=int(factor))
        ):
            _linear(reader, inner, sign * factor, sizes, total, frame)
        case ir.Constant(name=name) if name in reader.sorts.every:
            total[name] = total.get(name, 0) + sign
        case _:
            value = reader.value(side, frame)
            number = value.cases[0][1] if isinstance(value, Scalar) and len(value.cases) == 1 else None
            if not isinstance(number, int):
                raise Outside(
                    "the size of a set is compared with a number that changes: counting is outside the "
                    "fragment", side.at, instead="a number, or a sum of constants",
                )  # fmt: skip
            total[""] = total.get("", 0) + sign * number


def _ordered(left: Value, right: Value, operator: ir.Comparison, at: Location) -> Formula:
    if not isinstance(left, Scalar) or not isinstance(right, Scalar):
        raise Outside("an order of values that have none here", at)
    if operator in (ir.Comparison.GREATER, ir.Comparison.AT_LEAST):
        left, right = right, left
    strict = operator in (ir.Comparison.LESS, ir.Comparison.GREATER)
    found: list[Formula] = []
    for here, one in left.cases:
        for there, other in right.cases:
            found.append(conjunction(here, there, _before(one, other, at, strict=strict)))
    return disjunction(*found)


def _before(one: Leaf, other: Leaf, at: Location, *, strict: bool) -> Formula:
    if isinstance(one, int) and isinstance(other, int):
        return TRUE if one < other or (one == other and not strict) else FALSE
    if isinstance(one, Member) and isinstance(other, Member):
        return _before(number_of(one), number_of(other), at, strict=strict)
    if isinstance(one, Place) or isinstance(other, Place):
        places = in_one_sequence(one, other, at)
        return less(*places) if strict else at_most(*places)
    first, second = as_term(one), as_term(other)
    if first is None or second is None:
        raise Outside("an order of values that have none here", at)
    return less(first, second) if strict else at_most(first, second)


def number_of(member: Member) -> int:
    """Return the position of a member in an index of known size, from its name `Process(2)`."""
    return int(member.name.rpartition("(")[2].rstrip(")"))


def _mentions_size(expression: ir.Expression) -> bool:
    match expression:
        case ir.Size(collection=collection):
            return isinstance(collection.type, types.SetOf)
        case ir.Reduce(reduction=ir.Reduction.SUM):
            return True
        case ir.Arithmetic(left=left, right=right):
            return _mentions_size(left) or _mentions_size(right)
    return False
