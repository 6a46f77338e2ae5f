"""Lake: the events of many runs on disk, as whole batches of runs, bucketed and sorted by message.

    LAKE/lake.json                          schema and version
    LAKE/batches/<id>/batch.json            runs, lines, events, faults, buckets; the last that is written
    LAKE/batches/<id>/events/               Parquet, one file a bucket, as `columns` says
    LAKE/batches/<id>/runs/, quarantine/    Parquet, as `chunks` says
    LAKE/batches/<id>/verdicts/<promise>/   the verdicts, as `judging` says

1. A batch is written into a directory of its own beside the others and renamed: it is there whole, or not.
   A batch never changes, so that a lake can be read while it grows. A new ingestion removes the files of
   processes that have ended (`scratch`).
2. A run is its directory. The id of a batch is the hash of the directories, sizes and times of its logs. A
   run that a batch has already is skipped; a run that has changed since is an error, and nothing is read in.
3. Rows are in buckets by run and message, and sorted by them within each: all events of a message are
   together, so that `scan` needs neither a sort nor an exchange of rows. One file is one bucket, however
   many runs and tasks there are.

Paths are of file systems that the driver and all executors see. This module knows no property.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from antiphon.conformance.spark.pipeline.buckets import KEY, writes_buckets
from antiphon.conformance.spark.pipeline.chunks import OpenRuns, PlannedRun, open_planned, reads_chunks
from antiphon.conformance.spark.pipeline.columns import EVENTS
from antiphon.conformance.spark.pipeline.errors import InputError, cause_of
from antiphon.conformance.spark.pipeline.remote import copy_logs, runs_of_spark
from antiphon.conformance.spark.pipeline.runs import Found, FoundRun, find_runs, is_lake, lake_at
from antiphon.conformance.spark.pipeline.scratch import own_directory
from antiphon.conformance.spark.pipeline.session import cores, settings, spark_session, telling

SCHEMA: Final = "antiphon.lake"
VERSION: Final = 1
BATCH_BYTES: Final = 4 << 30
"""Largest number of bytes of logs in one batch. A crash loses the work on one batch at most."""

_CHUNK_BYTES: Final = 32 << 20
_CHUNK_RUNS: Final = 5_000
BUCKET_BYTES: Final = 64 << 20
"""Number of bytes of logs for a bucket, which a task holds to sort it: some 100 MB of memory."""


@dataclass(frozen=True)
class Batch:
    """Batch of a lake, with its counts."""

    directory: Path
    runs: int
    lines: int
    events: int
    faults: int
    buckets: int
    kinds: Sequence[int] = ()
    """Sets of kinds of events that a run has, each set once, as an integer with a bit for each kind."""

    @property
    def id(self) -> str:
        """Return the name of the batch in the lake."""
        return self.directory.name


@dataclass(frozen=True)
class Ingested:
    """Result of an ingestion: the new batches, and the number of runs that were there already."""

    lake: str
    batches: tuple[Batch, ...]
    known: int

    def total(self, what: str) -> int:
        """Return the sum over the new batches."""
        return sum(getattr(batch, what) for batch in self.batches)


def ingest(
    paths: Sequence[str | Path],
    lake: str | Path,
    master: str | None = None,
    *,
    batch_bytes: int = BATCH_BYTES,
    tell: Callable[[str], None] | None = None,
) -> Ingested:
    """Read the logs at these paths into a lake: logs, directories of one run or of runs, patterns of those,
    and URIs that Spark reads. Runs that are there already are skipped.

    Raises:
        InputError: there are no logs at a path, a run has changed since it was read in, the lake is of
            another version or cannot be where it should be, or this is no master.
        PipelineError: no Java, or Spark failed.
    """
    return ingest_runs(find_runs(paths), lake_at(lake), master, batch_bytes, tell)


def ingest_runs(
    found: Found, place: Path, master: str | None, batch_bytes: int, tell: Callable[[str], None] | None
) -> Ingested:
    """Read runs into the lake at this place; raise the errors of `ingest`."""
    known = _marks(place) if place.exists() else {}
    new = _new(found.runs, known, place)
    if not new and not found.uris:
        return Ingested(str(place), (), len(found.runs))
    made = []
    with _writing(place), spark_session(master, found.size) as session, telling(session, tell):
        remote = runs_of_spark(session, found.uris)
        new += _new(remote, known, place)
        found_lake(place)
        for runs in _batches(new, batch_bytes):
            made.append(_ingest_batch(session, place, runs))
    return Ingested(str(place), tuple(made), len(found.runs) + len(remote) - len(new))


def found_lake(place: Path) -> None:
    """Make an empty lake at this place, unless there is one."""
    (place / "batches").mkdir(parents=True, exist_ok=True)
    if not is_lake(place):
        _write_json(place / "lake.json", {"schema": SCHEMA, "version": VERSION})


def _new(runs: Sequence[FoundRun], known: Mapping[str, str], place: Path) -> list[FoundRun]:
    """Return the runs that the lake does not have.

    Raises:
        InputError: a run that the lake has was changed after it was read in.
    """
    changed = [run for run in runs if known.get(run.path, run.mark) != run.mark]
    if changed:
        raise InputError(
            f"{changed[0].path} has changed since it was read into {place}, which keeps what it has"
            + (f"; so have {len(changed) - 1:,} more" if len(changed) > 1 else "")
            + "; read in runs that are over, or make another lake"
        )
    return [run for run in runs if run.path not in known]


def batches_of(lake: Path) -> list[Batch]:
    """Return the batches of a lake, in the order of their ids.

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
    """Return the rows of a batch as a bucketed and sorted table of Spark with the columns
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


def _ingest_batch(session: SparkSession, lake: Path, runs: Sequence[FoundRun]) -> Batch:
    """Read one batch, and put it into its place when it is whole."""
    volume = sum(run.size for run in runs)
    name = hashlib.blake2b(msgspec.json.encode([(r.path, r.mark) for r in runs]), digest_size=12).hexdigest()
    buckets = max(1, -(-volume // BUCKET_BYTES))
    with own_directory("batch", lake / "batches") as own, settings(session, volume, len(runs)):
        staging = own / name
        places = {run.path: str(own / "logs" / str(n)) for n, run in enumerate(runs) if run.is_remote}
        copy_logs(session, runs, places)
        chunks = _plan(runs, max(volume // (3 * cores(session)), 1 << 18), places)
        write_tables(session, staging, chunks, buckets)
        return put_batch(staging, lake, buckets, {run.path: run.mark for run in runs})


def write_tables(
    session: SparkSession,
    staging: Path,
    chunks: Sequence[Sequence[msgspec.Struct]],
    buckets: int,
    open_runs: OpenRuns = open_planned,
) -> None:
    """Write the tables of a batch (events in `buckets` buckets, runs, faults), without verdicts. Each task
    reads one of the chunks, of which there is at least one; `open_runs` reads the plans.
    """
    for table in ("plan", "runs", "quarantine", "spills", "events"):
        (staging / table).mkdir(parents=True)
    for number, chunk in enumerate(chunks):
        (staging / "plan" / f"{number}.json").write_bytes(msgspec.json.encode(chunk))
    _each(session, len(chunks), reads_chunks(str(staging), buckets, open_runs))
    spills, events = staging / "spills", staging / "events"
    _each(session, buckets, writes_buckets(str(spills), str(events), buckets))
    for done in (staging / "plan", spills):
        shutil.rmtree(done)


def put_batch(staging: Path, lake: Path, buckets: int, marks: Mapping[str, str], **more: object) -> Batch:
    """Count a batch's rows, and put it into its place in the lake under its name. `marks` has, by directory,
    the mark of each run's logs; `more` is written in addition.
    """
    told = parquet.read_table(staging / "runs", columns=["lines", "events", "faults"])
    counts: dict[str, Any] = {column: _total(told, column) for column in told.column_names}
    kinds = parquet.read_table(staging / "runs", columns=["kinds"]).column("kinds").to_pylist()
    counts |= {"runs": told.num_rows, "buckets": buckets, "kinds": sorted(set(kinds))}
    _write_json(staging / "batch.json", {"counts": counts, "marks": dict(marks)} | more)
    return Batch(staging.rename(lake / "batches" / staging.name), **counts)


def _each(session: SparkSession, many: int, work: Callable[[Any], Any]) -> None:
    """Run `work` in `many` Spark tasks; each gets its number."""
    session.range(0, many, 1, many).mapInArrow(work, "rows bigint").agg(F.sum("rows")).collect()


def _plan(runs: Sequence[FoundRun], most: int, places: Mapping[str, str]) -> list[list[PlannedRun]]:
    """Divide the runs of a batch into chunks of about equal size, at most `most` bytes each unless that gives
    too many chunks.
    """
    chunks: list[list[PlannedRun]] = [[]]
    size = 0
    for number, run in enumerate(runs):
        full = size + run.size > min(most, _CHUNK_BYTES) or len(chunks[-1]) == _CHUNK_RUNS
        if chunks[-1] and full:
            chunks.append([])
            size = 0
        chunks[-1].append(PlannedRun(number, run.name, run.path, places.get(run.path, run.path), run.logs))
        size += run.size
    return chunks


def _batches(runs: Sequence[FoundRun], most: int) -> Iterator[list[FoundRun]]:
    batch: list[FoundRun] = []
    size = 0
    for run in runs:
        if batch and size + run.size > most:
            yield batch
            batch, size = [], 0
        batch.append(run)
        size += run.size
    yield batch


def _marks(lake: Path) -> dict[str, str]:
    """Map each run of a lake to its mark, which changes when its logs change."""
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
        raise InputError(f"{lake} cannot be written: {cause_of(error)}") from error


def _write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    partial = path.with_name(f".{path.name}-partial")
    partial.write_text(json.dumps(document) + "\n")
    partial.rename(path)


def _total(table: pa.Table, column: str) -> int:
    return sum(table.column(column).to_pylist())


def _uri(path: Path) -> str:
    """Return a path as a URI for Spark, without escapes."""
    return f"file://{path.absolute()}"


def _quoted(path: Path) -> str:
    return _uri(path).replace("\\", "\\\\").replace("'", "\\'")
