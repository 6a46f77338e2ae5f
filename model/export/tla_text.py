"""Expressions of the intermediate form in TLA+, with the names of the specification.

A partial operation outside its domain is an error of TLC too. This file knows nothing of statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from antiphon.model.export.tla_types import Names, Types, literal, record, string
from antiphon.spec.lang import SpecError, ir, types


class Scope:
    """Meaning of names at one point of a text: the TLA+ text of each variable and of each local. In a
    property of steps also that of each variable before the step.
    """

    def __init__(
        self,
        variables: Mapping[str, str],
        locals: Mapping[str, str] | None = None,
        before: Mapping[str, str] | None = None,
    ) -> None:
        self.variables, self.locals, self.before = dict(variables), dict(locals or {}), dict(before or {})

    def bound(self, name: str, text: str) -> Scope:
        """Return the scope with one more local."""
        return Scope(self.variables, self.locals | {name: text}, self.before)


class Texts(Types):
    """Writer of the types and expressions of one module under given constants.

    Attributes:
        reads: the variables that a helper reads, which it takes as further parameters.
        helpers: operators beside the specification's that the module needs (`SumOver` and others).
    """

    def __init__(
        self,
        module: ir.Module,
        constants: types.Constants,
        names: Names,
        reads: Mapping[str, tuple[str, ...]],
    ) -> None:
        super().__init__(constants, names)
        self.module, self.reads = module, reads
        self.helpers: set[str] = set()

    def text(self, node: ir.Expression, scope: Scope) -> str:
        """Return an expression, in parentheses where it needs them."""
        return _HANDLERS[type(node)](self, node, scope)

    def binder(self, binder: ir.Binder, scope: Scope) -> tuple[str, str, Scope]:
        """Return the name that a quantifier binds, its set, and the scope inside it.

        The set respects the condition of the binder.
        """
        if isinstance(binder.source, types.Type):
            name, source, inside = self.names.fresh(binder.name), self.domain(binder.source), ""
        elif isinstance(binder.source, ir.Range):
            name, inside = self.names.fresh(binder.name), ""
            lower, upper = (self.text(part, scope) for part in (binder.source.lower, binder.source.upper))
            source = f"{lower} .. ({upper} - 1)"
        elif isinstance(binder.source.type, types.SequenceOf):
            sequence = self.text(binder.source, scope)
            name, source, inside = self.names.fresh("i"), f"1 .. Len({sequence})", f"{sequence}[{{}}]"
        else:
            name, source, inside = self.names.fresh(binder.name), self.text(binder.source, scope), ""
        within = scope.bound(binder.name, inside.format(name) if inside else name)
        if binder.condition is not None:
            source = f"{{{name} \\in {source} : {self.text(binder.condition, within)}}}"
        return name, source, within

    def needs(self, helper: str) -> str:
        """Return the name of a helper of this file, which is noted as needed."""
        self.helpers.add(helper)
        return helper


def _joined(sign: str) -> Callable[[Texts, Any, Scope], str]:
    return lambda texts, node, scope: (
        "(" + f" {sign} ".join(texts.text(part, scope) for part in node.operands) + ")"
    )


_COMPARISONS = {
    ir.Comparison.EQUAL: "=", ir.Comparison.UNEQUAL: "#", ir.Comparison.LESS: "<",
    ir.Comparison.AT_MOST: "<=", ir.Comparison.GREATER: ">",
    ir.Comparison.AT_LEAST: ">=",
}  # fmt: skip


def _compare(texts: Texts, node: ir.Compare, scope: Scope) -> str:
    left, right, operator = texts.text(node.left, scope), texts.text(node.right, scope), node.operator
    if isinstance(node.left.type, types.SetOf) and operator not in (
        ir.Comparison.EQUAL,
        ir.Comparison.UNEQUAL,
    ):
        if operator in (ir.Comparison.GREATER, ir.Comparison.AT_LEAST):
            left, right = right, left
        if operator in (ir.Comparison.LESS, ir.Comparison.GREATER):
            return f"({left} \\subseteq {right} /\\ {left} # {right})"
        return f"({left} \\subseteq {right})"
    return f"({left} {_COMPARISONS[operator]} {right})"


_ARITHMETIC = {
    ir.Operation.ADD: "+", ir.Operation.SUBTRACT: "-", ir.Operation.MULTIPLY: "*",
    ir.Operation.DIVIDE: "\\div", ir.Operation.MODULO: "%",
}  # fmt: skip


_DIVISIONS = {ir.Operation.DIVIDE: "Divided", ir.Operation.MODULO: "Rest"}
"""Operators in the place of divisions by numbers that may be negative, whose remainder TLC refuses."""


def _arithmetic(texts: Texts, node: ir.Arithmetic, scope: Scope) -> str:
    if node.operator in _DIVISIONS and not _is_natural(texts, node.right):
        operator = texts.needs(_DIVISIONS[node.operator])
        return f"{operator}({texts.text(node.left, scope)}, {texts.text(node.right, scope)})"
    return f"({texts.text(node.left, scope)} {_ARITHMETIC[node.operator]} {texts.text(node.right, scope)})"


def _is_natural(texts: Texts, node: ir.Expression) -> bool:
    """Return True if a number is known never to be negative."""
    match node:
        case ir.Literal(value=int(value)):
            return value >= 0
        case ir.Constant(name=name):
            return int(texts.constants[name]) >= 0
        case ir.Read(variable=variable):
            kind = next(item.type for item in texts.module.variables if item.name == variable)
            return isinstance(kind, types.Int) and types.bind(kind, texts.constants).low >= 0
        case ir.Size() | ir.IndexNumber():
            return True
        case ir.Arithmetic(operator=operator, left=left, right=right):
            return operator is not ir.Operation.SUBTRACT and all(
                _is_natural(texts, part) for part in (left, right)
            )
    return isinstance(node.type, types.Int) and types.bind(node.type, texts.constants).low >= 0


def _member(texts: Texts, node: ir.Member, scope: Scope) -> str:
    item, collection = texts.text(node.item, scope), texts.text(node.collection, scope)
    if isinstance(node.collection.type, types.SequenceOf):
        name = texts.names.fresh("i")
        return f"(\\E {name} \\in 1 .. Len({collection}) : {collection}[{name}] = {item})"
    return f"({item} \\in {collection})"


def _sets(texts: Texts, node: ir.SetBinary, scope: Scope) -> str:
    left, right = texts.text(node.left, scope), texts.text(node.right, scope)
    match node.operator:
        case ir.SetOperation.UNION:
            return f"({left} \\cup {right})"
        case ir.SetOperation.INTERSECTION:
            return f"({left} \\cap {right})"
        case ir.SetOperation.DIFFERENCE:
            return f"({left} \\ {right})"
    return f"(({left} \\ {right}) \\cup ({right} \\ {left}))"


def _size(texts: Texts, node: ir.Size, scope: Scope) -> str:
    counted = "Len" if isinstance(node.collection.type, types.SequenceOf) else "Cardinality"
    return f"{counted}({texts.text(node.collection, scope)})"


def _quantify(texts: Texts, node: ir.Quantify, scope: Scope) -> str:
    sign = "\\E" if node.quantifier is ir.Quantifier.ANY else "\\A"
    text = ""
    for binder in node.binders:
        name, source, scope = texts.binder(binder, scope)
        text += f"{sign} {name} \\in {source} : "
    return f"({text}{texts.text(node.body, scope)})"


def _gather(texts: Texts, node: ir.Gather, scope: Scope) -> str:
    return gathered(texts, node.binders, node.body, scope)


def gathered(texts: Texts, binders: Sequence[ir.Binder], body: ir.Expression, scope: Scope) -> str:
    """Return the TLA+ set of the values of `body`, for all values of the binders."""
    name, source, within = texts.binder(binders[0], scope)
    if len(binders) > 1:
        return f"UNION {{{gathered(texts, binders[1:], body, within)} : {name} \\in {source}}}"
    return f"{{{texts.text(body, within)} : {name} \\in {source}}}"


def _reduce(texts: Texts, node: ir.Reduce, scope: Scope) -> str:
    if node.reduction is ir.Reduction.SUM:
        return _sum(texts, node.binders, node.body, scope)
    operator = texts.needs("MaxOf" if node.reduction is ir.Reduction.MAXIMUM else "MinOf")
    values = gathered(texts, node.binders, node.body, scope)
    if node.default is None:
        return f"{operator}({values})"
    name = texts.names.fresh("values")
    return (
        f"(LET {name} == {values} IN IF {name} = {{}} THEN {texts.text(node.default, scope)} ELSE "
        f"{operator}({name}))"
    )


def _sum(texts: Texts, binders: Sequence[ir.Binder], body: ir.Expression, scope: Scope) -> str:
    name, source, within = texts.binder(binders[0], scope)
    if len(binders) == 1 and isinstance(body, ir.Literal) and body.value == 1:
        return f"Cardinality({source})"
    inner = _sum(texts, binders[1:], body, within) if len(binders) > 1 else texts.text(body, within)
    function = texts.names.fresh("f")
    return (
        f"(LET {function} == [{name} \\in {source} |-> {inner}] IN {texts.needs('SumOver')}({function}, "
        f"DOMAIN {function}))"
    )


def _selected(texts: Texts, binder: ir.Binder, scope: Scope) -> str:
    """Return the sequence of a binder's values that meet its condition, in their order."""
    if isinstance(binder.source, types.Type):
        sequence = texts.in_order(binder.source)
    else:
        sequence = texts.text(binder.source, scope)
        if not isinstance(binder.source.type, types.SequenceOf):
            raise SpecError(
                "next over a set is not exported to TLA+",
                binder.at,
                "next over the type, with `if` for membership",
            )
    if binder.condition is None:
        return sequence
    name = texts.names.fresh(binder.name)
    test = texts.text(binder.condition, scope.bound(binder.name, name))
    return f"SelectSeq({sequence}, LAMBDA {name} : {test})"


