"""A run is judged only if its logs are whole; then each property holds or is violated.

A run with a damaged or missing log, or without a single delivery, gets the verdict unknown for
every property, whatever its readable part seems to show. This module knows no property's
definition and no file format.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from antiphon.conformance.history.broadcast import agreement, integrity, validity
from antiphon.conformance.history.finding import Finding, History
from antiphon.conformance.history.order import prefix_order, total_order
from antiphon.conformance.trace import NO_DELIVERIES, Deliver, Problem, Run

Outcome = Literal["holds", "violated", "unknown"]


@dataclass(frozen=True)
class Judgement:
    """What is known of one run: one finding a property, and what forbids a verdict."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()

    def outcome(self, finding: Finding) -> Outcome:
        """Tell the outcome of one property."""
        if self.problems:
            return "unknown"
        return "violated" if finding.offending else "holds"


def judge_history(history: History) -> tuple[Finding, ...]:
    """Check every property, in the order of `PROPERTIES`."""
    return (
        integrity(history),
        agreement(history),
        validity(history),
        total_order(history),
        prefix_order(history),
    )


def judge_run(run: Run) -> Judgement:
    """Judge the logs of one run.

    Causality between the logs is not looked at: no property here depends on it.
    """
    problems = [*run.faults, *(problem for log in run.logs for problem in log.problems)]
    if not any(isinstance(event, Deliver) for events in run.events for event in events):
        problems.append(Problem(run.directory, 0, NO_DELIVERIES))
    return Judgement(judge_history(run.events), tuple(problems))


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Sum up: violated if anything is, else unknown if anything is or there is nothing, else holds."""
    seen = set(outcomes)
    if "violated" in seen:
        return "violated"
    return "unknown" if "unknown" in seen or not seen else "holds"
