"""Judge of the logs of one run: each property by the service machine that also judges models, the first
violation located.

All callers share this judge: the cluster for the run that it made, the pipeline for each of many runs. It
knows the trace schema and the definitions; it must not know Spark, any protocol or the origin of the logs.
The machines of `spec.services` define the promises of services and judge the logs; properties that only logs
can break (datagrams, handover, identifiers and payloads) have a function here.
"""

from antiphon.conformance.judge.history.doubts import hints
from antiphon.conformance.judge.history.finding import Finding, History, Place
from antiphon.conformance.judge.history.machines import judge_by_machines
from antiphon.conformance.judge.history.notation import history
from antiphon.conformance.judge.history.promises import PromiseError, properties_of
from antiphon.conformance.judge.history.properties import promised_words, property_names
from antiphon.conformance.judge.history.verdicts import RunFindings, judge_history, judge_run, outcome_of
from antiphon.spec.services.broadcast import RELIABLE_BROADCAST, TOTAL_ORDER
from antiphon.spec.services.causal import CAUSAL_ORDER, FIFO_ORDER

__all__ = [
    "CAUSAL_ORDER",
    "FIFO_ORDER",
    "RELIABLE_BROADCAST",
    "TOTAL_ORDER",
    "Finding",
    "History",
    "Place",
    "PromiseError",
    "RunFindings",
    "hints",
    "history",
    "judge_by_machines",
    "judge_history",
    "judge_run",
    "outcome_of",
    "promised_words",
    "properties_of",
    "property_names",
]
