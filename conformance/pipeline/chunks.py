"""A task reads the logs of a chunk of runs, by the reader of `trace`: rows of events go on, all else is
written. Logs are files, or what a task has made itself (`swarms`).

1. What a task is to read stands in the file of its chunk, `plan/<chunk>.json`.
2. Rows of events are given on, in batches; they are few bytes each.
3. Faults, and a row a run, are written by the task itself, `quarantine/<chunk>.parquet` and
   `runs/<chunk>.parquet`: written beside the place and renamed, under names and with contents that a second
   attempt has too.
4. A log is read once, line by line, and no more than a line of it is held; of a run with datagrams two
   numbers an event, for the merge.

What a run's logs say beyond their lines, without which nobody can tell in one pass over rows whether the run
is healthy, is told by `Facts`. This module writes no verdict.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
from pyarrow import parquet

from antiphon.conformance.pipeline.columns import ROWS_MAX, Identifier, Rows
from antiphon.conformance.trace import (
    RESULTS,
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Crash,
    Deliver,
    End,
    Event,
    Header,
    Problem,
    Receive,
    Send,
    faults_between,
    logs_in,
    read_lines,
)

QUARANTINE: Final = pa.schema(
    [
        ("run", pa.int64()),
        ("process", pa.int32()),
        ("path", pa.string()),
        ("line", pa.int64()),
        ("reason", pa.string()),
        ("text", pa.binary()),
    ]
)
"""One row a fault; `process` is null for a whole run, `line` 0 for a whole file, `text` the bad line."""

RUNS: Final = pa.schema(
    [
        ("run", pa.int64()),
        ("name", pa.string()),
        ("path", pa.string()),
        ("processes", pa.int32()),
        ("lines", pa.int64()),
        ("events", pa.int64()),
        ("faults", pa.int64()),
    ]
)
"""One row a run: its number in the batch, its name and place, and how much was read."""

_FAULTS_MAX: Final = 1_000
"""So many faults are held before they are written."""


class PlannedRun(msgspec.Struct, frozen=True, array_like=True):
    """A run that is to be read."""

    number: int
    name: str
    path: str


class OpenedRun(NamedTuple):
    """A run whose logs are read next: of each its process, its name, and the file or its bytes."""

    number: int
    name: str
    path: str
    logs: list[tuple[int, Path, Path | bytes]]


OpenRuns = Callable[[bytes], Iterator[OpenedRun]]
"""Opens the runs of a chunk, one after the other, by what its plan says."""


def open_planned(plan: bytes) -> Iterator[OpenedRun]:
    """Open runs that are directories, `PlannedRun`s. One that cannot be listed has no logs."""
    for run in msgspec.json.decode(plan, type=list[PlannedRun]):
        try:
            logs = logs_in(Path(run.path))
        except OSError:
            logs = []
        yield OpenedRun(run.number, run.name, run.path, [(process, log, log) for process, log in logs])


def reads_chunks(
    staging: str, open_runs: OpenRuns = open_planned
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What reads the chunks whose numbers it is given."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for chunk in batch.column(0).to_pylist():
                yield from _Chunk(Path(staging), chunk, open_runs).read()

    return read


class _Chunk:
    """The reading of one chunk."""

    def __init__(self, staging: Path, chunk: int, open_runs: OpenRuns) -> None:
        self.staging, self.chunk, self.open_runs = staging, chunk, open_runs
        self.rows = Rows()
        self.runs: list[dict[str, Any]] = []
        self.faults: list[dict[str, Any]] = []
        self.quarantine: parquet.ParquetWriter | None = None

    def read(self) -> Iterator[pa.RecordBatch]:
        """Give the rows of all events, and leave the rest in files."""
        plan = (self.staging / "plan" / f"{self.chunk}.json").read_bytes()
        try:
            for run in self.open_runs(plan):
                yield from self._read_run(run)
            if self.rows.rows:
                yield self.rows.batch()
            self._set_aside(0)
        finally:
            if self.quarantine is not None:
                self.quarantine.close()
        parquet.write_table(pa.Table.from_pylist(self.runs, RUNS), self._partial("runs"))
        for table in ("runs", "quarantine"):
            if self._partial(table).exists():
                self._partial(table).rename(self.staging / table / f"{self.chunk:06}.parquet")

    def _partial(self, table: str) -> Path:
        return self.staging / table / f".{self.chunk:06}-partial"

    def _read_run(self, run: OpenedRun) -> Iterator[pa.RecordBatch]:
        facts, headers = Facts(), dict[int, Header | None]()
        lines = events = results = faults = 0
        for process, path, text in run.logs:
            headers[process] = None
            log = facts.log()
            for line in read_lines(text):
                lines += line.number > 0
                if line.event is not None:
                    events += 1
                    results += isinstance(line.event, RESULTS)
                    position = log.position_of(line.event)
                    name = self.rows.add(run.number, process, line.number, line.event, position)
                    log.note(line.event, name)
                    if len(self.rows.rows) >= ROWS_MAX:
                        yield self.rows.batch()
                elif line.header is not None:
                    headers[process] = line.header
                if line.fault is not None:
                    faults += 1
                    self._fault(run.number, process, path, line.number, line.fault, line.text)
        for problem in faults_between(Path(run.path), headers, results):
            faults += 1
            self._fault(run.number, _process_of(problem), problem.path, problem.line, problem.reason, None)
        self.rows.add_run(run.number, facts.deliveries, not faults and facts.judged_by_scan())
        counts = {"processes": len(run.logs), "lines": lines, "events": events, "faults": faults}
        self.runs.append({"run": run.number, "name": run.name, "path": run.path} | counts)

    def _fault(
        self, run: int, process: int | None, path: Path, line: int, reason: str, text: bytes | None
    ) -> None:
        row = {
            "run": run,
            "process": process,
            "path": str(path),
            "line": line,
            "reason": reason,
            "text": text,
        }
        self.faults.append(row)
        self._set_aside(_FAULTS_MAX)

    def _set_aside(self, most: int) -> None:
        """Write the faults that are held, if they are more than that."""
        if len(self.faults) <= most:
            return
        if self.quarantine is None:
            self.quarantine = parquet.ParquetWriter(self._partial("quarantine"), QUARANTINE)
        self.quarantine.write_table(pa.Table.from_pylist(self.faults, QUARANTINE))
        self.faults = []


def _process_of(problem: Problem) -> int | None:
    """Whose log a fault between logs is about; none where it speaks of the whole run."""
    number = problem.path.name.removeprefix("process-").partition(".")[0]
    return int(number) if number.isdigit() and problem.path.name.startswith("process-") else None


@dataclass
class LogFacts:
    """What one log says beyond its events, noted as they come: a fact that is not so makes the run a suspect.

    `passed_on`: the protocol takes what the application broadcasts, and the application gets what the
    protocol delivers, each next. `rising`: the numbers of deliveries grow. `named`: all identifiers and
    digests are integers of the width of columns. `known`: nothing else happens.
    """

    deliveries: int = 0
    crashed: bool = False
    rising: bool = True
    passed_on: bool = True
    named: bool = True
    known: bool = True
    datagrams: bool = False
    last_number: int = 0
    order: array[int] = field(default_factory=lambda: array("q"))
    """Two numbers an event that is a cause or an effect, as `_is_causal` reads them; of a log that is too
    long (`unordered`) its beginning.
    """
    taken: deque[tuple[str, str]] = field(default_factory=deque)
    given: deque[tuple[str, int, str]] = field(default_factory=deque)
    unordered: bool = False
    has_core: bool = False
    before_core: bool = False

    def position_of(self, event: Event) -> int:
        """How many deliveries there are with this event."""
        self.deliveries += type(event) is Deliver
        return self.deliveries

    def note(self, event: Event, name: Identifier) -> None:
        """Note one event, after its position."""
        source, count = name
        kind = type(event)
        if source is None or count is None or source >= _SOURCES:
            self.named &= kind is Crash or kind is End
        elif kind in _CAUSALITY and not self.unordered:
            order = self.order
            order.append(_CAUSALITY[kind] * _SOURCES + source)
            order.append(count)
            self.unordered = len(order) > _ORDER_MAX
        if kind is Deliver:
            assert isinstance(event, Deliver)
            self.rising &= event.number > self.last_number
            self.last_number = event.number
            self.named &= len(event.digest) == 32
            if self.has_core:
                self.passed_on &= bool(self.given) and self.given.popleft() == (
                    event.m, event.number, event.digest,
                )  # fmt: skip
            else:
                self.before_core = True
        elif kind is Broadcast:
            assert isinstance(event, Broadcast)
            self.named &= len(event.digest) == 32
            self.taken.append((event.m, event.digest))
            if not self.has_core and len(self.taken) > _TAKEN_MAX:
                self.before_core = True
                self.taken.clear()
        elif kind is CoreDeliver:
            assert isinstance(event, CoreDeliver)
            self.passed_on &= not self.before_core
            self.has_core = True
            self.given.append((event.m, event.number, event.digest))
        elif kind is CoreBroadcast:
            assert isinstance(event, CoreBroadcast)
            self.passed_on &= not self.before_core
            self.has_core = True
            self.passed_on &= bool(self.taken) and self.taken.popleft() == (event.m, event.digest)
        elif kind is Send or kind is Receive:
            self.datagrams = True
        elif kind is Crash:
            self.crashed = True
        else:
            self.known &= kind is End

    def handed_over(self) -> bool:
        """Whether nothing was altered, and nothing is under way at the end."""
        return not self.has_core or (self.passed_on and not self.taken and not self.given)


_SOURCES: Final = 1 << 32
_CAUSALITY: Final = {Broadcast: 1, Deliver: 2, Send: 3, Receive: 4}
_ORDER_MAX: Final = 20_000_000
_TAKEN_MAX: Final = 1_000
"""After so many broadcasts that no protocol has taken a log is held to show the application's side alone."""


