"""Columns of a lake, version 1: an event is a row of integers, from which the event can be restored.

| column | of which events |
|---|---|
| run | all: the number of the run in its batch |
| source, count | of a message or datagram: the two numbers of its identifier |
| process, line, i | all: whose log, the line (from 1), the index (from 0) |
| kind | all: its place in `KINDS`; 0 is the run itself, with what its logs say as a whole (`add_run`) |
| position | all: how many deliveries the log has so far; of a delivery its own position, from 1 |
| number | of a delivery: its number in the log |
| high, low | of a digest of 16 bytes: its halves, as integers with sign |
| peer | the other process: who a datagram is for, who is accused, suspected or trusted |
| view, consensus, members | as in the log; of a broadcast `members` are its destinations, if it says some |
| text | what a violation tells; what is proposed or decided |
| name, digest | as in the log: an identifier or digest that does not fit the integers above |

This module computes nothing else, and knows no file and no property.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
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

from antiphon.conformance.judge.trace import Block, Event
from antiphon.conformance.judge.trace import schema as trace

KINDS: Final[tuple[str, ...]] = ("run", *(str(kind.__struct_config__.tag) for kind in get_args(Event)))
"""Kinds of rows by their numbers. A new kind goes to the end."""

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
"""Schema: one row an event that could be read, and one a run."""

ARROW: Final = pa.schema([pa.field(name, kind) for name, _, kind in _DENSE + _SPARSE])
_LONG_MAX: Final = 2**63


NUMBERS: Final = ("source", "count", "number", "high", "low", "peer")
"""Columns that depend on the kind, in the order of `Columns.values`."""
SOURCE, COUNT, NUMBER, HIGH, LOW, PEER = range(len(NUMBERS))

Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Columns(NamedTuple):
    """Columns of events; the events of a log stand together. `values` has a row for each of `NUMBERS` and a
    column for each event, `valid` says which of these values exist, and `others` has the values of further
    columns, by event.
    """

    line: Longs
    i: Longs
    kind: npt.NDArray[np.int8]
    values: Longs
    valid: Bools
    others: Mapping[str, Mapping[int, Any]]


def columns_of(parts: Sequence[Block | Sequence[tuple[int, Event]]]) -> Columns:
    """Return the columns of consecutive events, of one log or of several: blocks of events, and single ones,
    each with the number of its line.
    """
    blocks = [part for part in parts if isinstance(part, Block)]
    others = [told for part in parts if not isinstance(part, Block) for told in part]
    if not others or not blocks:
        return _of_blocks(blocks) if blocks else _of_events(others)
    sizes = [len(part.kinds) if isinstance(part, Block) else len(part) for part in parts]
    is_other = np.repeat([not isinstance(part, Block) for part in parts], sizes)
    # Of each row where it stands, those of blocks first.
    place = np.argsort(is_other, kind="stable")
    one, other = _of_blocks(blocks), _of_events(others)
    places = place[len(one.line) :].tolist()

    def joined(what: Callable[[Columns], Any]) -> Any:
        whole = np.concatenate([what(one), what(other)], axis=-1)
        ordered = np.empty_like(whole)
        ordered[..., place] = whole
        return ordered

    return Columns(
        joined(lambda columns: columns.line),
        joined(lambda columns: columns.i),
        joined(lambda columns: columns.kind),
        joined(lambda columns: columns.values),
        joined(lambda columns: columns.valid),
        {name: {places[at]: value for at, value in told.items()} for name, told in other.others.items()},
    )


def _of_blocks(blocks: Sequence[Block]) -> Columns:
    sizes = [len(block.kinds) for block in blocks]
    size = sum(sizes)
    kinds, sources, counts, numbers, digests, peers = map(
        _chained, zip(*(block[2:] for block in blocks), strict=True)
    )
    kind = np.fromiter(map(_SPELLED.__getitem__, kinds), np.int8, size)
    values = np.zeros((len(NUMBERS), size), np.int64)
    valid = _VALID[:, kind]
    values[SOURCE] = list(map(int, sources))
    values[COUNT] = list(map(int, counts))
    for row, texts in ((NUMBER, numbers), (PEER, peers)):
        told = list(map(int, filter(None, texts)))
        if told:
            values[row, valid[row]] = told
    halves = np.frombuffer(bytes.fromhex(b"".join(digests).decode()), ">i8").reshape(-1, 2)
    values[HIGH : LOW + 1, valid[HIGH]] = halves.T
    within = np.arange(size) - np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    line = within + np.repeat([block.line for block in blocks], sizes)
    return Columns(line, within + np.repeat([block.i for block in blocks], sizes), kind, values, valid, {})


_chained = chain.from_iterable


def _of_events(events: Sequence[tuple[int, Event]]) -> Columns:
    others: dict[str, dict[int, Any]] = {}
    told: list[_Numbers] = []
    for at, (_, event) in enumerate(events):

        def tell(column: str, value: object, at: int = at) -> None:
            others.setdefault(column, {})[at] = value

        told.append(_OF_KIND[type(event)](event, tell))
    found = np.array(told, object).reshape(len(events), len(NUMBERS)).T
    valid = found != np.array(None)
    return Columns(
        np.array([line for line, _ in events], np.int64),
        np.array([event.i for _, event in events], np.int64),
        np.array([_CODES[type(event)] for _, event in events], np.int8),
        np.where(valid, found, 0).astype(np.int64),
        valid,
        others,
    )


class Rows:
    """Rows that wait to be a batch."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[_Part] = []
        self._runs: list[tuple[int, int, int]] = []

    def add(self, columns: Columns, logs: Sequence[tuple[int, int, int]], position: Longs) -> None:
        """Add events of logs, with the run, the process and the number of events of each log."""
        self._parts.append((logs, columns, position))
        self.size += len(columns.line)

    def add_run(self, run: int, deliveries: int, facts: int) -> None:
        """Add the row of a run: the most deliveries of a log, as its position, and its facts (`facts`) as its
        number.
        """
        self._runs.append((run, deliveries, facts))
        self.size += 1

    def batch(self) -> pa.RecordBatch:
        """Return all rows as one batch, and remove them."""
        parts, size = [*self._parts, *self._of_runs()], self.size
        self._parts, self._runs, self.size = [], [], 0
        run, process, many = (
            np.array([log for logs, _, _ in parts for log in logs], np.int64).reshape(-1, 3).T
        )
        process = np.repeat(process, many)
        values = np.concatenate([columns.values for _, columns, _ in parts], axis=1)
        missing = ~np.concatenate([columns.valid for _, columns, _ in parts], axis=1)
        arrays = {
            "run": pa.array(np.repeat(run, many)),
            "process": pa.array(process.astype(np.int32), mask=process < 0),
            "line": pa.array(np.concatenate([columns.line for _, columns, _ in parts])),
            "i": pa.array(np.concatenate([columns.i for _, columns, _ in parts])),
            "kind": pa.array(np.concatenate([columns.kind for _, columns, _ in parts])),
            "position": pa.array(np.concatenate([position for _, _, position in parts])),
        }
        for row, name in enumerate(NUMBERS):
            arrays[name] = pa.array(values[row], mask=missing[row])
        others: dict[str, list[Any]] = {}
        first = 0
        for _, columns, position in parts:
            for name, told in columns.others.items():
                column = others.setdefault(name, [None] * size)
                for at, value in told.items():
                    column[first + at] = value
            first += len(position)
        for name, _, kind in _SPARSE:
            arrays[name] = pa.array(others[name], kind) if name in others else pa.nulls(size, kind)
        return pa.RecordBatch.from_arrays([arrays[name] for name in ARROW.names], schema=ARROW)

    def _of_runs(self) -> Iterator[_Part]:
        if not self._runs:
            return
        run, deliveries, facts = np.array(self._runs, np.int64).T
        size = len(run)
        values = np.zeros((len(NUMBERS), size), np.int64)
        values[NUMBER] = facts
        valid = np.repeat(_RUN, size, axis=1)
        nothing = np.zeros(size, np.int64)
        columns = Columns(nothing, nothing - 1, nothing.astype(np.int8), values, valid, {})
        yield [(number, -1, 1) for number in run.tolist()], columns, deliveries


