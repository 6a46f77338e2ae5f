"""The logs of one run are judged in plain Python: one pass a property, the first offence located.

These functions are the reference that the Spark pipeline is tested against, and what a program
uses that holds one run in memory. They know the trace schema and the definitions; they must not
know Spark, any protocol or where the logs came from.
"""

from antiphon.conformance.history.broadcast import agreement, integrity, validity
from antiphon.conformance.history.finding import (
    PREFIX_ORDER,
    PROPERTIES,
    UNIFORM_AGREEMENT,
    UNIFORM_INTEGRITY,
    UNIFORM_TOTAL_ORDER,
    VALIDITY,
    Finding,
    History,
    Place,
)
from antiphon.conformance.history.notation import history
from antiphon.conformance.history.order import prefix_order, total_order
from antiphon.conformance.history.verdicts import RunFindings, judge_history, judge_run

__all__ = [
    "PREFIX_ORDER",
    "PROPERTIES",
    "UNIFORM_AGREEMENT",
    "UNIFORM_INTEGRITY",
    "UNIFORM_TOTAL_ORDER",
    "VALIDITY",
    "Finding",
    "History",
    "Place",
    "RunFindings",
    "agreement",
    "history",
    "integrity",
    "judge_history",
    "judge_run",
    "prefix_order",
    "total_order",
    "validity",
]
