"""Task that reads the logs of a chunk of runs, by the reader of `trace`, and writes their rows. Logs are
files, or made by the task itself (`swarms`).

1. The plan of a task is the file of its chunk, `plan/<chunk>.json`.
2. Rows of events go to `spills/<chunk>.arrow`, on their way to buckets (`buckets`); faults to
   `quarantine/<chunk>.parquet`, a row a run to `runs/<chunk>.parquet`: written beside the place and renamed,
   under names and with contents that a second attempt has too.
3. A log is read once, in pieces, and only one piece is in memory; for a run with datagrams also two numbers
  an event, for the merge (`facts`).

This module writes no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
from pyarrow import parquet

from antiphon.conformance.judge.trace import (
    Block,
    Event,
    Header,
    faults_between,
    read_parts,
)
from antiphon.conformance.spark.pipeline.buckets import Spill
from antiphon.conformance.spark.pipeline.columns import (
    Rows,
    columns_of,
)
from antiphon.conformance.spark.pipeline.facts import COUNTS, Fact, Facts, LogFacts, note

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
"""Schema: one row a fault; `process` is null for a whole run, `line` 0 for a whole file, `text`
the bad line.
"""

RUNS: Final = pa.schema(
    [
        ("run", pa.int64()),
        ("name", pa.string()),
        ("path", pa.string()),
        ("processes", pa.int32()),
        ("lines", pa.int64()),
        ("events", pa.int64()),
        ("faults", pa.int64()),
        ("kinds", pa.int64()),
        *((name, pa.int64()) for name in COUNTS),
    ]
)
"""Schema: one row a run, with its number in the batch, its name and place, the amount read, the kinds of its
events (a bit each), and, if it is healthy, the counts of judged events (`Facts.counts`).
"""

ROWS_MAX: Final = 50_000
_EVENTS_MIN: Final = 5_000
_FAULTS_MAX: Final = 1_000
"""Largest number of faults that wait in memory before they are written to their file."""


class PlannedRun(msgspec.Struct, frozen=True, array_like=True):
    """Planned run: `path` is its directory, `place` the directory from which its logs are read, and `logs`
    has the process and the file name of each log.
    """

    number: int
    name: str
    path: str
    place: str
    logs: tuple[tuple[int, str], ...]


class OpenedRun(NamedTuple):
    """Run whose logs are read next. `logs` has for each log its process, its name in reports, and its file or
    its content.
    """

    number: int
    name: str
    path: str
    logs: Sequence[tuple[int, str, str | bytes]]


OpenRuns = Callable[[bytes], Iterator[OpenedRun]]
"""Function from the plan of a chunk (the content of its file) to its opened runs, one after the other."""


def open_planned(plan: bytes) -> Iterator[OpenedRun]:
    """Yield runs that are directories, `PlannedRun`s."""
    for run in msgspec.json.decode(plan, type=list[PlannedRun]):
        logs = [(process, f"{run.path}/{name}", f"{run.place}/{name}") for process, name in run.logs]
        yield OpenedRun(run.number, run.name, run.path, logs)


def reads_chunks(
    staging: str, buckets: int, open_runs: OpenRuns = open_planned
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that reads the chunks whose numbers it gets, and counts their rows."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for chunk in batch.column(0).to_pylist():
                rows = _Chunk(Path(staging), chunk, buckets, open_runs).read()
                yield pa.RecordBatch.from_pydict({"rows": [rows]})

    return read


class _Chunk:
    """Reader of one chunk. Events of several logs are processed together, since most logs are short."""

    def __init__(self, staging: Path, chunk: int, buckets: int, open_runs: OpenRuns) -> None:
        self.staging, self.chunk, self.open_runs = staging, chunk, open_runs
        self.spill = Spill(staging / "spills" / f"{chunk:06}.arrow", buckets)
        self.rows = Rows()
        self.written = 0
        self.waiting: list[_Waiting] = []
        self.events = 0
        self.read_through: list[_Run] = []
        self.runs: list[dict[str, Any]] = []
        self.faults: list[dict[str, Any]] = []
        self.quarantine: parquet.ParquetWriter | None = None

    def read(self) -> int:
        """Read the runs of the chunk; write the rows of their events, their faults and their counts. Return
        the number of rows.
        """
        plan = (self.staging / "plan" / f"{self.chunk}.json").read_bytes()
        try:
            with self.spill:
                for opened in self.open_runs(plan):
                    run = _Run(self, opened)
                    run.read()
                    self.read_through.append(run)
                    self._note(_EVENTS_MIN)
                self._note(0)
                self._hand_on(0)
                self._set_aside(0)
        finally:
            if self.quarantine is not None:
                self.quarantine.close()
        parquet.write_table(pa.Table.from_pylist(self.runs, RUNS), self._partial("runs"))
        for table in ("runs", "quarantine"):
            if self._partial(table).exists():
                self._partial(table).rename(self.staging / table / f"{self.chunk:06}.parquet")
        return self.written

    def take(self, waiting: _Waiting) -> None:
        """Take events that were read from a log."""
        self.waiting.append(waiting)
        self.events += waiting.events
        self._note(_EVENTS_MIN)

    def fault(self, row: dict[str, Any]) -> None:
        """Store a row of `QUARANTINE`, about a fault of a run."""
        self.faults.append(row)
        self._set_aside(_FAULTS_MAX)

    def _note(self, least: int) -> None:
        """Compute the facts and the rows of the waiting events, and finish the runs that are read; do nothing
        while fewer than `least` events and runs wait.
        """
        if max(self.events, len(self.read_through)) < least:
            return
        waiting, self.waiting, self.events = self.waiting, [], 0
        if waiting:
            columns = columns_of([part for log in waiting for part in log.parts])
            position = note(columns, [(log.facts, log.events) for log in waiting])
            self.rows.add(columns, [(log.run, log.facts.process, log.events) for log in waiting], position)
        for run in self.read_through:
            self.rows.add_run(run.opened.number, run.facts.deliveries, run.end())
            self.runs.append(run.counts())
        self.read_through = []
        self._hand_on(ROWS_MAX)

    def _hand_on(self, most: int) -> None:
        """Write the waiting rows to the spill file, if they are more than `most`."""
        if self.rows.size > most:
            self.written += self.rows.size
            self.spill.add(self.rows.batch())

    def _set_aside(self, most: int) -> None:
        """Write the waiting faults to their file, if they are more than `most`."""
        if len(self.faults) <= most:
            return
        if self.quarantine is None:
            self.quarantine = parquet.ParquetWriter(self._partial("quarantine"), QUARANTINE)
        self.quarantine.write_table(pa.Table.from_pylist(self.faults, QUARANTINE))
        self.faults = []

    def _partial(self, table: str) -> Path:
        return self.staging / table / f".{self.chunk:06}-partial"


class _Waiting(NamedTuple):
    """Events of a log that were read and not yet processed: their number, and the parts in which they were
    read.
    """

    run: int
    facts: LogFacts
    events: int
    parts: list[Block | list[tuple[int, Event]]]


class _Run:
    """Reader of one run, with the number of lines and bytes of its logs so far."""

    def __init__(self, chunk: _Chunk, opened: OpenedRun) -> None:
        self.chunk, self.opened = chunk, opened
        self.facts = Facts()
        self.headers: dict[int, Header | None] = {}
        self.lines = self.events = self.faults = 0

    def read(self) -> None:
        """Read all logs of the run."""
        for process, path, log in self.opened.logs:
            self.headers[process] = self._read_log(process, path, log)

    def end(self) -> Fact:
        """Record the faults between the logs; return the facts about the whole run."""
        own = Path(self.opened.path)
        contents = self.facts.contents(may_be_less=self.faults > 0)
        for problem in faults_between(own, self.headers, contents):
            path = self.opened.path if problem.path == own else f"{self.opened.path}/{problem.path.name}"
            whose = None if problem.path == own else _process_of(problem.path.name)
            self._fault(whose, path, problem.line, problem.reason, None)
        return self.facts.of_run(self.faults)

    def counts(self) -> dict[str, Any]:
        """Return the row of `RUNS` for the run."""
        named = {"run": self.opened.number, "name": self.opened.name, "path": self.opened.path}
        counts = {"processes": len(self.headers), "lines": self.lines, "events": self.events}
        return named | counts | {"faults": self.faults, "kinds": self.facts.kinds} | self.facts.counts()

    def _read_log(self, process: int, path: str, log: str | bytes) -> Header | None:
        """Read one log; return its header, or None."""
        header: Header | None = None
        facts = self.facts.log(process)
        parts: list[Block | list[tuple[int, Event]]] = []
        size = 0
        for part in read_parts(log):
            if isinstance(part, Block):
                parts.append(part)
                size += len(part.kinds)
                self.lines += len(part.kinds)
            else:
                self.lines += part.number > 0
                if part.event is not None:
                    parts.append([(part.number, part.event)])
                    size += 1
                elif part.header is not None:
                    header = part.header
                if part.fault is not None:
                    self._fault(process, path, part.number, part.fault, part.text)
            if size >= _EVENTS_MIN:
                self._hand_over(facts, parts, size)
                parts, size = [], 0
        if size:
            self._hand_over(facts, parts, size)
        return header

    def _hand_over(self, facts: LogFacts, parts: list[Block | list[tuple[int, Event]]], size: int) -> None:
        self.events += size
        self.chunk.take(_Waiting(self.opened.number, facts, size, parts))

    def _fault(self, process: int | None, path: str, line: int, reason: str, text: bytes | None) -> None:
        """Record a fault of a log, or, without a process, of the whole run."""
        self.faults += 1
        located = {"run": self.opened.number, "process": process, "path": path, "line": line}
        self.chunk.fault(located | {"reason": reason, "text": text})


def _process_of(name: str) -> int | None:
    """Return the process whose log a fault between logs is about; None where it is about the whole run."""
    number = name.removeprefix("process-").partition(".")[0]
    return int(number) if number.isdigit() and name.startswith("process-") else None
