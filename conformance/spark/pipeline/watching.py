"""Watch of a folder of growing logs: a query of Structured Streaming that keeps the verdicts current.

1. `growing` finds the logs that grew; all ranges of a run go to one task with the state of the run
  (`Watching`): the position in each log, and the events of `history.window`. It reads on from there, and
  judges the window, so that the cost of a step depends on the new bytes and the size of the window.
2. The one judge of logs (`history`) judges whole logs when the run is over, and where the window cannot tell:
   if an event concerns a forgotten message, and, if the window has given up, whenever the logs have grown by
     an eighth, so that all judgements together cost nine times the last.
3. A run is over when every log has its end. Then, or after too long a silence (by the watermark, which a tick
  of `growing` moves when all are silent), the run is judged, reported and forgotten; if it grows again, it is
  read from its beginning. The same happens if a process goes on after so long a silence that the window no
  longer waited for it.
4. Exactly once: Spark keeps offsets and states in the checkpoint, and repeats the last step if it does not
   know that it was done. A repeated step gives the same result, since it depends on the state and on ranges
     of bytes alone; the result is a file with the step's number, written beside its place and renamed.

The report on a run is its standing, a row (`TOLD`) for each property that is not kept, or one without a
property; the last report counts. This module knows no property.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Final

import msgspec
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from antiphon.conformance.judge.history import (
    TOTAL_ORDER,
    PromiseError,
    judge_history,
    judge_run,
    properties_of,
)
from antiphon.conformance.judge.history.window import Window
from antiphon.conformance.judge.trace import (
    CUT_OFF,
    MISSING,
    NO_DELIVERIES,
    NO_LOG,
    OTHER_COUNT,
    TRUNCATED,
    Contents,
    Header,
    Problem,
    Tail,
    faults_between,
    load_run,
    log_name,
)
from antiphon.conformance.spark.pipeline.errors import InputError, PipelineError, cause_of
from antiphon.conformance.spark.pipeline.growing import TICK, GrowingLogs
from antiphon.conformance.spark.pipeline.lake import found_lake
from antiphon.conformance.spark.pipeline.runs import is_lake, lake_at
from antiphon.conformance.spark.pipeline.session import confs, cores, settings, spark_session
from antiphon.model.verdict import Outcome

GOES_ON: Final = "goes on"
OVER: Final = "over"
SILENT: Final = "silent"

TOLD: Final = pa.schema(
    [
        ("run", pa.string()),
        ("path", pa.string()),
        ("standing", pa.string()),
        ("outcome", pa.string()),
        ("events", pa.int64()),
        ("property", pa.string()),
        ("offending", pa.int64()),
        ("reason", pa.string()),
        ("told", pa.string()),
    ]
)
"""Schema: one row a run and property that is violated or unknown, or one of a run with neither; `told` is the
finding in one sentence.
"""

SILENCE_S: Final = 600
EVERY_S: Final = 1.0
_STATE: Final = "state binary"
_SAID: Final = "said string"
FAULTS_MAX: Final = 20
"""Largest number of faults of a run that are reported."""

_STREAM: Final = {
    # That a run is silent is told with the next step of the others, or by a tick, not by a step of its own.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
_TOO_SLOW: Final = "Python worker failed to connect back"
"""Words of Spark's error when a Python process did not start within ten seconds, as on a busy machine. The
query can be started again, since the checkpoint has everything that was done.
"""
_ATTEMPTS: Final = 4
PIECE_BYTES: Final = 1 << 20
"""Number of bytes of each log that are read before the window is judged, if there are so many."""
_MAY_STILL_COME: Final = {TRUNCATED, CUT_OFF, NO_DELIVERIES, MISSING}
"""Reasons of faults that do not count while a run goes on: what is missing may still come."""


Step = Callable[[tuple[str], Iterator[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]


class _Fault(msgspec.Struct, frozen=True, order=True):
    """Fault of a line in a growing log."""

    process: int
    line: int
    reason: str


class Watching(msgspec.Struct):
    """State of a run between two steps.

    It has the position in each log, its header, and when it was seen to grow; the number of events, and the
    headers' counts; the faults; the window, and the number of bytes of the logs when the judge was called
    last. `gone` are the processes that the window does not wait for. `told` is a digest of the last report,
    without the numbers of events and violations. A forgotten run has only its position.
    """

    promise: tuple[str, ...] = (TOTAL_ORDER,)
    tails: dict[int, Tail] = msgspec.field(default_factory=dict)
    headers: dict[int, Header] = msgspec.field(default_factory=dict)
    seen_ms: dict[int, int] = msgspec.field(default_factory=dict)
    gone: set[int] = msgspec.field(default_factory=set)
    window: Window | None = None
    events: int = 0
    contents: Contents = msgspec.field(default_factory=Contents)
    faults: list[_Fault] = msgspec.field(default_factory=list)
    is_forgotten: bool = False
    judged: int = 0
    told: str = ""

    def read_on(
        self, directory: Path, ends: Mapping[int, int], now_ms: int = 0, silence_ms: float = inf
    ) -> Standing | None:
        """Read the logs on to these sizes; return the new report, or None if it is unchanged."""
        if self.is_forgotten or not self.gone.isdisjoint(ends):
            ends = {process: tail.at for process, tail in self.tails.items()} | dict(ends)
            told = "" if self.is_forgotten else self.told
            self._forget()
            self.tails, self.told, self.is_forgotten = {}, told, False
        self.seen_ms |= dict.fromkeys(ends, now_ms)
        self._read(directory, ends)
        if self.window is None:
            return self._say(self._standing(directory))
        if self._is_over(self.window):
            return self._end(directory, OVER)
        begun_ms = min(self.seen_ms.values())
        for process in range(len(self.window.logs)):
            if now_ms - self.seen_ms.get(process, begun_ms) > silence_ms:
                self.gone.add(process)
        if (self.window.unsure or self.window.gave_up) and 8 * self._size >= 9 * self.judged:
            self.judged = self._size
            run = load_run(directory, {process: tail.at for process, tail in self.tails.items()})
            self.window.tell(judge_history(run.events, self.promise))
        return self._say(self._standing(directory))

    def give_up(self, directory: Path) -> Standing | None:
        """Stop waiting for a silent run; return the report."""
        return self._end(directory, SILENT)

    def _read(self, directory: Path, ends: Mapping[int, int]) -> None:
        """Read the logs on in rounds, one piece of each log in a round; judge the window after each round."""
        left = dict(sorted(ends.items()))
        while left:
            for process, end in list(left.items()):
                tail = self.tails.setdefault(process, Tail())
                before, piece = tail.at, min(end, tail.at + PIECE_BYTES)
                self._read_log(process, directory / log_name(process), piece)
                if piece == end or tail.at == before:
                    del left[process]
            if self.window is not None:
                self.window.judge(self.gone)

    def _read_log(self, process: int, path: Path, end: int) -> None:
        for line in self.tails[process].read(path, end):
            if line.header is not None:
                self.headers.setdefault(process, line.header)
                self.window = self.window or Window.of(line.header.processes, self.promise)
            if line.event is not None:
                self.events += 1
                self.contents.note(process, [line.event])
                if self.window is not None and process < len(self.window.logs):
                    self.window.feed(process, line.event)
            if line.fault is not None:
                faults = {*self.faults, _Fault(process, line.number, line.fault)}
                self.faults = sorted(faults)[:FAULTS_MAX]

    @property
    def _size(self) -> int:
        """Return the number of bytes that were read."""
        return sum(tail.at for tail in self.tails.values())

    def _is_over(self, window: Window) -> bool:
        """Return True if every log has its end."""
        return len(self.tails) >= len(window.logs) and all(tail.ended for tail in self.tails.values())

    def _forget(self) -> None:
        """Delete the state of the run except for the positions in its logs and the last report."""
        self.headers, self.seen_ms, self.gone, self.window = {}, {}, set(), None
        self.events, self.contents, self.faults, self.judged, self.is_forgotten = 0, Contents(), [], 0, True

    def _end(self, directory: Path, standing: str) -> Standing | None:
        """Judge the whole logs of a run, delete its state, and return the report."""
        found = self._judged(directory, standing)
        self._forget()
        return self._say(found)

    def _standing(self, directory: Path) -> Standing:
        """Return the standing of a growing run."""
        begun = {process: self.headers.get(process) for process, tail in self.tails.items() if tail.at}
        faults = [
            *filter(_counts_while_growing, faults_between(directory, begun, self.contents)),
            *(Problem(directory / log_name(f.process), f.line, f.reason) for f in self.faults),
        ]
        if faults or self.window is None:
            return Standing(str(directory), GOES_ON, Outcome.UNKNOWN, self.events, _of_faults(faults))
        found = [
            (finding.property, Outcome.VIOLATED, finding.offending, finding.reason, str(finding))
            for finding in self.window.findings()
        ]
        worst = Outcome.VIOLATED if found else Outcome.UNKNOWN
        return Standing(str(directory), GOES_ON, worst, self.events, tuple(found))

    def _judged(self, directory: Path, standing: str) -> Standing:
        """Judge the whole logs, up to the positions that were read; return the report."""
        run = load_run(directory, {process: tail.at for process, tail in self.tails.items()})
        judged = judge_run(run, self.promise)
        outcomes = judged.outcomes
        found = [
            (finding.property, outcomes[finding.property], finding.offending, finding.reason, str(finding))
            for finding in judged.findings
            if outcomes[finding.property] is Outcome.VIOLATED
        ]
        if not run.problems:
            found += [
                (finding.property, Outcome.UNKNOWN, 0, judged.sentence(finding), judged.sentence(finding))
                for finding in judged.findings
                if outcomes[finding.property] is Outcome.UNKNOWN
            ]
        worst = Outcome.worst(outcomes.values())
        return Standing(str(directory), standing, worst, self.events, (*found, *_of_faults(run.problems)))

    def _say(self, standing: Standing) -> Standing | None:
        """Return the report, or None if it equals the last one."""
        broken = [(name, outcome, reason) for name, outcome, _, reason, _ in standing.found]
        told = [standing.standing, standing.outcome, broken]
        said = hashlib.blake2b(msgspec.json.encode(told), digest_size=12).hexdigest()
        if said == self.told:
            return None
        self.told = said
        return standing


def _counts_while_growing(fault: Problem) -> bool:
    """Return True if a fault also counts while the run goes on; a missing line, log or broadcast may still
    come.
    """
    is_count = fault.reason.startswith(OTHER_COUNT)
    return fault.reason not in _MAY_STILL_COME and fault.reason != NO_LOG and not is_count


def _of_faults(faults: Sequence[Problem]) -> tuple[ReportRow, ...]:
    """Return the rows of a report about problems of the logs, such as a line that cannot be read."""
    return tuple((None, Outcome.UNKNOWN, 0, fault.reason, str(fault)) for fault in faults[:FAULTS_MAX])


ReportRow = tuple[str | None, Outcome, int, str | None, str]
"""Property that is not kept (None: a fault of the logs), outcome, number of violations, reason, sentence."""


class Standing(msgspec.Struct, frozen=True):
    """Report of a step about a run: `outcome` is the worst of all properties, `found` the broken ones."""

    path: str
    standing: str
    outcome: Outcome
    events: int
    found: tuple[ReportRow, ...] = ()

    @property
    def run(self) -> str:
        """Return the name of the run."""
        return Path(self.path).name

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of `TOLD`."""
        head = {"run": self.run, "path": self.path, "standing": self.standing, "events": self.events}
        if not self.found:
            return [head | {"outcome": self.outcome.value, "offending": 0}]
        return [
            head
            | {
                "property": name,
                "outcome": outcome.value,
                "offending": offending,
                "reason": reason,
                "told": told,
            }
            for name, outcome, offending, reason, told in self.found
        ]


