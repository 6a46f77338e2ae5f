"""State classes: the form of a state without its numbers, so that many states are of one class.

Each part of a state is described by whether it is there, and whether it has no, one or several items. The
counters and payloads of a protocol grow without end; its classes do not.

| part | class |
|---|---|
| None, a truth value, a member of an enumeration | itself |
| a number | negative, zero or positive |
| a time (a float) | that it is there |
| a text, or bytes | empty, or not |
| a record, or values by name | the class of each field |
| another collection | no, one or several items |
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from enum import Enum
from operator import attrgetter
from typing import Any

import msgspec

__all__ = ["class_text", "state_class"]

_SIZES = ("empty", "one", "several")
_KINDS: dict[type, Callable[[Any], Hashable]] = {
    type(None): lambda _: "none",
    bool: lambda value: "yes" if value else "no",
    int: lambda value: "-" if value < 0 else "+" if value else "0",
    float: lambda _: "there",
    str: lambda value: "some" if value else "empty",
    bytes: lambda value: "some" if value else "empty",
    tuple: lambda value: _SIZES[len(value)] if len(value) < 2 else "several",
    frozenset: lambda value: _SIZES[len(value)] if len(value) < 2 else "several",
}
"""The function that gives the class of a value, by the value's type; those of records are added when such a
record is first met.
"""


def state_class(state: object) -> Hashable:
    """Return the class of a state: a process's snapshot, or the values of its variables by name. Classes of
    states of one type are equal if the states look alike, as the table of this module has it.
    """
    kind = _KINDS.get(type(state))
    if kind is None:
        kind = _KINDS[type(state)] = _kind(type(state))
    return kind(state)


def class_text(state: object) -> str:
    """Return the class of a state as text, such as `holding: no, pending: none, received: several`."""
    names = _names(state)
    if names is None:
        return str(state_class(state))
    parts = ((name, _part(state, name)) for name in names)
    return ", ".join(
        f"{name}: {class_text(part)}" if _names(part) is None else f"{name}: ({class_text(part)})"
        for name, part in parts
    )


def _names(state: object) -> list[str] | None:
    """Return the names of the fields of a record; None for another value."""
    if isinstance(state, Mapping):
        return sorted(map(str, state))
    found = getattr(type(state), "__struct_fields__", None) or getattr(type(state), "_fields", None)
    return None if found is None else list(found)


def _part(state: object, name: str) -> object:
    return state[name] if isinstance(state, Mapping) else getattr(state, name)


def _kind(kind: type) -> Callable[[Any], Hashable]:
    """Return the function that gives the class of values of a type."""
    fields = getattr(kind, "__struct_fields__", None) or getattr(kind, "_fields", None)
    if issubclass(kind, msgspec.Struct | tuple) and fields is not None and len(fields) > 1:
        parts = attrgetter(*fields)
        return lambda value: tuple([state_class(part) for part in parts(value)])
    if issubclass(kind, msgspec.Struct | tuple) and fields:
        return lambda value: (state_class(getattr(value, fields[0])),)
    if issubclass(kind, Mapping):
        return lambda value: tuple([state_class(value[name]) for name in sorted(value, key=str)])
    if issubclass(kind, Enum):
        return lambda value: str(value.name)
    if hasattr(kind, "__len__"):
        return lambda value: _SIZES[min(len(value), 2)]
    return lambda _: "there"
