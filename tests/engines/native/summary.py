"""Results on which two engines must agree."""

from __future__ import annotations

from typing import Any

from antiphon.model.verdict import Report


def summary(report: Report) -> tuple[Any, ...]:
    """Results on which two engines must agree if both explored all states."""
    verdicts = {
        item.property: (item.kind, item.outcome, None if item.trace is None else len(item.trace))
        for item in report.verdicts
    }
    seen = report.exploration
    return verdicts, seen.states, seen.transitions, seen.depth, seen.complete, seen.fired, seen.never_fired
