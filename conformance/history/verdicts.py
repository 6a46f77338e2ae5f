"""The verdict on a run: each property holds or is violated if the logs are whole, else nothing is known.

A run with a damaged or missing log, or without a single delivery, gets the verdict unknown for
every property, whatever its readable part seems to show. This module knows no property's
definition and no file format.
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphon.conformance.history.broadcast import agreement, integrity, validity
from antiphon.conformance.history.finding import Finding, History
from antiphon.conformance.history.order import prefix_order, total_order
from antiphon.conformance.trace import Problem, Run
from antiphon.model.verdict import Outcome


@dataclass(frozen=True)
class RunFindings:
    """What is known of one run: one finding a property, and what forbids a verdict."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()

    def outcome(self, finding: Finding) -> Outcome:
        """Tell the outcome of one property."""
        if self.problems:
            return Outcome.UNKNOWN
        return Outcome.VIOLATED if finding.offending else Outcome.HOLDS


def judge_history(history: History) -> tuple[Finding, ...]:
    """Check every property, in the order of `PROPERTIES`."""
    return (
        integrity(history),
        agreement(history),
        validity(history),
        total_order(history),
        prefix_order(history),
    )


def judge_run(run: Run) -> RunFindings:
    """Judge the logs of one run.

    Causality between the logs is not looked at: no property here depends on it.
    """
    problems = [*run.faults, *(problem for log in run.logs for problem in log.problems)]
    return RunFindings(judge_history(run.events), tuple(problems))
