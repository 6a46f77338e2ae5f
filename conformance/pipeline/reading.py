"""A run's logs are read where a task runs, by the readers of `trace`: no second reader, no second rule.

One task reads a run, log after log, and gives rows in batches: of events, and of what is wrong with the
logs. Java never sees a line. This module knows no property, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type

from antiphon.conformance.pipeline.schema import DAMAGE, EVENTS, ROWS
from antiphon.conformance.trace import RESULTS, Header, Problem, faults_between, logs_in, read_lines

ROWS_MAX: Final = 4096
BYTES_MAX: Final = 1 << 20
"""A batch ends after so many rows, or when the faulty lines in it have so many bytes."""

_ARROW: Final = pa.schema(list(to_arrow_type(ROWS)))


def read_runs(runs: DataFrame) -> DataFrame:
    """Read the logs of these runs. Takes `RUNS`, gives `ROWS`."""
    return runs.mapInArrow(_read_batches, ROWS)


def events_of(rows: DataFrame) -> DataFrame:
    """Keep the events. Takes `ROWS`, gives `EVENTS`."""
    return rows.filter(F.col("kind").isNotNull()).select(*EVENTS.fieldNames())


def damage_of(rows: DataFrame) -> DataFrame:
    """Keep the faults. Takes `ROWS`, gives `DAMAGE`."""
    return rows.filter(F.col("reason").isNotNull()).select(*DAMAGE.fieldNames())


def _read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    runs = chain.from_iterable(batch.to_pylist() for batch in batches)
    rows = chain.from_iterable(_rows(run["run"], Path(run["path"])) for run in runs)
    while batch := _batch(rows):
        yield pa.RecordBatch.from_pylist(batch, schema=_ARROW)


def _batch(rows: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row.get("text") or b"")
        if len(batch) == ROWS_MAX or size >= BYTES_MAX:
            break
    return batch


def _rows(run: str, directory: Path) -> Iterator[dict[str, Any]]:
    """The rows of one run: each line that is an event or faulty, then the faults between the logs."""
    headers: dict[int, Header | None] = {}
    deliveries = 0
    try:
        logs = logs_in(directory)
    except OSError:
        logs = []
    for process, path in logs:
        headers[process] = None
        for line in read_lines(path):
            headers[process] = headers[process] or line.header
            deliveries += isinstance(line.event, RESULTS)
            if line.event is None and line.fault is None:
                continue
            row = {"run": run, "process": process, "line": line.number}
            if line.event is not None:
                row |= msgspec.to_builtins(line.event)
            if line.fault is not None:
                row |= {"path": str(path), "reason": line.fault, "text": line.text}
            yield row
    for problem in faults_between(directory, headers, deliveries):
        yield _fault(run, problem)


def _fault(run: str, problem: Problem) -> dict[str, Any]:
    """The row of a fault between logs; its process is none where it speaks of the whole run."""
    number = problem.path.stem.removeprefix("process-")
    process = int(number) if number.isdigit() and problem.path.suffix == ".ndjson" else None
    located = {"run": run, "process": process, "line": problem.line}
    return located | {"path": str(problem.path), "reason": problem.reason}
