"""The logs of many runs are judged on Spark: the same checks as `history`, from a laptop to a cluster.

Logs become Parquet partitioned by run (`ingest`, `dataset`), the properties are functions from
DataFrame to DataFrame (`broadcast`, `order`, `verdicts`), and `verify` is the whole way. Only
`verify`, `dataset` and `session` touch a session or a file. Nothing here calls `history`'s checks:
the two are compared by tests.
"""

from antiphon.conformance.pipeline.errors import InputError, PipelineError
from antiphon.conformance.pipeline.report import Damage, RunVerdict, VerifyReport
from antiphon.conformance.pipeline.verification import verify

__all__ = ["Damage", "InputError", "PipelineError", "RunVerdict", "VerifyReport", "verify"]
