"""Reader of expressions: `read` returns the value, `condition` also the facts that hold where it is true and
where it is false.

A function that reads an expression reads its operands by `read` again. `table.py` enters into `READERS` and
`TESTS` which function reads which kind of node, so that the modules of those functions need not import each
other.

`wanted` is the type that the place expects, which displays, empty sets and None need. `stored` says that the
value goes straight to a place that checks its domain (a variable, an argument, a field), so that a set may be
written with elements that only that check can judge.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.front.body import Body, Facts, Value, at_least, path_of
from antiphon.spec.lang.front.sorts import accepts, is_integer, surface, words
from antiphon.spec.lang.hints import WORDS, did_you_mean

Reader = Callable[[Body, ast.expr, types.Type | None, bool], Value]
"""Function that reads the value of a node; its arguments are (body, node, wanted, stored)."""

Condition = tuple[ir.Expression, Facts, Facts]
"""A boolean expression, the facts where it is true, the facts where it is false."""

Test = Callable[[Body, ast.expr], Condition | None]
"""Function that reads a node as a condition; it returns None if the node must be read as a value."""

READERS: dict[type[ast.expr], Reader] = {}
TESTS: dict[type[ast.expr], Test] = {}

REFUSED: dict[type[ast.expr], tuple[str, str]] = {
    ast.Lambda: ("a lambda is no value of the language", "a helper method"),
    ast.NamedExpr: (":= binds inside an expression", "a statement `name = value` before"),
    ast.JoinedStr: ("there are no strings in a specification", "an Enum"),
    ast.Dict: (
        "a map is total: it has a value for every key",
        "Map({key: value for key in self.each(Key)}), everywhere(value), or map | {key: value}",
    ),
    ast.List: ("a list is mutable", "a tuple `(a, b)` for a sequence, a set `{a, b}`"),
    ast.ListComp: (
        "a list is mutable",
        "a set comprehension `{... for ...}`, or a generator in any, all, sum, min, max, next",
    ),
    ast.GeneratorExp: (
        "a generator is used once, inside any, all, sum, min, max or next",
        "a set comprehension `{... for ...}`",
    ),
    ast.Await: ("a specification does not wait", "an action with `require`"),
    ast.Yield: ("a specification does not yield", "an action for each step"),
    ast.YieldFrom: ("a specification does not yield", "an action for each step"),
    ast.Starred: ("* is not in the language", "each argument by itself"),
}


def read(body: Body, node: ast.expr, wanted: types.Type | None = None, *, stored: bool = False) -> Value:
    """Return the value of an expression.

    Raises:
        SpecError: the expression is not in the language or ill-typed.
    """
    if type(node) in REFUSED:
        raise body.error(node, *REFUSED[type(node)])
    value = _value(body, node, wanted, stored)
    fact_path = path_of(body, node) if body.facts else None
    if fact_path is not None and fact_path[0] in body.facts:
        fact = body.facts[fact_path[0]]
        narrow = ir.Present(type=surface(fact.type), value=value.node, at=body.at(node))
        value = Value(narrow, fact.type, value.frozen)
    value = _bounded(body, node, value)
    if wanted is not None:
        demand(body, node, value, wanted)
    return value


def _bounded(body: Body, node: ast.expr, value: Value) -> Value:
    """Return the value; give an integer the lower bound that the conditions passed so far guarantee."""
    path = path_of(body, node, integer=True) if body.facts and is_integer(value.type) else None
    fact = body.facts.get(at_least(path[0])) if path is not None else None
    if fact is None or fact.low is None or (value.least is not None and value.least >= fact.low):
        return value
    return dataclasses.replace(value, low=fact.low)


def read_plain(body: Body, node: ast.expr) -> Value:
    """Return the value of an expression, read with no wanted type and not to be stored; facts known about its
    path may narrow the value.
    """
    if not body.facts or path_of(body, node) is None:
        return read(body, node)
    return _bounded(body, node, _value(body, node, None, stored=False))


def demand(body: Body, node: ast.expr, value: Value, wanted: types.Type) -> None:
    """Refuse a value that cannot stand where the type `wanted` is declared."""
    if not accepts(wanted, value.type):
        if isinstance(value.type, types.Optional) and accepts(wanted, value.type.of):
            raise body.error(
                node,
                f"{ast.unparse(node)} may be None, and {words(wanted)} is needed",
                "present(...), after a test `is not None`",
            )
        raise body.error(
            node,
            f"{ast.unparse(node)} is {words(value.type)}, and {words(wanted)} is needed",
            _instead(node, value.type, wanted),
        )
    inner = wanted.of if isinstance(wanted, types.Optional) else wanted
    if isinstance(inner, types.Int) and isinstance(value.type, types.Int):
        low, high = value.type.low, value.type.high
        below = isinstance(high, int) and isinstance(inner.low, int) and high < inner.low
        above = isinstance(low, int) and isinstance(inner.high, int) and low > inner.high
        if below or above:
            raise body.error(
                node,
                f"{ast.unparse(node)} is never in {words(inner)}",
                "a value in it, or wider bounds where it is declared",
            )


def integer(body: Body, node: ast.expr) -> Value:
    """Read an expression that must be an integer."""
    value = read(body, node)
    if is_integer(value.type):
        return value
    if isinstance(value.type, types.Optional) and is_integer(value.type.of):
        raise body.error(
            node,
            f"{ast.unparse(node)} may be None, and an integer is needed",
            "present(...), after a test `is not None`",
        )
    if isinstance(value.type, types.Bool):
        raise body.error(
            node,
            f"{ast.unparse(node)} is a bool, and an integer is needed",
            "1 if condition else 0, or sum(1 for ... if condition)",
        )
    if isinstance(value.type, types.IndexType):
        raise body.error(
            node,
            f"{ast.unparse(node)} is a {words(value.type)}, and an integer is needed",
            f"{ast.unparse(node)}.index",
        )
    raise body.error(
        node, f"{ast.unparse(node)} is {words(value.type)}, and an integer is needed", "an integer"
    )


def truth(body: Body, node: ast.expr) -> ir.Expression:
    """Read an expression that must be a boolean; other values have no truth value in the language."""
    return condition(body, node)[0]


def _value(body: Body, node: ast.expr, wanted: types.Type | None, stored: bool) -> Value:
    reader = READERS.get(type(node))
    if reader is None:
        raise body.error(
            node, f"{type(node).__name__} is not in the language", "the expressions of docs/language.md"
        )
    return reader(body, node, wanted, stored)


def condition(body: Body, node: ast.expr) -> Condition:
    """Return an expression that must be boolean, and the facts that are proved where it is true.

    Raises:
        SpecError: it is not boolean, or not in the language.
    """
    test = TESTS.get(type(node))
    shown = test(body, node) if test is not None else None
    if shown is not None:
        return shown
    value = read(body, node)
    if not isinstance(value.type, types.Bool):
        raise body.error(
            node, f"{ast.unparse(node)} is {words(value.type)}, not a bool", _as_test(node, value.type)
        )
    return value.node, {}, {}


def _as_test(node: ast.expr, kind: types.Type) -> str:
    text = ast.unparse(node)
    if is_integer(kind):
        return f"{text} != 0"
    if isinstance(kind, types.Optional | ir.NoneType):
        return f"{text} is not None"
    if isinstance(kind, types.SetOf | types.SequenceOf):
        return f"len({text}) > 0"
    return "a comparison"


def _instead(node: ast.expr, given: types.Type, wanted: types.Type) -> str:
    """Return a hint on how a value of the wanted type is written."""
    inner = wanted.of if isinstance(wanted, types.Optional) else wanted
    if isinstance(given, types.IndexType) and is_integer(wanted):
        return f"{ast.unparse(node)}.index"
    if isinstance(inner, types.MapOf):
        return f"Map({{key: value for key in self.each({words(inner.key)})}}), or everywhere(value)"
    if isinstance(inner, types.IndexType) and is_integer(given):
        name = inner.name
        return f"a value of {name}: for p in self.each({name}), a parameter p: {name}, or {name}(0)"
    return f"a value of {words(wanted)}"


def meant(text: str) -> str:
    """Return a hint for an unknown name: the word of the language that was probably meant, and how to import
    it.
    """
    if text in WORDS:
        return f": it is a word of the language, not imported: from antiphon.spec.lang import {text}"
    return did_you_mean(text, WORDS)


def was(value: ir.Read | ir.Call) -> ir.Before:
    """Return an expression for the value of a variable or helper before the step."""
    return ir.Before(type=value.type, value=value, at=value.at)
