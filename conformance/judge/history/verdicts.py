"""Verdict on a run: each property holds or is violated if the logs are whole, else most are unknown.

1. With whole logs a property is violated if an event breaks it. Else it holds if it concerns any event of the
  logs (`counting`) and the logs can decide it (`doubts`); else it is unknown.
2. Where logs merely stop early, or nothing was delivered, a final violation stays violated: no missing event
    can undo it. Everything else is unknown.
3. With any other damage everything is unknown, whatever the readable part seems to show.

This is the one judge: the cluster, `antiphon verify` and the tests call it. The machine of a service of
`spec.services` judges the service's properties; properties that only logs can break have a function here.
This module knows no property's definition and no file format.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from antiphon.conformance.judge.history.circles import UNIFORM_GLOBAL_ORDER, global_order
from antiphon.conformance.judge.history.content import (
    NO_DUPLICATION,
    deliveries_to_others,
    foreign_broadcasts,
    no_duplication,
    other_payloads,
)
from antiphon.conformance.judge.history.counting import judged_in, nothing_for
from antiphon.conformance.judge.history.datagrams import (
    CAUSALITY,
    DATAGRAM_INTEGRITY,
    causality,
    datagram_integrity,
)
from antiphon.conformance.judge.history.doubts import Doubts, hints
from antiphon.conformance.judge.history.finding import ABSENT, Finding, History, Offence, joined
from antiphon.conformance.judge.history.incarnations import Incarnations
from antiphon.conformance.judge.history.machines import judge_by_machines
from antiphon.conformance.judge.history.members import HANDOVER, NO_VIOLATION, handover, no_violation
from antiphon.conformance.judge.history.promises import properties_of
from antiphon.conformance.judge.history.properties import is_eventual, properties, property_of
from antiphon.conformance.judge.trace import (
    CUT_OFF,
    NO_DELIVERIES,
    OTHER_COUNT,
    TRUNCATED,
    Deliver,
    Problem,
    Run,
    causal_order,
)
from antiphon.conformance.judge.trace.causal import Merge
from antiphon.model.verdict import Outcome
from antiphon.spec.services.broadcast import BROADCAST_ONCE, TOTAL_ORDER, UNIFORM_INTEGRITY
from antiphon.spec.services.order import UNIFORM_TOTAL_ORDER

INCOMPLETE: Final = {TRUNCATED, CUT_OFF, NO_DELIVERIES}
"""Faults of logs that only lack their end."""


@dataclass(frozen=True)
class RunFindings:
    """Findings about one run: one for each property, the reasons against a verdict, and other promises to
    use.
    """

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    hints: tuple[str, ...] = ()

    def outcome(self, finding: Finding) -> Outcome:
        """Return the outcome of one property."""
        return outcome_of(finding, {problem.reason for problem in self.problems})

    def sentence(self, finding: Finding) -> str:
        """Return the sentence on a property: the violation, or why nothing is known; "" if it holds."""
        if self.outcome(finding) is not Outcome.UNKNOWN or finding.doubt:
            return str(finding)
        return "the logs are damaged" if self.problems else nothing_for(finding.property)

    @property
    def worst(self) -> Outcome:
        """Return the outcome of the run: the worst of all properties."""
        return Outcome.worst(self.outcomes.values())

    def __str__(self) -> str:
        """Return a line for each property."""
        lines = [
            f"{finding.property}: {self.outcome(finding).value}, {finding.judged} judged"
            + (f": {told}" if (told := self.sentence(finding)) else "")
            for finding in self.findings
        ]
        return "\n".join([self.worst.value, *lines, *map(str, self.problems), *self.hints])

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Return the outcome of each property by its name."""
        return {finding.property: self.outcome(finding) for finding in self.findings}


def outcome_of(finding: Finding, faults: Collection[str]) -> Outcome:
    """Return the outcome of a property from its finding and the faults of the logs."""
    if finding.doubt:
        return Outcome.UNKNOWN
    if is_final(finding) and all(map(_is_incomplete, faults)):
        return Outcome.VIOLATED
    if faults:
        return Outcome.UNKNOWN
    if finding.offending:
        return Outcome.VIOLATED
    return Outcome.HOLDS if finding.judged else Outcome.UNKNOWN


def is_final(finding: Finding) -> bool:
    """Return True for a violation that no missing event can undo."""
    return bool(
        finding.offending
        and not finding.doubt
        and not is_eventual(finding.property)
        and finding.reason not in ABSENT
    )


def _is_incomplete(fault: str) -> bool:
    """Return True if this fault only means that events are missing from the logs."""
    return fault in INCOMPLETE or fault.startswith(OTHER_COUNT)


_CHECKS: Final[Mapping[str, Callable[[History], Finding]]] = {
    UNIFORM_GLOBAL_ORDER.name: global_order,
    NO_DUPLICATION.name: no_duplication,
    DATAGRAM_INTEGRITY.name: datagram_integrity,
    HANDOVER.name: handover,
    NO_VIOLATION.name: no_violation,
}
"""The function that judges each property of logs that no service has: circles in the orders of all, for which
a machine would need the whole past; properties of the network, of members, of the writers of logs; and
`Causality`, which follows from the merge that machines read.
"""

