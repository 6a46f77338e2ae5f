"""Logs in, verdicts out: ingest if need be, check every property, report.

The whole way, and the only module with actions on the verdict tables. What reaches the driver is
one row a run and property, and of each run's damage the first faults; never a delivery.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from antiphon.conformance.history import TOTAL_ORDER, Finding, Place, PromiseError, properties_of
from antiphon.conformance.pipeline.dataset import (
    Dataset,
    cause_of,
    ingest,
    is_dataset,
    list_runs,
    new_directory,
    open_dataset,
)
from antiphon.conformance.pipeline.errors import InputError, PipelineError
from antiphon.conformance.pipeline.judging import judge_lake
from antiphon.conformance.pipeline.lake import is_lake
from antiphon.conformance.pipeline.report import Damage, LakeReport, RunVerdict, VerifyReport
from antiphon.conformance.pipeline.scratch import own_directory
from antiphon.conformance.pipeline.session import settings, spark_session, telling
from antiphon.conformance.pipeline.verdicts import property_rank, verdicts_of
from antiphon.model.verdict import Outcome

FAULTS_SHOWN: Final = 20
"""So many faults of a run come into the report; all are in the quarantine."""


def verify(
    path: str | Path,
    master: str | None = None,
    output: str | Path | None = None,
    promise: Collection[str] = (TOTAL_ORDER,),
    tell: Callable[[str], None] | None = None,
) -> VerifyReport | LakeReport:
    """Judge the logs below `path` (`<run>/process-<p>.ndjson`), a lake (`ingest`), or a dataset made from
    logs.

    With `output`, a directory that must not exist yet, the tables are kept there: `events` by run,
    `quarantine` and `verdicts`; from a dataset, `verdicts` alone. `master` is Spark's; without it
    the session of this process is used, else all cores of this machine. `promise` is what the system
    promises, of `PROMISES`. `tell` is told now and then how far the work is. A violated property or a damaged
    log is a result; see `VerifyReport.outcome`.

    Raises:
        InputError: there is nothing to judge at `path`, `output` exists, nobody promises that, or this is no
            master.
        PipelineError: no Java, a full disk, or Spark failed.
    """
    try:
        properties_of(promise)
    except PromiseError as error:
        raise InputError(str(error)) from error
    source = Path(path)
    kept = None if output is None else Path(output)
    if is_lake(source):
        if kept is not None:
            raise InputError(f"{source} is a lake, which keeps its verdicts itself; leave out {kept}")
        return judge_lake(source, master, promise, tell)
    volume, runs = _measure(source, kept)
    with (
        spark_session(master, volume) as session,
        settings(session, volume, runs),
        telling(session, tell),
    ):
        if is_dataset(source):
            return _judge(open_dataset(session, source), promise, kept)
        with _place_of_dataset(kept) as place:
            ingest(session, source, place)
            return _judge(open_dataset(session, place), promise, kept and place / "verdicts", kept)


def _measure(source: Path, kept: Path | None) -> tuple[int, int]:
    """How many bytes and runs are to be judged; wrong usage is found before Java starts."""
    if "://" in str(source) or str(source).startswith("file:"):
        raise InputError(f"{source}: name a path on a file system that all machines see, not a URI")
    if kept is not None and kept.exists():
        raise InputError(f"{kept} exists and is not overwritten; name another place or remove it")
    if is_dataset(source):
        directories = list((source / "events").iterdir())
    else:
        directories = [Path(path) for _, path in list_runs(source)]
    return sum(map(_volume, directories)), len(directories)


def _volume(directory: Path) -> int:
    """How many bytes the files of a directory have; what cannot be read has none, and is told later."""
    try:
        with os.scandir(directory) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file())
    except OSError:
        return 0


@contextmanager
def _place_of_dataset(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        yield kept
        return
    with own_directory("verify") as scratch:
        yield scratch / "dataset"


def _judge(
    dataset: Dataset, promise: Collection[str], verdicts_at: Path | None, kept: Path | None = None
) -> VerifyReport:
    try:
        damage = dataset.damage.persist()
        verdicts = verdicts_of(dataset.events, damage, promise).persist()
        try:
            if verdicts_at is not None:
                with new_directory(verdicts_at) as partial:
                    verdicts.coalesce(1).write.mode("append").parquet(f"file://{partial}")
            return _report(dataset, verdicts, damage, kept or verdicts_at)
        finally:
            for table in (damage, verdicts):
                table.unpersist()
    except (Py4JJavaError, PySparkException) as error:
        raise PipelineError(f"Spark failed: {cause_of(error)}") from error


def _report(dataset: Dataset, verdicts: DataFrame, damage: DataFrame, kept: Path | None) -> VerifyReport:
    rows = verdicts.orderBy("run", property_rank("property")).collect()
    in_order = Window.partitionBy("run").orderBy(F.col("process").asc_nulls_first(), "line", "reason")
    in_order = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    shown = (
        damage.withColumn("place", F.row_number().over(in_order))
        .filter(F.col("place") <= FAULTS_SHOWN)
        .orderBy("run", "place")
        .drop("place", "text")
        .collect()
    )
    return VerifyReport(
        verdicts=tuple(map(_verdict, rows)),
        damage=tuple(_damage(row) for row in shown),
        faults=damage.count(),
        runs=len({row["run"] for row in rows}),
        events=dataset.events.count(),
        output=None if kept is None else str(kept),
    )


def _verdict(row: Row) -> RunVerdict:
    first, second = _place(row["first"]), _place(row["second"])
    found = Finding(row["property"], row["offending"], row["reason"], first, second)
    return RunVerdict(row["run"], Outcome(row["outcome"]), found)


def _damage(row: Row) -> Damage:
    return Damage(row["run"], row["process"], row["path"], row["line"], row["reason"])


def _place(row: Row | None) -> Place | None:
    return None if row is None else Place(row["process"], row["i"], row["m"])
