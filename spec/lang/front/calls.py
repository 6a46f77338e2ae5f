"""Calls: records, indices, a few functions of Python, the language's own words, helpers of the
specification.

A function is recognised by identity, so that a shadowed name is seen for what it is.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from antiphon.spec.lang import ir, types, values
from antiphon.spec.lang.declare import MethodDeclaration
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.front import displays, operators, world
from antiphon.spec.lang.front.body import Body, Value, python_object
from antiphon.spec.lang.front.reading import REFUSED, condition, integer, meant, read, truth, was
from antiphon.spec.lang.front.sorts import is_ordered, join, surface, words

STATEMENTS = {values.require: "require", values.emit: "emit", values.expect: "expect"}

INSTEAD: dict[Any, str] = {
    abs: "x if x >= 0 else -x",
    bool: "a comparison",
    int: "x.index, or 1 if condition else 0",
    sorted: "next(... for ... ) over an ordered domain",
    range: "for i in range(len(self.queue)), or self.each(Number)",
    enumerate: "for i in range(len(self.queue)), and self.queue[i]",
    zip: "for i in range(min(len(a), len(b))), and a[i], b[i]",
    list: "a tuple, or a set",
    set: "Set(...)",
    dict: "Map({key: value for key in self.each(Key)})",
    print: "the trace shows every state",
    dataclasses.replace: "the record with all its fields: Record(a, b)",
    map: "a set comprehension",
    filter: "a comprehension with `if`",
    reversed: "for x in reversed(self.queue), or tuple(reversed(self.queue))",
    iter: "for",
    type: "isinstance",
    hasattr: "isinstance",
    getattr: "the name itself",
    setattr: "self.variable = value",
    super: "a helper with its own name",
}

SET_CHANGES = {
    "add": "{} |= {{x}}", "discard": "{} -= {{x}}", "remove": "{} -= {{x}}", "update": "{} |= ...",
    "clear": "{} = Set()",
}  # fmt: skip
SET_METHODS = {
    "union": "{} | ...", "intersection": "{} & ...", "difference": "{} - ...", "issubset": "{} <= ...",
    "issuperset": "{} >= ...",
}  # fmt: skip
SEQUENCE_CHANGES = {
    "append": "{} += (x,)", "extend": "{} += (x, y)", "pop": "{0} = {0}[:-1], or {0} = {0}[1:]",
    "remove": "{0} = tuple(x for x in {0} if x != ...)", "insert": "{0} = {0}[:i] + (x,) + {0}[i:]",
    "reverse": "{0} = tuple(reversed({0}))", "clear": "{} = ()",
}  # fmt: skip
SEQUENCE_METHODS = {
    "index": "any({0}[i] == x for i in range(len({0}))), next(i for i in range(len({0})) if {0}[i] == x)",
    "count": "sum(1 for y in {} if y == x)",
}
"""Replacements of the methods of Python's sets, lists and tuples."""


