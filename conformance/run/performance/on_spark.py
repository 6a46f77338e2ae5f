"""A sweep on Spark: a run is a task, and what comes out is what one process finds.

The largest runs come first, so that none is left over at the end. This module knows no protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession

from antiphon.conformance.run.performance.group import simulate
from antiphon.conformance.run.performance.meter import Result
from antiphon.conformance.run.performance.setting import Setting
from antiphon.conformance.run.performance.sweep import Runs, jobs_of, ordered
from antiphon.conformance.spark.pipeline.session import spark_session, telling

__all__ = ["sweep_on", "sweep_on_spark"]


def sweep_on_spark(
    settings: Iterable[Setting], seeds: Sequence[int], master: str, tell: Callable[[str], None] | None = None
) -> Runs:
    """The runs of all points with all seeds, on this master; `tell` hears now and then how many are done.

    Raises:
        InputError: this is no master, or nobody answers there.
        PipelineError: Spark does not start.
    """
    with spark_session(master) as session, telling(session, tell):
        return sweep_on(session, settings, seeds)


def sweep_on(
    session: SparkSession, settings: Iterable[Setting], seeds: Sequence[int], parts: int | None = None
) -> Runs:
    """As `sweep_on_spark`, on a session that runs; `parts`: in so many tasks, or one for each run."""
    jobs = jobs_of(settings, seeds)
    encoded = [msgspec.json.encode(job) for job in jobs]
    rows = session.range(0, len(jobs), 1, parts or len(jobs)).mapInArrow(
        _runs(encoded), "job long, result binary"
    )
    results = [(jobs[row.job], msgspec.json.decode(row.result, type=Result)) for row in rows.collect()]
    return ordered([(setting, seed, result) for (setting, seed), result in results], seeds)


def _runs(jobs: list[bytes]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that takes the runs of these numbers."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for job in batch.column("id").to_pylist():
                setting, seed = msgspec.json.decode(jobs[job], type=tuple[Setting, int])
                result = msgspec.json.encode(simulate(setting, seed))
                yield pa.RecordBatch.from_pydict({"job": [job], "result": [result]})

    return run
