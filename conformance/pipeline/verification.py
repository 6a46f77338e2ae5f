"""Logs or a lake in, verdicts out: logs are read into a lake that goes when they are judged."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from antiphon.conformance.history import TOTAL_ORDER, PromiseError, properties_of
from antiphon.conformance.pipeline.errors import InputError
from antiphon.conformance.pipeline.judging import judge_lake
from antiphon.conformance.pipeline.lake import BATCH_BYTES, find_runs, ingest_runs, is_lake
from antiphon.conformance.pipeline.report import VerifyReport
from antiphon.conformance.pipeline.runs import local_path
from antiphon.conformance.pipeline.scratch import own_directory
from antiphon.conformance.pipeline.session import spark_session


def verify(
    path: str | Path,
    master: str | None = None,
    promise: Collection[str] = (TOTAL_ORDER,),
    tell: Callable[[str], None] | None = None,
) -> VerifyReport:
    """Judge a lake (`ingest`), or the logs at `path`, as `ingest` takes them.

    `master` is Spark's; without it the session of this process is used, else all cores of this machine.
    `promise` is what the system promises, of `PROMISES`. `tell` is told now and then how far the work is. A
    violated property or a damaged log is a result; see `VerifyReport.outcome`.

    Raises:
        InputError: there is nothing to judge at `path`, nobody promises that, or this is no master.
        PipelineError: no Java, a full disk, or Spark failed.
    """
    try:
        properties_of(promise)
    except PromiseError as error:
        raise InputError(str(error)) from error
    place = Path(local_path(str(path)))
    if is_lake(place):
        return judge_lake(place, master, promise, tell)
    found = find_runs([path])
    with spark_session(master, found.size), own_directory("verify") as scratch:
        ingest_runs(found, scratch / "lake", master, BATCH_BYTES, tell)
        return replace(judge_lake(scratch / "lake", master, promise, tell), lake=None)
