"""The events of a run have one causal order: every process in its own order, every cause before its effects.

The cause of a receive is the send of its datagram, that of a delivery the broadcast of its message. Events
are sorted by Lamport time, then by process, which depends on nothing but the events: not on a clock, not on
the order in which files are read. This module knows neither protocols nor properties. An event that would
come before its own cause is told, and ordered as if it waited for nothing, so that no event is lost; so is
one whose cause is not there, which is not told.

Source: Lamport 1978, "Time, clocks, and the ordering of events in a distributed system".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from antiphon.conformance.trace.schema import Broadcast, Deliver, Event, Receive, Send

At = tuple[int, int]
"""An event by its process and its position there."""


@dataclass(frozen=True)
class Step:
    """One event in the causal order: `process` is its place in the run, `time` Lamport's."""

    process: int
    time: int
    event: Event


class Contradiction(NamedTuple):
    """An event whose cause can only come after it; `name` is the datagram or message of both."""

    effect: At
    cause: At
    name: str


@dataclass(frozen=True)
class Merge:
    """All events of a run in one topological order of causality, and what contradicts it."""

    steps: tuple[Step, ...]
    contradictions: tuple[Contradiction, ...]


def causal_order(events: Sequence[Sequence[Event]]) -> Merge:
    """Merge the events of a run, `events[p]` being those of process p, into one causal order.

    Takes time linear in the number of events, and a sort.
    """
    return _Merging(events).merge()


class _Merging:
    """A walk along all processes at once; one waits at an event whose cause has no time yet."""

    def __init__(self, events: Sequence[Sequence[Event]]) -> None:
        self.events = events
        self.causes = _causes(events)
        self.names = {at: name for (_, name), at in self.causes.items()}
        self.times: list[list[int]] = [[] for _ in events]
        self.contradictions: list[Contradiction] = []

    def merge(self) -> Merge:
        ready = list(range(len(self.events)))
        waiting: dict[At, list[int]] = {}
        while True:
            while ready:
                self._advance(ready.pop(), ready, waiting)
            if not waiting:
                break
            process, cause = self._break_cycle(waiting)
            waiting[cause].remove(process)
            ready.append(process)
        steps = [
            Step(process, time, event)
            for process, events in enumerate(self.events)
            for time, event in zip(self.times[process], events, strict=True)
        ]
        steps.sort(key=lambda step: (step.time, step.process))
        return Merge(tuple(steps), tuple(sorted(self.contradictions)))

    def _advance(self, process: int, ready: list[int], waiting: dict[At, list[int]]) -> None:
        """Give times to a process's events until they end or one comes whose cause has no time yet."""
        times, events = self.times[process], self.events[process]
        while len(times) < len(events):
            position = len(times)
            time = times[-1] + 1 if times else 0
            effect = _effect_of(events[position])
            cause = None if effect is None else self.causes.get(effect)
            if cause is not None and not self._freed(process, position):
                if cause[1] >= len(self.times[cause[0]]):
                    waiting.setdefault(cause, []).append(process)
                    return
                time = max(time, self.times[cause[0]][cause[1]] + 1)
            times.append(time)
            ready.extend(waiting.pop((process, position), ()))

    def _break_cycle(self, waiting: dict[At, list[int]]) -> tuple[int, At]:
        """Tell one cycle among processes that all wait, and free its member with the smallest number."""
        waits_for = {process: cause for cause, processes in waiting.items() for process in processes}
        seen: list[int] = []
        process = min(waits_for)
        while process not in seen:
            seen.append(process)
            process = waits_for[process][0]
        freed = min(seen[seen.index(process) :])
        cause = waits_for[freed]
        name = self.names[cause]
        self.contradictions.append(Contradiction((freed, len(self.times[freed])), cause, name))
        return freed, cause

    def _freed(self, process: int, position: int) -> bool:
        return bool(self.contradictions) and self.contradictions[-1].effect == (process, position)


def _causes(events: Sequence[Sequence[Event]]) -> dict[tuple[str, str], At]:
    """Where each datagram is sent, and each message broadcast by its source; the first place counts."""
    causes: dict[tuple[str, str], At] = {}
    for process, of_process in enumerate(events):
        for position, event in enumerate(of_process):
            if isinstance(event, Send):
                causes.setdefault(("datagram", event.d), (process, position))
            elif isinstance(event, Broadcast) and event.m.split(":")[0] == str(process):
                causes.setdefault(("message", event.m), (process, position))
    return causes


def _effect_of(event: Event) -> tuple[str, str] | None:
    """What an event is an effect of: a datagram or a message."""
    if isinstance(event, Receive):
        return "datagram", event.d
    if isinstance(event, Deliver):
        return "message", event.m
    return None
