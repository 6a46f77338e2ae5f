"""A report holds one verdict a run and property, the damage that was found, and one overall outcome.

Plain data, made from the small verdict table; it knows neither Spark nor files. It is what the
command line prints.
"""

from __future__ import annotations

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
            "damage": [
                {
                    "run": damage.run,
                    "process": damage.process,
                    "path": damage.path,
                    "line": damage.line,
                    "reason": damage.reason,
                }
                for damage in self.damage
            ],
        }
