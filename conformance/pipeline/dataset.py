"""A dataset is complete or it is not there: written beside its place, then renamed into it.

1. `DIR/<run>/process-<p>.ndjson` is listed here, by name only; Spark reads the lines. A directory
   that holds the logs of one run itself is taken as well.
2. `events/run=<run>/` and `quarantine/` are written into a hidden directory next to the
   destination, then `manifest.json`, then the directory is renamed: one step for the file system.
3. Who opens a dataset asks for the manifest. An ingestion that was interrupted leaves at most a
   hidden directory without one.
4. A write that fails, on a full disk for instance, is reported with its cause, and what had been
   written is removed.

Paths are of file systems that the driver and all executors see. This module knows no property.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from antiphon.conformance.pipeline.damage import line_damage, log_damage, run_damage, summarise_logs
from antiphon.conformance.pipeline.errors import InputError, PipelineError
from antiphon.conformance.pipeline.lines import events_of, number_lines, parse_lines
from antiphon.conformance.pipeline.schema import DAMAGE, EVENTS, FILES, LINES
from antiphon.conformance.trace import NO_LOG, logs_in

MANIFEST: Final = "manifest.json"
SCHEMA: Final = "antiphon.dataset"
VERSION: Final = 1

# In a path to read, Spark takes these for a pattern, unless they are escaped.
_PATTERN = re.compile(r"([][{}*?\\])")
UNREADABLE_NAME: Final = "cannot be read: Spark refuses a path that holds a colon and one of []{}*?\\"


@dataclass(frozen=True)
class Listing:
    """The logs below a directory: rows of `FILES`, and rows of `DAMAGE` for what cannot be opened."""

    files: list[tuple[str, int, str, int]]
    damage: list[tuple[str, int | None, str, int, str, None]]


@dataclass(frozen=True)
class Dataset:
    """The two tables of a complete dataset: `EVENTS` and `DAMAGE`."""

    events: DataFrame
    damage: DataFrame


def list_logs(source: Path) -> Listing:
    """Find the logs of all runs.

    Raises:
        InputError: the directory does not exist, holds no run, or mixes logs and runs.
    """
    if not source.is_dir():
        raise InputError(f"{source}: no such directory; name one that holds <run>/process-<p>.ndjson")
    source = source.absolute()
    with _reading(source):
        children = sorted(child for child in source.iterdir() if child.is_dir() and not is_dataset(child))
        own = logs_in(source)
        runs = [child for child in children if logs_in(child) or not child.name.startswith(".")]
    if own and any(logs_in(child) for child in children):
        raise InputError(f"{source} holds logs of one run and directories of runs; verify them one by one")
    listing = Listing([], [])
    for directory in [source] if own else runs:
        _list_run(directory, listing)
    if not listing.files and not listing.damage:
        raise InputError(
            f"{source}: no run; a run is a directory that holds process-0.ndjson, process-1.ndjson, ..."
        )
    return listing


def is_dataset(path: Path) -> bool:
    """Whether a complete dataset stands here."""
    return (path / MANIFEST).is_file() and (path / "events").is_dir()


def ingest(session: SparkSession, source: Path, destination: Path) -> None:
    """Turn the logs below `source` into a dataset at `destination`.

    Damaged logs are no error: see the dataset's damage.

    Raises:
        InputError: there are no logs, or the destination exists.
        PipelineError: it cannot be written (the disk is full, for instance); nothing is left behind.
    """
    listing = list_logs(source)
    with new_directory(destination) as partial:
        files = session.createDataFrame(listing.files, FILES)
        parsed = parse_lines(_read_lines(session, [row[2] for row in listing.files])).persist()
        logs = summarise_logs(parsed, files)
        unopened = session.createDataFrame(listing.damage, DAMAGE)
        damage = line_damage(parsed, files).unionByName(log_damage(logs)).unionByName(run_damage(logs))
        try:
            events_of(parsed).write.partitionBy("run").parquet(_uri(partial / "events"))
            quarantine = damage.unionByName(unopened).coalesce(1)
            quarantine.write.parquet(_uri(partial / "quarantine"))
        finally:
            parsed.unpersist()
        manifest = {
            "schema": SCHEMA,
            "version": VERSION,
            "source": str(source.absolute()),
            "logs": len(listing.files),
        }
        (partial / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def open_dataset(session: SparkSession, path: Path) -> Dataset:
    """Open a complete dataset.

    Raises:
        InputError: there is none, or it is of another version.
    """
    try:
        manifest: dict[str, Any] = json.loads((path / MANIFEST).read_text())
        found = (manifest["schema"], manifest["version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a complete dataset: {MANIFEST} is missing or damaged") from error
    if found != (SCHEMA, VERSION):
        raise InputError(
            f"{path}: schema {found[0]!r} version {found[1]}; this pipeline reads {SCHEMA!r} {VERSION}"
        )
    # A dataset that was complete when it was written is read strictly: a damaged file is an error.
    options = {"__globPaths__": "false", "ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
    return Dataset(
        session.read.options(**options).schema(EVENTS).format("parquet").load(_uri(path / "events")),
        session.read.options(**options).schema(DAMAGE).format("parquet").load(_uri(path / "quarantine")),
    )


@contextmanager
def new_directory(destination: Path) -> Iterator[Path]:
    """Give a hidden directory that becomes `destination` if the block succeeds and vanishes if not.

    Raises:
        InputError: the destination exists.
        PipelineError: something in the block could not be written; it names the cause.
    """
    destination = destination.absolute()
    if destination.exists():
        raise InputError(f"{destination} exists and is not overwritten; name another place or remove it")
    partial: Path | None = None
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{destination.name}-partial-", dir=destination.parent))
        yield partial
        partial.rename(destination)
    except (Py4JJavaError, PySparkException, OSError) as error:
        raise PipelineError(f"{destination} cannot be written: {cause_of(error)}") from error
    finally:
        if partial is not None:
            shutil.rmtree(partial, ignore_errors=True)


def cause_of(error: BaseException) -> str:
    """Find the line that names the first cause in an error of Spark or of the operating system."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    text = str(error)
    if "No space left on device" in text:
        return "no space left on device"
    causes = re.findall(r"^Caused by: (.+)$", text, re.MULTILINE)
    return str(causes[-1]) if causes else text.strip().splitlines()[0]


