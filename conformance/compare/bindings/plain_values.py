"""Conversion between a value of a specification and plain Python: an index is its number, a set any
collection.

`plain` turns a specification's value into one for the user's code. `meant` turns the user's value into one of
a domain. A value outside the domain becomes `Strange`, which equals no value and shows the user's value.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping
from typing import Any

from antiphon.spec.lang import Index, Map, types
from antiphon.spec.lang.foreign import writable
from antiphon.spec.lang.types import Domain


class Strange:
    """Value of the user's code that is outside the domain, as its text when it was read."""

    __slots__ = ("text",)

    def __init__(self, value: object) -> None:
        self.text = writable(repr(value))

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strange) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class _NoValue(Exception):
    """Error: a value is outside the domain."""


def plain(value: Any) -> Any:
    """Return the value with numbers in place of indices, also inside records, sets, maps and sequences."""
    if isinstance(value, Index):
        return value.index
    if isinstance(value, frozenset):
        return frozenset(map(plain, value))
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, Map):
        return Map({plain(key): plain(item) for key, item in value.items()})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
        return type(value)(**parts)
    return value


def meant(domain: Domain, value: Any) -> Any:
    """Return the value of the domain that a plain value denotes, a map as a state holds it, or `Strange`."""
    try:
        found = _meant(domain, value)
    except _NoValue:
        return Strange(value)
    return found.freeze() if isinstance(found, Map) else found


def _meant(domain: Domain, value: Any) -> Any:
    match domain.type:
        case types.Record():
            return _record(domain, value)
        case types.Optional():
            return None if value is None else _meant(domain.parts[0], value)
        case types.Union():
            return _one_of(domain, value)
        case types.SetOf():
            return frozenset(_meant(domain.parts[0], item) for item in _items(value))
        case types.MapOf():
            return _map(domain, value)
        case types.SequenceOf():
            items = tuple(_meant(domain.parts[0], item) for item in _items(value))
            if len(items) > domain.most:
                raise _NoValue
            return items
        case types.IndexType(python=python) if type(value) is int and 0 <= value <= domain.high:
            return python(value)
        case types.Enumeration(members=members, python=python):
            name = value.name if isinstance(value, enum.Enum) else value
            if name not in members:
                raise _NoValue
            return name if python is None else python[name]
    if not domain.contains(value):
        raise _NoValue
    return value


def _record(domain: Domain, value: Any) -> Any:
    """Return the record with these fields. The value may be a record of that class, a mapping, or an object
    with attributes of these names.
    """
    assert isinstance(domain.type, types.Record)
    python, names = domain.type.python, [name for name, _ in domain.type.fields]
    if isinstance(value, Mapping):
        there = dict(value) if set(value) == set(names) else None
    elif type(value) is python or type(value).__name__ == python.__name__:
        there = {name: getattr(value, name) for name in names if hasattr(value, name)}
    else:
        there = None
    if there is None or len(there) != len(names):
        raise _NoValue
    parts = (_meant(part, there[name]) for name, part in zip(names, domain.parts, strict=True))
    return python(*(item.away() if isinstance(item, Map) else item for item in parts))


def _one_of(domain: Domain, value: Any) -> Any:
    for part in domain.parts:
        try:
            return _meant(part, value)
        except _NoValue:
            continue
    raise _NoValue


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise _NoValue
    return value


def _map(domain: Domain, value: Any) -> Map[Any, Any]:
    """Return a map of the domain. The value may be a mapping, or a sequence of values in the order of the
    keys.
    """
    keys, values = domain.parts
    if isinstance(value, Map):
        value = dict(value.items())
    if not isinstance(value, Mapping):
        value = dict(zip(keys, _items(value), strict=False)) if _length(value) == keys.cardinality else {}
    given = {_meant(keys, key): item for key, item in value.items()}
    if len(given) != len(value) or len(given) != keys.cardinality:
        raise _NoValue
    return Map.made(domain.keys, tuple(_meant(values, given[key]) for key in keys))


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple) else -1
