"""An event is a row of integers, and the row gives the event back: the columns of a lake, version 1.

| column | of which events |
|---|---|
| run | all: the number of the run in its batch |
| source, count | of a message or datagram: the two numbers of its identifier |
| process, line, i | all: whose log, the line (from 1), the index (from 0) |
| kind | all: its place in `KINDS`; 0 is the run itself, with two of its facts (`add_run`) |
| position | all: how many deliveries the log has so far; of a delivery its own position, from 1 |
| number | of a delivery |
| high, low | of a digest of 16 bytes: its halves, as integers with sign |
| peer | the other process: who a datagram is for, who is accused, suspected or trusted |
| view, consensus, members | as in the log |
| text | what a violation tells; what is proposed or decided |
| name, digest | an identifier or digest that is no such integers, as in the log |

This module computes nothing else, and knows no file and no property.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, get_args

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from antiphon.conformance.trace import Event
from antiphon.conformance.trace import schema as trace

ROWS_MAX: Final = 10_000
"""A batch has at most so many rows."""

KINDS: Final[tuple[str, ...]] = ("run", *(str(kind.__struct_config__.tag) for kind in get_args(Event)))
"""The kinds of rows by their numbers. A kind that comes later goes to the end."""

CODES: Final[Mapping[str, int]] = {kind: code for code, kind in enumerate(KINDS)}

_DENSE: Final[tuple[tuple[str, DataType, pa.DataType], ...]] = (
    ("run", LongType(), pa.int64()),
    ("source", LongType(), pa.int64()),
    ("count", LongType(), pa.int64()),
    ("process", IntegerType(), pa.int32()),
    ("line", LongType(), pa.int64()),
    ("i", LongType(), pa.int64()),
    ("kind", ByteType(), pa.int8()),
    ("position", LongType(), pa.int64()),
    ("number", LongType(), pa.int64()),
    ("high", LongType(), pa.int64()),
    ("low", LongType(), pa.int64()),
    ("peer", LongType(), pa.int64()),
)
_SPARSE: Final[tuple[tuple[str, DataType, pa.DataType], ...]] = (
    ("view", LongType(), pa.int64()),
    ("consensus", LongType(), pa.int64()),
    ("members", ArrayType(LongType()), pa.list_(pa.int64())),
    ("text", StringType(), pa.string()),
    ("name", StringType(), pa.string()),
    ("digest", StringType(), pa.string()),
)
EVENTS: Final = StructType([StructField(name, kind) for name, kind, _ in _DENSE + _SPARSE])
"""One row an event that could be read, and one a run."""

ARROW: Final = pa.schema([pa.field(name, kind) for name, _, kind in _DENSE + _SPARSE])
_LONG_MAX: Final = 2**63

Identifier = tuple[int | None, int | None]


def identifier(name: str) -> Identifier:
    """The numbers of an identifier; none if they are larger than columns are."""
    source, _, count = name.partition(":")
    pair = int(source), int(count)
    return pair if max(pair) < _LONG_MAX else (None, None)


class Rows:
    """Rows that wait to be a batch."""

    def __init__(self) -> None:
        self.rows: list[tuple[int | None, ...]] = []
        self.others: dict[str, dict[int, Any]] = {}

    def add(self, run: int, process: int, line: int, event: Event, position: int) -> Identifier:
        """Add an event; the numbers of its identifier, if it has one with numbers."""
        kind = type(event)
        source, count, number, high, low, peer = _OF_KIND[kind](event, self._other)
        self.rows.append(
            (run, source, count, process, line, event.i, _CODES[kind], position, number, high, low, peer)
        )
        return source, count

    def add_run(self, run: int, deliveries: int, judged_by_scan: bool) -> None:
        """Add the row of a run: the most deliveries of a log, as its position, and, as its number, whether
        `scan` may judge it.
        """
        self.rows.append((run, None, None, None, 0, -1, 0, deliveries, int(judged_by_scan), None, None, None))

    def _other(self, column: str, value: object) -> None:
        self.others.setdefault(column, {})[len(self.rows)] = value

    def batch(self) -> pa.RecordBatch:
        """Take all rows as one batch."""
        size = len(self.rows)
        arrays = [
            pa.array(column, kind)
            for column, (_, _, kind) in zip(zip(*self.rows, strict=True), _DENSE, strict=True)
        ]
        for name, _, kind in _SPARSE:
            values = self.others.get(name)
            arrays.append(
                pa.nulls(size, kind)
                if values is None
                else pa.array([values.get(row) for row in range(size)], kind)
            )
        self.rows, self.others = [], {}
        return pa.RecordBatch.from_arrays(arrays, schema=ARROW)


_Told = Callable[[str, Any], None]
_Numbers = tuple[int | None, int | None, int | None, int | None, int | None, int | None]


def _named(name: str, tell: _Told) -> Identifier:
    source, count = identifier(name)
    if source is None:
        tell("name", name)
    return source, count


def _halves(digest: str, tell: _Told) -> tuple[int | None, int | None]:
    if len(digest) == 32:
        high, low = struct.unpack(">qq", bytes.fromhex(digest))
        return high, low
    tell("digest", digest)
    return None, None


def _with_message(event: Any, tell: _Told) -> _Numbers:
    return (*_named(event.m, tell), None, *_halves(event.digest, tell), None)


def _with_delivery(event: Any, tell: _Told) -> _Numbers:
    return (*_named(event.m, tell), event.number, *_halves(event.digest, tell), None)


def _with_view(event: Any, tell: _Told) -> _Numbers:
    if isinstance(event, trace.Install):
        tell("view", event.view)
    tell("members", list(event.members))
    return (None,) * 6


def _with_value(event: Any, tell: _Told) -> _Numbers:
    tell("consensus", event.consensus)
    tell("text", event.value)
    return (None,) * 6


def _with_violation(event: Any, tell: _Told) -> _Numbers:
    tell("text", event.what)
    return None, None, None, None, None, event.sender


_OF_KIND: Final[Mapping[type, Callable[[Any, _Told], _Numbers]]] = {
    trace.Broadcast: _with_message,
    trace.CoreBroadcast: _with_message,
    trace.Deliver: _with_delivery,
    trace.CoreDeliver: _with_delivery,
    trace.Install: _with_view,
    trace.Transitional: _with_view,
    trace.Safe: lambda event, tell: (*_named(event.m, tell), None, None, None, None),
    trace.Propose: _with_value,
    trace.Decide: _with_value,
    trace.Suspect: lambda event, _: (None, None, None, None, None, event.suspected),
    trace.Trust: lambda event, _: (None, None, None, None, None, event.trusted),
    trace.Alarm: lambda *_: (None,) * 6,
    trace.Violation: _with_violation,
    trace.Send: lambda event, tell: (*_named(event.d, tell), None, None, None, event.to),
    trace.Receive: lambda event, tell: (*_named(event.d, tell), None, None, None, None),
    trace.Crash: lambda *_: (None,) * 6,
    trace.End: lambda *_: (None,) * 6,
}
_CODES: Final[Mapping[type, int]] = {kind: CODES[str(kind.__struct_config__.tag)] for kind in get_args(Event)}
_TYPES: Final[Mapping[int, type]] = {code: kind for kind, code in _CODES.items()}


def events_of(rows: pa.Table) -> Iterator[tuple[int, Event]]:
    """The events of rows, each with its process, in the order of processes and lines."""
    for row in rows.sort_by([("process", "ascending"), ("line", "ascending")]).to_pylist():
        if row["kind"]:
            yield row["process"], _event(row)


def _event(row: Mapping[str, Any]) -> Event:
    kind, i = _TYPES[row["kind"]], row["i"]
    match kind:
        case trace.Broadcast | trace.CoreBroadcast:
            return kind(i, _name(row), _digest(row))
        case trace.Deliver | trace.CoreDeliver:
            return kind(i, _name(row), row["number"], _digest(row))
        case trace.Install:
            return trace.Install(i, row["view"], tuple(row["members"]))
        case trace.Transitional:
            return trace.Transitional(i, tuple(row["members"]))
        case trace.Safe | trace.Receive:
            return kind(i, _name(row))
        case trace.Propose | trace.Decide:
            return kind(i, row["consensus"], row["text"])
        case trace.Suspect | trace.Trust:
            return kind(i, row["peer"])
        case trace.Violation:
            return trace.Violation(i, row["peer"], row["text"])
        case trace.Send:
            return trace.Send(i, _name(row), row["peer"])
        case _:
            return kind(i)  # type: ignore[no-any-return]


def _name(row: Mapping[str, Any]) -> str:
    return row["name"] or f"{row['source']}:{row['count']}"


def _digest(row: Mapping[str, Any]) -> str:
    if row["high"] is None:
        return row["digest"] or ""
    return struct.pack(">qq", row["high"], row["low"]).hex()