def read_call(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    """Return the value of a call."""
    if isinstance(node.func, ast.Attribute):
        found = _method_call(body, node, node.func)
        if found is not None:
            return found
    if type(node.func) in REFUSED:
        raise body.error(node.func, *REFUSED[type(node.func)])
    python = python_object(body, node.func)
    if python is world.MISSING:
        raise body.error(
            node.func,
            f"{ast.unparse(node.func)} means nothing here{meant(ast.unparse(node.func))}",
            f"self.{ast.unparse(node.func)}(...), if it is a helper",
        )
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(
        keyword.arg is None for keyword in node.keywords
    ):
        raise body.error(node, "* and ** are not in the language", "each argument by itself")
    if isinstance(python, type) and issubclass(python, values.Index):
        return _index(body, node, python)
    if isinstance(python, type) and dataclasses.is_dataclass(python):
        return _record(body, node, python)
    for known, reader in READERS.items():
        if python is known:
            return reader(body, node, wanted, stored)
    raise _unknown_call(body, node, python)


def _unknown_call(body: Body, node: ast.Call, python: Any) -> SpecError:
    name = ast.unparse(node.func)
    for known, word in STATEMENTS.items():
        if python is known:
            return body.error(
                node, f"{word} is a statement, not a value", f"{word}(...) on a line of its own"
            )
    for known, instead in INSTEAD.items():
        if python is known:
            return body.error(node, f"{name} is not in the language", instead)
    if callable(python) and hasattr(python, "__code__"):
        return body.error(
            node, f"{name} is a function outside the specification", f"a helper method: self.{name}(...)"
        )
    return body.error(
        node, f"{name} cannot be called in a specification", "a helper method of the specification"
    )


def _method_call(body: Body, node: ast.Call, function: ast.Attribute) -> Value | None:
    owner = function.value
    inherited = replaced(body, node)
    if inherited is not None:
        return helper(body, node, inherited)
    owner_name = body.specification(owner)
    if owner_name:
        if function.attr == "each":
            raise body.error(
                node, "self.each stands only after `in` of a `for`", "for p in self.each(Process)"
            )
        method = body.world.methods.get(function.attr)
        if method is not None:
            value = helper(body, node, method)
            if owner_name == body.self_name or not isinstance(value.node, ir.Call):
                return value
            return dataclasses.replace(value, node=was(value.node))
        python = body.world.attribute(function.attr)
        if python is world.MISSING:
            known = body.world.suggest(function.attr)
            raise body.error(
                node,
                f"{body.world.cls.__name__} has no helper {function.attr!r}{known}",
                f"def {function.attr}(self, ...)",
            )
        return None
    if python_object(body, function) is not world.MISSING:
        return None
    value = read(body, owner)
    if isinstance(value.type, types.MapOf):
        whole = ast.unparse(owner)
        instead = " | {key: value}" if function.attr == "update" else "[key] for key in self.each(Key)"
        raise body.error(node, f"a map has no method {function.attr}", whole + instead)
    changes, others = (
        (SEQUENCE_CHANGES, SEQUENCE_METHODS)
        if isinstance(value.type, types.SequenceOf)
        else (SET_CHANGES, SET_METHODS)
    )
    if function.attr in changes:
        text = changes[function.attr].format(ast.unparse(owner))
        raise body.error(node, f".{function.attr} changes a value in place, and values are immutable", text)
    instead = others.get(function.attr, "a helper method of the specification").format(ast.unparse(owner))
    raise body.error(node, f"{words(value.type)} has no methods in the language", instead)


# Helpers of the specification ------------------------------------------------------------------------


def replaced(body: Body, node: ast.Call) -> MethodDeclaration | None:
    """Return the method that `super().name(...)` calls: the one that the surrounding method overrides, with
    the same parameters; None for any other call.

    Raises:
        SpecError: another method is called, or with anything but the method's own parameters.
    """
    match node.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")) as call, attr=name):
            written = body.method.function.__name__
            own = [parameter.name for parameter in body.method.parameters]
            instead = f"super().{written}({', '.join(own)})"
            if call.args or call.keywords or name != written:
                raise body.error(
                    node, f"super() means the text that {written} replaces, and nothing else", instead
                )
            if not body.method.replaces:
                raise body.error(
                    node,
                    f"{written} replaces nothing: no base of {body.method.owner.__name__} has it",
                    "a helper",
                )
            given = [argument.id if isinstance(argument, ast.Name) else "" for argument in node.args]
            if (
                given != own
                or node.keywords
                or any(item in body.locals and body.locals[item].name != item for item in own)
            ):
                raise body.error(
                    node,
                    f"super().{written} is called with the parameters of {written}, as they are",
                    instead,
                )
            return body.world.methods[body.method.replaces]
    return None


def helper(body: Body, node: ast.Call, method: MethodDeclaration) -> Value:
    """Return `self.helper(a, b)` as a value."""
    if not body.world.is_function(method):
        if method.mark is not None:
            raise body.error(node, f"{method.name} is marked, and not called", "a helper that both call")
        raise body.error(
            node,
            f"{method.name} gives no value",
            f"self.{method.name}(...) on a line of its own, or a return type",
        )
    given = arguments(body, node, method)
    exact = body.world.result(method)
    name = method.name
    return Value(ir.Call(type=surface(exact), function=name, arguments=given, at=body.at(node)), exact)


def arguments(body: Body, node: ast.Call, method: MethodDeclaration) -> tuple[ir.Expression, ...]:
    """Return the arguments of a call in the order of the parameters."""
    names = [parameter.name for parameter in method.parameters]
    texts = _match(body, node, names, f"self.{method.name}")
    found = []
    for parameter in method.parameters:
        found.append(read(body, texts[parameter.name], parameter.type, stored=True).node)
    return tuple(found)


def _match(body: Body, node: ast.Call, names: list[str], what: str) -> dict[str, ast.expr]:
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            raise body.error(argument, "* is not in the language", "each argument by itself")
    if len(node.args) > len(names):
        raise body.error(
            node,
            f"{what} takes {len(names)} arguments ({', '.join(names)}), not {len(node.args)}",
            f"{what}({', '.join(names)})",
        )
    texts = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None:
            raise body.error(node, "** is not in the language", "each argument by itself")
        if keyword.arg not in names or keyword.arg in texts:
            raise body.error(
                keyword.value, f"{what} has no free parameter {keyword.arg!r}", f"{what}({', '.join(names)})"
            )
        texts[keyword.arg] = keyword.value
    missing = [name for name in names if name not in texts]
    if missing:
        raise body.error(node, f"{what} also needs {', '.join(missing)}", f"{what}({', '.join(names)})")
    return texts


# Values of the language ------------------------------------------------------------------------------


def _record(body: Body, node: ast.Call, python: type) -> Value:
    at = body.at(node)
    kind = body.world.type_of(python, at, python.__name__)
    if not isinstance(kind, types.Record):
        raise body.error(node, f"{python.__name__} is no record", "@record class ...")
    fields = dataclasses.fields(python)
    defaults = {item.name: item.default for item in fields if item.default is not dataclasses.MISSING}
    names = [item.name for item in fields]
    missing = [
        name for name in names[len(node.args) :] if name not in {keyword.arg for keyword in node.keywords}
    ]
    if any(name in defaults for name in missing):
        raise body.error(
            node, f"{python.__name__} is made with all its fields", f"{python.__name__}({', '.join(names)})"
        )
    texts = _match(body, node, names, python.__name__)
    given = tuple(read(body, texts[name], part, stored=True).node for name, part in kind.fields)
    return Value(ir.MakeRecord(type=kind, arguments=given, at=at), kind)


def _index(body: Body, node: ast.Call, python: type) -> Value:
    kind = body.world.type_of(python, body.at(node), python.__name__)
    assert isinstance(kind, types.IndexType)
    if len(node.args) != 1 or node.keywords:
        raise body.error(node, f"{python.__name__} takes the number of a member", f"{python.__name__}(0)")
    if kind.symmetric:
        raise body.error(
            node,
            f"{kind.name} is symmetric: no member is special",
            f"a parameter of type {kind.name}, or no symmetric=True",
        )
    number = integer(body, node.args[0])
    if isinstance(number.type, types.Int) and isinstance(number.type.high, int) and number.type.high < 0:
        raise body.error(node, "members are numbered from 0", f"{python.__name__}(0)")
    return Value(ir.MakeIndex(type=kind, number=number.node, at=body.at(node)), kind)


def _set(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    if not node.args and not node.keywords:
        made = displays.set_display(body, node, [], wanted, stored)
        return Value(made.node, made.type)
    one = _single(body, node, "Set", "Set({a, b})")
    match one:
        case ast.GeneratorExp(elt=element, generators=generators):
            value = displays.gather(body, node, element, generators, wanted, stored)
        case ast.Tuple(elts=items):
            value = displays.set_display(body, node, items, wanted, stored)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="each")) if name == body.self_name:
            of = displays.each(body, one)
            bound = body.unique("element")
            binder = ir.Binder(name=bound, type=of, source=of, at=body.at(one))
            value = Value(
                ir.Gather(
                    type=types.SetOf(of),
                    binders=(binder,),
                    body=ir.Name(type=surface(of), name=bound, at=body.at(one)),
                    at=body.at(node),
                ),
                types.SetOf(of),
            )
        case _:
            value = read(body, one, wanted, stored=stored)
    if not isinstance(value.type, types.SetOf):
        raise body.error(
            one, f"{ast.unparse(one)} is {words(value.type)}, not a set", "Set({a, b}) or Set(x for ...)"
        )
    return Value(value.node, value.type)


