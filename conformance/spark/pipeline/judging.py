"""Judge of a lake, batch by batch: runs that one pass finds healthy hold, and suspects go to the judge of
`history`.

1. `verdicts/<promise>/` of a batch has `suspects/`, the runs that were not found healthy, `found/`, a row for
   each property of each of these that was judged, and `healthy.json`: for each property the number of other
   runs, all of which keep it, and of judged events. It is written once, beside its place, and renamed.
2. The driver gets a row a property and outcome, and the first few violations and faults; never a row a run.
3. With a promise that no pass can decide (`scan.facts_for`) every run is a suspect. A suspect has to fit the
   memory of one task.

This module knows no property's definition.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JJavaError
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from antiphon.conformance.judge.history import TOTAL_ORDER, Finding, Place, hints, properties_of
from antiphon.conformance.spark.pipeline.columns import TYPES
from antiphon.conformance.spark.pipeline.errors import PipelineError, cause_of
from antiphon.conformance.spark.pipeline.facts import COUNTS
from antiphon.conformance.spark.pipeline.lake import Batch, batches_of, events_of
from antiphon.conformance.spark.pipeline.report import SHOWN_MAX, Damage, RunVerdict, VerifyReport
from antiphon.conformance.spark.pipeline.scan import JUDGED, facts_for, health_of, in_one_pass
from antiphon.conformance.spark.pipeline.scratch import own_directory
from antiphon.conformance.spark.pipeline.session import settings, spark_session, telling
from antiphon.conformance.spark.pipeline.verdicts import FOUND, FOUND_COLUMNS, judged_runs, property_rank
from antiphon.model.verdict import Outcome

_BYTES_A_LINE: Final = 100
_VERSION: Final = 2
"""Version of the files with the verdicts on a batch; files of an earlier version are left alone."""


def judge_lake(
    lake: Path,
    master: str | None = None,
    promise: Collection[str] = (TOTAL_ORDER,),
    tell: Callable[[str], None] | None = None,
) -> VerifyReport:
    """Judge every batch of a lake that has not been judged by this promise, and return the sums over all
    batches.

    Raises:
        InputError: there is no lake of this version, or this is no master.
        PipelineError: no Java, a full disk, or Spark failed.
    """
    lake = lake.absolute()  # Spark takes no other path
    batches = batches_of(lake)
    volume, runs = sum(batch.lines for batch in batches) * _BYTES_A_LINE, sum(batch.runs for batch in batches)
    try:
        with (
            spark_session(master, volume) as session,
            settings(session, volume, max(runs, 1)),
            telling(session, tell),
        ):
            for batch in batches:
                if not verdicts_at(batch, promise).exists():
                    _judge(session, batch, promise)
            return _report(session, lake, batches, promise)
    except (Py4JJavaError, PySparkException, OSError) as error:
        raise PipelineError(f"Spark failed: {cause_of(error)}") from error


def verdicts_at(batch: Batch, promise: Collection[str]) -> Path:
    """Return the directory of the verdicts of a batch."""
    names = properties_of(promise)
    told = hashlib.blake2b(" ".join(names).encode(), digest_size=8).hexdigest()
    is_usual = names == properties_of((TOTAL_ORDER,))
    return batch.directory / "verdicts" / f"{TOTAL_ORDER if is_usual else f'other-{told}'}.{_VERSION}"


def _judge(session: SparkSession, batch: Batch, promise: Collection[str]) -> None:
    """Write the verdicts of one batch."""
    place = verdicts_at(batch, promise)
    with own_directory("verdicts", batch.directory) as own, events_of(session, batch) as events:
        staging = own / place.name
        facts = facts_for(properties_of(promise))
        if facts is not None:
            with in_one_pass(session):
                suspects = health_of(events, facts).filter(~F.col("healthy")).select("run")
                suspects.write.parquet(f"file://{staging / 'suspects'}")
        else:
            runs = _table(session, batch.directory / "runs", "run bigint")
            runs.write.parquet(f"file://{staging / 'suspects'}")
        if _rows(staging / "suspects"):
            suspects = _table(session, staging / "suspects", "run bigint")
            quarantine = _quarantine(session, batch)
            found = judged_runs(events.join(suspects, "run", "left_semi"), quarantine, promise)
            found.write.parquet(f"file://{staging / 'found'}")
        else:
            (staging / "found").mkdir()
            parquet.write_table(FOUND.empty_table(), staging / "found" / "none.parquet")
        healthy = _healthy(session, batch, staging / "suspects", properties_of(promise))
        (staging / "healthy.json").write_text(json.dumps(healthy))
        place.parent.mkdir(exist_ok=True)
        try:
            staging.rename(place)
        except OSError:  # another has judged it meanwhile
            shutil.rmtree(staging)


def _healthy(
    session: SparkSession, batch: Batch, suspects: Path, names: Collection[str]
) -> dict[str, tuple[int, int]]:
    """Return for each property the number of healthy runs in which it was judged, and of its events."""
    if batch.runs == _rows(suspects):
        return {}
    columns = ", ".join(f"{name} bigint" for name in ("run", "events", *COUNTS))
    runs = _table(session, batch.directory / "runs", columns)
    healthy = runs.join(_table(session, suspects, "run bigint"), "run", "left_anti")
    sums = [
        F.struct(F.count_if(F.expr(JUDGED[name]) > 0), F.coalesce(F.sum(F.expr(JUDGED[name])), F.lit(0)))
        for name in names
    ]
    row = healthy.agg(F.array(*sums).alias("sums")).first()
    assert row is not None
    return {name: tuple(told) for name, told in zip(names, row["sums"], strict=True)}


def _quarantine(session: SparkSession, batch: Batch) -> DataFrame:
    columns = "run bigint, process int, path string, line bigint, reason string, text binary"
    return _table(session, batch.directory / "quarantine", columns)


def _report(
    session: SparkSession, lake: Path, batches: Collection[Batch], promise: Collection[str]
) -> VerifyReport:
    names = properties_of(promise)
    counts: dict[str, Counter[Outcome]] = {name: Counter() for name in names}
    judged: Counter[str] = Counter()
    unknown: dict[str, str] = {}
    verdicts: list[RunVerdict] = []
    damage: list[Damage] = []
    suspects, kinds = 0, set[int]()
    for batch in batches:
        at = verdicts_at(batch, promise)
        mine = _rows(at / "suspects")
        suspects += mine
        kinds |= set(batch.kinds)
        for name, (runs, much) in json.loads((at / "healthy.json").read_text()).items():
            counts[name][Outcome.HOLDS] += runs
            judged[name] += much
        if mine:
            found = _table(session, at / "found", FOUND_COLUMNS)
            much = F.sum("judged").alias("much")
            for row in found.groupBy("property", "outcome").agg(F.count("*").alias("runs"), much).collect():
                counts[row["property"]][Outcome(row["outcome"])] += row["runs"]
                judged[row["property"]] += row["much"]
            verdicts += _first_violations(session, batch, found)
            if any(counter[Outcome.UNKNOWN] for counter in counts.values()):
                unknown = _first_unknown(session, batch, found) | unknown
        if batch.faults:
            damage += _first_faults(session, batch)
    return VerifyReport(
        counts={name: +counter for name, counter in counts.items()},
        verdicts=tuple(verdicts[:SHOWN_MAX]),
        damage=tuple(damage[:SHOWN_MAX]),
        violated=sum(counter[Outcome.VIOLATED] for counter in counts.values()),
        faults=sum(batch.faults for batch in batches),
        runs=sum(batch.runs for batch in batches),
        suspects=suspects,
        events=sum(batch.events for batch in batches),
        lake=str(lake),
        judged={name: judged[name] for name in names},
        unknown=unknown,
        hints=tuple(
            sorted(
                {
                    hint
                    for mask in kinds
                    for hint in hints([kind for code, kind in TYPES.items() if mask >> code & 1], promise)
                }
            )
        ),
    )


def _rows(place: Path) -> int:
    """Return the number of rows of a table, by the ends of its files."""
    return sum(parquet.read_metadata(file).num_rows for file in place.glob("*.parquet"))


def _first_violations(session: SparkSession, batch: Batch, found: DataFrame) -> list[RunVerdict]:
    """Return the first violations of a batch in turn: the first of each property, then the second of each,
    and so on.
    """
    first = Window.partitionBy("property").orderBy("run")
    violated = found.filter(F.col("outcome") == Outcome.VIOLATED.value)
    few = violated.withColumn("place", F.row_number().over(first)).filter(F.col("place") <= SHOWN_MAX)
    order = (F.col("place"), property_rank("property"))
    rows = few.orderBy(*order).limit(SHOWN_MAX).join(_names(session, batch), "run").orderBy(*order).collect()
    return [
        RunVerdict(
            row["name"],
            Outcome(row["outcome"]),
            Finding(
                row["property"],
                row["offending"],
                row["reason"],
                _place(row["first"]),
                _place(row["second"]),
                row["judged"],
                row["doubt"],
                row["implied"],
                row["odd"],
            ),
        )
        for row in rows
    ]


def _first_unknown(session: SparkSession, batch: Batch, found: DataFrame) -> dict[str, str]:
    """Return, for each property, the reason why it is unknown in the first run that leaves it unknown."""
    first = Window.partitionBy("property").orderBy("run")
    unknown = found.filter(F.col("outcome") == Outcome.UNKNOWN.value)
    few = unknown.withColumn("place", F.row_number().over(first)).filter(F.col("place") == 1)
    rows = few.join(_names(session, batch), "run").collect()
    return {row["property"]: f"{row['name']}: {row['told']}" for row in rows}


def _first_faults(session: SparkSession, batch: Batch) -> list[Damage]:
    few = (
        _quarantine(session, batch).drop("text").orderBy("run", "process", "line", "reason").limit(SHOWN_MAX)
    )
    rows = few.join(_names(session, batch), "run").orderBy("run", "process", "line", "reason").collect()
    return [Damage(row["name"], row["process"], row["path"], row["line"], row["reason"]) for row in rows]


def _names(session: SparkSession, batch: Batch) -> DataFrame:
    return _table(session, batch.directory / "runs", "run bigint, name string")


def _table(session: SparkSession, path: Path, columns: str | StructType) -> DataFrame:
    """Read a table of a batch; characters such as `*` in its path are no pattern."""
    reader = session.read.option("__globPaths__", "false").schema(columns).format("parquet")
    return reader.load(f"file://{path.absolute()}")


def _place(row: Row | None) -> Place | None:
    return None if row is None else Place(row["process"], row["i"], row["m"])
