"""Sets, sequences and comprehensions: collections from their elements, and the `for ... if ...` over a
domain.

An element of a display must certainly be in the element domain, or the display must go straight to a place
that checks it. CPython checks nothing when it makes a set, so a set that is only compared could hold values
that its type cannot.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.errors import Location
from antiphon.spec.lang.front import world
from antiphon.spec.lang.front.body import Body, Local, Value, python_object
from antiphon.spec.lang.front.reading import condition, integer, read
from antiphon.spec.lang.front.sorts import (
    accepts,
    cardinality,
    fits,
    is_finite,
    is_ordered,
    join,
    plus,
    surface,
    words,
)


def is_open(node: ast.expr) -> bool:
    """Return True if a display alone does not show its type, as an empty set does not."""
    match node:
        case ast.Set() | ast.SetComp() | ast.DictComp() | ast.Tuple():
            return True
        case ast.Call(func=ast.Name(id="Set" | "frozenset" | "set" | "Map" | "Seq" | "tuple" | "everywhere")):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return is_open(body) and is_open(orelse)
        case ast.BinOp(left=left, right=right):
            return is_open(left) and is_open(right)
    return False


def bare(wanted: types.Type | None) -> types.Type | None:
    """Return the type that a display in this place has: for an optional type the type without None."""
    return wanted.of if isinstance(wanted, types.Optional) else wanted


def set_display(
    body: Body, node: ast.expr, items: Sequence[ast.expr], wanted: types.Type | None, stored: bool
) -> Value:
    """Return the value of a set display, `{a, b}`."""
    goal = bare(wanted)
    of = goal.of if isinstance(goal, types.SetOf) else None
    found = [_element(body, item, of, stored) for item in items]
    of = of or _common(body, node, found, items)
    kind = types.SetOf(of)
    return Value(
        ir.SetLiteral(type=kind, items=tuple(item.node for item in found), at=body.at(node)),
        kind,
        frozen=False,
    )


def _element(body: Body, node: ast.expr, of: types.Type | None, stored: bool) -> Value:
    value = read(body, node, of, stored=stored)
    if not value.frozen:
        raise body.error(
            node, "an element of a set or sequence must be hashable", f"Set({ast.unparse(node)})"
        )
    if of is not None and not stored:
        certain(body, node, value, of)
    return value


def certain(body: Body, node: ast.expr, value: Value, of: types.Type) -> None:
    """Refuse an element `node` that might lie outside the element type `of`: a collection that is not stored
    is not checked at run time.
    """
    if not fits(of, value.type):
        raise body.error(
            node,
            f"{ast.unparse(node)} may lie outside {words(of)}, and nothing checks it here",
            "test membership of the element itself, or a parameter or bound variable of the element type",
        )


def _common(body: Body, node: ast.expr, found: Sequence[Value], items: Sequence[ast.expr]) -> types.Type:
    if not found:
        raise body.error(
            node,
            "the element type of this empty collection is not known here",
            "assign it to a variable, or compare its len with 0",
        )
    of: types.Type | None = found[0].type
    for value, item in zip(found[1:], items[1:], strict=True):
        before = of
        of = join(before, value.type) if before is not None else None
        if of is None:
            raise body.error(
                item,
                f"elements of one collection have one type: {words(found[0].type)} and {words(value.type)}",
                "two collections",
            )
    assert of is not None
    return finite(body, node, of)


def finite(body: Body, node: ast.expr, of: types.Type) -> types.Type:
    """Return the type `of`, or refuse it if it has no finite domain."""
    if not is_finite(of):
        raise body.error(
            node,
            f"elements of type {words(of)} have no declared domain here",
            "compare one by one: x == a or x == b; or store the collection",
        )
    return of


def gather(
    body: Body,
    node: ast.expr,
    element: ast.expr,
    generators: list[ast.comprehension],
    wanted: types.Type | None,
    stored: bool,
) -> Value:
    """Return the value of a set comprehension, `{element for ... if ...}`."""
    goal = bare(wanted)
    of = goal.of if isinstance(goal, types.SetOf) else None
    with body.inner():
        binders = comprehension(body, generators)
        value = _element(body, element, of, stored)
    kind = types.SetOf(of or finite(body, element, value.type))
    return Value(ir.Gather(type=kind, binders=binders, body=value.node, at=body.at(node)), kind, frozen=False)


def comprehended(
    body: Body, node: ast.SetComp | ast.DictComp, wanted: types.Type | None, stored: bool
) -> Value:
    """Return the value of a comprehension in braces: a set or a map."""
    if isinstance(node, ast.DictComp):
        return bare_map(body, node, wanted, stored)
    return gather(body, node, node.elt, node.generators, wanted, stored)


TOTAL = "Map({key: value for key in self.each(Key)})"


def bare_map(body: Body, node: ast.DictComp, wanted: types.Type | None, stored: bool) -> Value:
    """Return the value of `{key: value for key in self.each(Key)}` where a map is stored. CPython makes a
    dict of it, so only a place that checks its domain accepts it.
    """
    if not stored or not isinstance(bare(wanted), types.MapOf):
        reason = "a dict becomes a map only where it is stored, passed or made a field"
        raise body.error(node, reason, f"Map({ast.unparse(node)})")
    made = total_map(body, node, wanted, stored)
    return Value(made.node, made.type, frozen=False)


def total_map(body: Body, node: ast.DictComp, wanted: types.Type | None, stored: bool) -> Value:
    """Return the value of `Map({key: value for key in self.each(Key)})`."""
    goal = bare(wanted)
    of = goal.value if isinstance(goal, types.MapOf) else None
    [first, *more] = node.generators
    own = isinstance(first.target, ast.Name) and ast.unparse(node.key) == first.target.id
    if more or first.ifs or not own:
        instead = f"{TOTAL}, with `... if ... else ...` in the value"
        raise body.error(node, "a map is total: each key has its value", instead)
    with body.inner():
        [binder] = comprehension(body, node.generators)
        if not isinstance(binder.source, types.Type):
            raise body.error(first.iter, "a map is total: its keys are all values of a type", TOTAL)
        value = read(body, node.value, of, stored=stored)
    if of is None or not (stored or fits(of, value.type)):
        of = value.type
    if isinstance(of, ir.NoneType):
        raise body.error(node.value, "every value would be None", "everywhere(None), where it is stored")
    kind = types.MapOf(binder.source, of)
    return Value(ir.MakeMap(type=kind, binder=binder, body=value.node, at=body.at(node)), kind)


def update(body: Body, node: ast.AST, whole: Value, changes: ast.Dict, text: ast.expr) -> Value:
    """Return the value of `map | {key: value}`."""
    if not isinstance(whole.type, types.MapOf):
        reason = f"{ast.unparse(text)} is {words(whole.type)}, and only a map has entries"
        raise body.error(node, reason, "map | {key: value}")
    exact: types.Type = whole.type
    keys, values = [], []
    for key, value in zip(changes.keys, changes.values, strict=True):
        if key is None:
            raise body.error(value, "** is not in the language", "each key by itself: map | {key: value}")
        where = read(body, key, whole.type.key, stored=True)
        if not where.frozen:
            raise body.error(key, "a key must be hashable", f"Set({ast.unparse(key)})")
        keys.append(where.node)
        new = read(body, value, whole.type.value)
        values.append(new.node)
        if not fits(whole.type.value, new.type):
            exact = join(exact, types.MapOf(whole.type.key, new.type)) or exact
    made = ir.Update(type=exact, map=whole.node, keys=tuple(keys), values=tuple(values), at=body.at(node))
    return Value(made, exact)


def sequence(
    body: Body, node: ast.expr, items: Sequence[ast.expr], wanted: types.Type | None, stored: bool
) -> Value:
    """Return the value of a sequence display, `(a, b)`."""
    goal = bare(wanted)
    of = goal.of if isinstance(goal, types.SequenceOf) else None
    found = [_element(body, item, of, stored) for item in items]
    kind = types.SequenceOf(of or _common(body, node, found, items), len(items))
    return Value(ir.MakeSequence(type=kind, items=tuple(item.node for item in found), at=body.at(node)), kind)


def collect(
    body: Body, node: ast.expr, one: ast.GeneratorExp, wanted: types.Type | None, stored: bool
) -> Value:
    """Return the value of `tuple(item for x in source if ...)`."""
    goal = bare(wanted)
    of = goal.of if isinstance(goal, types.SequenceOf) else None
    if len(one.generators) > 1:
        raise body.error(node, "a sequence is made by one `for`", "a helper with a loop for the other one")
    source = one.generators[0].iter
    with body.inner():
        (binder,) = comprehension(body, one.generators)
        value = _element(body, one.elt, of, stored)
    kind = types.SequenceOf(of or finite(body, one.elt, value.type), _rounds(body, source, binder))
    return Value(ir.Collect(type=kind, binder=binder, body=value.node, at=body.at(node)), kind)


def every(body: Body, node: ast.Call, at: Location) -> Value:
    """Return the value of `tuple(self.each(Type))`."""
    of = each(body, node)
    name = body.unique("item")
    binder = ir.Binder(name=name, type=of, source=of, at=body.at(node))
    kind = types.SequenceOf(of, _rounds(body, node, binder))
    item = ir.Name(type=surface(of), name=name, at=body.at(node))
    return Value(ir.Collect(type=kind, binder=binder, body=item, at=at), kind)


def _rounds(body: Body, node: ast.expr, binder: ir.Binder) -> int | str:
    """Return the greatest number of items of a sequence that takes one from each turn of a `for`; refuse a
    `for` without an order.
    """
    if isinstance(binder.source, types.Type):
        if not is_ordered(binder.source):
            kind = words(binder.source)
            raise body.error(
                node,
                f"a sequence has an order, and {kind} has none",
                f"class {kind}(Index, ordered=True), if it has one; or a set {{... for ...}}",
            )
        most = cardinality(binder.source)
        if most is None:
            kind = words(binder.source)
            reason = f"a sequence of every {kind} is too long"
            raise body.error(node, reason, "an Index, an Enum, or integers")
        return most
    if isinstance(binder.source.type, types.SequenceOf):
        return binder.source.type.most
    raise body.error(
        node,
        "a sequence has an order, and a set has none",
        f"for x in self.each(...) if x in {ast.unparse(node)}; or a set {{... for ...}}",
    )


def reverse(body: Body, node: ast.Call) -> Value:
    """Return the value of `reversed(sequence)`."""
    if len(node.args) != 1 or node.keywords:
        raise body.error(node, "reversed takes a sequence", "reversed(self.queue)")
    match node.args[0]:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="each")) if name == body.self_name:
            text = ast.unparse(node.args[0])
            raise body.error(node, "reversed takes a sequence", f"reversed(tuple({text}))")
    value = read(body, node.args[0])
    if not isinstance(value.type, types.SequenceOf):
        text = ast.unparse(node.args[0])
        raise body.error(node, f"reversed takes a sequence, and {text} is {words(value.type)}", "a sequence")
    return Value(ir.Reverse(type=value.type, sequence=value.node, at=body.at(node)), value.type)


def _positions(body: Body, node: ast.Call) -> tuple[types.Type, ir.Expression]:
    """Return the type and the expression of `range(len(q))` or `range(first, len(q) - k)`, positions of a
    sequence.
    """
    instead = (
        'range(len(self.queue)), or self.each(Number), with Number = Annotated[int, Between(1, "messages")]'
    )
    if node.keywords or not 1 <= len(node.args) <= 2:
        raise body.error(node, "range takes the first position and the length of a sequence", instead)
    last = integer(body, node.args[-1])
    most = _greatest(last)
    if most is None:
        text = ast.unparse(node.args[-1])
        reason = f"range has no declared domain: the greatest value of {text} is not known"
        raise body.error(node, reason, instead)
    zero = Value(ir.Literal(type=ir.INTEGER, value=0, at=body.at(node)), types.Int(0, 0))
    first = integer(body, node.args[0]) if len(node.args) == 2 else zero
    if first.least is None or first.least < 0:
        text = ast.unparse(node.args[0])
        raise body.error(node, f"the position {text} may be negative", f"max(0, {text})")
    kind = types.SequenceOf(types.Int(first.least, plus(most, -1)), most)
    return kind.of, ir.Range(type=kind, lower=first.node, upper=last.node, at=body.at(node))


def _greatest(value: Value) -> int | str | None:
    """Return an upper bound of an integer, if one is known: that of a length, a bounded value or a
    constant.
    """
    if isinstance(value.type, types.Int):
        return max(0, value.type.high) if isinstance(value.type.high, int) else value.type.high
    return _longest(value.node)


def _longest(node: ir.Expression) -> int | str | None:
    match node:
        case ir.Constant(name=name):
            return name
        case ir.Size(collection=ir.Expression(type=types.SequenceOf(most=most))):
            return most
        case ir.Arithmetic(operator=operator, left=left, right=ir.Literal(value=int(number))) if number >= 0:
            most_left = _longest(left)
            if most_left is not None and operator is ir.Operation.ADD:
                return plus(most_left, number)
            return most_left if operator is ir.Operation.SUBTRACT else None
        case ir.Choose(then=then, otherwise=otherwise):
            one, other = _longest(then), _longest(otherwise)
            if isinstance(one, int) and isinstance(other, int):
                return max(one, other)
            return one if one == other else None
    return None


def append(body: Body, node: ast.AST, whole: Value, more: ast.Tuple, stored: bool) -> Value:
    """Return the value of `sequence + (item, ...)`."""
    if not isinstance(whole.type, types.SequenceOf):
        raise body.error(node, f"only a sequence grows by items, not {words(whole.type)}", "| for sets")
    for item in more.elts:
        kind = whole.type
        assert isinstance(kind, types.SequenceOf)
        value = _element(body, item, kind.of, stored)
        longer = types.SequenceOf(kind.of, plus(kind.most, 1))
        whole = Value(ir.Append(type=longer, sequence=whole.node, item=value.node, at=body.at(node)), longer)
    return whole


def constant_collection(body: Body, node: ast.expr, python: Any, *, is_set: bool) -> Value:
    """Return an immutable collection of the module or class as a value, element by element in a stable
    order.
    """
    found = []
    for item in python:
        element = world.constant(body.world, item, body.at(node))
        if element is None:
            raise body.error(
                node,
                f"{ast.unparse(node)} holds {item!r}, which is no constant of the language",
                "ints, bools, Enum members",
            )
        found.append(Value(*element))
    if not found:
        raise body.error(
            node,
            f"the element type of {ast.unparse(node)} is not known",
            "Set() at the place where it is used",
        )
    of: types.Type | None = found[0].type
    for value in found[1:]:
        of = join(of, value.type) if of is not None else None
    if of is None:
        raise body.error(node, f"{ast.unparse(node)} holds values of several types", "two constants")
    of = finite(body, node, of)
    if is_set:
        domain = types.bind(of, {})
        found.sort(
            key=lambda value: domain.rank(value.node.value if isinstance(value.node, ir.Literal) else None)
        )
        kind: types.Type = types.SetOf(of)
        return Value(
            ir.SetLiteral(type=kind, items=tuple(item.node for item in found), at=body.at(node)), kind
        )
    kind = types.SequenceOf(of, len(found))
    return Value(ir.MakeSequence(type=kind, items=tuple(item.node for item in found), at=body.at(node)), kind)


# What a `for` ranges over ----------------------------------------------------------------------------


def comprehension(body: Body, generators: list[ast.comprehension]) -> tuple[ir.Binder, ...]:
    """Return the binders of a comprehension; their names and facts stay in force until the caller ends its
    block.
    """
    return tuple(_generator(body, item) for item in generators)


def _generator(body: Body, node: ast.comprehension) -> ir.Binder:
    if node.is_async:
        raise body.error(node.iter, "a specification does not wait", "for")
    at = body.at(node.target)
    name, of, source = bind_target(body, node.target, node.iter)
    tests = []
    for test in node.ifs:
        read, yes, _ = condition(body, test)
        body.learn(yes)
        tests.append(read)
    guard = (
        None
        if not tests
        else tests[0]
        if len(tests) == 1
        else ir.And(type=ir.BOOL, operands=tuple(tests), at=body.at(node.ifs[0]))
    )
    return ir.Binder(name=name, type=of, source=source, condition=guard, at=at)


def bind_target(
    body: Body, target: ast.expr, over: ast.expr
) -> tuple[str, types.Type, types.Type | ir.Expression]:
    """Bind the name of one `for`; return its unique name, its exact type, and the values over which it
    ranges.
    """
    if not isinstance(target, ast.Name):
        raise body.error(
            target,
            "one name is bound at a time",
            "for pair in ...: and pair.first, pair.second, or two `for`",
        )
    if target.id == body.self_name:
        raise body.error(target, f"{target.id} is the specification", "another name")
    of, source = ranges_over(body, over)
    name = body.unique(target.id)
    body.bind(target.id, Local(name, of))
    return name, of, source


def ranges_over(body: Body, node: ast.expr) -> tuple[types.Type, types.Type | ir.Expression]:
    """Return the type of the elements of a `for`, and the source over which it ranges."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="each")) if (
            name == body.self_name and name not in body.locals
        ):
            kind = each(body, node)
            return kind, kind
        case ast.Call(func=function) if python_object(body, function) is range:
            return _positions(body, node)
        case ast.Call(func=function) if python_object(body, function) is reversed:
            value = reverse(body, node)
            assert isinstance(value.type, types.SequenceOf)
            return value.type.of, value.node
        case ast.Call(func=ast.Name(id="enumerate" | "zip" as name)):
            raise body.error(
                node, f"{name} is not in the language", "for i in range(len(self.queue)), and self.queue[i]"
            )
        case ast.Call(func=ast.Name(id="sorted" | "filter" | "map" as name)):
            raise body.error(
                node, f"{name} is not in the language", "self.each(Type), a set or a sequence, with `if`"
            )
    value = read(body, node)
    if isinstance(value.type, types.MapOf):
        raise body.error(node, f"{ast.unparse(node)} is a map", "self.each(Key), and self.map[key] inside")
    if not isinstance(value.type, types.SetOf | types.SequenceOf):
        raise body.error(
            node,
            f"{ast.unparse(node)} is {words(value.type)}, which has no elements",
            "self.each(Type), a set or a sequence",
        )
    return value.type.of, value.node