def _collect(texts: Texts, node: ir.Collect, scope: Scope) -> str:
    selected = _selected(texts, node.binder, scope)
    if node.body == ir.Name(type=node.body.type, name=node.binder.name):
        return selected
    kept, place = texts.names.fresh("items"), texts.names.fresh("i")
    item = texts.text(node.body, scope.bound(node.binder.name, f"{kept}[{place}]"))
    return f"(LET {kept} == {selected} IN [{place} \\in 1 .. Len({kept}) |-> {item}])"


def _slice(texts: Texts, node: ir.Slice, scope: Scope) -> str:
    sequence = texts.text(node.sequence, scope)
    match node.lower, node.upper:
        case ir.Literal(value=1), None:
            return f"{texts.needs('DropFirst')}({sequence})"
    lower = texts.text(node.lower, scope) if node.lower is not None else "0"
    upper = texts.text(node.upper, scope) if node.upper is not None else f"Len({sequence})"
    return f"{texts.needs('Slice')}({sequence}, {lower}, {upper})"


def _item(texts: Texts, node: ir.Item, scope: Scope) -> str:
    """Return an item of a sequence; in TLA+ positions count from 1."""
    sequence = texts.text(node.sequence, scope)
    match node.position:
        case ir.Arithmetic(operator=ir.Operation.SUBTRACT, left=left, right=ir.Literal(value=1)):
            return f"{sequence}[{texts.text(left, scope)}]"
    return f"{sequence}[{texts.text(node.position, scope)} + 1]"


