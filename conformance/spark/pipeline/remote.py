"""Access to logs that only Spark can read, as at `hdfs:` and `s3a:`: Spark finds them, and tasks copy them to
local files.

Spark's table of files (`binaryFile`) has a row a file, whatever the file system. The reader of `trace` reads
files of this machine; so a batch's logs are copied into its staging directory first, whole, each by one task.
A file has to be smaller than 2 GB, which is Spark's bound, and fit the memory of a task.

This module knows names of logs, and not their contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from antiphon.conformance.judge.trace import logs_among
from antiphon.conformance.spark.pipeline.errors import InputError, cause_of
from antiphon.conformance.spark.pipeline.runs import NO_RUN, FoundRun, found_run
from antiphon.conformance.spark.pipeline.session import confs

_LOGS: Final = "process-*.ndjson*"


def runs_of_spark(session: SparkSession, paths: Sequence[str]) -> list[FoundRun]:
    """Return the runs below these URIs, each once, in the order of their directories.

    Raises:
        InputError: Spark cannot read a URI, or there is no log below it.
    """
    directories: dict[str, dict[str, tuple[int, int]]] = {}
    for path in paths:
        try:
            table = session.read.format("binaryFile").options(
                recursiveFileLookup="true", pathGlobFilter=_LOGS
            )
            found = (
                table.load(path)
                .selectExpr("path", "length", "unix_micros(modificationTime) AS time")
                .collect()
            )
        except (Py4JJavaError, PySparkException) as error:
            told = cause_of(error)
            if "No FileSystem" in told or "ClassNotFound" in told:
                told += "; more file systems come as jars, which spark-defaults.conf names (spark.jars)"
            raise InputError(f"{path}: Spark cannot read this: {told}") from error
        if not found:
            raise InputError(f"{path}: {NO_RUN}")
        for row in found:
            directory, _, name = row["path"].rpartition("/")
            directories.setdefault(directory, {})[name] = (row["length"], row["time"])
    return [
        found_run(path, [(process, name, *told[name]) for process, name in logs_among(told)])
        for path, told in sorted(directories.items())
    ]


def copy_logs(session: SparkSession, runs: Sequence[FoundRun], places: Mapping[str, str]) -> None:
    """Copy the logs of each run that `places` names to the directory that it gives."""
    logs = {
        f"{run.path}/{name}": f"{places[run.path]}/{name}"
        for run in runs
        for _, name in run.logs
        if run.path in places
    }
    for place in places.values():
        Path(place).mkdir(parents=True)
    if not logs:
        return
    # A pattern would be read as one: what stands for itself in a path is escaped.
    escaped = ["".join(f"\\{c}" if c in "*?[]{}\\" else c for c in path) for path in logs]
    with confs(session, {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}):
        table: DataFrame = session.read.format("binaryFile").load(escaped).select("path", "content")
        written = table.mapInArrow(_writes(logs), "bytes bigint").agg({"bytes": "sum"}).collect()
    del written


def _writes(logs: Mapping[str, str]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                data = content.as_buffer()
                file = Path(logs[path])
                partial = file.with_name(f".{file.name}-partial")
                partial.write_bytes(data)
                partial.rename(file)
                yield pa.RecordBatch.from_pydict({"bytes": [data.size]})

    return write
