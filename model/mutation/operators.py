"""Operators of mutation on one place of a method: guards, comparisons, choices, updates, fields, whole
actions.

1. An operator finds places in the parsed text of a method and says what stands there instead. A change is a
   list of edits of the text, so that CPython and the front end read the same mutant.
2. Lines stay where they are: what is replaced by less is padded, so that a place in the mutant is a place in
   the file.
3. A change may be refused by the front end (a test that narrowed a type is gone), or mean the same as before.
   A trial finds out both.
4. Bounds are left alone: what stands in `budget(...)` limits the exploration and is no part of the protocol.

This file knows Python's syntax and nothing of protocols, engines or properties.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from antiphon.spec.lang import Between, require

Span = tuple[int, int, int, int]
"""Range in a text: first line, first byte, last line, byte after the last; lines from 1, bytes from 0."""

PLACES = 8
"""Number of places of a sequence that are tried for the last item."""

SHIFTED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


@dataclass(frozen=True)
class Edit:
    """Edit that replaces the text between two places."""

    span: Span
    text: str


@dataclass(frozen=True)
class Change:
    """One mutation: its operator, the line, the old text, the new text, and the edits that make it.

    `names` are the names that the new text needs besides those of its module.
    """

    operator: str
    line: int
    before: str
    after: str
    edits: tuple[Edit, ...]
    names: Mapping[str, object] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return f"{self.operator}: `{self.before}`" + (f" becomes `{self.after}`" if self.after else "")


@dataclass(frozen=True)
class Context:
    """Facts about a method for an operator of mutation. `is_action` says whether the method is an action. For
    parameters that are messages, `sets` gives the set from which each is taken, and `fields` the text of a
    neutral value of each field.
    """

    is_action: bool
    sets: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]]
    names: Mapping[str, object]


Operator = Callable[[ast.FunctionDef, Context], Iterator[Change]]


def changes_of(method: ast.FunctionDef, context: Context) -> Iterator[Change]:
    """Yield every change of a method, operator by operator, each in the order of the text."""
    for operator in OPERATORS.values():
        yield from operator(method, context)


# Conditions -------------------------------------------------------------------------------------------------


def guard_dropped(method: ast.FunctionDef, _: Context) -> Iterator[Change]:
    """Mutate a condition: one of its conjuncts is dropped."""
    for condition in _conditions(method):
        parts = _operands(condition, ast.And)
        for number, part in enumerate(parts):
            if not _is_bound(part) and not isinstance(part, ast.Constant):
                yield _expression("guard dropped", part, condition, _joined(ast.And, parts, number), after="")


def alternative_dropped(method: ast.FunctionDef, _: Context) -> Iterator[Change]:
    """Mutate a condition: one of its alternatives is dropped."""
    for node in _nodes(method):
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and not _is_bound(node):
            for number, part in enumerate(node.values):
                new = _joined(ast.Or, node.values, number)
                yield _expression("alternative dropped", part, node, new, after="")


def guard_negated(method: ast.FunctionDef, _: Context) -> Iterator[Change]:
    """Mutate a condition: one of its conjuncts is negated."""
    for condition in _conditions(method):
        parts = _operands(condition, ast.And)
        for number, part in enumerate(parts):
            if not _is_bound(part):
                negated = ast.UnaryOp(ast.Not(), part)
                new = _joined(ast.And, parts, number, negated)
                yield _expression("guard negated", part, condition, new, ast.unparse(negated))


def comparison_shifted(method: ast.FunctionDef, _: Context) -> Iterator[Change]:
    """Mutate a comparison: `<` becomes `<=` and the other way round; a number changes by one, or by two."""
    for node in _nodes(method):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SHIFTED:
            other = ast.Compare(node.left, [SHIFTED[type(node.ops[0])]()], node.comparators)
            yield _expression("comparison shifted", node, node, other)
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Add | ast.Sub)
            and isinstance(node.right, ast.Constant)
            and node.right.value == 1
        ):
            yield _expression("comparison shifted", node, node, node.left)
            further = ast.BinOp(node.left, node.op, ast.Constant(2))
            yield _expression("comparison shifted", node, node, further)


# Choices ----------------------------------------------------------------------------------------------------


def last_for_first(method: ast.FunctionDef, _: Context) -> Iterator[Change]:
    """Mutate a choice: the last suitable value is taken instead of the first, the greatest instead of the
    least.
    """
    for node in _nodes(method):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("min", "max"):
                other = copy.copy(node)
                other.func = ast.Name({"min": "max", "max": "min"}[node.func.id], ast.Load())
                yield _expression("last for first", node, node, other)
            elif node.func.id == "next" and node.args and isinstance(node.args[0], ast.GeneratorExp):
                found = _last(node)
                if found is not None:
                    names = {"_Place": _PLACE}
                    yield _expression("last for first", node, node, found, "the last", names)
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.slice, ast.Constant)
            and node.slice.value == 0
        ):
            text = ast.unparse(node.value)
            yield _expression("last for first", node, node, _parsed(f"{text}[len({text}) - 1]"))


_PLACE = Annotated[int, Between(0, PLACES - 1)]


def _last(call: ast.Call) -> ast.expr | None:
    """Return `next(E(x) for x in D if C(x))` changed to take the last suitable x; None if it has more than
    one loop.
    """
    generator = call.args[0]
    assert isinstance(generator, ast.GeneratorExp)
    if len(generator.generators) != 1 or not isinstance(generator.generators[0].target, ast.Name):
        return None
    (loop,) = generator.generators
    name = generator.generators[0].target.id
    test = _joined(ast.And, loop.ifs) if loop.ifs else ast.Constant(True)
    rest = "".join(f", {ast.unparse(item)}" for item in call.args[1:])
    domain = ast.unparse(loop.iter)
    if domain.startswith("self.each("):
        later = f"not any(_later > {name} and {_named(test, name, '_later')} for _later in {domain})"
        value, asked = ast.unparse(generator.elt), f"{ast.unparse(test)} and {later}"
        return _parsed(f"next(({value} for {name} in {domain} if {asked}){rest})")

    def at(place: str) -> str:
        return f"{place} < len({domain}) and {_named(test, name, f'{domain}[{place}]')}"

    later = f"not any(_later > _at and {at('_later')} for _later in self.each(_Place))"
    value = _named(generator.elt, name, f"{domain}[_at]")
    return _parsed(f"next(({value} for _at in self.each(_Place) if {at('_at')} and {later}){rest})")


def _named(node: ast.expr, name: str, text: str) -> str:
    """Return the text of an expression with `text` in the place of a name."""

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, found: ast.Name) -> ast.expr:
            return _parsed(text) if found.id == name else found

    return f"({ast.unparse(Renamed().visit(copy.deepcopy(node)))})"


# Effects ----------------------------------------------------------------------------------------------------


def update_left_out(method: ast.FunctionDef, _: Context) -> Iterator[Change]:
    """Mutate an update: an assignment to the state, an event or a procedure is left out."""
    for node in _nodes(method):
        if isinstance(node, ast.stmt) and _is_effect(node):
            yield _statement("update left out", node)


def handler_silent(method: ast.FunctionDef, context: Context) -> Iterator[Change]:
    """Mutate a handler: a message is taken without any effect."""
    effects = [node for node in method.body if not _is_guard(node) and not _is_prose(node)]
    for parameter, variable in context.sets.items():
        taken = f"self.{variable} -= {{{parameter}}}"
        if any(ast.unparse(node) == taken for node in effects) and len(effects) > 1:
            span = (*_span(effects[0])[:2], *_span(effects[-1])[2:])
            edit = Edit(span, taken + "\n" * (span[2] - span[0]))
            yield Change("handler silent", effects[0].lineno, method.name, "", (edit,))


def field_ignored(method: ast.FunctionDef, context: Context) -> Iterator[Change]:
    """Mutate a message: one of its fields is read as if it always held the same value."""
    reads: dict[tuple[str, str], list[ast.Attribute]] = {}
    for node in _nodes(method):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Load()):
                reads.setdefault((name, attribute), []).append(node)
    for (parameter, name), nodes in reads.items():
        text = context.fields.get(parameter, {}).get(name)
        if text is not None:
            edits = tuple(Edit(_span(node), _padded(text, node)) for node in nodes)
            at = nodes[0].lineno
            yield Change("field ignored", at, f"{parameter}.{name}", text, edits, context.names)


def never_happens(method: ast.FunctionDef, context: Context) -> Iterator[Change]:
    """Mutate an action: it is never enabled, like a timer that never fires or a message that is
    never taken.
    """
    first = method.body[0]
    if context.is_action and isinstance(first, ast.Expr):
        line, byte = _span(first)[2:] if _is_prose(first) else _span(first)[:2]
        text = "; require(False)" if _is_prose(first) else "require(False); "
        edit = Edit((line, byte, line, byte), text)
        yield Change("never happens", method.lineno, method.name, "", (edit,), {"require": require})


OPERATORS: dict[str, Operator] = {
    "guard dropped": guard_dropped,
    "guard negated": guard_negated,
    "alternative dropped": alternative_dropped,
    "comparison shifted": comparison_shifted,
    "last for first": last_for_first,
    "update left out": update_left_out,
    "handler silent": handler_silent,
    "field ignored": field_ignored,
    "never happens": never_happens,
}
"""Every operator by its name."""


# The text ---------------------------------------------------------------------------------------------------


def _nodes(method: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of the body, in the order of the text, without those in `budget(...)`, which bound the
    exploration.
    """
    todo: list[ast.AST] = list(reversed(method.body))
    while todo:
        node = todo.pop()
        if not _is_budget(node):
            yield node
            todo.extend(reversed(list(ast.iter_child_nodes(node))))


