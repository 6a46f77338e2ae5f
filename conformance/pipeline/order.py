"""Order is compared by ranks, never by pairs of messages: n log n per pair of processes.

1. Prefix order: all processes that reach a position must deliver the same message there; one
   aggregate over (run, position).
2. Pairwise order follows where prefix order holds. Only the runs that offend it are looked at
   further, so that healthy runs cost nothing more.
3. There, for two processes, the first deliveries of the messages common to both are ranked in
   either order; order agrees exactly when every message has one rank. The first rank that differs
   gives the two events that clash (`history.order` tells why). Pairs of processes are few; pairs of
   messages are never formed.

Transforms from `DELIVERIES` to `FINDINGS`; this module neither reads nor writes.

Source: Barchet-Estefanel 2002, section 2.1 (Uniform Total Order).
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from antiphon.conformance.history.finding import OTHER_MESSAGE, OTHER_ORDER, PREFIX_ORDER, UNIFORM_TOTAL_ORDER
from antiphon.conformance.pipeline.broadcast import finding, place


def prefix_order(deliveries: DataFrame) -> DataFrame:
    """Of any two delivery sequences one is a prefix of the other. Counts positions."""
    at_position = deliveries.groupBy("run", "position").agg(
        F.sort_array(F.collect_list(place("process", "i", "m"))).alias("places")
    )
    first = F.element_at("places", 1)
    others = F.filter("places", lambda other: other["m"] != first["m"])
    offences = at_position.filter(F.size(others) > 0).select(
        "run",
        F.lit(1).alias("offending"),
        F.col("position").alias("rank"),
        F.lit(OTHER_MESSAGE).alias("reason"),
        first.alias("first"),
        F.element_at(others, 1).alias("second"),
    )
    return finding(offences, PREFIX_ORDER)


def total_order(deliveries: DataFrame) -> DataFrame:
    """If two processes both deliver m and m', both deliver them in the same order.

    Counts the messages that stand at different ranks, summed over the pairs of processes.
    """
    suspects = (
        deliveries.groupBy("run", "position")
        .agg(F.min("m").alias("least"), F.max("m").alias("greatest"))
        .filter(F.col("least") != F.col("greatest"))
        .select("run")
        .distinct()
    )
    firsts = deliveries.filter(F.col("copy") == 1).join(suspects, on="run", how="left_semi")
    ranked = _rank_common_messages(firsts)
    by_pair = (
        ranked.filter(F.col("p_rank") != F.col("q_rank"))
        .groupBy("run", "p", "q")
        .agg(
            F.count("*").alias("offending"),
            F.min_by(place("p", "p_i", "m"), "p_rank").alias("first"),
            F.min_by(place("q", "q_i", "m"), "q_rank").alias("second"),
        )
    )
    offences = by_pair.select(
        "run",
        "offending",
        F.struct("p", "q").alias("rank"),
        F.lit(OTHER_ORDER).alias("reason"),
        "first",
        "second",
    )
    return finding(offences, UNIFORM_TOTAL_ORDER)


def _rank_common_messages(firsts: DataFrame) -> DataFrame:
    """Rank what both of two processes p < q deliver: run, p, q, m, p_i, q_i, p_rank, q_rank."""

    def side(name: str) -> DataFrame:
        return firsts.select(
            "run",
            "m",
            F.col("process").alias(name),
            F.col("i").alias(f"{name}_i"),
            F.col("position").alias(f"{name}_position"),
        )

    pairs = side("p").join(side("q"), on=["run", "m"], how="inner").filter(F.col("p") < F.col("q"))
    for name in ("p", "q"):
        by_position = (
            Window.partitionBy("run", "p", "q")
            .orderBy(f"{name}_position")
            .rowsBetween(Window.unboundedPreceding, Window.currentRow)
        )
        pairs = pairs.withColumn(f"{name}_rank", F.row_number().over(by_position))
    return pairs.select("run", "p", "q", "m", "p_i", "q_i", "p_rank", "q_rank")
