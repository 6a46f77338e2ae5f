"""Judge of a run of a changing group: its promises, and whether the run shows anything.

1. The logs of all members are judged as `antiphon verify` judges those of real ones: view synchrony, the
   order of each source, and one order of all messages where the protocol has one.
2. No member raises an error or sends an impossible message; numbers have no gaps. Lists do not change
  endlessly. A member that leaves has delivered all its broadcasts.
3. After the faults all running members come into one view, and deliver each one's broadcasts, unless the last
  view has lost its majority.
4. A run shows nothing, and is unknown, if a requested fault could not happen, if nothing was
   delivered, or if processes were to come and go and the view never changed.

This module knows no protocol and no fault.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from antiphon.conformance.judge.history import FIFO_ORDER, TOTAL_ORDER, RunFindings, judge_history
from antiphon.conformance.judge.trace import TRUNCATED, Problem, log_name
from antiphon.conformance.run.swarm.changing.log import Log, history_of
from antiphon.conformance.run.swarm.changing.running import Ending
from antiphon.conformance.run.swarm.schedule import Crash, Leave, Once, Restart, Start
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.impl.errors import Rejection
from antiphon.impl.membership.member import Left
from antiphon.impl.transport.simulated_members import Life, SimulatedMembers
from antiphon.model.verdict import Outcome
from antiphon.spec.services.views import VIEW_SYNCHRONY

__all__ = ["gaps", "judge", "judged", "met", "shows", "symptoms"]

CHANGES_MIN, CHANGES_MAX = 10, 1
"""Largest number of changes of a list, and of changes in each heartbeat: more is a storm of changes, in which
nothing is delivered.
"""

_USUAL = {Rejection.FOREIGN_INCARNATION}
"""Usual refusals of a member: the news that an earlier run at its address is no member."""


def judged(group: SimulatedMembers, *, owed: bool = True, whole: bool = True) -> RunFindings:
    """Return the findings of the judge of logs about the members of a group so far.

    Args:
        group: the members.
        owed: True if running members must have all messages by now.
        whole: True if the run went to its end.
    """
    order = (TOTAL_ORDER, FIFO_ORDER) if group.protocol.ordered else (FIFO_ORDER,)
    history = history_of(group, owed=owed, whole=whole)
    early = () if whole else (Problem(Path(log_name(0)), 0, TRUNCATED),)
    return RunFindings(judge_history(history, (VIEW_SYNCHRONY, *order)), early)


def symptoms(ending: Ending) -> tuple[str, ...]:
    """Return the symptoms at the end of a changing group's run, in a few words each, the worst first.

    The words are rough: two runs fail alike if the worst is the same.
    """
    lives = ending.network.all_lives
    shown = {
        f"raises {ending.failed.partition(': ')[0]}": bool(ending.failed),
        "violation": any(life.violations_seen for life in lives),
        "refusal": any(map(_refused, lives)),
        **dict.fromkeys(_violated(ending), True),
        "numbers": any(map(gaps, lives)),
        "leaving": any(map(_owes, lives)),
        "storm": any(_storms(life, ending) for life in lives),
        "liveness": _stands_still(ending),
        "capped": ending.capped,
    }
    return tuple(word for word, is_shown in shown.items() if is_shown)


def judge(ending: Ending, log: Log, *, drawn: bool = True) -> tuple[Outcome, RunFindings, tuple[str, ...]]:
    """Return the outcome of a run, the findings of the judge of logs, and the reasons in words.

    Args:
        ending: the final state of the run.
        log: receives the logs of the members.
        drawn: True for a run drawn by a seed; else every cut has to lose a datagram, and every delay has to
            be
            waited for.
    """
    found = _judged(ending)
    log.events = history_of(ending.network, owed=ending.settled, whole=_whole(ending))
    reasons = [
        *([ending.failed] if ending.failed else []),
        *(f"{each.property}: {each}" for each in found.findings if found.outcome(each) is Outcome.VIOLATED),
        *(reason for life in ending.network.all_lives for reason in _accusations(life, ending)),
        *(_states_of_members(ending) if _stands_still(ending) else ()),
    ]
    if reasons:
        return Outcome.VIOLATED, found, tuple(reasons)
    if ending.capped:
        return Outcome.UNKNOWN, found, (f"given up after {ending.network.steps:,} steps",)
    unknown = _shows_nothing(ending, drawn=drawn)
    return (Outcome.UNKNOWN if unknown else Outcome.HOLDS), found, tuple(unknown)


def shows(ending: Ending) -> bool:
    """Return True if a drawn run shows anything."""
    return not _shows_nothing(ending, drawn=True)


def met(ending: Ending, drawn: tuple[FaultKind, ...]) -> tuple[FaultKind, ...]:
    """Return the kinds of drawn faults that affected a run."""
    always = {FaultKind.DELAY, FaultKind.IDLE}
    return tuple(kind for kind in drawn if kind in always or ending.happened[kind])


def _judged(ending: Ending) -> RunFindings:
    if ending.judged is None:
        ending.judged = judged(ending.network, owed=ending.settled, whole=_whole(ending))
    return ending.judged


def _whole(ending: Ending) -> bool:
    return not (ending.failed or ending.capped)


def _violated(ending: Ending) -> list[str]:
    found = _judged(ending)
    return [each.property for each in found.findings if found.outcome(each) is Outcome.VIOLATED]


def _refused(life: Life) -> bool:
    return any(count and kind not in _USUAL for kind, count in life.machine.dropped.items())


def gaps(life: Life) -> bool:
    """Return True if the numbers of a member's deliveries are not consecutive."""
    return any(after.number != before.number + 1 for before, after in pairwise(life.deliveries))


