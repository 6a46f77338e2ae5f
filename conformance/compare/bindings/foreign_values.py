"""Values of a specification as JSON, and JSON as plain Python of which `plain_values.meant` makes values.

An index is its number, an enumeration its name, a set an array without an order, a sequence an array, a map
over an index the array of its values in the order of its keys, any other map an object, a record an object of
its fields with the `type`: its name in lower case, words joined by "_".

This module knows neither a protocol nor a process.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from antiphon.spec.lang import Index, Map, types
from antiphon.spec.lang.types import Domain

KIND = "type"
"""Key of a record's name in its object, unless the record has a field of this name."""


def told_name(name: str) -> str:
    """Return the name of a record in JSON: `TakeLock` is "take_lock"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def as_json(value: Any) -> Any:
    """Return a value of a specification as JSON data."""
    if isinstance(value, Index):
        return value.index
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, frozenset):
        return sorted(map(as_json, value), key=canonical)
    if isinstance(value, tuple):
        return list(map(as_json, value))
    if isinstance(value, Map):
        items = list(value.items())
        if all(isinstance(key, Index) for key, _ in items):
            return [as_json(item) for _, item in sorted(items, key=lambda item: item[0].index)]
        return {str(as_json(key)): as_json(item) for key, item in items}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {item.name: as_json(getattr(value, item.name)) for item in dataclasses.fields(value)}
        return {KIND: told_name(type(value).__name__), **fields}
    return value


def canonical(value: Any) -> bytes:
    """Return a value as JSON text that is equal for equal values."""
    return msgspec.json.encode(value, order="sorted")


def as_plain(domain: Domain, value: Any) -> Any:
    """Return JSON data as plain Python for a value of the domain; data that stands for no value is returned
    unchanged.
    """
    match domain.type, value:
        case types.Union(), {"type": name}:
            for part in domain.parts:
                if isinstance(part.type, types.Record) and told_name(part.type.name) == name:
                    found = as_plain(part, value)
                    return part.type.python(**found) if isinstance(found, dict) else found
        case types.Record(fields=fields), dict():
            return _record(domain, dict(fields), value)
        case types.Optional(), _ if value is not None:
            return as_plain(domain.parts[0], value)
        case (types.SetOf() | types.SequenceOf()), list():
            return [as_plain(domain.parts[0], item) for item in value]
        case types.MapOf(), dict():
            keys, values = domain.parts
            return {_key(keys, key): as_plain(values, item) for key, item in value.items()}
        case types.MapOf(), list():
            return [as_plain(domain.parts[1], item) for item in value]
    return value


def _record(domain: Domain, fields: Mapping[str, Any], value: dict[str, Any]) -> Any:
    """Return a record as its fields, each as plain Python, if the names of the fields and the type are the
    record's; else return the value unchanged.
    """
    given = dict(value)
    assert isinstance(domain.type, types.Record)
    if KIND not in fields and given.pop(KIND, told := told_name(domain.type.name)) != told:
        return value
    if given.keys() != fields.keys():
        return value
    return {name: as_plain(part, given[name]) for name, part in zip(fields, domain.parts, strict=True)}


def _key(domain: Domain, text: str) -> Any:
    """Return the key that a text in JSON stands for."""
    is_number = isinstance(domain.type, types.IndexType | types.Int) and re.fullmatch(r"-?[0-9]+", text)
    return int(text) if is_number else text
