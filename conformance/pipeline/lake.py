"""A lake keeps the events of many runs as they are judged: whole batches of runs, bucketed and sorted by
message.

```
LAKE/lake.json                       schema and version
LAKE/batches/<id>/batch.json         runs, lines, events, faults, buckets; the last that is written
LAKE/batches/<id>/events/            Parquet, one file a bucket, as `columns` says
LAKE/batches/<id>/runs/, quarantine/ Parquet, as `chunks` says
LAKE/batches/<id>/verdicts/<promise>/  what was found, as `judging` says
```

1. A batch is written into a directory of its own beside the others and renamed: it is there whole, or not.
   What is there is never changed, so that a lake can be read while it grows. Who begins to read in removes
   what a process that is gone has left (`scratch`).
2. A run is its directory. The id of a batch is the hash of the directories, sizes and times of its logs. A
   run that a batch has already is passed over; a run that has changed since is told, and nothing is read in.
3. Rows are in buckets by run and message, and sorted by them within each: all that is said of a message is
   together, so that `scan` needs neither a sort nor an exchange of rows. One file is one bucket, however many
   runs and tasks there are.

Paths are of file systems that the driver and all executors see. This module knows no property.
"""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyarrow import compute, parquet
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from antiphon.conformance.pipeline.chunks import OpenRuns, PlannedRun, open_planned, reads_chunks
from antiphon.conformance.pipeline.columns import ARROW, EVENTS
from antiphon.conformance.pipeline.dataset import cause_of, list_runs
from antiphon.conformance.pipeline.errors import InputError, PipelineError
from antiphon.conformance.pipeline.scratch import own_directory
from antiphon.conformance.pipeline.session import cores, settings, spark_session, telling
from antiphon.conformance.trace import logs_in

SCHEMA: Final = "antiphon.lake"
VERSION: Final = 1
KEY: Final = ("run", "source", "count")
"""By what rows are in buckets, and sorted in each."""

BATCH_BYTES: Final = 4 << 30
"""So many bytes of logs are one batch at most: what a crash can cost."""

_CHUNK_BYTES: Final = 32 << 20
_CHUNK_RUNS: Final = 5_000
_BUCKET_BYTES: Final = 64 << 20
"""Logs of so many bytes are worth a bucket, which a task holds to sort it: some 100 MB of memory."""


@dataclass(frozen=True)
class Batch:
    """One batch of a lake, and how much is in it."""

    directory: Path
    runs: int
    lines: int
    events: int
    faults: int
    buckets: int

    @property
    def id(self) -> str:
        """Its name in the lake."""
        return self.directory.name


@dataclass(frozen=True)
class Ingested:
    """What an ingestion has added to a lake: the new batches, and how many runs were there already."""

    lake: str
    batches: tuple[Batch, ...]
    known: int

    def total(self, what: str) -> int:
        """The sum over the new batches."""
        return sum(getattr(batch, what) for batch in self.batches)


@dataclass(frozen=True)
class _Run:
    """A run that was found: how many bytes its logs have, and what tells whether they have changed."""

    name: str
    path: str
    size: int
    mark: str


def is_lake(path: Path) -> bool:
    """Whether a lake stands here."""
    return (path / "lake.json").is_file()


def ingest(
    paths: Sequence[str | Path],
    lake: str | Path,
    master: str | None = None,
    *,
    batch_bytes: int = BATCH_BYTES,
    tell: Callable[[str], None] | None = None,
) -> Ingested:
    """Read the logs below these paths into a lake: files, directories of one run or of runs, or patterns of
    those. What is there already is passed over.

    Raises:
        InputError: there are no logs at a path, a run has changed since it was read in, the lake is of
        another
            version, or this is no master.
        PipelineError: the lake cannot be written, no Java, or Spark failed.
    """
    place = Path(lake).absolute()
    found = _runs_at(paths)
    known = _marks(place) if place.exists() else {}
    changed = [run for run in found if known.get(run.path, run.mark) != run.mark]
    if changed:
        raise InputError(
            f"{changed[0].path} has changed since it was read into {place}, which keeps what it has"
            + (f"; so have {len(changed) - 1:,} more" if len(changed) > 1 else "")
            + "; read in runs that are over, or make another lake"
        )
    new = [run for run in found if run.path not in known]
    if not new:
        return Ingested(str(place), (), len(found))
    made = []
    volume = sum(run.size for run in new)
    with _writing(place), spark_session(master, volume) as session, telling(session, tell):
        found_lake(place)
        for runs in _batches(new, batch_bytes):
            made.append(_ingest_batch(session, place, runs))
    return Ingested(str(place), tuple(made), len(found) - len(new))