def each(body: Body, node: ast.Call) -> types.Type:
    """Return the type in `self.each(Type)`."""
    if len(node.args) != 1 or node.keywords:
        raise body.error(node, "self.each takes one type", "self.each(Process)")
    python = type_object(body, node.args[0])
    return body.world.type_of(python, body.at(node.args[0]), ast.unparse(node.args[0]))


def type_object(body: Body, node: ast.expr) -> Any:
    """Return the Python object of a type that is written inside a body: `Process`, `Annotated[int, Between(0,
    "n")]`, `Process | None`.
    """
    python = python_object(body, node)
    if python is not world.MISSING:
        return python
    names: dict[str, Any] = {}
    for part in ast.walk(node):
        if not isinstance(
            part,
            ast.Name
            | ast.Attribute
            | ast.Subscript
            | ast.Tuple
            | ast.Constant
            | ast.BinOp
            | ast.BitOr
            | ast.Call
            | ast.Load,
        ):
            raise body.error(
                node,
                f"{ast.unparse(node)} is no type",
                "Process, or a named alias of Annotated[int, Between(..)]",
            )
        if isinstance(part, ast.Call) and not (
            isinstance(part.func, ast.Name) and part.func.id in ("Between", "AtMost")
        ):
            raise body.error(part, f"{ast.unparse(part)} is no type", "Between(..) or AtMost(..)")
        if isinstance(part, ast.Name):
            names[part.id] = python_object(body, part)
            if names[part.id] is world.MISSING:
                raise body.error(part, f"{part.id} means no type here", "a class or alias of the module")
    try:
        return eval(compile(ast.Expression(node), body.source.file, "eval"), {"__builtins__": {}}, names)  # noqa: S307 - a checked type
    except Exception as error:
        raise body.error(node, f"{ast.unparse(node)} is no type: {error}", "Process") from error


def matches(of: types.Type, within: types.Type) -> bool:
    """Return True if elements of type `within` may be of type `of`; `within` is the element type of a set
    over whose present elements a parameter ranges.
    """
    return accepts(within, of)
