"""The logs of many runs are judged on Spark, from a laptop to a cluster, by the judge that judges one.

Tasks read logs with the readers of `trace` (`reading`), the tables stand in Parquet, partitioned by run
(`dataset`), tasks judge run after run with `history` (`verdicts`), and `verification` is the whole way. Only
`verification`, `dataset` and `session` touch a session or a file of the tables.
"""

from antiphon.conformance.pipeline.errors import InputError, PipelineError
from antiphon.conformance.pipeline.report import Damage, RunVerdict, VerifyReport
from antiphon.conformance.pipeline.verification import verify

__all__ = ["Damage", "InputError", "PipelineError", "RunVerdict", "VerifyReport", "verify"]