class Facts:
    """What the logs of one run say together beyond their events."""

    def __init__(self) -> None:
        self.logs: list[LogFacts] = []

    def log(self) -> LogFacts:
        """Begin with the next log."""
        self.logs.append(LogFacts())
        return self.logs[-1]

    @property
    def deliveries(self) -> int:
        """The most deliveries of a log."""
        return max((log.deliveries for log in self.logs), default=0)

    def judged_by_scan(self) -> bool:
        """Whether all that remains to be asked can be asked message by message: `scan` says what.

        Every correct process delivers as much as anybody, there is one, nothing was altered on the way
        between application and protocol, numbers grow, nothing else happens, and, where there are datagrams,
        every effect has a cause before it.
        """
        return (
            any(not log.crashed for log in self.logs)
            and all(log.crashed or log.deliveries == self.deliveries for log in self.logs)
            and all(log.rising and log.handed_over() and log.named and log.known for log in self.logs)
            and (not any(log.datagrams for log in self.logs) or self._is_causal())
        )

    def _is_causal(self) -> bool:
        """Whether the logs can be merged so that the cause of each event comes before it; linear."""
        if any(log.unordered for log in self.logs):
            return False
        known: set[tuple[int, int]] = set()
        waiting: dict[tuple[int, int], list[int]] = {}
        at = [0] * len(self.logs)
        ready = list(range(len(self.logs)))
        while ready:
            process = ready.pop()
            order = self.logs[process].order
            k, end = at[process], len(order)
            while k < end:
                what, source = divmod(order[k], _SOURCES)
                cause = (order[k] - _SOURCES if what in (2, 4) else order[k], order[k + 1])
                if what in (2, 4):
                    if cause not in known:
                        waiting.setdefault(cause, []).append(process)
                        break
                elif source == process:
                    known.add(cause)
                    ready += waiting.pop(cause, ())
                k += 2
            at[process] = k
        return not waiting
