"""A variable begins with its default, a Python value, which is read as an expression over constants."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from antiphon.spec.lang import ir, types, values
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.front.sorts import surface, words
from antiphon.spec.lang.front.world import World


def value(world: World, python: Any, wanted: types.Type, what: str, at: Location) -> ir.Expression:
    """Return the expression of a variable's default value.

    Raises:
        SpecError: the default is no value of the declared type.
    """
    inner = wanted.of if isinstance(wanted, types.Optional) and python is not None else wanted
    match inner:
        case types.MapOf(value=types.MapOf() as of) if isinstance(python, values.Everywhere) and not (
            isinstance(python.value, values.Everywhere)
        ):
            reason = f"{what} = everywhere({python.value!r}), and each of its values is {words(of)}"
            raise SpecError(reason, at, "everywhere(everywhere(value))")
        case types.MapOf(value=of) if isinstance(python, values.Everywhere):
            return ir.Everywhere(type=inner, value=value(world, python.value, of, what, at), at=at)
        case types.SetOf(of=of) if isinstance(python, frozenset | set):
            items = tuple(value(world, item, of, what, at) for item in sorted(python, key=repr))
            return ir.SetLiteral(type=inner, items=items, at=at)
        case types.SequenceOf(of=of) if type(python) is tuple:
            items = tuple(value(world, item, of, what, at) for item in python)
            return ir.MakeSequence(type=types.SequenceOf(of, len(items)), items=items, at=at)
        case types.IndexType(python=kind) if type(python) is kind:
            if inner.symmetric:
                reason = f"{what} = {python!r}, and {inner.name} is symmetric: no member is special"
                raise SpecError(reason, at, f"None, or @initial def start(self, p: {inner.name})")
            number = ir.Literal(type=ir.INTEGER, value=python.index, at=at)
            return ir.MakeIndex(type=inner, number=number, at=at)
        case types.Record() | types.Union() if dataclasses.is_dataclass(python) and not isinstance(
            python, type
        ):
            return _record(world, python, inner, what, at)
    if _plain(python, inner):
        return ir.Literal(type=surface(inner if python is not None else ir.NoneType()), value=python, at=at)
    instead = f"a value of {words(wanted)}"
    if isinstance(inner, types.MapOf):
        instead = "everywhere(value), and an @initial method for what differs"
    elif isinstance(inner, types.IndexType) and type(python) is int:
        instead = f"{inner.name}({python})"
    raise SpecError(f"{what} = {python!r}, and {words(wanted)} is needed", at, instead)


def _record(world: World, python: Any, wanted: types.Type, what: str, at: Location) -> ir.Expression:
    records = wanted.records if isinstance(wanted, types.Union) else (wanted,)
    for kind in records:
        if isinstance(kind, types.Record) and kind.python is type(python):
            parts = tuple(
                value(world, getattr(python, name), of, f"{what}.{name}", at) for name, of in kind.fields
            )
            return ir.MakeRecord(type=kind, arguments=parts, at=at)
    raise SpecError(f"{what} = {python!r}, and {words(wanted)} is needed", at, "one of its records")


def _plain(python: Any, wanted: types.Type) -> bool:
    match wanted:
        case types.Bool():
            return isinstance(python, bool)
        case types.Int(low=low, high=high):
            below = isinstance(low, int) and type(python) is int and python < low
            above = isinstance(high, int) and type(python) is int and python > high
            return type(python) is int and not below and not above
        case types.Enumeration(python=kind):
            return isinstance(python, enum.Enum) and type(python) is kind
        case types.Optional():
            return python is None
    return False
