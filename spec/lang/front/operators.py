"""Operators on truth values, numbers, sets and sequences, and the facts that a condition establishes.

A condition gives the facts that hold where it is true and where it is false: `x is not None` and
`isinstance(x, R)` narrow a path, `len(q) > 0` bounds an integer, `and`, `or` and `not` combine. Values of
different sorts are never compared: CPython would call them unequal, or equal by accident (0 and False).
"""

from __future__ import annotations

import ast

from antiphon.spec.lang import ir, types, values
from antiphon.spec.lang.front import displays
from antiphon.spec.lang.front.body import Body, Fact, Facts, Value, at_least, path_of, python_object
from antiphon.spec.lang.front.reading import Condition, condition, integer, read, read_plain
from antiphon.spec.lang.front.sorts import NONE, accepts, is_integer, join, plus, records_of, surface, words

COMPARISONS: dict[type[ast.cmpop], ir.Comparison] = {
    ast.Eq: ir.Comparison.EQUAL, ast.NotEq: ir.Comparison.UNEQUAL, ast.Is: ir.Comparison.EQUAL,
    ast.IsNot: ir.Comparison.UNEQUAL,
    ast.Lt: ir.Comparison.LESS, ast.LtE: ir.Comparison.AT_MOST, ast.Gt: ir.Comparison.GREATER,
    ast.GtE: ir.Comparison.AT_LEAST,
}  # fmt: skip

ARITHMETIC: dict[type[ast.operator], ir.Operation] = {
    ast.Add: ir.Operation.ADD, ast.Sub: ir.Operation.SUBTRACT, ast.Mult: ir.Operation.MULTIPLY,
    ast.FloorDiv: ir.Operation.DIVIDE,
    ast.Mod: ir.Operation.MODULO,
}  # fmt: skip

SETS: dict[type[ast.operator], ir.SetOperation] = {
    ast.BitOr: ir.SetOperation.UNION, ast.BitAnd: ir.SetOperation.INTERSECTION,
    ast.Sub: ir.SetOperation.DIFFERENCE,
    ast.BitXor: ir.SetOperation.SYMMETRIC_DIFFERENCE,
}  # fmt: skip


# Conditions ------------------------------------------------------------------------------------------


def either(body: Body, node: ast.BoolOp) -> Condition:
    """Return the condition of `a and b` or `a or b`."""
    return _conjunction(body, node) if isinstance(node.op, ast.And) else _disjunction(body, node)


def negation(body: Body, node: ast.UnaryOp) -> Condition | None:
    """Return the condition of `not a`; None for any other operator."""
    if not isinstance(node.op, ast.Not):
        return None
    test, yes, no = condition(body, node.operand)
    return ir.Not(type=ir.BOOL, operand=test, at=body.at(node)), no, yes


def test_of_call(body: Body, node: ast.Call) -> Condition | None:
    """Return the condition of `isinstance(value, Record)` or `budget(condition)`; None for any other call."""
    function = python_object(body, node.func)
    if function is isinstance:
        return _instance(body, node)
    return _budget(body, node) if function is values.budget else None


def _budget(body: Body, node: ast.Call) -> Condition:
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        raise body.error(node, "budget takes one condition", "budget(self.expired < self.timeouts)")
    inner, yes, no = condition(body, node.args[0])
    return ir.Budget(type=ir.BOOL, condition=inner, at=body.at(node)), yes, no


def _conjunction(body: Body, node: ast.BoolOp) -> Condition:
    parts: list[ir.Expression] = []
    shown: Facts = {}
    with body.inner():
        for operand in node.values:
            part, yes, _ = condition(body, operand)
            parts.append(part)
            shown |= yes
            body.learn(yes)
    return ir.And(type=ir.BOOL, operands=tuple(parts), at=body.at(node)), shown, {}


def _disjunction(body: Body, node: ast.BoolOp) -> Condition:
    parts: list[ir.Expression] = []
    shown: Facts = {}
    with body.inner():
        for operand in node.values:
            part, _, no = condition(body, operand)
            parts.append(part)
            shown |= no
            body.learn(no)
    return ir.Or(type=ir.BOOL, operands=tuple(parts), at=body.at(node)), {}, shown


