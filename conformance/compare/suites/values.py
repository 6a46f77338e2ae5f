"""Checks of immutability: finds the mutable parts of a value, and changes them.

This module knows the kinds of values that cores and bindings return, not their meaning.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator
from enum import Enum
from types import MappingProxyType

import msgspec

from antiphon.spec.lang import Index

_ATOMS = (bool, int, float, str, bytes, type(None), Enum, Index)


def spoil(value: object) -> None:
    """Empty every container inside `value`, as a caller may do with a value that is its own."""
    if isinstance(value, dict):
        for part in value.values():
            spoil(part)
    elif isinstance(value, list | tuple | set | frozenset | deque):
        for part in value:
            spoil(part)
    if isinstance(value, dict | list | set | deque | bytearray):
        value.clear()


def mutable_parts(value: object, path: str = "") -> Iterator[str]:
    """Yield the mutable places in `value`, each as a path with the type there."""
    if isinstance(value, _ATOMS):
        return
    if isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        for name, part in zip(names, value, strict=True):
            yield from mutable_parts(part, f"{path}[{name}]")
    elif isinstance(value, MappingProxyType):
        for name, part in value.items():
            yield from mutable_parts(part, f"{path}[{name}]")
    elif isinstance(value, frozenset):
        for part in value:
            yield from mutable_parts(part, f"{path}{{}}")
    elif isinstance(value, msgspec.Struct) and value.__struct_config__.frozen:
        for name in value.__struct_fields__:
            yield from mutable_parts(getattr(value, name), f"{path}.{name}")
    elif dataclasses.is_dataclass(value) and vars(type(value))["__dataclass_params__"].frozen:
        for field in dataclasses.fields(value):
            yield from mutable_parts(getattr(value, field.name), f"{path}.{field.name}")
    else:
        yield f"{path or 'it'} is a {type(value).__name__}"
