"""Causal order of a growing run: the events that come after all their causes, and so are on no cycle.

An effect waits until its cause is known, or can never come: its process has ended, or sends larger counts.
Waiting effects, and the events behind them in their logs, are stored. This module knows causes, and no
property.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import msgspec

from antiphon.conformance.judge.history.forgetting import numbers
from antiphon.conformance.judge.history.ranges import LARGE, Ranges, holds, note
from antiphon.conformance.judge.trace import Event, Send
from antiphon.conformance.judge.trace.causal import causes_of, effect_of


class Caused(msgspec.Struct):
    """State of one log: `events` wait; of the events that left, `known` are the broadcast messages, and
    `sent` is the count of the last datagram.
    """

    events: list[Event] = msgspec.field(default_factory=list)
    known: Ranges = msgspec.field(default_factory=list)
    sent: int = -1


class Causes:
    """Order of a growing run: take its events, and return those that are known to come after all their
    causes.
    """

    def __init__(self, logs: Sequence[Caused], closed: Collection[int]) -> None:
        self.logs, self.closed = logs, closed
        self.at = [0] * len(logs)
        self.to_come = {
            name for p, log in enumerate(logs) for event in log.events for name in causes_of(p, event)
        }

    def forget(self) -> None:
        """Delete the events of a run."""
        waiting = defaultdict[int, set[int]](set)
        ready = list(range(len(self.logs)))
        while ready:
            process = ready.pop()
            before = self.at[process]
            waits_for = self._advance(process)
            if waits_for is not None:
                waiting[waits_for].add(process)
            if self.at[process] > before:
                ready += waiting.pop(process, ())
        for process, (log, at) in enumerate(zip(self.logs, self.at, strict=True)):
            log.events = [event for event in log.events[at:] if not self._is_repeated(process, event)]

    def _is_repeated(self, process: int, event: Event) -> bool:
        """Return True if the event causes something that is known to be caused."""
        return any(self._is_known(cause, *numbers(cause[1])) for cause in causes_of(process, event))

    def _advance(self, process: int) -> int | None:
        """Release the events of a process until one waits for an unknown cause. Return the process of that
        cause, or None.
        """
        log = self.logs[process]
        events = log.events
        for at in range(self.at[process], len(events)):
            event = events[at]
            self.at[process] = at
            if (effect := effect_of(event)) is not None:
                source, count = numbers(effect[1])
                if not self._is_known(effect, source, count):
                    return source
            for cause in causes_of(process, event):
                self.to_come.discard(cause)
                _, count = numbers(cause[1])
                if count < LARGE and isinstance(event, Send):
                    log.sent = max(log.sent, count)
                elif count < LARGE:
                    note(log.known, count)
        self.at[process] = len(events)
        return None

    def _is_known(self, effect: tuple[str, str], source: int, count: int) -> bool:
        """Return True if the cause of an effect is known, or can never come. `effect` is the kind and the
        source of the cause, `count` its number at that source.
        """
        if source >= len(self.logs) or count >= LARGE:
            return True
        log = self.logs[source]
        if effect[0] == "datagram" and count <= log.sent:
            return True
        if effect[0] == "message" and holds(log.known, count):
            return True
        return source in self.closed and effect not in self.to_come