def _map(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    del stored
    one = _single(body, node, "Map", displays.TOTAL)
    if not isinstance(one, ast.DictComp):
        raise body.error(one, "a map is written with the value of every key", displays.TOTAL)
    return displays.total_map(body, one, wanted, stored=False)


def _sequence(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    if not node.args and not node.keywords:
        return displays.sequence(body, node, [], wanted, stored)
    one = _single(body, node, "Seq", "(a, b)")
    match one:
        case ast.Tuple(elts=items):
            return displays.sequence(body, node, items, wanted, stored)
        case ast.GeneratorExp():
            return displays.collect(body, node, one, wanted, stored)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="each")) if name == body.self_name:
            return displays.every(body, one, body.at(node))
        case ast.Call(func=function) if python_object(body, function) is reversed:
            return displays.reverse(body, one)
    value = read(body, one)
    if not isinstance(value.type, types.SequenceOf):
        text = ast.unparse(one)
        raise body.error(
            one,
            f"{text} is {words(value.type)}, which has no order",
            f"(a, b), or tuple(x for x in self.each(...) if x in {text})",
        )
    return value


def _single(body: Body, node: ast.Call, what: str, instead: str) -> ast.expr:
    if len(node.args) != 1 or node.keywords:
        raise body.error(node, f"{what} takes one argument", instead)
    return node.args[0]


