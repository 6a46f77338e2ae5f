"""Result of a cluster run: one outcome, every reason for it, and the relay's counts.

The order of precedence: a violation counts, however the run ended; otherwise an incomplete run, or one that
differs from the requested run, is unknown; else it holds. This module judges nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from antiphon.conformance.judge.history import CAUSAL_ORDER, TOTAL_ORDER, RunFindings
from antiphon.conformance.run.cluster.changing.judging import NUMBERED
from antiphon.conformance.run.cluster.faults import Counts
from antiphon.conformance.run.cluster.settings import ClusterSettings
from antiphon.model.verdict import Outcome

PROMISE = (TOTAL_ORDER, CAUSAL_ORDER)
"""Promise of every group, whatever its protocol: one order, in which a message comes after the messages that
its member had broadcast or delivered before.
"""


class Record(msgspec.Struct, kw_only=True):
    """The record of a run in `cluster.json`; the fields are those of `ClusterResult`, and the last four are
    there where the members change.
    """

    schema: Literal["antiphon.cluster"] = "antiphon.cluster"
    version: Literal[1] = 1
    run: str
    settings: ClusterSettings
    outcome: Outcome
    reasons: tuple[str, ...]
    judgements: list[dict[str, Any]]
    delivered: tuple[int, ...]
    relay: Counts
    links: dict[str, Counts]
    stops: tuple[int, ...]
    seconds: float
    happened: dict[str, int] | msgspec.UnsetType = msgspec.UNSET
    deeds: tuple[tuple[float, str], ...] | msgspec.UnsetType = msgspec.UNSET
    acknowledged: int | msgspec.UnsetType = msgspec.UNSET
    views: int | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True)
class ClusterResult:
    """Result of one run. `delivered[p]` counts the messages that process p delivered.

    `links["p:q"]` has the relay's counts from p to q, `counts` their sum; `stops[p]` is the number of stops
    of process p. `faults` has the reasons, each with its cause, why the run itself cannot be trusted; it is
    empty for a run as requested.

    For a group whose members change, `lost` has the violations beyond the judge's findings, `happened` the
    number of faults by kind, `deeds` their times in seconds from the beginning. `acknowledged` counts the
    messages that their senders have seen delivered, `views` the views.
    """

    settings: ClusterSettings
    directory: Path
    run: str
    seconds: float
    delivered: tuple[int, ...]
    links: dict[str, Counts]
    stops: tuple[int, ...]
    faults: tuple[str, ...]
    judged: RunFindings
    lost: tuple[str, ...] = ()
    happened: dict[str, int] = field(default_factory=dict)
    deeds: tuple[tuple[float, str], ...] = ()
    acknowledged: int = 0
    views: int = 0

    def __repr__(self) -> str:
        settings = self.settings
        return f"<ClusterResult of {settings.protocol}: {self.outcome.value}, seed {settings.seed}>"

    def __str__(self) -> str:
        """Return the outcome, every reason for it, and the place of the logs."""
        return "\n".join([repr(self)[1:-1], *self.reasons, f"logs: {self.directory}"])

    @property
    def judged_logs(self) -> Path:
        """Return the directory of the logs that were judged, whose processes have numbers."""
        return self.directory / NUMBERED if self.settings.join else self.directory

    @property
    def counts(self) -> Counts:
        """Return the counts of all links of the relay together."""
        return sum(self.links.values(), Counts())

    @property
    def outcome(self) -> Outcome:
        """Return the outcome of the whole run."""
        outcomes = [*self.judged.outcomes.values(), *([Outcome.VIOLATED] if self.lost else [])]
        return Outcome.worst([*outcomes, Outcome.UNKNOWN] if self.faults else outcomes)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reasons of the outcome, the most important first; none when everything holds."""
        violated = (
            f"{finding.property}: {finding}"
            for finding in self.judged.findings
            if self.judged.outcome(finding) is Outcome.VIOLATED
        )
        unjudged = (
            f"{finding.property}: {self.judged.sentence(finding)}"
            for finding in self.judged.findings
            if self.judged.outcome(finding) is Outcome.UNKNOWN and not self.judged.problems
        )
        return (*violated, *self.lost, *self.faults, *unjudged)

    def record(self) -> bytes:
        """Return the record that is stored beside the logs, as one JSON object."""
        changing: dict[str, Any] = {
            "happened": self.happened,
            "deeds": self.deeds,
            "acknowledged": self.acknowledged,
            "views": self.views,
        }
        record = Record(
            run=self.run,
            settings=self.settings,
            outcome=self.outcome,
            reasons=self.reasons,
            judgements=[
                {"outcome": self.judged.outcome(finding)} | finding.to_json()
                for finding in self.judged.findings
            ],
            delivered=self.delivered,
            relay=self.counts,
            links=self.links,
            stops=self.stops,
            seconds=round(self.seconds, 3),
            **(changing if self.settings.join else {}),
        )
        return msgspec.json.format(msgspec.json.encode(record), indent=2)


def missing_faults(
    settings: ClusterSettings, counts: Counts, stops: tuple[int, ...] = ()
) -> tuple[str, ...]:
    """Return a sentence on each requested fault that never happened: the run shows less than it claims."""
    rates = settings.faults
    asked = (
        ("dropped", rates.loss, counts.dropped),
        ("duplicated", rates.duplication, counts.duplicated),
        ("reordered", rates.reordering, counts.reordered),
    )
    never_stopped = [process for process, count in enumerate(stops) if not count]
    told = f"processes {', '.join(map(str, never_stopped))} were never stopped: the run was too short"
    return (told,) * bool(settings.stop_s and never_stopped) + tuple(
        f"none of {counts.offered} datagrams was {name} although the probability is {probability}; none is "
        "not a pass"
        for name, probability, happened in asked
        if probability > 0 and happened == 0
    )
