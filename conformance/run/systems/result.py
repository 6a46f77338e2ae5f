"""Result of a run of another system's group: an outcome, the faults that happened, and the findings.

A violation counts, however the run went. Otherwise a run that differs from the requested one is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from antiphon.conformance.judge.history import RunFindings
from antiphon.conformance.run.systems.faults import Fault, SystemSettings
from antiphon.model.verdict import Outcome

__all__ = ["SystemRecord", "SystemResult"]


class FaultRecord(msgspec.Struct, kw_only=True):
    """Fault that happened to hosts, in seconds from the beginning."""

    kind: str
    hosts: list[int]
    at_s: float
    lasts_s: float


class SystemRecord(msgspec.Struct, kw_only=True):
    """Content of system.json: the settings and the result of a run; it lies beside the logs."""

    system: str
    version: str
    processes: int
    seed: int
    promise: list[str]
    outcome: Outcome
    violated: list[str]
    missing: list[str]
    faults: list[FaultRecord]
    delivered: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class SystemResult:
    """Result of a run.

    Attributes:
        settings: the settings.
        directory: the directory of the logs that were judged.
        version: the version of the system, in its own words.
        seconds: the duration.
        faults: the faults that happened.
        missing: why the run itself cannot be trusted; empty for a run as requested.
        judged: the findings about the logs.
        delivered: the messages that each run of a member delivered, by its name.
        tried: how many faults the first run had that broke the promise, or None where none was shortened.
    """

    settings: SystemSettings
    directory: Path
    version: str
    seconds: float
    faults: tuple[Fault, ...]
    missing: tuple[str, ...]
    judged: RunFindings
    delivered: dict[str, int] = field(default_factory=dict)
    tried: int | None = None

    @property
    def violated(self) -> tuple[str, ...]:
        """Return the names of the properties that the logs break."""
        findings = self.judged.findings
        return tuple(each.property for each in findings if self.judged.outcome(each) is Outcome.VIOLATED)

    @property
    def outcome(self) -> Outcome:
        """Return the outcome: a violation counts, however the run went."""
        outcomes = [*self.judged.outcomes.values()]
        return Outcome.worst([*outcomes, Outcome.UNKNOWN] if self.missing else outcomes)

    def record(self) -> SystemRecord:
        """Return the record of the run."""
        return SystemRecord(
            system=self.settings.system, version=self.version, processes=self.settings.processes,
            seed=self.settings.seed, promise=list(self.settings.promise), outcome=self.outcome,
            violated=list(self.violated), missing=list(self.missing),
            faults=[
                FaultRecord(
                    kind=fault.kind, hosts=list(fault.hosts), at_s=round(fault.at_s, 3),
                    lasts_s=round(fault.lasts_s, 3),
                )
                for fault in self.faults
            ],
            delivered=self.delivered, seconds=round(self.seconds, 3),
        )  # fmt: skip
