"""The logs of many runs are judged on Spark, from a laptop to a cluster, by the judge that judges one.

Many runs are read in once, into a `lake`: tasks read chunks of runs with the reader of `trace` (`chunks`) and
give rows of integers (`columns`). One pass over a lake tells which runs are healthy (`scan`), the others are
judged with `history` (`verdicts`), and `judging` is the way from a lake to a report.

Logs that are judged on the spot are read by `reading`, kept in Parquet by run (`dataset`), and judged run by
run; `verification` is that way. `swarms` takes the runs of seeds where tasks run, and puts them into a lake.
Only `judging`, `lake`, `swarms`, `verification`, `dataset` and `session` touch a session or a file of the
tables.
"""

from antiphon.conformance.pipeline.errors import InputError, PipelineError
from antiphon.conformance.pipeline.lake import Ingested, ingest
from antiphon.conformance.pipeline.report import Damage, LakeReport, RunVerdict, VerifyReport
from antiphon.conformance.pipeline.swarms import Swarmed, swarm
from antiphon.conformance.pipeline.verification import verify

__all__ = [
    "Damage",
    "Ingested",
    "InputError",
    "LakeReport",
    "PipelineError",
    "RunVerdict",
    "Swarmed",
    "VerifyReport",
    "ingest",
    "swarm",
    "verify",
]
