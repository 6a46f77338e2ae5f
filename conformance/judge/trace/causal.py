"""Causal order of the events of a run: every process in its own order, every cause before its effects.

The cause of a receive is the send of its datagram, that of a delivery the broadcast of its message. Events
are sorted by Lamport time, then by process, which depends on nothing but the events: not on a clock, not on
the order in which files are read. This module knows neither protocols nor properties. An event that would
come before its own cause is reported, and ordered as if it had no cause, so that no event is lost; an event
with a missing cause is ordered so too, without a report.

An order that the logs leave open can be chosen in favour of their writer: a suspicion after the crash, a
decision after a proposal of its value, where some order of the events has them so (`assuming`).

Source: Lamport 1978, "Time, clocks, and the ordering of events in a distributed system".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from antiphon.conformance.judge.trace.schema import (
    Alarm,
    Broadcast,
    Crash,
    Decide,
    Deliver,
    Event,
    Propose,
    Receive,
    Send,
    Suspect,
)

At = tuple[int, int]
"""Event by its process and its position there."""

Name = tuple[str, str]
"""Link between a cause and its effects: its kind and an identifier."""

PROPOSAL: Final = "proposal"
CRASH: Final = "crash"


@dataclass(frozen=True)
class Step:
    """One event in the causal order: `process` is its place in the run, `time` Lamport's."""

    process: int
    time: int
    event: Event


class Contradiction(NamedTuple):
    """Contradiction: an event that comes before its own cause in every order of the logs; `name` is the
    datagram or message of both.
    """

    effect: At
    cause: At
    name: str


@dataclass(frozen=True)
class Merge:
    """All events of a run in one topological order of causality, and the contradictions."""

    steps: tuple[Step, ...]
    contradictions: tuple[Contradiction, ...]


def causal_order(events: Sequence[Sequence[Event]], assuming: Collection[str] = ()) -> Merge:
    """Merge the events of a run, `events[p]` being those of process p, into one causal order.

    The time is linear in the number of events, and a sort.

    Args:
        events: the events of each process, in its own order.
        assuming: `PROPOSAL` puts a decision after the first proposal of its value by any process; `CRASH`
            puts
            a suspicion after the crash, an alarm after the first; each where possible.
    """
    return _Merging(events, frozenset(assuming)).merge()


class _Merging:
    """A walk along all processes at once; a process waits at an event while no cause of it has a time.

    `causes[name]` are the events that supply the cause `name`; `known[name]` is the time of the first one.
    """

    def __init__(self, events: Sequence[Sequence[Event]], assuming: frozenset[str]) -> None:
        self.events = events
        self.assuming = assuming
        self.causes: dict[Name, list[At]] = {}
        self.caused: dict[At, list[Name]] = {}
        self.known: dict[Name, int] = {}
        self.times: list[list[int]] = [[] for _ in events]
        self.contradictions: list[Contradiction] = []
        self.freed: At | None = None
        for process, of_process in enumerate(events):
            for position, event in enumerate(of_process):
                for name in causes_of(process, event):
                    if name[0] in assuming or (name[0] in _CERTAIN and name not in self.causes):
                        self.causes.setdefault(name, []).append((process, position))
                        self.caused.setdefault((process, position), []).append(name)

    def merge(self) -> Merge:
        ready = list(range(len(self.events)))
        waiting: dict[Name, list[int]] = {}
        while True:
            while ready:
                self._advance(ready.pop(), ready, waiting)
            if not waiting:
                break
            process, name = self._break_cycle(waiting)
            waiting[name].remove(process)
            waiting = {name: processes for name, processes in waiting.items() if processes}
            ready.append(process)
        steps = [
            Step(process, time, event)
            for process, events in enumerate(self.events)
            for time, event in zip(self.times[process], events, strict=True)
        ]
        steps.sort(key=lambda step: (step.time, step.process))
        return Merge(tuple(steps), tuple(sorted(self.contradictions)))

    def _advance(self, process: int, ready: list[int], waiting: dict[Name, list[int]]) -> None:
        """Give Lamport times to a process's events, until they end or the causes of the next one have no time
        yet.
        """
        times, events = self.times[process], self.events[process]
        while len(times) < len(events):
            position = len(times)
            time = times[-1] + 1 if times else 0
            effect = effect_of(events[position])
            if effect is not None and effect in self.causes and self.freed != (process, position):
                if effect not in self.known:
                    waiting.setdefault(effect, []).append(process)
                    return
                time = max(time, self.known[effect] + 1)
            times.append(time)
            for name in self.caused.get((process, position), ()):
                self.known.setdefault(name, time)
                ready.extend(waiting.pop(name, ()))

    def _break_cycle(self, waiting: dict[Name, list[int]]) -> tuple[int, Name]:
        """Find a cycle among processes that all wait for a cause, and free the waiting process with the
        smallest number. Prefer a process that waits for an assumed cause; else record that cause and effect
        contradict each other. Return the process and the cause.
        """
        waits_for = {process: name for name, processes in waiting.items() for process in processes}
        seen: list[int] = []
        process = min(waits_for)
        while process not in seen:
            seen.append(process)
            process = self.causes[waits_for[process]][0][0]
        cycle = seen[seen.index(process) :]
        assumed = [process for process in cycle if waits_for[process][0] in self.assuming]
        freed = min(assumed or cycle)
        name = waits_for[freed]
        self.freed = (freed, len(self.times[freed]))
        if not assumed:
            self.contradictions.append(Contradiction(self.freed, self.causes[name][0], name[1]))
        return freed, name


_CERTAIN: Final = ("datagram", "message")


def causes_of(process: int, event: Event) -> Iterator[Name]:
    """Yield the causes that this event supplies: a broadcast by its source supplies its message, a genuine
    send its datagram.
    """
    match event:
        case Send() if event.d.split(":")[0] == str(process):
            yield "datagram", event.d
        case Broadcast() if event.m.split(":")[0] == str(process):
            yield "message", event.m
        case Propose():
            yield PROPOSAL, f"{event.consensus}:{event.value}"
        case Crash():
            yield CRASH, str(process)
            yield CRASH, ""
        case _:
            pass


def effect_of(event: Event) -> Name | None:
    """Return the cause that the event needs, or None."""
    match event:
        case Receive():
            return "datagram", event.d
        case Deliver():
            return "message", event.m
        case Decide():
            return PROPOSAL, f"{event.consensus}:{event.value}"
        case Suspect():
            return CRASH, str(event.suspected)
        case Alarm():
            return CRASH, ""
        case _:
            return None