@dataclass(frozen=True)
class Watched:
    """Last report about every run of a folder; `place` is its directory."""

    place: str
    standings: tuple[Standing, ...]

    @property
    def outcome(self) -> Outcome:
        """Return violated if any run is, else unknown if any is, goes on, or there is none, else holds."""
        return Outcome.worst(standing.outcome for standing in self.standings)


def watch(
    folder: str | Path,
    lake: str | Path,
    *,
    master: str | None = None,
    every_s: float = EVERY_S,
    silence_s: float = SILENCE_S,
    promise: Collection[str] = (TOTAL_ORDER,),
    once: bool = False,
    tell: Callable[[Standing], None] = lambda _: None,
) -> Watched:
    """Follow the logs of a run, or of a directory of runs, and keep the verdicts on each in a lake. A later
    watch of the folder goes on from there.

    Args:
        folder: the folder of growing logs, on a file system that all machines see.
        lake: the lake with the verdicts and the checkpoint, `watched/<id>/`; it is made if there is none.
        master: as `verify` takes it.
        every_s: the seconds between two listings of the folder.
        silence_s: the seconds after which a silent run counts as over.
        promise: what the system promises, as `verify` takes it; each is watched by itself.
        once: True to stop when the present logs are read.
        tell: called with every change of a run's standing once; after a crash the last one may be missing.

    Raises:
        InputError: there is no such folder, another watches it into this lake, the lake is of another
            version or cannot be written, or this is no master.
        PipelineError: no Java, or Spark failed.
    """
    source = Path(folder).absolute()
    if not source.is_dir():
        raise InputError(
            f"{source}: no such directory; name one where logs are written, RUN/process-0.ndjson"
        )
    try:
        properties_of(promise)
    except PromiseError as error:
        raise InputError(str(error)) from error
    promised = tuple(sorted(set(promise)))
    place = _place_of(source, promised, lake_at(lake))
    failed: list[Exception] = []
    try:
        with _alone(place), spark_session(master) as session:
            workers = cores(session)
            with settings(session, workers << 20, workers), confs(session, _STREAM):
                sink = _keeps(place / "verdicts", tell, failed)
                steps = _steps(silence_s, promised)
                grown = (
                    session.readStream.format(GrowingLogs.name())
                    .option("path", str(source))
                    .option("silence_s", silence_s)
                )
                _follow(lambda: _query(session, grown, steps, place, every_s, sink), failed, once=once)
        return Watched(str(place), standings_in(place))
    except (Py4JJavaError, PySparkException) as error:
        raise PipelineError(f"Spark failed: {cause_of(error)}") from error
    except OSError as error:
        raise InputError(f"{place} cannot be written: {cause_of(error)}") from error