def _reverse(texts: Texts, node: ir.Reverse, scope: Scope) -> str:
    return f"{texts.needs('Reverse')}({texts.text(node.sequence, scope)})"


def _range(texts: Texts, node: ir.Range, scope: Scope) -> str:
    lower, upper, place = texts.text(node.lower, scope), texts.text(node.upper, scope), texts.names.fresh("i")
    return f"[{place} \\in 1 .. ({upper} - {lower}) |-> {lower} + {place} - 1]"


def _first(texts: Texts, node: ir.First, scope: Scope) -> str:
    """Return the value of `next`: the first item of the sequence of all candidates, in domain order."""
    if len(node.binders) > 1:
        raise SpecError(
            "next over several loops is not exported to TLA+",
            node.at,
            "one loop in the next, and a helper for the other",
        )
    (binder,) = node.binders
    found = _selected(texts, binder, scope)
    kept = texts.names.fresh("found")
    body = texts.text(node.body, scope.bound(binder.name, f"{kept}[1]"))
    if node.default is not None:
        body = f"IF {kept} = <<>> THEN {texts.text(node.default, scope)} ELSE {body}"
    return f"(LET {kept} == {found} IN {body})"


def _make_record(texts: Texts, node: ir.MakeRecord, scope: Scope) -> str:
    assert isinstance(node.type, types.Record)
    given = [texts.text(argument, scope) for argument in node.arguments]
    return record(
        node.type.name,
        [(texts.names.field(name), text) for (name, _), text in zip(node.type.fields, given, strict=True)],
    )