def _fact(body: Body, node: ast.expr, kind: types.Type) -> Facts:
    path = path_of(body, node)
    return {} if path is None else {path[0]: Fact(kind, path[1], path[2])}


def _instance(body: Body, node: ast.Call) -> Condition:
    if len(node.args) != 2 or node.keywords:
        raise body.error(node, "isinstance takes a value and a record", "isinstance(message, Ack)")
    value = read_plain(body, node.args[0])
    whole = value.type.of if isinstance(value.type, types.Optional) else value.type
    asked = _classes(body, node.args[1])
    known = {item.name: item for item in records_of(whole)}
    for item in asked:
        if known.get(item.name) != item:
            raise body.error(
                node.args[1],
                f"{ast.unparse(node.args[0])} is {words(value.type)}, never a {item.name}",
                "one of its records",
            )
    if isinstance(value.type, types.Record):
        raise body.error(
            node, f"{ast.unparse(node.args[0])} is always a {value.type.name}", "leave the test out"
        )
    rest = [item for name, item in known.items() if name not in {one.name for one in asked}]
    test = ir.IsRecord(
        type=ir.BOOL, value=value.node, records=tuple(item.name for item in asked), at=body.at(node)
    )
    yes = _fact(body, node.args[0], asked[0] if len(asked) == 1 else types.Union(tuple(asked)))
    no: Facts = {}
    if not isinstance(value.type, types.Optional):
        path = path_of(body, node.args[0])
        if path is not None and path[0] in body.facts:
            still = {item.name for item in records_of(body.facts[path[0]].type)}
            rest = [item for item in rest if item.name in still]
        if rest:
            no = _fact(body, node.args[0], rest[0] if len(rest) == 1 else types.Union(tuple(rest)))
    return test, yes, no


def _classes(body: Body, node: ast.expr) -> list[types.Record]:
    match node:
        case ast.Tuple(elts=parts) if parts:
            return [item for part in parts for item in _classes(body, part)]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _classes(body, left) + _classes(body, right)
    python = python_object(body, node)
    if isinstance(python, type):
        kind = body.world.type_of(python, body.at(node), ast.unparse(node))
        if isinstance(kind, types.Record):
            return [kind]
    raise body.error(node, f"{ast.unparse(node)} is no record", "isinstance(message, Ack), or (Ack, Data)")


# Comparison ------------------------------------------------------------------------------------------


def chain(body: Body, node: ast.Compare) -> Condition:
    """Return the condition of a comparison chain, `a < b <= c`."""
    sides = [node.left, *node.comparators]
    if len(node.ops) == 1:
        return _compare(body, node, sides[0], node.ops[0], sides[1])
    parts: list[ir.Expression] = []
    shown: Facts = {}
    with body.inner():
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            part, yes, _ = _compare(body, node, left, operator, right)
            parts.append(part)
            shown |= yes
            body.learn(yes)
    return ir.And(type=ir.BOOL, operands=tuple(parts), at=body.at(node)), shown, {}


def _compare(
    body: Body, node: ast.Compare, left: ast.expr, operator: ast.cmpop, right: ast.expr
) -> Condition:
    if isinstance(operator, ast.In | ast.NotIn):
        test = _member(body, node, left, right)
        return (
            (
                ir.Not(type=ir.BOOL, operand=test, at=body.at(node))
                if isinstance(operator, ast.NotIn)
                else test
            ),
            {},
            {},
        )
    meaning = COMPARISONS[type(operator)]
    if meaning in (ir.Comparison.EQUAL, ir.Comparison.UNEQUAL) and _is_none(right):
        return _none_test(body, node, left, meaning)
    one, two = pair(body, left, right, None, stored=False)
    _comparable(body, node, one, operator, two, (left, right))
    test = ir.Compare(type=ir.BOOL, operator=meaning, left=one.node, right=two.node, at=body.at(node))
    sides = (left, one), (right, two)
    return test, _bounds(body, *sides, meaning), _bounds(body, *sides, _OPPOSITE[meaning])