def _owes(life: Life) -> bool:
    """Return True if a member has left without delivering all that it had broadcast before."""
    left = bool(life.events) and isinstance(life.events[-1], Left)
    return left and sum(one.source == life.member for one in life.deliveries) < len(life.sent)


def _storms(life: Life, ending: Ending) -> bool:
    """Return True if a member's list has changed more often than the faults of the run can explain."""
    beats = ending.network.now / life.machine.timeouts.heartbeat_ms
    return life.machine.changes > CHANGES_MIN + CHANGES_MAX * beats


def _accusations(life: Life, ending: Ending) -> list[str]:
    """Return sentences on the impossible messages that a member reports, or that others report from it."""
    told = [
        f"{life.member.name} refuses {count} datagrams of members: {kind}"
        for kind, count in sorted(life.machine.dropped.items())
        if kind not in _USUAL
    ]
    if life.violations_seen:
        told.append(f"{life.member.name} is told what no correct member says")
    if _owes(life):
        told.append(f"{life.member.name} has left, and some of what it broadcast before was never delivered")
    if _storms(life, ending):
        told.append(f"the list of {life.member.name} changes {life.machine.changes:,} times")
    if gaps(life):
        told.append(f"{life.member.name} delivers under numbers that do not follow one another")
    return told


def _founds(ending: Ending) -> bool:
    """Return True if the group was founded, or all its processes are running, so that they can found it."""
    group = ending.network
    views = any(life.machine.view is not None for life in group.all_lives)
    return views or all(map(group.up, range(ending.schedule.members)))


def _stands_still(ending: Ending) -> bool:
    return not (ending.settled or ending.lost or ending.failed or ending.capped) and _founds(ending)


def _states_of_members(ending: Ending) -> list[str]:
    """Return sentences on the states of members that should be in one view at the end."""
    after = ending.network.now - ending.schedule.ends_ms
    lives = [life for life in ending.network.all_lives if life.alive and not life.over]
    each = [
        f"{life.machine!r} has delivered {life.machine.delivered}, of its own "
        f"{sum(one.source == life.member for one in life.deliveries)} of {len(life.sent)}"
        for life in lives
    ]
    return [f"{after:,.0f} ms after the last fault those that are up are not together: {'; '.join(each)}"]


def _shows_nothing(ending: Ending, *, drawn: bool) -> list[str]:
    """Return the reasons why a run shows nothing: a requested fault that could not happen, no delivery, or a
    view that never changed.
    """
    group = ending.network
    told = list(ending.missing)
    entries = [
        entry.then if isinstance(entry, Once) else entry for entry in ending.schedule.entries
    ]
    changes = any(isinstance(entry, Crash | Restart | Leave | Start) for entry in entries)
    last = max((view.number for life in group.all_lives for view in life.views), default=0)
    if not any(group.deliveries):
        told.append("nothing was delivered")
    elif changes and last < 2 and not ending.lost:
        told.append("processes were to come and go, and the view never changed")
    if not drawn:
        told += ending.idle
    return told
