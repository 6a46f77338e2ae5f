"""Pipeline: the logs of many runs are judged on Spark, by the judge of one run.

Runs are found (`runs`, `remote`) and read once, into a `lake`: tasks read chunks of them with the reader of
`trace` (`chunks`), give rows of integers (`columns`) and compute facts of whole logs (`facts`); the rows come
into buckets (`buckets`). One pass over a lake tells which runs are healthy (`scan`), the others are judged
with `history` (`verdicts`), and `judging` makes a report of a lake. Logs that are judged at once are read
into a temporary lake (`verification`). `swarms` takes the runs of seeds where tasks run, and puts them into a
lake. `watching` follows logs that still grow (`growing`).

A module is loaded when a name of it is used: workers of Spark need few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antiphon.conformance.on_demand import on_demand

if TYPE_CHECKING:
    from antiphon.conformance.spark.pipeline.errors import InputError, PipelineError
    from antiphon.conformance.spark.pipeline.lake import Ingested, ingest
    from antiphon.conformance.spark.pipeline.report import Damage, RunVerdict, VerifyReport
    from antiphon.conformance.spark.pipeline.swarms import Swarmed, swarm
    from antiphon.conformance.spark.pipeline.verification import verify
    from antiphon.conformance.spark.pipeline.watching import GOES_ON, Standing, Watched, watch

__all__ = [
    "GOES_ON",
    "Damage",
    "Ingested",
    "InputError",
    "PipelineError",
    "RunVerdict",
    "Standing",
    "Swarmed",
    "VerifyReport",
    "Watched",
    "ingest",
    "swarm",
    "verify",
    "watch",
]

_MODULES = {
    "errors": ("InputError", "PipelineError"),
    "lake": ("Ingested", "ingest"),
    "report": ("Damage", "RunVerdict", "VerifyReport"),
    "swarms": ("Swarmed", "swarm"),
    "verification": ("verify",),
    "watching": ("GOES_ON", "Standing", "Watched", "watch"),
}

__getattr__ = on_demand(__name__, _MODULES)
