"""A report holds one verdict a run and property, the damage that was found, and one overall outcome.

Plain data, made from the small verdict table; it knows neither Spark nor files. It is what the
command line prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.conformance.history import Finding
from antiphon.model.verdict import Outcome


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
    """What was found of one property in one run."""

    run: str
    outcome: Outcome
    finding: Finding


@dataclass(frozen=True)
class VerifyReport:
    """All verdicts, ordered by run and property; of each run's damage the first faults, and their number.

    `runs` counts runs, `events` the events that could be read, `output` is where the tables are
    kept, None if they were not.
    """

    verdicts: tuple[RunVerdict, ...]
    damage: tuple[Damage, ...]
    faults: int
    runs: int
    events: int
    output: str | None = None

    def __repr__(self) -> str:
        return f"<VerifyReport: {self.outcome.value}, {self.runs} runs, {len(self.violations)} violations>"

    @property
    def outcome(self) -> Outcome:
        """Violated if any verdict is, else unknown if any is or there is none, else holds."""
        return Outcome.worst(verdict.outcome for verdict in self.verdicts)

    @property
    def counts(self) -> Mapping[str, Counter[Outcome]]:
        """Of each property how many runs have which outcome, in the order of report."""
        counts: dict[str, Counter[Outcome]] = {}
        for verdict in self.verdicts:
            counts.setdefault(verdict.finding.property, Counter())[verdict.outcome] += 1
        return counts

    @property
    def violations(self) -> tuple[RunVerdict, ...]:
        """The verdicts that are violated."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome is Outcome.VIOLATED)

    def _repr_html_(self) -> str:
        from antiphon.conformance.report.html import logs_html  # here, because a judge draws nothing

        return logs_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the report as JSON data, schema `antiphon.verify` version 1."""
        return {
            "schema": "antiphon.verify",
            "version": 1,
            "outcome": self.outcome,
            "runs": self.runs,
            "events": self.events,
            "faults": self.faults,
            "output": self.output,
            "verdicts": [
                {"run": verdict.run, "outcome": verdict.outcome} | verdict.finding.to_json()
                for verdict in self.verdicts
            ],
            "damage": [_damage_to_json(damage) for damage in self.damage],
        }


@dataclass(frozen=True)
class LakeReport:
    """How many runs of a lake keep each property, and the first that do not; all stands in the lake's tables.

    `counts` is of each property, in the order of report; `suspects` counts the runs that one pass did not
    find healthy, `violated` the verdicts of which `verdicts` are the first, `faults` those of which `damage`
    are.
    """

    lake: str
    counts: Mapping[str, Counter[Outcome]]
    verdicts: tuple[RunVerdict, ...]
    damage: tuple[Damage, ...]
    violated: int
    faults: int
    runs: int
    suspects: int
    events: int

    def __repr__(self) -> str:
        return f"<LakeReport: {self.outcome.value}, {self.runs} runs, {self.violated} violations>"

    @property
    def outcome(self) -> Outcome:
        """Violated if any verdict is, else unknown if any is or there is none, else holds."""
        return Outcome.worst(outcome for counts in self.counts.values() for outcome in counts)

    @property
    def output(self) -> str:
        """Where the tables are."""
        return self.lake

    def to_dict(self) -> dict[str, Any]:
        """Give the report as JSON data, schema `antiphon.lake-verdicts` version 1."""
        return {
            "schema": "antiphon.lake-verdicts",
            "version": 1,
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
            "verdicts": [
                {"run": verdict.run, "outcome": verdict.outcome} | verdict.finding.to_json()
                for verdict in self.verdicts
            ],
            "damage": [_damage_to_json(damage) for damage in self.damage],
        }


def _damage_to_json(damage: Damage) -> dict[str, Any]:
    return {
        "run": damage.run,
        "process": damage.process,
        "path": damage.path,
        "line": damage.line,
        "reason": damage.reason,
    }
