"""Logs that a promise was not made for: what it cannot be asked of them, and which promise to ask instead.

1. Views change, and the promise is of a group that stays as it is: whoever comes later lacks what was before.
2. A process crashed and returned: its incarnations are judged as processes of their own, and what it owes for
   the time before, or in views that name it, no property says.
3. A message is for some processes: their sequences need not begin alike, and views owe it to those alone.
4. No broadcast stands in the logs: nobody can tell whether what is delivered was broadcast.

In each case some properties may seem broken that are not, or seem kept that are not: of them nothing is said.
This module judges nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import msgspec

from antiphon.conformance.judge.history.finding import (
    AGREEMENT,
    BROADCAST_ONCE,
    CAUSAL,
    CAUSALITY,
    CONSENSUS,
    DATAGRAM_INTEGRITY,
    FIFO,
    FURTHER_PROPERTIES,
    HANDOVER,
    INITIAL_VIEW,
    LOCAL_MONOTONICITY,
    NEVER_BROADCAST,
    NO_DUPLICATION,
    NO_VIOLATION,
    PRIMARY_PARTITION,
    SAME_VIEW_DELIVERY,
    SELF_INCLUSION,
    SENDING_VIEW_DELIVERY,
    TRANSITIONAL_SET,
    UNIFORM_AGREEMENT,
    UNIFORM_GLOBAL_ORDER,
    UNIFORM_INTEGRITY,
    UNIFORM_NUMBERING,
    UNIFORM_PREFIX_ORDER,
    UNIFORM_TOTAL_ORDER,
    VALIDITY,
    VIEW_AGREEMENT,
    Finding,
    History,
)
from antiphon.conformance.judge.history.promises import FURTHER, OF_DELIVERIES, TOTAL_ORDER, VIEWS
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

_ASK_VIEWS: Final = "--promise virtual-synchrony --promise total-order"
CHANGES: Final = f"said of a group that stays as it is, and views change in these logs: ask {_ASK_VIEWS}"
RETURNED: Final = "a process crashed and returned, and the property does not say what it owes then"
FOR_SOME: Final = "a message is for some processes only, and the property speaks of all"
UNSENT: Final = f"no broadcast stands in these logs: ask --promise {OF_DELIVERIES[2]}, which needs none"

_OF_A_FIXED_GROUP: Final = {VALIDITY, UNIFORM_AGREEMENT, AGREEMENT, UNIFORM_PREFIX_ORDER}
_OF_INCARNATIONS: Final = {
    UNIFORM_INTEGRITY, UNIFORM_TOTAL_ORDER, UNIFORM_GLOBAL_ORDER, UNIFORM_NUMBERING, HANDOVER, NO_VIOLATION,
    NO_DUPLICATION, FIFO, CAUSAL, *CONSENSUS[1:4],
}  # fmt: skip
"""What each incarnation keeps or breaks by itself."""
_SHOWN_BY_SILENCE: Final = {
    *_OF_INCARNATIONS, VALIDITY, UNIFORM_AGREEMENT, AGREEMENT, UNIFORM_PREFIX_ORDER, BROADCAST_ONCE,
    DATAGRAM_INTEGRITY, CAUSALITY, *CONSENSUS,
}  # fmt: skip
"""What is kept if incarnations, taken as processes, do not break it."""
_OF_DESTINATIONS: Final = {
    BROADCAST_ONCE, VALIDITY, UNIFORM_INTEGRITY, UNIFORM_AGREEMENT, AGREEMENT, UNIFORM_TOTAL_ORDER,
    UNIFORM_GLOBAL_ORDER, UNIFORM_NUMBERING, DATAGRAM_INTEGRITY, CAUSALITY, HANDOVER, NO_VIOLATION,
    INITIAL_VIEW, SELF_INCLUSION, LOCAL_MONOTONICITY, VIEW_AGREEMENT, PRIMARY_PARTITION,
    SENDING_VIEW_DELIVERY, SAME_VIEW_DELIVERY, TRANSITIONAL_SET, NO_DUPLICATION, FIFO, CAUSAL, *CONSENSUS,
}  # fmt: skip
"""What is said of messages whomever they are for, or owed to those alone."""


class Doubts(msgspec.Struct):
    """What these logs cannot show of a promise, by what they hold.

    `in_views`: views are promised. `changes`: they change, and none are promised; `returned`: a process
    crashed and returned; `for_some`: a message is for some processes; `sent`: a broadcast is logged.
    """

    in_views: bool
    processes: int
    changes: bool = False
    returned: bool = False
    for_some: bool = False
    sent: bool = False

    @classmethod
    def among(cls, history: History, promise: Collection[str]) -> Doubts:
        """The doubts about a whole history."""
        doubts = cls.begin(len(history), promise)
        for log in history:
            for event in log:
                doubts.note(event)
        return doubts

    @classmethod
    def begin(cls, processes: int, promise: Collection[str]) -> Doubts:
        """The doubts about a run of which nothing was read."""
        words = {promise} if isinstance(promise, str) else set(promise)
        return cls(not VIEWS.isdisjoint(words), processes)

    def note(self, event: Event) -> None:
        """Take an event, of whichever process."""
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
        """Why a finding is no verdict, if it is none."""
        name, broken = finding.property, finding.offending > 0
        if self.returned and name not in (_OF_INCARNATIONS if broken else _SHOWN_BY_SILENCE):
            return RETURNED
        if not broken:
            return None
        if self.changes and name in _OF_A_FIXED_GROUP:
            return CHANGES
        if self.for_some and name not in _OF_DESTINATIONS:
            return FOR_SOME
        if not self.sent and name == UNIFORM_INTEGRITY and finding.reason == NEVER_BROADCAST:
            return UNSENT
        return None


_OF_VIEWS: Final = {*FURTHER_PROPERTIES[: FURTHER_PROPERTIES.index(NO_DUPLICATION)]}
_DETECTORS: Final = tuple(word for word in FURTHER if word.endswith("-detector"))


def hints(kinds: Collection[type], promise: Collection[str]) -> Iterator[str]:
    """Tell what stands in logs that a promise does not speak of, and which promise does.

    Args:
        kinds: the kinds of events that stand there.
        promise: the words of the promise.
    """
    there = set(kinds)
    words = {promise} if isinstance(promise, str) else set(promise)
    properties = {name for word in words for name in FURTHER.get(word, ())}
    in_views = not VIEWS.isdisjoint(words) or bool(properties & _OF_VIEWS)
    for what, spoken, told, ask in (
        ({Install, Transitional}, in_views, "views are installed", _ASK_VIEWS),
        ({Propose, Decide}, "consensus" in words, "values are proposed or decided", "--promise consensus"),
        (
            {Suspect, Trust, Alarm},
            not words.isdisjoint(_DETECTORS),
            "processes are suspected",
            "--promise eventually-perfect-detector, or another detector's",
        ),
        ({Safe}, "safe-indications" in words, "messages are told to be safe", "--promise safe-indications"),
        (
            {Deliver},
            Broadcast in there or not words.isdisjoint(OF_DELIVERIES) or TOTAL_ORDER not in words,
            "messages are delivered, and no broadcast is logged",
            f"--promise {OF_DELIVERIES[2]}, {OF_DELIVERIES[1]} or {OF_DELIVERIES[0]}",
        ),
    ):
        if what & there and not spoken:
            yield f"{told}, which {' and '.join(sorted(words)) or 'nothing'} does not judge: ask {ask}"