def _follow(start: Callable[[], StreamingQuery], failed: list[Exception], *, once: bool) -> None:
    """Start a query and wait for its end. Start it again if a Python process of Spark was too slow to
    start.
    """
    for attempt in range(_ATTEMPTS):
        query = start()
        try:
            if once:
                query.processAllAvailable()
            else:
                query.awaitTermination()
            return
        except PySparkException as error:
            if failed:  # what has failed here, Spark tells in words of its own
                raise failed[0] from None
            if _TOO_SLOW not in str(error) or attempt == _ATTEMPTS - 1:
                raise
        finally:
            _stop(query)


def standings_in(place: Path) -> tuple[Standing, ...]:
    """Return the last report about every run, by the paths of the runs."""
    last: dict[str, list[dict[str, Any]]] = {}
    for file in sorted((place / "verdicts").glob("[0-9]*.parquet")):
        of_step: dict[str, list[dict[str, Any]]] = {}
        for row in parquet.read_table(file).to_pylist():
            of_step.setdefault(row["path"], []).append(row)
        last |= of_step
    return tuple(_standing(last[path]) for path in sorted(last))


def _standing(rows: list[dict[str, Any]]) -> Standing:
    found = tuple(
        (row["property"], Outcome(row["outcome"]), row["offending"], row["reason"], row["told"])
        for row in rows
        if row["told"] is not None
    )
    worst = Outcome.worst(Outcome(row["outcome"]) for row in rows)
    return Standing(rows[0]["path"], rows[0]["standing"], worst, rows[0]["events"], found)