ALONE: Final = {each.name for each in (DATAGRAM_INTEGRITY, HANDOVER, NO_VIOLATION, CAUSALITY)}
"""Properties of datagrams and of single logs, which `judge_properties` does not judge."""

_CONTENT: Final[Mapping[str, Callable[[History], list[Offence]]]] = {
    BROADCAST_ONCE.name: foreign_broadcasts,
    UNIFORM_INTEGRITY.name: lambda history: other_payloads(history) + deliveries_to_others(history),
}
"""Offences against a property beside those that its machine sees."""


def judge_history(history: History, promise: Collection[str] = (TOTAL_ORDER,)) -> tuple[Finding, ...]:
    """Judge every property of a promise, in the order of report.

    Properties that are judged for every promise are omitted if they concern no event of the logs.

    Args:
        history: the events of each process.
        promise: words of `promised_words()`, or one of them.

    Raises:
        PromiseError: the promise is unknown.
    """
    names = properties_of(promise)
    run = Incarnations(history)
    merge = causal_order(history)
    logs, together = (history, merge) if len(run.of) == len(history) else (run.logs, None)
    findings = {CAUSALITY.name: causality(history, merge)}
    for name in ALONE & set(names) & _CHECKS.keys():
        findings[name] = _CHECKS[name](logs if name == HANDOVER.name else history)
    asked = [name for name in names if name not in ALONE]
    findings |= {found.property: found for found in judge_properties(logs, asked, together)}
    if logs is not history:
        kept = ALONE - {HANDOVER.name}
        findings |= {name: run.as_logged(found) for name, found in findings.items() if name not in kept}
    return qualified([findings[name] for name in names], history, promise)


def qualified(findings: Iterable[Finding], history: History, promise: Collection[str]) -> tuple[Finding, ...]:
    """Return each finding with the number of judged events, its doubt, and the property that implies it."""
    found = {finding.property: finding for finding in findings}
    doubts, counts = Doubts.among(history, promise), judged_in(history, found)
    found = {
        name: replace(finding, judged=counts[name], doubt=doubts.of(finding))
        for name, finding in found.items()
        if counts[name] or finding.offending or not property_of(name).always
    }
    for name, prop in properties().items():
        if name in found and found[name].offending and not found[name].doubt:
            for other in found.keys() & set(prop.implies):
                if found[other].offending and not found[other].implied:
                    found[other] = replace(found[other], implied=name)
    order = found.get(UNIFORM_TOTAL_ORDER.name)
    if order is not None and order.offending:
        found[order.property] = replace(order, odd=odd_one_out(order, history))
    return tuple(found.values())


def odd_one_out(finding: Finding, history: History) -> str | None:
    """Return a sentence on the orders in which processes deliver the two messages of a finding, with the
    first five processes of each, the rarer order first. Return None if it has no two messages.
    """
    if finding.first is None or finding.second is None or finding.first.message == finding.second.message:
        return None
    one, other = finding.first.message, finding.second.message
    orders: dict[tuple[str, str], list[int]] = {(one, other): [], (other, one): []}
    for process, events in enumerate(history):
        places = dict.fromkeys(e.m for e in events if isinstance(e, Deliver) and e.m in (one, other))
        if len(places) == 2:
            first, last = places
            orders[first, last].append(process)
    told = [
        f"process{'es' * (len(who) > 1)} {', '.join(map(str, who[:_SHOWN]))}{', ...' * (len(who) > _SHOWN)} "
        f"deliver{'s' * (len(who) == 1)} {first} before {last}"
        for (first, last), who in sorted(orders.items(), key=lambda item: len(item[1]))
        if who
    ]
    return ", ".join(told)


_SHOWN: Final = 5


def judge_properties(
    history: History,
    names: Collection[str],
    merge: Merge | None = None,
    *,
    founded: bool | None = None,
) -> tuple[Finding, ...]:
    """Judge these properties, none of them of `ALONE`, without counting the judged events.

    Args:
        history: the events of each process.
        names: the properties.
        merge: the causal order, if it is known.
        founded: as in `judge_by_machines`.
    """
    findings = {name: _CHECKS[name](history) for name in names if name in _CHECKS}
    asked = [name for name in names if name not in findings]
    for found in judge_by_machines(history, asked, merge, founded=founded):
        beside = _CONTENT[found.property](history) if found.property in _CONTENT else []
        findings[found.property] = joined(found, beside)
    return tuple(findings[name] for name in names)


def judge_run(run: Run, promise: Collection[str] = (TOTAL_ORDER,)) -> RunFindings:
    """Judge the logs of one run by its system's promise.

    Args:
        run: the logs, as `load_run` reads them.
        promise: words of `promised_words()`, or one of them.

    Raises:
        PromiseError: the promise is unknown.
    """
    kinds = {type(event) for log in run.events for event in log}
    return RunFindings(judge_history(run.events, promise), run.problems, tuple(hints(kinds, promise)))
