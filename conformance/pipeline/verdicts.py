"""Every run gets one verdict a property: unknown if its logs are damaged, else violated or holds.

Transforms only. This module knows neither the definition of a property nor where tables are kept.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from antiphon.conformance.history.finding import PROPERTIES
from antiphon.conformance.pipeline.broadcast import agreement, integrity, validity
from antiphon.conformance.pipeline.order import prefix_order, total_order
from antiphon.conformance.pipeline.schema import VERDICTS
from antiphon.model.verdict import Outcome


def findings_of(events: DataFrame, deliveries: DataFrame) -> DataFrame:
    """Check every property. Takes `EVENTS` and `DELIVERIES`, gives `FINDINGS`."""
    checks = (
        integrity(events, deliveries),
        agreement(events, deliveries),
        validity(events, deliveries),
        total_order(deliveries),
        prefix_order(deliveries),
    )
    return reduce(DataFrame.unionByName, checks)


def verdicts_of(events: DataFrame, damage: DataFrame, findings: DataFrame) -> DataFrame:
    """Join findings and damage to one row a run and property. Gives `VERDICTS`.

    What was found in the readable part of a damaged run is kept, though its outcome is unknown.
    """
    damaged = damage.select("run").distinct().withColumn("damaged", F.lit(True))
    runs = events.select("run").distinct().join(damaged, on="run", how="full")
    properties = F.explode(F.array(*map(F.lit, PROPERTIES))).alias("property")
    outcome = F.when(F.col("damaged"), F.lit(Outcome.UNKNOWN.value))
    outcome = outcome.when(F.col("offending") > 0, F.lit(Outcome.VIOLATED.value)).otherwise(
        F.lit(Outcome.HOLDS.value)
    )
    return (
        runs.select("run", "damaged", properties)
        .join(findings, on=["run", "property"], how="left")
        .withColumn("outcome", outcome)
        .withColumn("offending", F.coalesce("offending", F.lit(0).cast("long")))
        .select(*VERDICTS.fieldNames())
    )


def property_rank(name: str) -> Column:
    """Give the place of a property in the order of report."""
    return F.array_position(F.array(*map(F.lit, PROPERTIES)), F.col(name))