def _place_of(source: Path, promise: tuple[str, ...], lake: Path) -> Path:
    """Return the directory in which a lake keeps the reports about a folder that is judged by a promise."""
    if lake.exists() and any(lake.iterdir()) and not is_lake(lake):
        raise InputError(f"{lake}: not a lake, and not empty; name another place")
    words = () if promise == (TOTAL_ORDER,) else promise
    name = hashlib.blake2b("\0".join((str(source), *words)).encode(), digest_size=8).hexdigest()
    place = lake / "watched" / name
    try:
        found_lake(lake)
        (place / "verdicts").mkdir(parents=True, exist_ok=True)
        (place / "folder.json").write_text(json.dumps({"folder": str(source), "promise": promise}) + "\n")
    except OSError as error:
        raise InputError(f"{lake} cannot be written: {cause_of(error)}") from error
    return place


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    with (place / "folder.json").open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"another process watches this folder into {place.parent.parent}") from error
        yield


def _query(
    session: SparkSession,
    grown: DataStreamReader,
    steps: Step,
    place: Path,
    every_s: float,
    sink: Callable[[DataFrame, int], None],
) -> StreamingQuery:
    """Start the streaming query that follows a folder."""
    session.dataSource.register(GrowingLogs)
    judged = (
        grown.load()
        .withWatermark("seen", "0 seconds")
        .groupBy("run")
        .applyInPandasWithState(steps, _SAID, _STATE, "update", GroupStateTimeout.EventTimeTimeout)
    )
    return (
        judged.writeStream.foreachBatch(sink)
        .outputMode("update")
        .trigger(processingTime=f"{max(every_s, 0.001) * 1000:.0f} milliseconds")
        .option("checkpointLocation", f"file://{place / 'checkpoint'}")
        .start()
    )


