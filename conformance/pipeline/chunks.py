"""A task reads the logs of a chunk of runs, by the reader of `trace`, and writes what they say.
Logs are files, or what a task has made itself (`swarms`).

1. What a task is to read stands in the file of its chunk, `plan/<chunk>.json`.
2. Rows of events go to `spills/<chunk>.arrow`, on their way to buckets (`buckets`); faults to
   `quarantine/<chunk>.parquet`, a row a run to `runs/<chunk>.parquet`: written beside the place and renamed,
   under names and with contents that a second attempt has too.
3. A log is read once, in pieces, and no more than a piece of it is held; of a run with datagrams two numbers
   an event, for the merge (`facts`).

This module writes no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from antiphon.conformance.pipeline.buckets import Spill
from antiphon.conformance.pipeline.columns import (
    KINDS,
    Columns,
    Longs,
    Rows,
    columns_of_block,
    columns_of_events,
    columns_together,
)
from antiphon.conformance.pipeline.facts import Facts, LogFacts
from antiphon.conformance.trace import (
    RESULTS,
    Block,
    Event,
    Header,
    faults_between,
    read_parts,
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

ROWS_MAX: Final = 50_000
_SINGLE_MAX: Final = 5_000
_FAULTS_MAX: Final = 1_000
"""So many rows, events that were read one by one, and faults are held before they go on."""


class PlannedRun(msgspec.Struct, frozen=True, array_like=True):
    """A run that is to be read: `path` is its directory, `place` where its logs are read, each with its
    process and name.
    """

    number: int
    name: str
    path: str
    place: str
    logs: tuple[tuple[int, str], ...]


class OpenedRun(NamedTuple):
    """A run whose logs are read next: of each its process, its place as it is told, and the file or its
    bytes.
    """

    number: int
    name: str
    path: str
    logs: Sequence[tuple[int, Path | str, Path | bytes]]


OpenRuns = Callable[[bytes], Iterator[OpenedRun]]
"""Opens the runs of a chunk, one after the other, by what its plan says."""


def open_planned(plan: bytes) -> Iterator[OpenedRun]:
    """Open runs that are directories, `PlannedRun`s."""
    for run in msgspec.json.decode(plan, type=list[PlannedRun]):
        logs = [(process, f"{run.path}/{name}", Path(run.place) / name) for process, name in run.logs]
        yield OpenedRun(run.number, run.name, run.path, logs)


def reads_chunks(
    staging: str, buckets: int, open_runs: OpenRuns = open_planned
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What reads the chunks whose numbers it is given, and tells how many rows they have."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for chunk in batch.column(0).to_pylist():
                rows = _Chunk(Path(staging), chunk, buckets, open_runs).read()
                yield pa.RecordBatch.from_pydict({"rows": [rows]})

    return read


class _Chunk:
    """The reading of one chunk."""

    def __init__(self, staging: Path, chunk: int, buckets: int, open_runs: OpenRuns) -> None:
        self.staging, self.chunk, self.open_runs = staging, chunk, open_runs
        self.spill = Spill(staging / "spills" / f"{chunk:06}.arrow", buckets)
        self.rows = Rows()
        self.written = 0
        self.runs: list[dict[str, Any]] = []
        self.faults: list[dict[str, Any]] = []
        self.quarantine: parquet.ParquetWriter | None = None

    def read(self) -> int:
        """Write the rows of all events, and the rest; the number of rows."""
        plan = (self.staging / "plan" / f"{self.chunk}.json").read_bytes()
        try:
            with self.spill:
                for run in self.open_runs(plan):
                    self._read_run(run)
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

    def _hand_on(self, most: int) -> None:
        """Give rows on, if they are more than that."""
        if self.rows.size > most:
            self.written += self.rows.size
            self.spill.add(self.rows.batch())

    def _partial(self, table: str) -> Path:
        return self.staging / table / f".{self.chunk:06}-partial"

    def _read_run(self, run: OpenedRun) -> None:
        facts, headers = Facts(), dict[int, Header | None]()
        reading = _Log(self, run, facts)
        for process, path, log in run.logs:
            headers[process] = reading.read(process, str(path), log)
        for problem in faults_between(Path(run.path), headers, reading.results):
            is_own = problem.path == Path(run.path)
            path = run.path if is_own else f"{run.path}/{problem.path.name}"
            whose = None if is_own else _process_of(problem.path.name)
            reading.fault(whose, path, problem.line, problem.reason, None)
        self.rows.add_run(run.number, facts.deliveries, facts.of_run(reading.faults))
        self._hand_on(ROWS_MAX)
        counts = {
            "processes": len(run.logs),
            "lines": reading.lines,
            "events": reading.events,
            "faults": reading.faults,
        }
        self.runs.append({"run": run.number, "name": run.name, "path": run.path} | counts)

    def fault(self, row: dict[str, Any]) -> None:
        """A fault of a run, a row of `QUARANTINE`."""
        self.faults.append(row)
        self._set_aside(_FAULTS_MAX)

    def add(self, run: int, process: int, columns: Columns, position: Longs) -> None:
        """Events of a log, each with how many deliveries the log has so far."""
        self.rows.add(run, process, columns, position)
        self._hand_on(ROWS_MAX)

    def _set_aside(self, most: int) -> None:
        """Write the faults that are held, if they are more than that."""
        if len(self.faults) <= most:
            return
        if self.quarantine is None:
            self.quarantine = parquet.ParquetWriter(self._partial("quarantine"), QUARANTINE)
        self.quarantine.write_table(pa.Table.from_pylist(self.faults, QUARANTINE))
        self.faults = []


class _Log:
    """The reading of the logs of one run, and how much they hold so far."""

    def __init__(self, chunk: _Chunk, run: OpenedRun, facts: Facts) -> None:
        self.chunk, self.run, self.facts = chunk, run, facts
        self.lines = self.events = self.results = self.faults = 0

    def read(self, process: int, path: str, log: Path | bytes) -> Header | None:
        """Read one log; its header."""
        header: Header | None = None
        facts = self.facts.log(process)
        waiting: list[Columns] = []
        single: list[tuple[int, Event]] = []
        for part in read_parts(log):
            if isinstance(part, Block):
                waiting += _taken(single)
                waiting.append(columns_of_block(part))
                self.lines += len(part.kinds)
            else:
                self.lines += part.number > 0
                if part.event is not None:
                    single.append((part.number, part.event))
                elif part.header is not None:
                    header = part.header
                if part.fault is not None:
                    self.fault(process, path, part.number, part.fault, part.text)
            if len(single) >= _SINGLE_MAX or sum(len(columns.line) for columns in waiting) >= _SINGLE_MAX:
                self._note(process, facts, waiting + _taken(single))
                waiting.clear()
        self._note(process, facts, waiting + _taken(single))
        return header

    def fault(self, process: int | None, path: str, line: int, reason: str, text: bytes | None) -> None:
        """Note what is wrong."""
        self.faults += 1
        located = {"run": self.run.number, "process": process, "path": path, "line": line}
        self.chunk.fault(located | {"reason": reason, "text": text})

    def _note(self, process: int, facts: LogFacts, parts: list[Columns]) -> None:
        """Take the events that come next in a log."""
        if parts:
            columns = columns_together(parts)
            self.events += len(columns.line)
            self.results += int(_RESULTS[columns.kind].sum())
            self.chunk.add(self.run.number, process, columns, facts.note(columns))


def _taken(single: list[tuple[int, Event]]) -> list[Columns]:
    """The columns of events that were read one by one, of which there are none then."""
    told = [columns_of_events(single)] if single else []
    single.clear()
    return told


_RESULTS: Final = np.isin(KINDS, [str(kind.__struct_config__.tag) for kind in RESULTS])


def _process_of(name: str) -> int | None:
    """Whose log a fault between logs is about; none where it speaks of the whole run."""
    number = name.removeprefix("process-").partition(".")[0]
    return int(number) if number.isdigit() and name.startswith("process-") else None
