"""Report on logs: counts of verdicts, the first violations and the first faults, and one outcome.

Plain data, made from the small verdict table; it knows neither Spark nor files. The command line prints it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from antiphon.conformance.judge.history import Finding, properties_of
from antiphon.model.verdict import Outcome

SHOWN_MAX: Final = 20
"""Largest number of violations and faults in a report."""


@dataclass(frozen=True)
class Damage:
    """Fault in the logs of a run; `line` counts from 1, and 0 is the whole file or run."""

    run: str
    process: int | None
    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        """Return the fault in the form of compilers: file, line, reason."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.reason}"


@dataclass(frozen=True)
class RunVerdict:
    """Verdict on one property in one run."""

    run: str
    outcome: Outcome
    finding: Finding


@dataclass(frozen=True)
class VerifyReport:
    """Report on many runs: the number of runs that keep each property, and the first that do not.

    `counts` has the outcomes of each property, in the order of report. `suspects` counts the runs that were
    judged one by one: all without Spark, on Spark those that one pass did not find healthy. `violated`
    counts the violations of which `verdicts` are the first, `faults` those of which `damage` are the first.
    `judged` has, for each property, the number of events that it concerns in all runs (`history.counting`),
    `unknown` the reason in the first run that leaves it unknown, `hints` other promises to use.
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
    """Lake with all tables; None if the logs were judged without a permanent one."""
    judged: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    hints: tuple[str, ...] = ()
    stopped: str = ""
    """The bound that ended the judging before the last run, or ""."""

    @classmethod
    def of_nothing(cls, promise: Collection[str], reason: str) -> VerifyReport:
        """Return the report on logs that are not there: each property is unknown, for this reason."""
        names = properties_of(promise)
        counts = {name: Counter({Outcome.UNKNOWN: 1}) for name in names}
        return cls(counts, (), (), 0, 0, 0, 0, 0, unknown=dict.fromkeys(names, reason))

    def __repr__(self) -> str:
        return f"<VerifyReport: {self.outcome.value}, {self.runs} runs, {self.violated} violations>"

    @property
    def outcome(self) -> Outcome:
        """Return violated if any verdict is, else unknown if any is or there is none, else holds."""
        return Outcome.worst(outcome for counts in self.counts.values() for outcome in counts)

    def _repr_html_(self) -> str:
        from antiphon.conformance.report.html import logs_html  # here, because a judge draws nothing

        return logs_html(self)

    def __str__(self) -> str:
        """Return a line for each property."""
        from antiphon.conformance.report.words import in_logs  # here, because a judge draws nothing

        title = f"{self.outcome.value}: {self.runs} runs, {self.events} events"
        lines = [
            f"{name}: {_told(counts)}{': ' * bool(found)}{found}" for name, counts, found in in_logs(self)
        ]
        return "\n".join([title, *lines, *map(str, self.damage), *self.hints])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data, schema `antiphon.verify` version 2."""
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