def _conditions(method: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the conditions of guards, branches and comprehensions, and the value of a helper that is a
    boolean.
    """
    is_test = isinstance(method.returns, ast.Name) and method.returns.id == "bool"
    for node in _nodes(method):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition])):
                yield condition
            case ast.If(test=condition) | ast.IfExp(test=condition):
                yield condition
            case ast.comprehension(ifs=conditions):
                yield from conditions
            case ast.Return(value=condition) if is_test and condition is not None:
                yield condition


def _operands(node: ast.expr, kind: type[ast.boolop]) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, kind):
        return [part for value in node.values for part in _operands(value, kind)]
    return [node]


def _joined(
    kind: type[ast.boolop], parts: Sequence[ast.expr], changed: int | None = None, new: ast.expr | None = None
) -> ast.expr:
    """Return the parts joined by `and` or `or`; the part at `changed` is replaced by `new`, or dropped
    without one.
    """
    left = [new if number == changed else part for number, part in enumerate(parts)]
    there = [part for part in left if part is not None]
    if len(there) == 1:
        return there[0]
    return ast.BoolOp(kind(), there) if there else ast.Constant(kind is ast.And)


def _is_budget(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "budget"


def _is_bound(node: ast.AST) -> bool:
    return any(map(_is_budget, ast.walk(node)))


def _is_prose(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_guard(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="require"))):
            return True
    return False


def _is_effect(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="emit") | ast.Attribute())):
            return True
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            while isinstance(target, ast.Subscript):
                target = target.value
            return isinstance(target, ast.Attribute)
    return False


def _expression(
    operator: str,
    shown: ast.AST,
    old: ast.expr,
    new: ast.expr,
    after: str | None = None,
    names: Mapping[str, object] | None = None,
) -> Change:
    text = ast.unparse(new)
    edit = Edit(_span(old), _padded(text, old))
    told = text if after is None else after
    return Change(operator, old.lineno, ast.unparse(shown), told, (edit,), names or {})


def _padded(text: str, old: ast.expr) -> str:
    return f"({text}" + "\n" * ((old.end_lineno or old.lineno) - old.lineno) + ")"


def _statement(operator: str, node: ast.stmt) -> Change:
    span = _span(node)
    edit = Edit(span, "pass" + "\n" * (span[2] - span[0]))
    return Change(operator, node.lineno, ast.unparse(node), "", (edit,))


def _span(node: ast.expr | ast.stmt) -> Span:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
