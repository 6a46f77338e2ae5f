"""The intermediate form as text: one line for each statement, prefix expressions, named types first. Equal
modules give equal text.

The text is for people and for digests: it holds everything that has meaning and no place in a file. The first
line carries the version of the form. There is no parser for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

from antiphon.spec.lang import ir, types

INDENT = "  "
MOST_WRITTEN = 4096
"""Number of definitions whose text is cached."""

TYPED = (
    ir.SetLiteral, ir.Gather, ir.MakeRecord, ir.MakeIndex, ir.MakeSequence, ir.Append, ir.Concatenate,
    ir.Collect, ir.Everywhere, ir.MakeMap, ir.Update,
    ir.Present, ir.Choose, ir.First,
)  # fmt: skip
"""Expressions whose type does not follow from their parts."""


def dump(module: ir.Module, *, prose: bool = True) -> str:
    """Return the text of a module, ending with a newline; without `prose` only the parts with meaning: no
    docstrings, no sentences about constants.
    """
    return "\n".join(_module(module, prose=prose)) + "\n"


def _module(module: ir.Module, *, prose: bool) -> Iterator[str]:
    yield f"antiphon.ir {module.version}"
    yield f"module {module.name}"
    yield from _named_types(module, prose=prose)
    for constant in module.constants:
        notes = "".join(f" {key}={value!r}" for key, value in _notes(constant) if value and prose)
        yield f"{constant.role} {constant.name}: {type_text(constant.type)} = {constant.default!r}{notes}"
    for variable in module.variables:
        yield f"variable {variable.name}: {type_text(variable.type)} = {expression_text(variable.initial)}"
    for word, definitions in _groups(module):
        for definition in definitions:
            yield from _written(definition, prose=prose, word=word).lines
    if module.properties:
        yield f"properties {' '.join(module.properties)}"
    for liveness in module.liveness:
        given = ", ".join(
            f"{parameter.name}: {type_text(parameter.type)}" for parameter in liveness.parameters
        )
        formulas = " implies ".join(map(_temporal, (*liveness.assuming, liveness)))
        yield f"liveness {liveness.name}({given}) {formulas}"
    for fair in module.fair:
        yield f"fair {fair.name} {fair.fairness.value} {' or '.join(map(_fair_part, fair.parts))}"


@dataclasses.dataclass(frozen=True, eq=False)
class _Written:
    """Text of one definition: its lines, and the named types that occur in it."""

    definition: ir.Definition
    lines: tuple[str, ...]
    types: frozenset[str]


_known: dict[tuple[int, bool], _Written] = {}
"""Texts that were written last, by the identity of the definition, which many modules share, and with prose
or not.
"""


def _written(definition: ir.Definition, *, prose: bool, word: str) -> _Written:
    known = _known.get((id(definition), prose))
    if known is None:
        if len(_known) == MOST_WRITTEN:
            _known.clear()
        lines = tuple(_definition(word, definition, prose=prose))
        known = _known[id(definition), prose] = _Written(definition, lines, _types_in(definition))
    return known


def _fair_part(part: ir.FairPart) -> str:
    per = f" per {', '.join(part.per)}" if part.per else ""
    return part.action + per + (f" where {expression_text(part.where)}" if part.where is not None else "")


def _temporal(formula: ir.Temporal) -> str:
    parts = [] if formula.premise is None else [expression_text(formula.premise)]
    return " ".join([*parts, formula.kind.value, expression_text(formula.goal)])


def _notes(constant: ir.ConstantDefinition) -> tuple[tuple[str, Any], ...]:
    return ("about", constant.about), ("answers", constant.answers), ("builds_on", constant.builds_on)


def _definition(word: str, definition: ir.Definition, *, prose: bool) -> Iterator[str]:
    given = ", ".join(f"{parameter.name}: {type_text(parameter.type)}" for parameter in definition.parameters)
    after = ""
    match definition:
        case ir.Function(type=of):
            after = f" -> {type_text(of)}"
        case ir.Action(fault=fault, fairness=fairness, per=per):
            after = (" fault" if fault else "") + (
                f" {fairness.value} fairness" if fairness is not ir.Fairness.NONE else ""
            )
            after += f" per {', '.join(per)}" if per else ""
        case ir.Handler(event=event):
            after = f" on {event}"
        case ir.Predicate(kind=kind):
            word = kind.value
    yield f"{word} {definition.name}({given}){after}"
    if definition.doc and prose:
        yield f"{INDENT}doc {definition.doc!r}"
    yield from _block(definition.body, 1)


# Statements ------------------------------------------------------------------------------------------


def _block(body: tuple[ir.Statement, ...], depth: int) -> Iterator[str]:
    for statement in body:
        yield from _statement(statement, depth)


def _statement(statement: ir.Statement, depth: int) -> Iterator[str]:
    pad = INDENT * depth
    match statement:
        case ir.When(condition=condition, then=then, otherwise=otherwise):
            yield f"{pad}when {expression_text(condition)}"
            yield from _block(then, depth + 1)
            if otherwise:
                yield f"{pad}otherwise"
                yield from _block(otherwise, depth + 1)
        case ir.Each(binder=binder, body=body):
            yield f"{pad}each {_binder(binder)}"
            yield from _block(body, depth + 1)
        case _:
            yield pad + _line(statement)


def _line(statement: ir.Statement) -> str:
    match statement:
        case ir.Assign(variable=variable, keys=keys, value=value):
            place = variable + "".join(f"[{expression_text(key)}]" for key in keys)
            return f"{place} := {expression_text(value)}"
        case ir.Let(name=name, type=of, value=value):
            return f"let {name}: {type_text(of)} = {expression_text(value)}"
        case ir.Require(condition=condition, text=text):
            return f"require {expression_text(condition)} {text!r}"
        case ir.Emit(event=event):
            return f"emit {expression_text(event)}"
        case ir.Expect(condition=condition, property=name, clash=clash, text=text):
            against = f" clash {expression_text(clash)}" if clash is not None else ""
            return f"expect {name!r} {expression_text(condition)}{against} {text!r}"
        case ir.Perform(procedure=name, arguments=arguments):
            return f"perform {name}({', '.join(map(expression_text, arguments))})"
        case ir.Return(value=value):
            return "return" if value is None else f"return {expression_text(value)}"
    raise TypeError(f"no text for {type(statement).__name__}")


# Expressions -----------------------------------------------------------------------------------------


def expression_text(node: ir.Expression) -> str:
    """Return an expression in prefix form: `(compare == (read phase) Phase.init)`."""
    match node:
        case ir.Literal(value=value):
            return f"{value.__class__.__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
        case ir.Name(name=name):
            return name
        case ir.Constant(name=name):
            return f"(constant {name})"
    parts = [_part(getattr(node, name)) for name in _fields(type(node)) if name != "type"]
    kind = f" : {type_text(node.type)}" if isinstance(node, TYPED) else ""
    return f"({type(node).__name__.lower()}{''.join(f' {part}' for part in parts)}{kind})"


def _part(value: Any) -> str:
    if isinstance(value, ir.Expression):
        return expression_text(value)
    if isinstance(value, ir.Binder):
        return _binder(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_part, value))}]"
    return "-" if value is None else str(value)


def _binder(binder: ir.Binder) -> str:
    source = (
        type_text(binder.source) if isinstance(binder.source, types.Type) else expression_text(binder.source)
    )
    test = f" if {expression_text(binder.condition)}" if binder.condition is not None else ""
    return f"<{binder.name}: {type_text(binder.type)} in {source}{test}>"


# Types -----------------------------------------------------------------------------------------------


def type_text(of: types.Type) -> str:
    """Return a type as text; records, enumerations and indices by name."""
    match of:
        case types.Bool():
            return "bool"
        case ir.Integer():
            return "int"
        case ir.NoneType():
            return "none"
        case types.Int(low=low, high=high):
            return f"int[{low}..{high}]"
        case types.Optional(of=inner):
            return f"optional[{type_text(inner)}]"
        case types.Union(records=records):
            return f"union[{', '.join(map(type_text, records))}]"
        case types.SetOf(of=inner):
            return f"set[{type_text(inner)}]"
        case types.MapOf(key=key, value=value):
            return f"map[{type_text(key)}, {type_text(value)}]"
        case types.SequenceOf(of=inner, most=most):
            return f"sequence[{type_text(inner)}, {most}]"
        case types.Record(name=name) | types.Enumeration(name=name) | types.IndexType(name=name):
            return name
    raise TypeError(f"no text for {of!r}")


def _groups(module: ir.Module) -> tuple[tuple[str, Iterable[ir.Definition]], ...]:
    """Return the definitions of a module by kind, each kind with its word."""
    return (
        ("function", module.functions), ("procedure", module.procedures), ("initial", module.initials),
        ("action", module.actions),
        ("handler", module.handlers), ("predicate", module.predicates),
        ("step invariant", module.step_invariants),
    )  # fmt: skip


def _named_types(module: ir.Module, *, prose: bool) -> list[str]:
    groups = _groups(module)
    apart = {id(definitions) for _, definitions in groups}
    rest = (getattr(module, name) for name in _fields(ir.Module))
    found = set(_types_in(tuple(part for part in rest if id(part) not in apart)))
    for word, definitions in groups:
        for definition in definitions:
            found |= _written(definition, prose=prose, word=word).types
    return sorted(found)


def _types_in(part: object) -> frozenset[str]:
    """Return the named types that occur in a part of the form."""
    found: dict[str, None] = {}
    seen: set[int] = set()
    pending: list[object] = [part]
    while pending:
        part = pending.pop()
        if isinstance(part, types.Type):
            if id(part) in seen:
                continue
            seen.add(id(part))
            match part:
                case types.Record(name=name, fields=fields):
                    found.setdefault(
                        f"record {name}({', '.join(f'{field}: {type_text(of)}' for field, of in fields)})"
                    )
                    pending.extend(of for _, of in fields)
                case types.Enumeration(name=name, members=members):
                    found.setdefault(f"enumeration {name}({', '.join(members)})")
                case types.IndexType(name=name, size=size, ordered=ordered, symmetric=symmetric):
                    found.setdefault(
                        "index "
                        f"{name}[{size}]{' ordered' if ordered else ''}{' symmetric' if symmetric else ''}"
                    )
        if isinstance(part, tuple):
            pending.extend(part)
        else:
            pending.extend([getattr(part, name) for name in _fields(type(part))])
    return frozenset(found)


def _fields(kind: type) -> tuple[str, ...]:
    """Return the fields of a dataclass that have meaning in the text; none for any other class."""
    if kind not in _fields_of:
        fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        _fields_of[kind] = tuple(item.name for item in fields if item.name not in ("at", "python"))
    return _fields_of[kind]


_fields_of: dict[type, tuple[str, ...]] = {}
