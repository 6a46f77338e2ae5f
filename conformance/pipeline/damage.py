"""Damage is what forbids a verdict: a bad line, a cut file, a missing log, logs that disagree, silence.

The rules are those of `trace.reader` and `trace.directory`. Each fault is a row with run, process, file,
line, reason and, for a bad line, its bytes. Transforms only: this module neither reads nor writes.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from antiphon.conformance.pipeline.schema import DAMAGE, HEADER
from antiphon.conformance.trace import CUT_OFF, EMPTY, NO_DELIVERIES, TRUNCATED

UNREADABLE = "the file could be read only as far as this line"
OTHER_PROCESS = "the header names another process than the file"
TOO_MANY = "a process beyond the number of processes in the run's first header"
DISAGREES = "the header disagrees with that of the run's first log"
MISSING = "the log of this process is missing"


def summarise_logs(parsed: DataFrame, files: DataFrame) -> DataFrame:
    """Sum up each log in one row; a file without a line has one too.

    Takes the result of `parse_lines` and `FILES`. Gives run, process, path, size, lines, bytes (of
    all lines with an end of line each), last_kind (of the last event), deliveries, header.
    """
    kind = F.col("event.kind")
    last_event = F.when(F.col("event").isNotNull(), F.col("line"))
    logs = parsed.groupBy("run", "process").agg(
        F.max("line").alias("lines"),
        F.sum(F.octet_length("value") + 1).alias("bytes"),
        F.max_by(kind, last_event).alias("last_kind"),
        F.count_if(kind == "deliver").alias("deliveries"),
        F.max_by("header", F.when(F.col("header").isNotNull(), F.lit(1))).alias("header"),
    )
    return files.join(logs, on=["run", "process"], how="left").select(
        "run",
        "process",
        "path",
        "size",
        F.coalesce("lines", F.lit(0)).alias("lines"),
        F.coalesce("bytes", F.lit(0)).alias("bytes"),
        "last_kind",
        F.coalesce("deliveries", F.lit(0)).alias("deliveries"),
        "header",
    )


def line_damage(parsed: DataFrame, files: DataFrame) -> DataFrame:
    """List the faults of lines, each with the bytes of its line. Gives `DAMAGE`."""
    faulty = parsed.filter(F.size("faults") > 0).select(
        "run",
        "process",
        "line",
        F.explode("faults").alias("reason"),
        F.col("value").cast("binary").alias("text"),
    )
    return faulty.join(files, on=["run", "process"], how="left").select(*DAMAGE.fieldNames())


def log_damage(logs: DataFrame) -> DataFrame:
    """List the faults of whole logs, at their last line or, when empty, at line 0. Gives `DAMAGE`."""
    faults = F.array_compact(
        F.array(
            F.when(F.col("size") == 0, F.lit(EMPTY)),
            F.when(F.col("bytes") == F.col("size") + 1, F.lit(CUT_OFF)),
            F.when(
                (F.col("bytes") < F.col("size")) | (F.col("bytes") > F.col("size") + 1), F.lit(UNREADABLE)
            ),
            F.when((F.col("lines") > 0) & ~F.col("last_kind").eqNullSafe("end"), F.lit(TRUNCATED)),
        )
    )
    rows = logs.select(
        "run", "process", "path", F.col("lines").alias("line"), F.explode(faults).alias("reason")
    )
    return _damage(rows)


def run_damage(logs: DataFrame) -> DataFrame:
    """List what is wrong between the logs of a run, and runs without deliveries. Gives `DAMAGE`."""
    whole = Window.partitionBy("run").rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    seen = F.when(F.col("header").isNotNull(), F.col("process"))
    with_first = logs.select("*", F.min_by("header", seen).over(whole).alias("first"))
    fields = [name for name in HEADER.fieldNames() if name != "process"]
    differs = reduce(
        Column.__or__, (~F.col(f"header.{name}").eqNullSafe(F.col(f"first.{name}")) for name in fields)
    )
    has_header = F.col("header").isNotNull()
    faults = F.array_compact(
        F.array(
            F.when(has_header & (F.col("header.process") != F.col("process")), F.lit(OTHER_PROCESS)),
            F.when(has_header & (F.col("process") >= F.col("first.processes")), F.lit(TOO_MANY)),
            F.when(has_header & differs, F.lit(DISAGREES)),
        )
    )
    disagreeing = with_first.select(
        "run", "process", "path", F.lit(1).cast("long").alias("line"), F.explode(faults).alias("reason")
    )
    runs = with_first.groupBy("run").agg(
        F.collect_set("process").alias("present"),
        F.greatest(F.max("first.processes").cast("int"), F.max("process") + 1).alias("count"),
        F.sum("deliveries").alias("deliveries"),
        F.regexp_replace(F.min("path"), r"/[^/]*\z", "").alias("directory"),
    )
    whole_file = F.lit(0).cast("long").alias("line")
    expected = F.sequence(F.lit(0), F.col("count") - 1)
    missing = runs.select(
        "run", "directory", F.explode(F.array_except(expected, "present")).alias("process")
    ).select(
        "run",
        "process",
        F.concat("directory", F.lit("/process-"), F.col("process"), F.lit(".ndjson")).alias("path"),
        whole_file,
        F.lit(MISSING).alias("reason"),
    )
    silent = runs.filter(F.col("deliveries") == 0).select(
        "run",
        F.lit(None).cast("int").alias("process"),
        F.col("directory").alias("path"),
        whole_file,
        F.lit(NO_DELIVERIES).alias("reason"),
    )
    return _damage(disagreeing.unionByName(missing).unionByName(silent))


def _damage(rows: DataFrame) -> DataFrame:
    return rows.withColumn("text", F.lit(None).cast("binary")).select(*DAMAGE.fieldNames())
