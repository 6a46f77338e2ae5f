"""Judge of a run while it goes on, through a window of events that does not grow with the run.

1. The events of each log are fed in the log's order, those of several logs in any order. The window has the
  events that a later one may still contradict; `judge` judges them, as often as is wished. A final violation
  stays.
2. A message leaves the window (`forgetting`) when it is *finished*: every live process has delivered it. With
  views, these are the processes that are or can come to be in its view, or all of them have left the view. It
  leaves with everything before it in any log, so that the forgotten events are a prefix of each log: no order
  between a remembered and a forgotten message can be broken any more.
3. A datagram or message is no longer checked as a cause or an effect (`causes`) when all that happened before
  it is known: no cycle of causes can go through it.
4. Of forgotten messages, ranges of counts are stored. An event about one of them (a second delivery, say)
  nearly always breaks a property. The window cannot tell which: it is `unsure`, and the judge of whole logs
  must be called.
5. A process that has crashed or ended is not waited for, nor one in `gone`, of which nothing will be fed any
  more. With more than `HELD_MAX` events the window gives up.

Its verdicts on a run are those of the judge on the same prefixes of logs, for every property that the end of
a run cannot change. This module knows no definition, but which messages each property may compare.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Final

import msgspec

from antiphon.conformance.judge.history.causes import Caused, Causes
from antiphon.conformance.judge.history.content import NO_DUPLICATION
from antiphon.conformance.judge.history.datagrams import CAUSALITY, DATAGRAM_INTEGRITY, causality
from antiphon.conformance.judge.history.doubts import Doubts
from antiphon.conformance.judge.history.finding import Finding, Place
from antiphon.conformance.judge.history.forgetting import Forgetting, is_of_message, numbers
from antiphon.conformance.judge.history.machines import acts_without_view
from antiphon.conformance.judge.history.one_log import LogJudge
from antiphon.conformance.judge.history.promises import properties_of
from antiphon.conformance.judge.history.properties import asks_for_views, is_eventual
from antiphon.conformance.judge.history.ranges import LARGE, Ranges, holds, note
from antiphon.conformance.judge.history.verdicts import ALONE, is_final, judge_properties
from antiphon.conformance.judge.trace import (
    Broadcast,
    Crash,
    Decide,
    Deliver,
    End,
    Event,
    Install,
    Propose,
    Receive,
    Recover,
    Safe,
    Send,
    Transitional,
    causal_order,
)
from antiphon.spec.services.broadcast import BROADCAST_ONCE, UNIFORM_INTEGRITY
from antiphon.spec.services.consensus import INTEGRITY, PROPOSE_ONCE, UNIFORM_AGREEMENT
from antiphon.spec.services.order import NOT_GREATER, UNIFORM_NUMBERING
from antiphon.spec.services.order_in_views import WEAK_TOTAL_ORDER
from antiphon.spec.services.promises import Property
from antiphon.spec.services.survey import INDICATED_IS_DELIVERED

HELD_MAX: Final = 200_000
"""Largest number of events in the window, some 10 MB."""


class _Log(msgspec.Struct):
    """The held part of one log.

    `over`: it has crashed or ended; `view` is the view that it installed last (0: none). `kept` are the
    events in the window. Of what left it, `delivered` and `broadcast` are the messages, by source, and
    `number` is that of the last delivery.
    """

    judge: LogJudge
    over: bool = False
    view: int = 0
    kept: list[Event] = msgspec.field(default_factory=list)
    caused: Caused = msgspec.field(default_factory=Caused)
    delivered: dict[int, Ranges] = msgspec.field(default_factory=dict)
    broadcast: Ranges = msgspec.field(default_factory=list)
    number: int = 0


class Window(msgspec.Struct):
    """Window of a run that is judged by this promise.

    `doubts` are about the fed events. `is_founded`: all processes begin in a first view, as far as is known;
    `first` is True if view 1 is installed, `acted` if a process did something before it installed a view.
    `forgotten` are the messages that left the window, by view and source, `numbers` their numbers with views,
    and `decided` the consensuses. `broken` has the findings, by property.
    """

    promise: tuple[str, ...]
    logs: list[_Log]
    doubts: Doubts
    is_founded: bool = True
    first: bool = False
    acted: bool = False
    forgotten: dict[int, dict[int, Ranges]] = msgspec.field(default_factory=dict)
    numbers: Ranges = msgspec.field(default_factory=list)
    decided: Ranges = msgspec.field(default_factory=list)
    broken: dict[str, Finding] = msgspec.field(default_factory=dict)
    unsure: bool = False
    gave_up: bool = False

    @classmethod
    def of(cls, processes: int, promise: Collection[str]) -> Window:
        """Return the window of a run that has not begun."""
        logs = [_Log(LogJudge(process)) for process in range(processes)]
        return cls(tuple(promise), logs, Doubts.begin(processes, promise))

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings of final violations, in the order of report."""
        found = (self.broken[name] for name in properties_of(self.promise) if name in self.broken)
        return tuple(finding for finding in found if self.doubts.of(finding) is None)

    def tell(self, findings: Iterable[Finding], *, unsure: bool = False) -> None:
        """Store the final violations that the judge of whole logs has found. `unsure` says whether the window
        still has to give up.
        """
        for finding in findings:
            if is_final(finding) and self.doubts.of(finding) is None:
                self.broken.setdefault(finding.property, finding)
        self.unsure = unsure

    @property
    def size(self) -> int:
        """Return the number of events in the window."""
        return sum(len(log.kept) + len(log.caused.events) for log in self.logs)

    # Feeding ------------------------------------------------------------------------------------------------

    def feed(self, process: int, event: Event) -> None:
        """Take the next event of a process."""
        log = self.logs[process]
        self.doubts.note(event)
        if log.judge.falls(event):
            self._touch(DATAGRAM_INTEGRITY)
        for finding in log.judge.feed(event):
            self.broken.setdefault(finding.property, finding)
        if isinstance(event, Crash | End):
            log.over = True
        if isinstance(event, Recover) or (isinstance(event, Broadcast) and event.destinations is not None):
            log.over = False
            self._touch()  # of these the judge of whole logs knows more
        if self.gave_up:
            return
        if isinstance(event, Send | Receive | Broadcast | Deliver) and CAUSALITY.name not in self.broken:
            log.caused.events.append(event)
        if self._in_views and not log.view and acts_without_view([event]):
            self._found()
        match event:
            case Broadcast(m=m) if m.split(":")[0] != str(process):
                pass  # it is broken by itself, and is no broadcast of the message
            case Broadcast() | Deliver():
                self._feed_message(log, event)
            case Propose() | Decide() if PROPOSE_ONCE.name in self._names:
                if holds(self.decided, event.consensus):
                    self._touch(PROPOSE_ONCE, INTEGRITY, UNIFORM_AGREEMENT)
                else:
                    log.kept.append(event)
            case Install() | Transitional() | Safe() if self._in_views:
                self._feed_view(process, log, event)
            case _:
                pass

    def _feed_message(self, log: _Log, event: Broadcast | Deliver) -> None:
        """Take a broadcast or delivery. Where its message has left the window, note which properties the
        event may break.
        """
        if not self._is_forgotten(event.m):
            if isinstance(event, Deliver) and holds(self.numbers, event.number):
                self._touch(UNIFORM_NUMBERING)
            log.kept.append(event)
            return
        source, count = numbers(event.m)
        if isinstance(event, Broadcast):
            again, touched = log.broadcast, [BROADCAST_ONCE]
        else:
            again = log.delivered.get(source, [])
            touched = [UNIFORM_INTEGRITY, NO_DUPLICATION, UNIFORM_NUMBERING]
        self._touch(*(touched if holds(again, count) else []))

    def _feed_view(self, process: int, log: _Log, event: Install | Transitional | Safe) -> None:
        """Take an event about views. It stays in the window, unless it is about a message that left the
        window.
        """
        if isinstance(event, Safe) and self._is_forgotten(event.m):
            source, count = numbers(event.m)
            had = holds(log.delivered.get(source, []), count)
            here = self.forgotten.get(self._view_of(log), {}).get(source, [])
            if not (had and holds(here, count)):
                self._touch(INDICATED_IS_DELIVERED)
            return
        if isinstance(event, Install):
            is_late = event.view == 1 and self.is_founded and self.forgotten
            if is_late or not event.view or (event.view in self.forgotten and process not in event.members):
                self._touch()
                return
            self.first |= event.view == 1
            log.kept.append(event)
            self.is_founded = not self.first and (self.acted or bool(self.forgotten))
            log.view = max(log.view, event.view)
            return
        log.kept.append(event)

    def _found(self) -> None:
        """Note that all processes begin in a first view, since one of them acts before it installs a view."""
        self.acted = True
        if not self.is_founded and not self.first:
            self.is_founded = True
            if self.forgotten or self.broken:
                self._touch()

    def _touch(self, *touched: Property) -> None:
        """Note that an event about forgotten messages may break these properties.

        Without properties, the event may concern messages that are still in the window, and the window gives
        up.
        """
        names = [prop.name for prop in touched if prop.name in self._names]
        self.unsure |= not touched or any(name not in self.broken for name in names)
        if not touched:
            self._give_up()

    def _give_up(self) -> None:
        self.gave_up = True
        self.forgotten, self.numbers = {}, []
        for log in self.logs:
            log.kept, log.caused, log.delivered, log.broadcast = [], Caused(), {}, []

    def _is_forgotten(self, m: str) -> bool:
        source, count = numbers(m)
        return any(holds(of_view.get(source, []), count) for of_view in self.forgotten.values())

    def _view_of(self, log: _Log) -> int:
        return log.view or int(self.is_founded)

    @property
    def _names(self) -> tuple[str, ...]:
        return _safety(self.promise)

    @property
    def _in_views(self) -> bool:
        return _speaks_of_views(self.promise)

    # Judging ------------------------------------------------------------------------------------------------

    def judge(self, gone: Collection[int] = ()) -> None:
        """Judge the events in the window; then forget those that no later event can contradict.

        Args:
            gone: the processes of which nothing will be fed any more.
        """
        if self.gave_up:
            return
        asked = [name for name in self._names if name not in ALONE and name not in self.broken]
        kept = [log.kept for log in self.logs]
        found = list(judge_properties(kept, asked, founded=self.is_founded))
        found += self._numbers_that_do_not_grow()
        closed = {p for p, log in enumerate(self.logs) if log.over} | set(gone)
        if CAUSALITY.name not in self.broken:
            Causes([log.caused for log in self.logs], closed).forget()
            queues = [log.caused.events for log in self.logs]
            if any(queues):
                found.append(causality(queues, causal_order(queues)))
        self.tell(found, unsure=self.unsure)
        if CAUSALITY.name in self.broken:
            for log in self.logs:
                log.caused = Caused()
        else:  # where causes go in a circle it depends on all events what comes first
            self._forget(closed)
        if self.size > HELD_MAX:
            self._give_up()

    def _numbers_that_do_not_grow(self) -> Iterator[Finding]:
        """Yield a finding for each log whose first delivery in the window has no greater number than its last
        delivery that left the window.
        """
        for p, log in enumerate(self.logs):
            first = next((event for event in log.kept if isinstance(event, Deliver)), None)
            if first is not None and first.number <= log.number and UNIFORM_NUMBERING.name in self._names:
                yield Finding(UNIFORM_NUMBERING.name, 1, NOT_GREATER, Place(p, first.i, first.m))

    def _forget(self, closed: set[int]) -> None:
        """Remove the finished messages and their events from the window. `closed` are the processes of which
        no event will follow.
        """
        self._forget_decisions(closed)
        forgetting = Forgetting(
            [log.kept for log in self.logs],
            closed,
            in_views=self._in_views,
            in_order=WEAK_TOTAL_ORDER.name in self._names,
            is_founded=self.is_founded,
        )
        cuts = forgetting.cuts()
        for log, cut in zip(self.logs, cuts, strict=True):
            if not cut:
                continue
            for event in log.kept[:cut]:
                self._note_forgotten(log, event, forgetting.view_of)
            log.kept = [event for k, event in enumerate(log.kept) if k >= cut or not is_of_message(event)]

    def _note_forgotten(self, log: _Log, event: Event, view_of: Callable[[str], int]) -> None:
        if not isinstance(event, Broadcast | Deliver):
            return
        source, count = numbers(event.m)
        note(self.forgotten.setdefault(view_of(event.m), {}).setdefault(source, []), count)
        if isinstance(event, Broadcast):
            note(log.broadcast, count)
        elif not holds(log.delivered.setdefault(source, []), count):
            note(log.delivered[source], count)
            log.number = event.number
            if self._in_views and UNIFORM_NUMBERING.name in self._names and event.number < LARGE:
                note(self.numbers, event.number)

    def _forget_decisions(self, closed: set[int]) -> None:
        """Remove the events of each consensus in which all live processes have proposed and decided. `closed`
        are the processes of which no event will follow.
        """
        proposed, decided = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
        for p, log in enumerate(self.logs):
            for event in log.kept:
                if isinstance(event, Propose):
                    proposed[event.consensus].add(p)
                elif isinstance(event, Decide):
                    decided[event.consensus].add(p)
        alive = set(range(len(self.logs))) - closed
        over = {k for k, of in decided.items() if alive <= of and alive <= proposed[k] and k < LARGE}
        if not over:
            return
        for k in over:
            note(self.decided, k)
        for log in self.logs:
            log.kept = [
                event
                for event in log.kept
                if not isinstance(event, Propose | Decide) or event.consensus not in over
            ]


@cache
def _safety(promise: tuple[str, ...]) -> tuple[str, ...]:
    """Return the properties of a promise that are safety properties: no later event undoes their
    violation.
    """
    return tuple(name for name in properties_of(promise) if not is_eventual(name))


@cache
def _speaks_of_views(promise: tuple[str, ...]) -> bool:
    """Return True if one of these properties concerns views."""
    return any(map(asks_for_views, _safety(promise)))
