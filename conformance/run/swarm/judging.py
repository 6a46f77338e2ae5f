"""Judge of a run by its protocol's promise: by a quick check of the deliveries, else by the judge of logs.

Most runs end with the same deliveries everywhere, each message once, whole and under a growing number, those
of one member in its order: then no property of a total order is broken, and no log is needed. Any other run
is repeated with a log, which changes nothing in it, and the log is judged as every log is
(`antiphon.conformance.judge.history`). The members' memory, which logs do not show, is checked directly. In a
run that was given up, missing deliveries are unknown. So is a drawn run of one message, which has no order; a
shortened schedule is judged all the same.

This module knows no protocol and no fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from antiphon.conformance.judge.history import FIFO_ORDER, TOTAL_ORDER, RunFindings, judge_history
from antiphon.conformance.judge.trace import TRUNCATED, Problem, log_name
from antiphon.conformance.run.swarm.log import Log
from antiphon.conformance.run.swarm.running import KEPT_MAX, Ending
from antiphon.conformance.run.swarm.schedule import Schedule
from antiphon.impl.errors import Rejection
from antiphon.impl.protocols.core import Delivery
from antiphon.model.verdict import Outcome
from antiphon.spec.services.causal import FIFO

__all__ = ["PROMISE", "judge", "shows_order", "symptoms"]

_USUAL = {Rejection.REPLAYED, Rejection.FOREIGN_INCARNATION}
"""Usual refusals of a sealed member: repeated datagrams, and those sent before the sender knew it."""

PROMISE = (TOTAL_ORDER, FIFO_ORDER)
"""Promise by which a run is judged, with FIFO order where a member broadcasts twice. Every group promises
causal order too, which deliveries alone do not show.
"""

Wanted = dict[tuple[int, int], bytes]


def symptoms(ending: Ending) -> tuple[str, ...]:
    """Return the symptoms at the end of a run, in a few words each, the worst first; none, if all promises of
    a total order are kept.

    The words are rough: two runs fail alike if the worst is the same. An error's symptom has its type and
    place.
    """
    logs, wanted = ending.network.deliveries, ending.schedule.payloads()
    shown = {
        f"raises {ending.failed.partition(': ')[0]}": bool(ending.failed),
        "violation": any(endpoint.violations for endpoint in ending.network.endpoints),
        "refusal": bool(_refusals(ending)),
        "integrity": not _whole(logs[0], wanted),
        "order": False,
        "numbers": not _grows(logs[0]),
        "fifo": not _keeps_sources(logs[0]),
        "liveness": len(logs[0]) < len(wanted),
        "holders": bool(ending.early),
        "memory": bool(_hoards(ending)),
        "capped": ending.capped,
    }
    for log in logs[1:]:
        if log != logs[0]:
            shown["integrity"] |= not _whole(log, wanted)
            shown["order"] |= any(a[:2] != b[:2] for a, b in zip(log, logs[0], strict=False))
            shown["numbers"] |= not _grows(log) or any(a != b for a, b in zip(log, logs[0], strict=False))
            shown["fifo"] |= not _keeps_sources(log)
            shown["liveness"] |= len(log) < len(wanted)
    return tuple(word for word, is_shown in shown.items() if is_shown)


def _whole(log: Sequence[Delivery], wanted: Wanted) -> bool:
    """Return True if each delivery is of a broadcast message with its payload, and no message is delivered
    twice.
    """
    named = {delivery[:2]: delivery[3] for delivery in log}
    return len(named) == len(log) and named.items() <= wanted.items()


def _grows(log: Sequence[Delivery]) -> bool:
    return all(before[2] < after[2] for before, after in pairwise(log))


def _keeps_sources(log: Sequence[Delivery]) -> bool:
    """Return True if each member's messages come in the order in which it broadcast them."""
    last: dict[int, int] = {}
    for source, name, _, _ in log:
        if name < last.get(source, 0):
            return False
        last[source] = name
    return True


def judge(ending: Ending, log: Log, *, drawn: bool = True) -> tuple[Outcome, RunFindings, tuple[str, ...]]:
    """Return the outcome of a run that was taken with a log, the judge's findings, and the reasons in words.

    Args:
        ending: the final state of the run.
        log: its log.
        drawn: True for a run drawn by a seed, which must show an order of messages.
    """
    complete = not (ending.capped or ending.failed)
    early = () if complete else (Problem(Path(log_name(0)), 0, TRUNCATED),)
    judged = RunFindings(judge_history(log.events, PROMISE), early)
    violated = [
        f"{finding.property}: {finding}"
        for finding in judged.findings
        if judged.outcome(finding) is Outcome.VIOLATED
    ]
    reasons = [
        *([ending.failed] if ending.failed else []),
        *violated,
        *_refusals(ending),
        *ending.early,
        *_hoards(ending),
    ]
    if reasons:
        return Outcome.VIOLATED, judged, tuple(reasons)
    if ending.capped:
        return Outcome.UNKNOWN, judged, (f"given up after {ending.network.steps:,} steps",)
    unjudged = [
        f"{finding.property}: {judged.sentence(finding)}"
        for finding in judged.findings
        if drawn and judged.outcome(finding) is Outcome.UNKNOWN and finding.property != FIFO.name
    ]
    return (Outcome.UNKNOWN if unjudged else Outcome.HOLDS), judged, tuple(unjudged)


def shows_order(schedule: Schedule) -> bool:
    """Return True if the messages of a schedule have an order that members could see differently."""
    return len(schedule.broadcasts) > 1


def _hoards(ending: Ending) -> list[str]:
    """Return sentences on the members that store delivered messages which their protocol should have
    forgotten.
    """
    most = KEPT_MAX * ending.schedule.members
    return [
        f"process {process} keeps {kept} payloads at rest: more than {KEPT_MAX} for each member"
        for process, kept in enumerate(ending.kept)
        if kept > most
    ]


def _refusals(ending: Ending) -> list[str]:
    """Return sentences on the datagrams of members that another member refused, although the network changes
    no byte.
    """
    return [
        f"process {process} refuses {count} datagrams of members: {kind}"
        for process, endpoint in enumerate(ending.network.endpoints)
        for kind, count in sorted(endpoint.admission.dropped.items())
        if kind not in _USUAL
    ]
