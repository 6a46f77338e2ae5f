"""Integrity, agreement and validity of many runs, each by joins and aggregates over (run, message).

Transforms from events to `FINDINGS`, one row a run that offends. The definitions are those of
Barchet-Estefanel 2002, section 2.1, in the uniform form. This module knows nothing of order between
messages, and neither reads nor writes.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from antiphon.conformance.history.finding import (
    BY_NOBODY,
    NEVER_BROADCAST,
    NOT_BY_ALL,
    OTHER_PAYLOAD,
    TWICE,
    UNIFORM_AGREEMENT,
    UNIFORM_INTEGRITY,
    VALIDITY,
)
from antiphon.conformance.pipeline.schema import DELIVERIES, FINDINGS, PLACE


def deliveries_of(events: DataFrame) -> DataFrame:
    """Number the deliveries of each process, and those of each message there. Gives `DELIVERIES`."""
    of_process = Window.partitionBy("run", "process").orderBy("line")
    of_message = Window.partitionBy("run", "process", "m").orderBy("line")
    start, here = Window.unboundedPreceding, Window.currentRow
    return (
        events.filter(F.col("kind") == "deliver")
        .select("run", "process", "line", "i", "m", "digest")
        .withColumn("position", F.row_number().over(of_process.rowsBetween(start, here)))
        .withColumn("copy", F.row_number().over(of_message.rowsBetween(start, here)))
        .select(*DELIVERIES.fieldNames())
    )


def place(process: str, index: str, message: str) -> Column:
    """Make a `PLACE` of three columns."""
    return F.struct(F.col(process).alias("process"), F.col(index).alias("i"), F.col(message).alias("m"))


def finding(offences: DataFrame, name: str) -> DataFrame:
    """Sum up offences a run: their number, and the one with the smallest `rank`. Gives `FINDINGS`.

    Takes run, offending (how many this row stands for), rank (anything with an order, unique in the
    run), reason, first, second.
    """
    example = F.min_by(F.struct("reason", "first", "second"), "rank").alias("example")
    summed = offences.groupBy("run").agg(F.sum("offending").alias("offending"), example)
    return summed.select(
        "run", F.lit(name).alias("property"), "offending", "example.reason", "example.first", "example.second"
    ).select(*FINDINGS.fieldNames())


def integrity(events: DataFrame, deliveries: DataFrame) -> DataFrame:
    """Every process delivers a message at most once, and only as its sender broadcast it.

    Takes `EVENTS` and `DELIVERIES`. A delivery offends at most once: as a repetition, else as
    unknown, else for its payload.
    """
    by_sender = F.substring_index("m", ":", 1) == F.col("process").cast("string")
    broadcasts = (
        events.filter((F.col("kind") == "broadcast") & by_sender)
        .groupBy("run", "m")
        .agg(F.min(F.struct("line", "process", "i", "digest")).alias("sent"))
    )
    firsts = Window.partitionBy("run", "process", "m").orderBy("line")
    firsts = firsts.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    known = deliveries.withColumn("first_i", F.first("i").over(firsts)).join(
        broadcasts, on=["run", "m"], how="left"
    )
    reason = (
        F.when(F.col("copy") > 1, F.lit(TWICE))
        .when(F.col("sent").isNull(), F.lit(NEVER_BROADCAST))
        .when(F.col("sent.digest") != F.col("digest"), F.lit(OTHER_PAYLOAD))
    )
    other = F.when(F.col("copy") > 1, place("process", "first_i", "m"))
    other = other.when(F.col("sent").isNotNull(), place("sent.process", "sent.i", "m"))
    offences = known.select(
        "run",
        F.lit(1).alias("offending"),
        F.struct("process", "line").alias("rank"),
        reason.alias("reason"),
        place("process", "i", "m").alias("first"),
        other.cast(PLACE).alias("second"),
    ).filter(F.col("reason").isNotNull())
    return finding(offences, UNIFORM_INTEGRITY)


def agreement(events: DataFrame, deliveries: DataFrame) -> DataFrame:
    """What any process delivers, every process delivers that did not crash.

    Takes `EVENTS` and `DELIVERIES`.
    """
    delivered = deliveries.groupBy("run", "m").agg(
        F.collect_set("process").alias("by"), F.min(F.struct("process", "line", "i")).alias("at")
    )
    missing = (
        delivered.join(F.broadcast(_correct(events)), on="run", how="inner")
        .filter(F.size(F.array_except("correct", "by")) > 0)
        .select("run", "m", "at", F.explode(F.array_except("correct", "by")).alias("lacking"))
        .withColumn("nowhere", F.lit(None).cast("long"))
    )
    offences = missing.select(
        "run",
        F.lit(1).alias("offending"),
        F.struct("at.process", "at.line", "lacking").alias("rank"),
        F.lit(NOT_BY_ALL).alias("reason"),
        place("at.process", "at.i", "m").alias("first"),
        place("lacking", "nowhere", "m").alias("second"),
    )
    return finding(offences, UNIFORM_AGREEMENT)


def validity(events: DataFrame, deliveries: DataFrame) -> DataFrame:
    """What a correct process broadcasts, some correct process delivers.

    Takes `EVENTS` and `DELIVERIES`.
    """
    correct = F.broadcast(_correct(events).select("run", F.explode("correct").alias("process")))
    delivered = deliveries.join(correct, on=["run", "process"], how="left_semi").select("run", "m").distinct()
    lost = (
        events.filter(F.col("kind") == "broadcast")
        .join(correct, on=["run", "process"], how="left_semi")
        .join(delivered, on=["run", "m"], how="left_anti")
    )
    offences = lost.select(
        "run",
        F.lit(1).alias("offending"),
        F.struct("process", "line").alias("rank"),
        F.lit(BY_NOBODY).alias("reason"),
        place("process", "i", "m").alias("first"),
        F.lit(None).cast(PLACE).alias("second"),
    )
    return finding(offences, VALIDITY)


def _correct(events: DataFrame) -> DataFrame:
    """Collect the processes of each run that wrote something and did not crash: run, correct."""
    ended = events.groupBy("run", "process").agg(F.count_if(F.col("kind") == "crash").alias("crashes"))
    return (
        ended.filter(F.col("crashes") == 0)
        .groupBy("run")
        .agg(F.sort_array(F.collect_set("process")).alias("correct"))
    )
