"""A sweep on Spark gives what one process gives, into however many tasks it is cut."""

from __future__ import annotations

from pyspark.sql import SparkSession

from antiphon.conformance.run.performance import PROTOCOLS, Setting
from antiphon.conformance.run.performance.on_spark import sweep_on
from antiphon.conformance.run.performance.sweep import sweep


def test_runs_do_not_depend_on_where_they_are_taken(spark: SparkSession) -> None:
    points = [
        Setting(protocol=protocol, members=members, messages=40)
        for protocol in PROTOCOLS
        for members in (2, 5)
    ]
    here = sweep(points, (1, 2))
    assert sweep_on(spark, points, (1, 2), parts=1) == here
    assert sweep_on(spark, points, (1, 2), parts=5) == here
