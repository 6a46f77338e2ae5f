"""A dataset is complete or it is not there: written beside its place, then renamed into it.

1. The runs of a directory are listed here, by name only; tasks read their logs,
   `DIR/<run>/process-<p>.ndjson`. A directory that holds the logs of one run itself is taken as well.
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

from antiphon.conformance.pipeline.errors import InputError, PipelineError
from antiphon.conformance.pipeline.reading import damage_of, events_of, read_runs
from antiphon.conformance.pipeline.schema import DAMAGE, EVENTS, RUNS
from antiphon.conformance.trace import logs_in

MANIFEST: Final = "manifest.json"
SCHEMA: Final = "antiphon.dataset"
VERSION: Final = 1


@dataclass(frozen=True)
class Dataset:
    """The two tables of a complete dataset: `EVENTS` and `DAMAGE`."""

    events: DataFrame
    damage: DataFrame


def list_runs(source: Path) -> list[tuple[str, str]]:
    """Find the directories of all runs. Gives rows of `RUNS`.

    Raises:
        InputError: the directory does not exist, holds no run, or mixes logs and runs.
    """
    if not source.is_dir():
        raise InputError(f"{source}: no such directory; name one that holds <run>/process-<p>.ndjson")
    source = source.absolute()
    try:
        children = sorted(child for child in source.iterdir() if child.is_dir() and not is_dataset(child))
        own = logs_in(source)
        with_logs = [child for child in children if _holds_logs(child)]
    except OSError as error:
        raise InputError(f"{error.filename or source} cannot be read: {error.strerror}") from error
    if own and with_logs:
        raise InputError(f"{source} holds logs of one run and directories of runs; verify them one by one")
    runs = [child for child in children if child in with_logs or not child.name.startswith(".")]
    if not own and not runs:
        raise InputError(
            f"{source}: no run; a run is a directory that holds process-0.ndjson, process-1.ndjson, ..."
        )
    return [(directory.name, str(directory)) for directory in ([source] if own else runs)]


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
    runs = list_runs(source)
    with new_directory(destination) as partial:
        rows = read_runs(session.createDataFrame(runs, RUNS)).persist()
        try:
            events_of(rows).write.partitionBy("run").parquet(_uri(partial / "events"))
            damage_of(rows).coalesce(1).write.parquet(_uri(partial / "quarantine"))
        finally:
            rows.unpersist()
        manifest = {
            "schema": SCHEMA,
            "version": VERSION,
            "source": str(source.absolute()),
            "runs": len(runs),
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


def _holds_logs(directory: Path) -> bool:
    """Whether logs stand here; a directory that cannot be listed is a run whose damage says so."""
    try:
        return bool(logs_in(directory))
    except OSError:
        return False


def _uri(path: Path) -> str:
    return f"file://{path.absolute()}"
