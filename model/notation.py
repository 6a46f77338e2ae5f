"""Short notation of values: `p1` for Process(1), `Ack(p2, none, 1, p1)` for a record, `{..}` and `(..)` for
sets and sequences, `{p0: 1, p1: 2}` for a map.

A record within a record has no name: `Data(p2, (m0, (p1, 1)))`. The notation is for people and for the
command line's arguments; files use `antiphon.model.export.encoding`. An index is its class's capital letters
and its number, so two index classes with the same capitals read alike.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from pathlib import Path
from typing import Any

from antiphon.spec.lang import Index, Map, Step
from antiphon.spec.lang.foreign import writable


def compact(value: Any, *, inner: bool = False) -> str:
    """Return the short form of a value of the language, or of an event; `inner`: within a record."""
    if isinstance(value, Index):
        return _initials(type(value).__name__) + str(value.index)
    if isinstance(value, enum.Enum):
        return value.name
    if value is None:
        return "none"
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(compact, value))) + "}"
    if isinstance(value, Map):
        return "{" + ", ".join(f"{compact(key)}: {compact(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(compact, value)) + ")"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [compact(getattr(value, item.name), inner=True) for item in dataclasses.fields(value)]
        return f"{'' if inner and fields else type(value).__name__}({', '.join(fields)})"
    return writable(str(value))


def compact_step(step: Step) -> str:
    """Return a step in short form: `broadcast(p0, m1)`."""
    return f"{step.action}({', '.join(map(compact, step.arguments))})"


def short_places(text: str) -> str:
    """Return a text in which places in source files have the last three parts of their paths:
    `spec/services/order.py:72:17`.

    A file of the current directory goes by its name alone.
    """
    text = re.sub(re.escape(f"{Path.cwd()}/") + r"([\w.+-]+\.py:\d+)", r"\1", text)
    return re.sub(r"(?:/[\w.+~-]+)*/((?:[\w.+-]+/){2}[\w.+-]+\.py:\d+)", r"\1", text)


def _initials(name: str) -> str:
    capitals = "".join(letter for letter in name if letter.isupper())
    return (capitals or name[:1]).lower()