_Part = tuple[Sequence[tuple[int, int, int]], Columns, Longs]
_RUN: Final = np.array([[name == "number"] for name in NUMBERS])

_Told = Callable[[str, Any], None]
_Numbers = tuple[int | None, int | None, int | None, int | None, int | None, int | None]


def _named(name: str, tell: _Told) -> tuple[int | None, int | None]:
    source, _, count = name.partition(":")
    pair = int(source), int(count)
    if max(pair) < _LONG_MAX:
        return pair
    tell("name", name)
    return None, None


def _halves(digest: str, tell: _Told) -> tuple[int | None, int | None]:
    if len(digest) == 32:
        high, low = struct.unpack(">qq", bytes.fromhex(digest))
        return high, low
    tell("digest", digest)
    return None, None


def _with_message(event: Any, tell: _Told) -> _Numbers:
    return (*_named(event.m, tell), None, *_halves(event.digest, tell), None)


def _with_broadcast(event: Any, tell: _Told) -> _Numbers:
    if event.destinations is not None:
        tell("members", list(event.destinations))
    return _with_message(event, tell)


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
    trace.Broadcast: _with_broadcast,
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
    trace.Recover: lambda *_: (None,) * 6,
}
_CODES: Final[Mapping[type, int]] = {kind: CODES[str(kind.__struct_config__.tag)] for kind in get_args(Event)}
TYPES: Final[Mapping[int, type]] = {code: kind for kind, code in _CODES.items()}
_SPELLED: Final[Mapping[bytes, int]] = {kind.encode(): code for kind, code in CODES.items()}
_SAID: Final[Mapping[str, tuple[str, ...]]] = {
    "broadcast": ("source", "count", "high", "low"),
    "core-broadcast": ("source", "count", "high", "low"),
    "deliver": ("source", "count", "number", "high", "low"),
    "core-deliver": ("source", "count", "number", "high", "low"),
    "send": ("source", "count", "peer"),
    "receive": ("source", "count"),
}
_VALID: Final = np.array([[name in _SAID.get(kind, ()) for kind in KINDS] for name in NUMBERS])
"""Mask of the `NUMBERS` (rows) that events of each kind (columns) have, for kinds that are read in blocks."""


def events_of(rows: pa.Table) -> Iterator[tuple[int, Event]]:
    """Return the events of rows, each with its process, in the order of processes and lines."""
    for row in rows.sort_by([("process", "ascending"), ("line", "ascending")]).to_pylist():
        if row["kind"]:
            yield row["process"], _event(row)


def _event(row: Mapping[str, Any]) -> Event:
    kind, i = TYPES[row["kind"]], row["i"]
    match kind:
        case trace.Broadcast:
            destinations = None if row["members"] is None else tuple(row["members"])
            return trace.Broadcast(i, _name(row), _digest(row), destinations)
        case trace.CoreBroadcast:
            return trace.CoreBroadcast(i, _name(row), _digest(row))
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
