"""Doubts about verdicts: properties that these logs cannot decide, and the promise to use instead.

1. Views change, and the promise is for a group without changes: a process that joins later lacks earlier
    messages.
2. A process crashed and returned: its incarnations are judged as separate processes, and no property states
    their duties for the time before, or in views that name the process.
3. A message is for some processes: their delivery sequences need not begin alike, and only they must deliver
    it.
4. The logs have no broadcasts: whether a delivered message was broadcast is unknown.

In each case some properties may wrongly seem violated or kept: their outcome is unknown. This module judges
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import msgspec

from antiphon.conformance.judge.history.finding import Finding, History
from antiphon.conformance.judge.history.promises import VIEWS
from antiphon.conformance.judge.history.properties import property_of
from antiphon.conformance.judge.trace import (
    Alarm,
    Broadcast,
    Decide,
    Deliver,
    Event,
    Install,
    Propose,
    Recover,
    Safe,
    Suspect,
    Transitional,
    Trust,
)
from antiphon.spec.services.broadcast import NEVER_BROADCAST, TOTAL_ORDER, UNIFORM_INTEGRITY
from antiphon.spec.services.consensus import CONSENSUS_PROMISES
from antiphon.spec.services.detectors import DETECTORS, PASSIVE
from antiphon.spec.services.order import OF_DELIVERIES
from antiphon.spec.services.survey import INDICATION_PROMISES
from antiphon.spec.services.views import VIRTUAL_SYNCHRONY

(_CONSENSUS,) = CONSENSUS_PROMISES.words
(_INDICATIONS,) = INDICATION_PROMISES.words
_ASK_VIEWS: Final = f"--promise {VIRTUAL_SYNCHRONY} --promise {TOTAL_ORDER}"
CHANGES: Final = f"said of a group that stays as it is, and views change in these logs: ask {_ASK_VIEWS}"
RETURNED: Final = "a process crashed and returned, and the property does not say what it owes then"
FOR_SOME: Final = "a message is for some processes only, and the property speaks of all"
UNSENT: Final = f"no broadcast stands in these logs: ask --promise {OF_DELIVERIES[2]}, which needs none"


class Doubts(msgspec.Struct):
    """Doubts about properties that these logs cannot decide, by the contents of the logs.

    `in_views`: the promise has views. `changes`: views change, and the promise has none. `returned`: a
    process crashed and returned. `for_some`: a message has destinations. `sent`: a broadcast is logged.
    """

    in_views: bool
    processes: int
    changes: bool = False
    returned: bool = False
    for_some: bool = False
    sent: bool = False

    @classmethod
    def among(cls, history: History, promise: Collection[str]) -> Doubts:
        """Return the doubts about a whole history."""
        doubts = cls.begin(len(history), promise)
        for log in history:
            for event in log:
                doubts.note(event)
        return doubts

    @classmethod
    def begin(cls, processes: int, promise: Collection[str]) -> Doubts:
        """Return the doubts about a run of which nothing was read."""
        words = {promise} if isinstance(promise, str) else set(promise)
        return cls(not VIEWS.isdisjoint(words), processes)

    def note(self, event: Event) -> None:
        """Note an event of any process, for the doubts about the run."""
        match event:
            case Broadcast(destinations=destinations):
                self.sent = True
                self.for_some |= destinations is not None
            case Recover():
                self.returned = True
            case Install(members=members) if not self.in_views:
                self.changes |= set(members) != set(range(self.processes))
            case _:
                pass

    def of(self, finding: Finding) -> str | None:
        """Return the reason why the logs cannot decide a finding, or None if they can."""
        prop, broken = property_of(finding.property), finding.offending > 0
        if self.returned and prop.incarnations not in (("each",) if broken else ("each", "kept")):
            return RETURNED
        if not broken:
            return None
        if self.changes and prop.fixed_group:
            return CHANGES
        if self.for_some and not prop.for_some:
            return FOR_SOME
        if not self.sent and prop is UNIFORM_INTEGRITY and finding.reason == NEVER_BROADCAST:
            return UNSENT
        return None


def hints(kinds: Collection[type], promise: Collection[str]) -> Iterator[str]:
    """Return sentences on events in the logs that a promise does not cover, and on the promise that does.

    Args:
        kinds: the kinds of events in the logs.
        promise: the words of the promise.
    """
    there = set(kinds)
    words = {promise} if isinstance(promise, str) else set(promise)
    for what, spoken, told, ask in (
        ({Install, Transitional}, not VIEWS.isdisjoint(words), "views are installed", _ASK_VIEWS),
        (
            {Propose, Decide},
            _CONSENSUS in words,
            "values are proposed or decided",
            f"--promise {_CONSENSUS}",
        ),
        (
            {Suspect, Trust, Alarm},
            not words.isdisjoint({*DETECTORS, PASSIVE}),
            "processes are suspected",
            f"--promise {DETECTORS[1]}, or another detector's",
        ),
        (
            {Safe},
            _INDICATIONS in words,
            "messages are told to be safe",
            f"--promise {_INDICATIONS}",
        ),
        (
            {Deliver},
            Broadcast in there or not words.isdisjoint(OF_DELIVERIES) or TOTAL_ORDER not in words,
            "messages are delivered, and no broadcast is logged",
            f"--promise {OF_DELIVERIES[2]}, {OF_DELIVERIES[1]} or {OF_DELIVERIES[0]}",
        ),
    ):
        if what & there and not spoken:
            yield f"{told}, which {' and '.join(sorted(words)) or 'nothing'} does not judge: ask {ask}"
