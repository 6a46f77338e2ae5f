"""A report counts verdicts, shows the first violations and the first damage, and has one outcome.

Plain data, made from the small verdict table; it knows neither Spark nor files. It is what the
command line prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from antiphon.conformance.judge.history import Finding
from antiphon.model.verdict import Outcome

SHOWN_MAX: Final = 20
"""Largest number of violations and faults in a report."""


@dataclass(frozen=True)
class Damage:
    """One fault in the logs of a run; `line` counts from 1, and 0 speaks of the whole file or run."""

    run: str
    process: int | None
    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        """Say it as compilers do: file, line, reason."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.reason}"


@dataclass(frozen=True)
class RunVerdict:
    """The finding about one property in one run."""

    run: str
    outcome: Outcome
    finding: Finding


@dataclass(frozen=True)
class VerifyReport:
    """The number of runs that keep each property, and the first that do not.

    `counts` is of each property, in the order of report; `suspects` counts the runs that were judged one by
    one: in one process all, on Spark those that one pass did not find healthy. `violated` counts the verdicts
    of which `verdicts` are the first, `faults` those of which `damage` are. `judged` says of each property
    how much in all runs it was about (`history.counting`), `unknown` why nothing is known of it in the first
    run of which that is so, `hints` what else to ask.
    """

    counts: Mapping[str, Counter[Outcome]]
    verdicts: tuple[RunVerdict, ...]
    damage: tuple[Damage, ...]
    violated: int
    faults: int
    runs: int
    suspects: int
    events: int
    lake: str | None = None
    """The lake whose tables have everything; None if the logs were judged without one that is kept."""
    judged: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    hints: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<VerifyReport: {self.outcome.value}, {self.runs} runs, {self.violated} violations>"

    @property
    def outcome(self) -> Outcome:
        """Violated if any verdict is, else unknown if any is or there is none, else holds."""
        return Outcome.worst(outcome for counts in self.counts.values() for outcome in counts)

    def _repr_html_(self) -> str:
        from antiphon.conformance.report.html import logs_html  # here, because a judge draws nothing

        return logs_html(self)

    def __str__(self) -> str:
        """Say what is known of each property, a line each."""
        from antiphon.conformance.report.words import in_logs  # here, because a judge draws nothing

        title = f"{self.outcome.value}: {self.runs} runs, {self.events} events"
        lines = [
            f"{name}: {_told(counts)}{': ' * bool(found)}{found}" for name, counts, found in in_logs(self)
        ]
        return "\n".join([title, *lines, *map(str, self.damage), *self.hints])

    def to_dict(self) -> dict[str, Any]:
        """Give the report as JSON data, schema `antiphon.verify` version 2."""
        return {
            "schema": "antiphon.verify",
            "version": 2,
            "lake": self.lake,
            "outcome": self.outcome,
            "runs": self.runs,
            "suspects": self.suspects,
            "events": self.events,
            "faults": self.faults,
            "violated": self.violated,
            "counts": {
                name: {outcome.value: count for outcome, count in sorted(counts.items())}
                for name, counts in self.counts.items()
            },
            "judged": dict(self.judged),
            "unknown": dict(self.unknown),
            "hints": list(self.hints),
            "verdicts": [
                {"run": verdict.run, "outcome": verdict.outcome} | verdict.finding.to_json()
                for verdict in self.verdicts
            ],
            "damage": [_damage_to_json(damage) for damage in self.damage],
        }


def _told(counts: Mapping[Outcome, int]) -> str:
    return ", ".join(f"{outcome.value} {counts[outcome]}" for outcome in Outcome if counts.get(outcome))


def _damage_to_json(damage: Damage) -> dict[str, Any]:
    return {
        "run": damage.run,
        "process": damage.process,
        "path": damage.path,
        "line": damage.line,
        "reason": damage.reason,
    }