def _keeps(
    place: Path, tell: Callable[[Standing], None], failed: list[Exception]
) -> Callable[[DataFrame, int], None]:
    """Return the function that stores and reports the results of a step; it records its own failure in
    `failed`.
    """

    def keep(said: DataFrame, step: int) -> None:
        standings = [msgspec.json.decode(row["said"], type=Standing) for row in said.collect()]
        try:
            if standings and _write(place / f"{step:010}.parquet", standings):
                for standing in standings:
                    tell(standing)
        except Exception as error:
            failed.append(error)
            raise

    return keep


def _write(file: Path, standings: list[Standing]) -> bool:
    """Write the reports of a step to a file, whole or not at all. Return False if the file existed
    already.
    """
    is_new = not file.exists()
    rows = [row for standing in sorted(standings, key=lambda each: each.path) for row in standing.rows()]
    partial = file.with_name(f".{file.name}-partial")
    parquet.write_table(pa.Table.from_pylist(rows, TOLD), partial)
    partial.rename(file)
    return is_new


def _stop(query: StreamingQuery) -> None:
    """Stop a query from another thread: after an interrupt, this thread's connection to Java still waits for
    an answer.
    """

    def stop() -> None:
        with suppress(Py4JError, OSError):
            query.stop()

    thread = threading.Thread(target=stop, name="antiphon-stop-watching")
    thread.start()
    thread.join()


def _steps(silence_s: float, promise: tuple[str, ...]) -> Step:
    """Return the function that updates the state of a run when its logs have grown, or when it has been
    silent for too long.
    """

    def step(key: tuple[str], grown: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        if key[0] == TICK:
            return
        watched = Watching(promise)
        if state.exists:
            watched = msgspec.json.decode(bytes(state.get[0]), type=Watching)
        directory = Path(key[0])
        if state.hasTimedOut:
            said = watched.give_up(directory)
        else:
            ends, seen_ms = dict[int, int](), 0
            for rows in grown:
                ends |= dict(zip(rows["process"].tolist(), rows["end"].tolist(), strict=True))
                seen_ms = max(seen_ms, *(time.value // 10**6 for time in rows["seen"]))
            said = watched.read_on(directory, ends, seen_ms, 1000 * silence_s)
        state.update((msgspec.json.encode(watched),))
        if not state.hasTimedOut and watched.window is not None:
            state.setTimeoutTimestamp(seen_ms + int(1000 * silence_s))
        if said is not None:
            yield pd.DataFrame({"said": [msgspec.json.encode(said).decode()]})

    return step
