"""Sweep on Spark: a run is a task, and the results equal those of one process.

The largest runs come first, so that tasks end together. This module knows no protocol.
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
    """Return the runs of all points with all seeds, on this master; `tell` is called now and then with the
    number of finished runs.

    Raises:
        InputError: this is no master, or it does not answer.
        PipelineError: Spark does not start.
    """
    with spark_session(master) as session, telling(session, tell):
        return sweep_on(session, settings, seeds)


def sweep_on(
    session: SparkSession, settings: Iterable[Setting], seeds: Sequence[int], parts: int | None = None
) -> Runs:
    """Return the runs as `sweep_on_spark`, on a running session; `parts` is the number of tasks, one for each
    run by default.
    """
    jobs = jobs_of(settings, seeds)
    encoded = [msgspec.json.encode(job) for job in jobs]
    rows = session.range(0, len(jobs), 1, parts or len(jobs)).mapInArrow(
        _runs(encoded), "job long, result binary"
    )
    results = [(jobs[row.job], msgspec.json.decode(row.result, type=Result)) for row in rows.collect()]
    return ordered([(setting, seed, result) for (setting, seed), result in results], seeds)


def _runs(jobs: list[bytes]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a Spark task runs: it takes the numbers of jobs, runs these jobs, and returns
    their results.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for job in batch.column("id").to_pylist():
                setting, seed = msgspec.json.decode(jobs[job], type=tuple[Setting, int])
                result = msgspec.json.encode(simulate(setting, seed))
                yield pa.RecordBatch.from_pydict({"job": [job], "result": [result]})

    return run