_OPPOSITE = {
    ir.Comparison.EQUAL: ir.Comparison.UNEQUAL, ir.Comparison.UNEQUAL: ir.Comparison.EQUAL,
    ir.Comparison.LESS: ir.Comparison.AT_LEAST, ir.Comparison.AT_LEAST: ir.Comparison.LESS,
    ir.Comparison.GREATER: ir.Comparison.AT_MOST, ir.Comparison.AT_MOST: ir.Comparison.GREATER,
}  # fmt: skip
_MIRRORED = {
    ir.Comparison.LESS: ir.Comparison.GREATER, ir.Comparison.GREATER: ir.Comparison.LESS,
    ir.Comparison.AT_MOST: ir.Comparison.AT_LEAST, ir.Comparison.AT_LEAST: ir.Comparison.AT_MOST,
}  # fmt: skip

Side = tuple[ast.expr, Value]
"""One side of a comparison: its text and its value."""


def _bounds(body: Body, left: Side, right: Side, meaning: ir.Comparison) -> Facts:
    """Return the lower bounds of integers that follow from a comparison."""
    if not (is_integer(left[1].type) and is_integer(right[1].type)):
        return {}
    mirrored = _MIRRORED.get(meaning, meaning)
    return _bound(body, left, right, meaning) | _bound(body, right, left, mirrored)


def _bound(body: Body, side: Side, other: Side, meaning: ir.Comparison) -> Facts:
    (node, value), (beside, than) = side, other
    strict = meaning in (ir.Comparison.GREATER, ir.Comparison.UNEQUAL)
    if meaning in (ir.Comparison.LESS, ir.Comparison.AT_MOST):
        return {}
    if meaning is ir.Comparison.UNEQUAL and (value.least is None or than.type != _only(value.least)):
        return {}
    found: Facts = {}
    low = None if than.least is None else than.least + strict
    path = path_of(body, node, integer=True)
    if path is not None and low is not None and (value.least is None or low > value.least):
        found[at_least(path[0])] = Fact(ir.INTEGER, path[1], path[2], low)
    path = path_of(body, ast.BinOp(node, ast.Sub(), beside), integer=True)
    if path is not None and not isinstance(beside, ast.Constant):
        found[at_least(path[0])] = Fact(ir.INTEGER, path[1], path[2], int(strict))
    return found


def _only(number: int) -> types.Int:
    return types.Int(number, number)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _none_test(body: Body, node: ast.Compare, left: ast.expr, meaning: ir.Comparison) -> Condition:
    value = read_plain(body, left)
    if not isinstance(value.type, types.Optional):
        raise body.error(
            node, f"{ast.unparse(left)} is {words(value.type)}, never None", "leave the test out"
        )
    nothing = ir.Literal(type=NONE, value=None, at=body.at(node))
    test = ir.Compare(type=ir.BOOL, operator=meaning, left=value.node, right=nothing, at=body.at(node))
    there = _fact(body, left, value.type.of)
    known = path_of(body, left)
    if known is not None and known[0] in body.facts:
        there = {known[0]: body.facts[known[0]]}
    return (test, {}, there) if meaning is ir.Comparison.EQUAL else (test, there, {})


def pair(
    body: Body, left: ast.expr, right: ast.expr, wanted: types.Type | None, *, stored: bool
) -> tuple[Value, Value]:
    """Return two operands of one sort; a display or a string gets its type from the other operand."""
    if (
        (displays.is_open(left) or isinstance(left, ast.Constant))
        and not displays.is_open(right)
        and not isinstance(right, ast.Constant)
    ):
        two = read(body, right, stored=stored)
        return read(body, left, _context(left, two.type, wanted), stored=stored), two
    one = read(body, left, wanted if displays.is_open(left) else None, stored=stored)
    return one, read(body, right, _context(right, one.type, wanted), stored=stored)