def _read_lines(session: SparkSession, paths: list[str]) -> DataFrame:
    """Read the lines of these files, wherever Spark splits them. Gives `LINES`."""
    if not paths:
        return session.createDataFrame([], LINES)
    escaped = ["file://" + _PATTERN.sub(r"\\\1", path) for path in paths]
    raw = session.read.option("lineSep", "\n").option("recursiveFileLookup", "true").text(escaped)
    return number_lines(
        raw.select(
            "value",
            F.col("_metadata.file_path").alias("path"),
            F.col("_metadata.file_block_start").alias("block"),
            F.monotonically_increasing_id().alias("row"),
        )
    )


def _list_run(directory: Path, listing: Listing) -> None:
    logs = logs_in(directory)
    if not logs:
        listing.damage.append((directory.name, None, str(directory), 0, NO_LOG, None))
    for process, path in logs:
        try:
            with path.open("rb") as log:
                size = os.fstat(log.fileno()).st_size
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
            listing.damage.append((directory.name, process, str(path), 0, reason, None))
            continue
        if ":" in str(path) and _PATTERN.search(str(path)):
            listing.damage.append((directory.name, process, str(path), 0, UNREADABLE_NAME, None))
        else:
            listing.files.append((directory.name, process, str(path), size))


@contextmanager
def _reading(source: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{error.filename or source} cannot be read: {error.strerror}") from error


def _uri(path: Path) -> str:
    return f"file://{path.absolute()}"