def found_lake(place: Path) -> None:
    """Make a lake, if none stands there."""
    (place / "batches").mkdir(parents=True, exist_ok=True)
    if not is_lake(place):
        _write_json(place / "lake.json", {"schema": SCHEMA, "version": VERSION})


def batches_of(lake: Path) -> list[Batch]:
    """The batches of a lake, in the order of their ids.

    Raises:
        InputError: there is no lake of this version.
    """
    try:
        document = json.loads((lake / "lake.json").read_text())
        found = (document["schema"], document["version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{lake}: not a lake: lake.json is missing or damaged") from error
    if found != (SCHEMA, VERSION):
        raise InputError(f"{lake}: schema {found[0]!r} version {found[1]}; this reads {SCHEMA!r} {VERSION}")
    told = sorted((lake / "batches").glob("[!.]*/batch.json"))
    return [Batch(path.parent, **json.loads(path.read_text())["counts"]) for path in told]


@contextmanager
def events_of(session: SparkSession, batch: Batch) -> Iterator[DataFrame]:
    """The rows of a batch, of which Spark knows that they are in buckets and sorted. Gives
    `columns.EVENTS`.
    """
    table = f"antiphon_events_{batch.id}"
    columns = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in EVENTS.fields)
    key = ", ".join(KEY)
    session.sql(f"DROP TABLE IF EXISTS {table}")
    session.sql(
        f"CREATE TABLE {table} ({columns}) USING parquet CLUSTERED BY ({key}) SORTED BY ({key}) "
        f"INTO {batch.buckets} BUCKETS LOCATION '{_quoted(batch.directory / 'events')}'"
    )
    try:
        yield session.table(table)
    finally:
        session.sql(f"DROP TABLE IF EXISTS {table}")