def _length(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    del wanted, stored
    one = _single(body, node, "len", "len(self.received[p])")
    value = read(body, one)
    if not isinstance(value.type, types.SetOf | types.SequenceOf):
        raise body.error(
            one,
            f"{ast.unparse(one)} is {words(value.type)}; only sets and sequences have a length",
            "sum(1 for ... if ...)",
        )
    return Value(ir.Size(type=ir.INTEGER, collection=value.node, at=body.at(node)), ir.INTEGER, low=0)


def _budget(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    del wanted, stored
    return Value(condition(body, node)[0], ir.BOOL)


def _present(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    del stored
    one = _single(body, node, "present", "present(self.holder[p])")
    value = read(
        body, one, None if wanted is None else types.Optional(wanted) if displays.is_open(one) else None
    )
    if isinstance(value.type, ir.NoneType):
        raise body.error(one, "None is never present", "a value that may be there")
    if not isinstance(value.type, types.Optional):
        return value
    exact = value.type.of
    return Value(ir.Present(type=surface(exact), value=value.node, at=body.at(node)), exact, value.frozen)


def _everywhere(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    one = _single(body, node, "everywhere", "everywhere(None)")
    kind = displays.bare(wanted)
    if not isinstance(kind, types.MapOf) or not stored:
        raise body.error(
            node,
            "everywhere(...) is the value of a map where one is stored, passed or made a field",
            f"self.map = everywhere(value), or {displays.TOTAL}",
        )
    value = read(body, one, kind.value, stored=True)
    return Value(ir.Everywhere(type=kind, value=value.node, at=body.at(node)), kind)


def _generator(body: Body, node: ast.Call, name: str, instead: str) -> ast.GeneratorExp:
    one = node.args[0] if node.args else None
    if (
        isinstance(one, ast.ListComp | ast.SetComp)
        and name in ("any", "all", "sum", "min", "max")
        and isinstance(one, ast.ListComp)
    ):
        raise body.error(one, "a list is not in the language", f"{name}(... for ...), without brackets")
    if not isinstance(one, ast.GeneratorExp):
        raise body.error(node, f"{name} takes a generator", instead)
    return one


def _quantify(quantifier: ir.Quantifier) -> Callable[[Body, ast.Call, types.Type | None, bool], Value]:
    def reader(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
        del wanted, stored
        name = quantifier.value
        one = _generator(body, node, name, f"{name}(self.done[p] for p in self.each(Process))")
        _single(body, node, name, f"{name}(... for ...)")
        with body.inner():
            binders = displays.comprehension(body, one.generators)
            test = truth(body, one.elt)
        return Value(
            ir.Quantify(type=ir.BOOL, quantifier=quantifier, binders=binders, body=test, at=body.at(node)),
            ir.BOOL,
        )

    return reader


def _default(body: Body, node: ast.Call, name: str) -> ast.expr | None:
    for keyword in node.keywords:
        if keyword.arg != "default" or len(node.keywords) > 1:
            raise body.error(
                keyword.value, f"{name} takes a generator and default=", f"{name}((... for ...), default=0)"
            )
    return node.keywords[0].value if node.keywords else None


def _reduce(reduction: ir.Reduction) -> Callable[[Body, ast.Call, types.Type | None, bool], Value]:
    name = reduction.value

    def reader(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
        del wanted, stored
        is_sum = reduction is ir.Reduction.SUM
        if not is_sum and len(node.args) == 2 and not node.keywords:
            first, second = integer(body, node.args[0]), integer(body, node.args[1])
            return operators.choose_integer(
                body, node, first, second, largest=reduction is ir.Reduction.MAXIMUM
            )
        one = _generator(body, node, name, f"{name}(self.count[p] for p in self.each(Process))")
        default = _default(body, node, name)
        if len(node.args) != 1 or (is_sum and default is not None):
            raise body.error(node, f"{name} takes one generator", f"{name}(... for ...)")
        with body.inner():
            binders = displays.comprehension(body, one.generators)
            item = integer(body, one.elt)
        other = integer(body, default) if default is not None else None
        exact, low = (item.type, item.least) if other is None else operators.least_of(item, other)
        if is_sum:
            exact, low = ir.INTEGER, 0 if item.least is not None and item.least >= 0 else None
        reduced = ir.Reduce(
            type=ir.INTEGER,
            reduction=reduction,
            binders=binders,
            body=item.node,
            default=other.node if other else None,
            at=body.at(node),
        )
        return Value(reduced, exact, low=low)

    return reader


def _first(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    del stored
    one = _generator(body, node, "next", "next((m for m in self.queue if ...), None)")
    if len(node.args) > 2 or node.keywords:
        raise body.error(node, "next takes a generator and a default", "next((m for ...), None)")
    with body.inner():
        binders = displays.comprehension(body, one.generators)
        for binder, generator in zip(binders, one.generators, strict=True):
            _ordered(body, generator.iter, binder)
        item = read(body, one.elt)
    other = (
        read(body, node.args[1], wanted if displays.is_open(node.args[1]) else None)
        if len(node.args) == 2
        else None
    )
    exact = item.type if other is None else join(item.type, other.type)
    if exact is None:
        kind = words(other.type) if other else "missing"
        raise body.error(
            node,
            f"the item is {words(item.type)}, the default {kind}; both need one type",
            "next((x for ...), None)",
        )
    first = ir.First(
        type=surface(exact),
        binders=binders,
        body=item.node,
        default=other.node if other else None,
        at=body.at(node),
    )
    return Value(first, exact, item.frozen and (other is None or other.frozen))


def _ordered(body: Body, node: ast.expr, binder: ir.Binder) -> None:
    if isinstance(binder.source, types.Type):
        if not is_ordered(binder.source):
            raise body.error(
                node,
                f"`first` has no meaning: {words(binder.source)} has no order",
                "class ...(Index, ordered=True), if it has one",
            )
    elif isinstance(binder.source.type, types.SetOf):
        over = f"for x in self.each(...) if x in {ast.unparse(node)}"
        raise body.error(
            node,
            "`first` has no meaning: a set has no order",
            f"{over}, or min(...), or an action parameter for any of them",
        )


def _isinstance(body: Body, node: ast.Call, wanted: types.Type | None, stored: bool) -> Value:
    del wanted, stored
    return Value(condition(body, node)[0], ir.BOOL)


Reader = Callable[[Body, ast.Call, "types.Type | None", bool], Value]

READERS: dict[Any, Reader] = {
    frozenset: _set,
    values.Map: _map,
    values.Seq: _sequence,
    tuple: _sequence,
    len: _length,
    values.present: _present,
    values.everywhere: _everywhere,
    any: _quantify(ir.Quantifier.ANY),
    all: _quantify(ir.Quantifier.ALL),
    sum: _reduce(ir.Reduction.SUM),
    min: _reduce(ir.Reduction.MINIMUM),
    max: _reduce(ir.Reduction.MAXIMUM),
    next: _first,
    isinstance: _isinstance,
    values.budget: _budget,
}
