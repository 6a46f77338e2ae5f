"""Verification of logs or a lake: a few million events are judged in this process, more of them on Spark, in
a temporary lake.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from antiphon.conformance.extras import needs_spark
from antiphon.conformance.judge.history import TOTAL_ORDER, PromiseError, properties_of
from antiphon.conformance.spark.pipeline.errors import InputError, NothingThere
from antiphon.conformance.spark.pipeline.in_process import BYTES_MAX, judge_here, volume
from antiphon.conformance.spark.pipeline.report import VerifyReport
from antiphon.conformance.spark.pipeline.runs import find_runs, is_lake, local_path
from antiphon.model.bounds import UNBOUNDED, Bounds


def verify(
    path: str | Path,
    master: str | None = None,
    promise: Collection[str] = (TOTAL_ORDER,),
    tell: Callable[[str], None] | None = None,
    jobs: int = 1,
    bounds: Bounds = UNBOUNDED,
) -> VerifyReport:
    """Judge a lake (`ingest`), or the logs at `path`, as `ingest` takes them. A violated property, damaged
    logs and missing logs are a result; see `VerifyReport.outcome`.

    Args:
        path: a lake, or logs.
        master: Spark's master. Without it logs of some million events are judged in this process, which needs
            no Spark; lakes, larger logs and logs at addresses that only Spark reads are judged on the session
            of this process, else on all cores of this machine.
        promise: the system's promise, words of `promised_words()`.
        tell: called now and then with the progress.
        jobs: the number of processes that judge logs without Spark. A program that uses several must not
            call this function while it is imported, since each of
            the processes imports it again.
        bounds: the seconds after which no other run is judged in this process. Spark judges all.

    Raises:
        InputError: what is at `path` is no log, the promise is unknown, or this is no master.
        MissingExtra: Spark is needed, and not installed.
        PipelineError: no Java, a full disk, or Spark failed.
    """
    try:
        properties_of(promise)
    except PromiseError as error:
        raise InputError(str(error)) from error
    place = Path(local_path(str(path)))
    if is_lake(place):
        needs_spark(f"{path} is a lake, which")
        from antiphon.conformance.spark.pipeline.judging import judge_lake  # here: Spark is an extra

        return judge_lake(place, master, promise, tell)
    try:
        found = find_runs([path])
    except NothingThere as nothing:
        return VerifyReport.of_nothing(promise, nothing.reason)
    if master is None and not found.uris:
        if volume(found.runs) <= BYTES_MAX:
            return judge_here(found.runs, promise, tell, jobs, bounds)
        needs_spark(f"{path} has more than {BYTES_MAX >> 20} MB of logs, and verify")
    else:
        needs_spark("verify at this address" if found.uris else "verify with a master")
    from antiphon.conformance.spark.pipeline.judging import judge_lake
    from antiphon.conformance.spark.pipeline.lake import BATCH_BYTES, ingest_runs
    from antiphon.conformance.spark.pipeline.scratch import own_directory
    from antiphon.conformance.spark.pipeline.session import spark_session

    with spark_session(master, found.size), own_directory("verify") as scratch:
        ingest_runs(found, scratch / "lake", master, BATCH_BYTES, tell)
        return replace(judge_lake(scratch / "lake", master, promise, tell), lake=None)