def _context(node: ast.expr, other: types.Type, wanted: types.Type | None) -> types.Type | None:
    if isinstance(node, ast.Constant):
        return other if isinstance(node.value, str) else None
    if not displays.is_open(node):
        return None
    inner = other.of if isinstance(other, types.Optional) else other
    return inner if isinstance(inner, types.SetOf | types.SequenceOf | types.MapOf) else wanted


def _comparable(
    body: Body,
    node: ast.Compare,
    one: Value,
    operator: ast.cmpop,
    two: Value,
    texts: tuple[ast.expr, ast.expr],
) -> None:
    left, right = one.type, two.type
    said = f"{ast.unparse(texts[0])} is {words(left)}, {ast.unparse(texts[1])} is {words(right)}"
    if isinstance(operator, ast.Is | ast.IsNot):
        singles = (types.Enumeration, types.Bool, ir.NoneType)
        plain = [item.of if isinstance(item, types.Optional) else item for item in (left, right)]
        if not any(isinstance(item, singles) for item in plain):
            raise body.error(node, "identity has a meaning only for None and members of an Enum", "== or !=")
    if isinstance(operator, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        if not _related(left, right):
            raise body.error(
                node, f"values of different sorts are never equal: {said}", "two values of one type"
            )
        return
    if is_integer(left) and is_integer(right):
        return
    if isinstance(left, types.IndexType) and left == right:
        if not left.ordered:
            raise body.error(
                node,
                f"{left.name} has no order",
                f"class {left.name}(Index, ordered=True), if order has a meaning",
            )
        return
    if isinstance(left, types.SetOf) and left == right:
        return
    instead = "integers, members of an ordered Index, or sets of one type"
    first, second = map(ast.unparse, texts)
    if isinstance(left, types.SequenceOf) and isinstance(right, types.SequenceOf):
        instead = f"{first} == {second}[:len({first})], if the first is to be a prefix of the second"
    if isinstance(left, types.MapOf) and left == right:
        sign = COMPARISONS[type(operator)].value
        instead = f"all({first}[key] {sign} {second}[key] for key in self.each({words(left.key)}))"
    raise body.error(node, f"no order between the two: {said}", instead)


def _related(left: types.Type, right: types.Type) -> bool:
    if accepts(left, right) or accepts(right, left):
        return True
    if isinstance(left, types.Optional) and isinstance(right, types.Optional):
        return _related(left.of, right.of)
    bare_left = left.of if isinstance(left, types.Optional) else left
    bare_right = right.of if isinstance(right, types.Optional) else right
    if records_of(bare_left) and records_of(bare_right):
        return bool(set(records_of(bare_left)) & set(records_of(bare_right)))
    return accepts(bare_left, bare_right) or accepts(bare_right, bare_left)


def _member(body: Body, node: ast.Compare, left: ast.expr, right: ast.expr) -> ir.Expression:
    if isinstance(right, ast.Call) and isinstance(right.func, ast.Attribute) and right.func.attr == "each":
        raise body.error(right, "every value of a type is in its domain", "leave the test out, or compare")
    item = read(body, left)
    collection = read(body, right, _collection(right, item))
    if isinstance(collection.type, types.MapOf):
        raise body.error(
            node,
            f"{ast.unparse(right)} is a map; every key has a value",
            "compare its value: self.map[key] is not None",
        )
    if not isinstance(collection.type, types.SetOf | types.SequenceOf):
        raise body.error(
            node,
            f"{ast.unparse(right)} is {words(collection.type)}; only sets and sequences have elements",
            "==",
        )
    if not item.frozen:
        raise body.error(left, "a set that is looked for must be hashable", f"Set({ast.unparse(left)})")
    if not _related(item.type, collection.type.of):
        said = f"{ast.unparse(left)} is {words(item.type)}, never an element of {words(collection.type)}"
        raise body.error(node, said, "a value of its element type")
    return ir.Member(type=ir.BOOL, item=item.node, collection=collection.node, at=body.at(node))


def _collection(node: ast.expr, item: Value) -> types.Type | None:
    """Return the type of a set or tuple display on the right of `in`, if the value on the left is a member of
    an enumeration; else None.
    """
    if isinstance(node, ast.Set | ast.Tuple) and isinstance(item.type, types.Enumeration):
        return (
            types.SetOf(item.type)
            if isinstance(node, ast.Set)
            else types.SequenceOf(item.type, len(node.elts))
        )
    return None


# Arithmetic and sets ---------------------------------------------------------------------------------


def unary(body: Body, node: ast.UnaryOp) -> Value:
    """Return the value of `not x` or `-x`."""
    at = body.at(node)
    if isinstance(node.op, ast.Not):
        return Value(condition(body, node)[0], ir.BOOL)
    if isinstance(node.op, ast.USub):
        match node.operand:
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                return Value(ir.Literal(type=ir.INTEGER, value=-number, at=at), types.Int(-number, -number))
        operand = integer(body, node.operand)
        zero = ir.Literal(type=ir.INTEGER, value=0, at=at)
        return Value(
            ir.Arithmetic(
                type=ir.INTEGER, operator=ir.Operation.SUBTRACT, left=zero, right=operand.node, at=at
            ),
            ir.INTEGER,
        )
    raise body.error(
        node, f"{ast.unparse(node)}: this operator is not in the language", "+, -, *, //, %, not"
    )


def binary(
    body: Body,
    node: ast.AST,
    left: ast.expr,
    operator: ast.operator,
    right: ast.expr,
    wanted: types.Type | None,
    stored: bool,
) -> Value:
    """Return the value of an arithmetic or set operation, or of `sequence + (item,)`."""
    if isinstance(operator, ast.Div):
        raise body.error(node, "/ gives a float", "//")
    if type(operator) not in ARITHMETIC and type(operator) not in SETS:
        raise body.error(
            node,
            "this operator is not in the language",
            "+, -, *, //, % on integers; |, &, -, ^ on sets; + on sequences",
        )
    if isinstance(operator, ast.BitOr) and isinstance(right, ast.Dict):
        return displays.update(body, node, read(body, left), right, left)
    inner = wanted.of if isinstance(wanted, types.Optional) else wanted
    context = inner if isinstance(inner, types.SetOf | types.SequenceOf) else None
    if isinstance(operator, ast.Add) and isinstance(right, ast.Tuple):
        return displays.append(
            body,
            node,
            read(body, left, context if displays.is_open(left) else None, stored=stored),
            right,
            stored,
        )
    keep = stored and isinstance(operator, ast.BitOr | ast.Add)
    one, two = pair(body, left, right, context, stored=keep)
    return combine(body, node, one, operator, two, (left, right))


def combine(
    body: Body,
    node: ast.AST,
    one: Value,
    operator: ast.operator,
    two: Value,
    texts: tuple[ast.expr, ast.expr],
) -> Value:
    """Return the value of `one operator two` for operands that are already read."""
    at = body.at(node)
    if isinstance(one.type, types.SetOf) and isinstance(two.type, types.SetOf):
        if type(operator) not in SETS:
            raise body.error(
                node, "this operator is not for sets", "| (union), & (intersection), - (difference), ^"
            )
        if one.type != two.type:
            raise body.error(
                node,
                f"the sets have different element types: {words(one.type)} and {words(two.type)}",
                "two sets of one type",
            )
        return Value(
            ir.SetBinary(type=one.type, operator=SETS[type(operator)], left=one.node, right=two.node, at=at),
            one.type,
            one.frozen,
        )
    for value, text, other in ((one, texts[0], two), (two, texts[1], one)):
        if isinstance(other.type, types.SetOf) and type(operator) in SETS and value.type == other.type.of:
            what = f"{ast.unparse(text)} is {words(value.type)}, and sets are joined with sets"
            raise body.error(text, what, f"{{{ast.unparse(text)}}}")
    if isinstance(one.type, types.SequenceOf) and isinstance(operator, ast.Add):
        return _concatenate(body, node, one, two, texts)
    if isinstance(one.type, types.MapOf) and type(operator) in SETS:
        first, second = map(ast.unparse, texts)
        both = f"Map({{key: max({first}[key], {second}[key]) for key in self.each(Key)}})"
        instead = f"{first} | {{key: value}}, or {both}"
        raise body.error(node, "of maps only entries are changed", instead)
    for value, text in zip((one, two), texts, strict=True):
        if not is_integer(value.type):
            what = f"{ast.unparse(text)} is {words(value.type)}"
            hint = f"{ast.unparse(text)}.index" if isinstance(value.type, types.IndexType) else "an integer"
            if isinstance(value.type, types.Optional):
                hint = "present(...), after a test `is not None`"
            raise body.error(node, f"arithmetic needs integers: {what}", hint)
    if type(operator) not in ARITHMETIC:
        instead = "+, -, *, //, %"
        if isinstance(operator, ast.BitAnd | ast.BitOr):
            word = "and" if isinstance(operator, ast.BitAnd) else "or"
            instead = f"{instead}; or `{word}` between conditions, which binds after comparisons"
        raise body.error(node, "this operator is not for integers", instead)
    meaning = ARITHMETIC[type(operator)]
    zero = two.type == types.Int(0, 0)
    if zero and meaning in (ir.Operation.DIVIDE, ir.Operation.MODULO):
        raise body.error(node, "division by zero", "a divisor that is not 0")
    return Value(
        ir.Arithmetic(type=ir.INTEGER, operator=meaning, left=one.node, right=two.node, at=at),
        ir.INTEGER,
        low=_least(meaning, one, two),
    )


def _concatenate(
    body: Body, node: ast.AST, one: Value, two: Value, texts: tuple[ast.expr, ast.expr]
) -> Value:
    kind = two.type
    if not isinstance(one.type, types.SequenceOf) or not isinstance(kind, types.SequenceOf):
        what = f"{ast.unparse(texts[1])} is {words(kind)}, and a sequence grows by items or a sequence"
        raise body.error(node, what, f"{ast.unparse(texts[0])} + (item,)")
    if one.type.of != kind.of and 0 not in (one.type.most, kind.most):
        raise body.error(
            node,
            f"the sequences have different items: {words(one.type)} and {words(kind)}",
            "two sequences of one type",
        )
    of = kind.of if one.type.most == 0 else one.type.of
    longer = types.SequenceOf(of, plus(one.type.most, kind.most))
    made = ir.Concatenate(type=longer, left=one.node, right=two.node, at=body.at(node))
    return Value(made, longer)


def _least(meaning: ir.Operation, one: Value, two: Value) -> int | None:
    if one.least is None or two.least is None:
        return 0 if meaning is ir.Operation.MODULO and two.least is not None and two.least >= 0 else None
    if meaning is ir.Operation.ADD:
        return one.least + two.least
    if meaning is ir.Operation.MULTIPLY and one.least >= 0 and two.least >= 0:
        return one.least * two.least
    if meaning is ir.Operation.DIVIDE and one.least >= 0 and two.least >= 0:
        return 0
    if meaning is ir.Operation.MODULO and two.least >= 0:
        return 0
    if (
        meaning is ir.Operation.SUBTRACT
        and isinstance(two.type, types.Int)
        and isinstance(two.type.high, int)
    ):
        return one.least - two.type.high
    return None


def least_of(first: Value, second: Value) -> tuple[types.Type, int | None]:
    """Return the exact type and the lower bound of an integer that is one of two."""
    exact = join(first.type, second.type) or ir.INTEGER
    lows = [item for item in (first.least, second.least) if item is not None]
    return exact, min(lows) if len(lows) == 2 else None


def choose_integer(body: Body, node: ast.AST, first: Value, second: Value, *, largest: bool) -> Value:
    """Return the value of `max(a, b)` or `min(a, b)`."""
    at = body.at(node)
    operator = ir.Comparison.LESS if largest else ir.Comparison.GREATER
    test = ir.Compare(type=ir.BOOL, operator=operator, left=first.node, right=second.node, at=at)
    exact, low = least_of(first, second)
    if largest:
        low = max((item for item in (first.least, second.least) if item is not None), default=None)
    return Value(
        ir.Choose(type=surface(exact), condition=test, then=second.node, otherwise=first.node, at=at),
        exact,
        low=low,
    )