def _is_record(texts: Texts, node: ir.IsRecord, scope: Scope) -> str:
    value = texts.text(node.value, scope)
    test = f"{value}.record \\in {{{', '.join(map(string, node.records))}}}"
    return f"({value} # None /\\ {test})" if isinstance(node.value.type, types.Optional) else f"({test})"


def _everywhere(texts: Texts, node: ir.Everywhere, scope: Scope) -> str:
    assert isinstance(node.type, types.MapOf)
    return (
        f"[{texts.names.fresh('k')} \\in {texts.domain(node.type.key)} |-> {texts.text(node.value, scope)}]"
    )


def _make_map(texts: Texts, node: ir.MakeMap, scope: Scope) -> str:
    name, source, within = texts.binder(node.binder, scope)
    return f"[{name} \\in {source} |-> {texts.text(node.body, within)}]"


def _update(texts: Texts, node: ir.Update, scope: Scope) -> str:
    changes = ", ".join(
        f"![{texts.text(key, scope)}] = {texts.text(value, scope)}"
        for key, value in zip(node.keys, node.values, strict=True)
    )
    return f"[{texts.text(node.map, scope)} EXCEPT {changes}]"


def _before(texts: Texts, node: ir.Before, scope: Scope) -> str:
    if isinstance(node.value, ir.Read):
        return scope.before[node.value.variable]
    return _call(texts, node.value, scope, scope.before)


def _call(texts: Texts, node: ir.Call, scope: Scope, state: Mapping[str, str] | None = None) -> str:
    given = [texts.text(argument, scope) for argument in node.arguments]
    seen = scope.variables if state is None else state
    given += [seen[variable] for variable in texts.reads[node.function]]
    name = texts.name("function", node.function)
    return f"{name}({', '.join(given)})" if given else name


def _choose(texts: Texts, node: ir.Choose, scope: Scope) -> str:
    parts = (texts.text(part, scope) for part in (node.condition, node.then, node.otherwise))
    return "(IF {} THEN {} ELSE {})".format(*parts)


def _items(open: str, close: str) -> Callable[[Texts, Any, Scope], str]:
    return lambda texts, node, scope: open + ", ".join(texts.text(item, scope) for item in node.items) + close


_HANDLERS: dict[type[ir.Expression], Callable[[Texts, Any, Scope], str]] = {
    ir.Literal: lambda _, node, __: literal(node.value),
    ir.Constant: lambda texts, node, _: texts.name("constant", node.name),
    ir.Name: lambda _, node, scope: scope.locals[node.name],
    ir.Read: lambda _, node, scope: scope.variables[node.variable],
    ir.Lookup: lambda texts, node, scope: f"{texts.text(node.map, scope)}[{texts.text(node.key, scope)}]",
    ir.Field: lambda texts, node, scope: f"{texts.text(node.record, scope)}.{texts.names.field(node.name)}",
    ir.Compare: _compare,
    ir.Arithmetic: _arithmetic,
    ir.Not: lambda texts, node, scope: f"~({texts.text(node.operand, scope)})",
    ir.Budget: lambda texts, node, scope: texts.text(node.condition, scope),
    ir.And: _joined("/\\"),
    ir.Or: _joined("\\/"),
    ir.Choose: _choose,
    ir.Member: _member,
    ir.SetLiteral: _items("{", "}"),
    ir.SetBinary: _sets,
    ir.Size: _size,
    ir.Quantify: _quantify,
    ir.Gather: _gather,
    ir.Reduce: _reduce,
    ir.First: _first,
    ir.MakeRecord: _make_record,
    ir.IsRecord: _is_record,
    ir.Present: lambda texts, node, scope: texts.text(node.value, scope),
    ir.MakeIndex: lambda texts, node, scope: texts.text(node.number, scope),
    ir.IndexNumber: lambda texts, node, scope: texts.text(node.index, scope),
    ir.MakeSequence: _items("<<", ">>"),
    ir.Append: lambda texts, node, scope: (
        f"Append({texts.text(node.sequence, scope)}, {texts.text(node.item, scope)})"
    ),
    ir.Item: _item,
    ir.Slice: _slice,
    ir.Concatenate: lambda texts, node, scope: (
        f"({texts.text(node.left, scope)} \\o {texts.text(node.right, scope)})"
    ),
    ir.Reverse: _reverse,
    ir.Collect: _collect,
    ir.Range: _range,
    ir.Everywhere: _everywhere,
    ir.MakeMap: _make_map,
    ir.Update: _update,
    ir.Call: _call,
    ir.Before: _before,
}
