"""The verdict on a run: each property holds or is violated if the logs are whole, else little is known.

1. With whole logs a property is violated if anything offends it, else it holds.
2. Where logs merely stop early, or nothing was delivered, what is broken for ever stays violated: no event
   that is missing can mend it. Everything else is unknown.
3. With any other damage everything is unknown, whatever the readable part seems to show.

This is the one judge: the cluster, `antiphon verify` and the tests call it. What a service of `spec.services`
promises its machine judges, whatever was promised; what only logs can break has a function here. This module
knows no property's definition and no file format.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from antiphon.conformance.history.circles import global_order
from antiphon.conformance.history.content import foreign_broadcasts, other_payloads
from antiphon.conformance.history.datagrams import causality, datagram_integrity
from antiphon.conformance.history.finding import (
    ABSENT,
    BROADCAST_ONCE,
    CAUSALITY,
    DATAGRAM_INTEGRITY,
    HANDOVER,
    LIVENESS,
    NO_VIOLATION,
    UNIFORM_GLOBAL_ORDER,
    UNIFORM_INTEGRITY,
    Finding,
    History,
    Offence,
    joined,
)
from antiphon.conformance.history.machines import judge_by_machines
from antiphon.conformance.history.members import handover, no_violation
from antiphon.conformance.history.promises import TOTAL_ORDER, properties_of
from antiphon.conformance.trace import (
    CUT_OFF,
    NO_DELIVERIES,
    TRUNCATED,
    Problem,
    Run,
    causal_order,
)
from antiphon.conformance.trace.causal import Merge
from antiphon.model.verdict import Outcome

INCOMPLETE: Final = {TRUNCATED, CUT_OFF, NO_DELIVERIES}
"""The faults of logs to which only their end is missing."""


@dataclass(frozen=True)
class RunFindings:
    """What is known of one run: one finding a property, and what forbids a verdict."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()

    def outcome(self, finding: Finding) -> Outcome:
        """Tell the outcome of one property."""
        return outcome_of(finding, {problem.reason for problem in self.problems})

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of each property by its name."""
        return {finding.property: self.outcome(finding) for finding in self.findings}


def outcome_of(finding: Finding, faults: Collection[str]) -> Outcome:
    """Tell the outcome of a property from what was found of it, and the reasons of the faults of the logs."""
    if is_final(finding) and INCOMPLETE.issuperset(faults):
        return Outcome.VIOLATED
    if faults:
        return Outcome.UNKNOWN
    return Outcome.VIOLATED if finding.offending else Outcome.HOLDS


def is_final(finding: Finding) -> bool:
    """Whether something is broken, and no event that is missing can mend it."""
    return bool(finding.offending and finding.property not in LIVENESS and finding.reason not in ABSENT)


_CHECKS: Final[Mapping[str, Callable[[History], Finding]]] = {
    UNIFORM_GLOBAL_ORDER: global_order,
    DATAGRAM_INTEGRITY: datagram_integrity,
    HANDOVER: handover,
    NO_VIOLATION: no_violation,
}
"""What judges each property of logs that no service has: circles in the orders of all, which a machine would
need the whole past for; of the network, of members, of who writes logs; and
`Causality`, which follows from the merge that machines read.
"""

ALONE: Final = {DATAGRAM_INTEGRITY, HANDOVER, NO_VIOLATION, CAUSALITY}
"""What is judged of datagrams and of single logs: `judge_properties` is not asked for it."""

_CONTENT: Final[Mapping[str, Callable[[History], list[Offence]]]] = {
    BROADCAST_ONCE: foreign_broadcasts,
    UNIFORM_INTEGRITY: other_payloads,
}
"""What offends a property beside what its machine sees."""


def judge_history(history: History, promise: Collection[str] = (TOTAL_ORDER,)) -> tuple[Finding, ...]:
    """Check every property that a promise stands for, in the order of report.

    Raises:
        PromiseError: nobody promises this.
    """
    names = properties_of(promise)
    merge = causal_order(history)
    findings = {CAUSALITY: causality(history, merge)}
    findings |= {name: _CHECKS[name](history) for name in ALONE & set(names) & _CHECKS.keys()}
    asked = [name for name in names if name not in ALONE]
    findings |= {found.property: found for found in judge_properties(history, asked, merge)}
    return tuple(findings[name] for name in names)


def judge_properties(
    history: History, names: Collection[str], merge: Merge | None = None
) -> tuple[Finding, ...]:
    """Check these properties, none of them of `ALONE`; `merge` is the causal order, if it is known."""
    findings = {name: _CHECKS[name](history) for name in names if name in _CHECKS}
    for found in judge_by_machines(history, [name for name in names if name not in findings], merge):
        beside = _CONTENT[found.property](history) if found.property in _CONTENT else []
        findings[found.property] = joined(found, beside)
    return tuple(findings[name] for name in names)


def judge_run(run: Run, promise: Collection[str] = (TOTAL_ORDER,)) -> RunFindings:
    """Judge the logs of one run by what its system promises.

    Raises:
        PromiseError: nobody promises this.
    """
    return RunFindings(judge_history(run.events, promise), run.problems)