def _ingest_batch(session: SparkSession, lake: Path, runs: Sequence[_Run]) -> Batch:
    """Read one batch, and put it into its place when it is whole."""
    volume = sum(run.size for run in runs)
    name = hashlib.blake2b(msgspec.json.encode([(r.path, r.mark) for r in runs]), digest_size=12).hexdigest()
    buckets = max(1, -(-volume // _BUCKET_BYTES))
    with own_directory("batch", lake / "batches") as own, settings(session, volume, len(runs)):
        staging = own / name
        chunks = _plan(runs, max(volume // (3 * cores(session)), 1 << 18))
        write_tables(session, staging, chunks, buckets)
        return put_batch(staging, lake, buckets, {run.path: run.mark for run in runs})


def write_tables(
    session: SparkSession,
    staging: Path,
    chunks: Sequence[Sequence[msgspec.Struct]],
    buckets: int,
    open_runs: OpenRuns = open_planned,
) -> None:
    """Write the tables of a batch, but for its verdicts: its events in so many buckets, its runs and its
    faults. A task reads a chunk, of which there is one at least; `open_runs` knows what its plan says.
    """
    for table in ("plan", "runs", "quarantine"):
        (staging / table).mkdir(parents=True)
    for number, chunk in enumerate(chunks):
        (staging / "plan" / f"{number}.json").write_bytes(msgspec.json.encode(chunk))
    reads = reads_chunks(str(staging), open_runs)
    rows = session.range(0, len(chunks), 1, len(chunks)).mapInArrow(reads, EVENTS)
    _write_events(rows, staging / "events", buckets)
    for file in (staging / "plan").iterdir():
        file.unlink()
    (staging / "plan").rmdir()


def put_batch(
    staging: Path, lake: Path, buckets: int, marks: Mapping[str, str], **more: object
) -> Batch:
    """Count what a batch holds, and put it into its place in the lake under the name that it has. `marks`
    tell by directory whether the logs of a run have changed; `more` is written down beside.
    """
    told = parquet.read_table(staging / "runs", columns=["lines", "events", "faults"])
    counts = {column: _total(told, column) for column in told.column_names}
    counts |= {"runs": told.num_rows, "buckets": buckets}
    _write_json(staging / "batch.json", {"counts": counts, "marks": dict(marks)} | more)
    return Batch(staging.rename(lake / "batches" / staging.name), **counts)


def _write_events(rows: DataFrame, place: Path, buckets: int) -> None:
    """Write rows in buckets: the exchange puts a bucket into one task, which sorts it and writes one file."""
    place.mkdir()
    written = rows.repartition(buckets, *KEY).mapInArrow(_writes_bucket(str(place)), "rows bigint")
    written.agg(F.sum("rows")).collect()


def _writes_bucket(place: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What writes the bucket of a task: by Arrow, in a fraction of the time that Spark's own writer takes.
    Spark knows the bucket by the end of the file's name, and numbers parts and buckets alike.
    """

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        name = f"part-{context.partitionId():05}_{context.partitionId():05}.parquet"
        table = pa.Table.from_batches(batches, ARROW).combine_chunks()
        order = compute.sort_indices(table, [(column, "ascending", "at_start") for column in KEY])
        partial = Path(place) / f".{name}-{context.taskAttemptId()}"
        parquet.write_table(table.take(order), partial)
        partial.rename(Path(place) / name)
        yield pa.RecordBatch.from_pydict({"rows": [table.num_rows]})

    return write


def _plan(runs: Sequence[_Run], most: int) -> list[list[PlannedRun]]:
    """Cut the runs of a batch into chunks of so many bytes, unless that is too many."""
    chunks: list[list[PlannedRun]] = [[]]
    size = 0
    for number, run in enumerate(runs):
        full = size + run.size > min(most, _CHUNK_BYTES) or len(chunks[-1]) == _CHUNK_RUNS
        if chunks[-1] and full:
            chunks.append([])
            size = 0
        chunks[-1].append(PlannedRun(number, run.name, run.path))
        size += run.size
    return chunks


def _batches(runs: Sequence[_Run], most: int) -> Iterator[list[_Run]]:
    batch: list[_Run] = []
    size = 0
    for run in runs:
        if batch and size + run.size > most:
            yield batch
            batch, size = [], 0
        batch.append(run)
        size += run.size
    yield batch


def _runs_at(paths: Sequence[str | Path]) -> list[_Run]:
    """The runs of all paths, each once, in the order of their directories."""
    places: dict[str, str] = {}
    for path in paths:
        text = str(path)
        if "://" in text or text.startswith("file:"):
            raise InputError(f"{text}: name a path on a file system that all machines see, not a URI")
        matching = [path] if Path(text).exists() else sorted(glob.glob(text, recursive=True))  # noqa: PTH207 - a whole path is the pattern
        if not matching:
            raise InputError(f"{text}: there is no such file or directory, and no match of such a pattern")
        for match in map(Path, matching):
            if match.is_dir():
                places |= {directory: name for name, directory in list_runs(match)}
            elif match.is_file() and any(match.name == log.name for _, log in logs_in(match.parent)):
                places[str(match.parent.absolute())] = match.parent.absolute().name
            elif len(matching) == 1:
                raise InputError(f"{match}: not a log; a log is process-0.ndjson, process-1.ndjson, ...")
    if not places:
        raise InputError(
            f"{', '.join(map(str, paths))}: no run; a run is a directory that holds process-0.ndjson"
        )
    return [_run(name, Path(directory)) for directory, name in sorted(places.items())]


def _run(name: str, directory: Path) -> _Run:
    size = 0
    mark = hashlib.blake2b(digest_size=12)
    try:
        for _, log in logs_in(directory):
            told = log.stat()
            size += told.st_size
            mark.update(f"{log.name} {told.st_size} {told.st_mtime_ns}\n".encode())
    except OSError as error:
        mark.update(str(error.errno).encode())
    return _Run(name, str(directory), size, mark.hexdigest())


def _marks(lake: Path) -> dict[str, str]:
    """Of every run of a lake what tells whether its logs have changed."""
    if not any(lake.iterdir()):
        return {}
    return {
        path: mark
        for batch in batches_of(lake)
        for path, mark in json.loads((batch.directory / "batch.json").read_text())["marks"].items()
    }


@contextmanager
def _writing(lake: Path) -> Iterator[None]:
    try:
        yield
    except (Py4JJavaError, PySparkException, OSError) as error:
        raise PipelineError(f"{lake} cannot be written: {cause_of(error)}") from error


def _write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a file that is there whole or not at all."""
    partial = path.with_name(f".{path.name}-partial")
    partial.write_text(json.dumps(document) + "\n")
    partial.rename(path)


def _total(table: pa.Table, column: str) -> int:
    return sum(table.column(column).to_pylist())


def _uri(path: Path) -> str:
    """As Spark takes paths: nothing in it is escaped."""
    return f"file://{path.absolute()}"


def _quoted(path: Path) -> str:
    return _uri(path).replace("\\", "\\\\").replace("'", "\\'")
