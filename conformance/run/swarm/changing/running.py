"""Run of a schedule by simulated members, up to an `Ending`; this module judges nothing.

1. All members that start at once found the group; the first of them is the founder, also when it is started
   again, but not while fewer than half of the seeds are other members, and know it: a founder that cannot
   reach these would found another group with the rest, as the page on groups says. An application broadcasts
   when the schedule says so, or as soon afterwards as it may.
2. Who is excluded comes back at once. Who has left ends when nobody needs it any more.
3. When all faults are over, something is delivered in each `bound_ms` until all that are up are in one view
   and have delivered all that each has broadcast. Then each broadcasts once more, and all have to deliver
   that too: a group that looks well and stands still is found so.
4. A group whose last view has no majority left stands still for ever: nothing happens to it any more, and it
   owes nothing. Where a founder ends before anybody knows that it has founded a group, its welcomes may be on
   their way: the others wait for them, and the founder, when it is started again, asks to join.
5. A fault that is asked for and cannot happen, such as a crash of a process that has ended, is noted.

This module knows no protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from antiphon.conformance.compare.bindings.guarded import chance
from antiphon.conformance.judge.history import RunFindings
from antiphon.conformance.run.swarm.changing.log import Log
from antiphon.conformance.run.swarm.running import raised
from antiphon.conformance.run.swarm.schedule import (
    Crash,
    Cut,
    Entry,
    Jump,
    Leave,
    Once,
    Pause,
    Restart,
    Schedule,
    Skew,
    Slow,
    Start,
)
from antiphon.conformance.run.swarm.settings import FaultKind, Settings
from antiphon.impl.layers import Layers
from antiphon.impl.membership.detector import LOCAL, Timeouts
from antiphon.impl.membership.member import Left, View
from antiphon.impl.membership.membership import Event
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.tracing import NULL_TRACER, Tracer
from antiphon.impl.transport.simulated import Carriage, Clock
from antiphon.impl.transport.simulated_members import Life, SimulatedMembers
from antiphon.spec.lang.foreign import alive, foreign, is_interrupt

__all__ = ["Ending", "run"]

LINGER_MS = 50.0
"""Milliseconds that a run goes on when everything is delivered: late or repeated datagrams may
still do harm.
"""

_LOOKS_MS = 20.0
"""Milliseconds between two looks whether a run is over, and who has left for good."""

_ON_ITS_WAY_MS = 1_000.0
"""Milliseconds after the last fault in which a datagram that was delayed arrives."""

_RETRIES_MS = 2.0
"""Milliseconds until a stopped process that shall leave is looked at again."""


@dataclass
class Ending:
    """Final state of a run.

    `failed` is the error that a member raised; `capped` is True if the run was given up. `settled` is True if
    all running processes are in one view and have delivered everything. `lost` is True if the last view has
    no majority left, and so no duties. `happened` counts the faults by kind; `missing` are requested faults
    that could not happen, `idle` those that affected no datagram. `judged` has the findings of the judge of
    logs, once it was called.
    """

    network: SimulatedMembers
    schedule: Schedule
    log: Log
    failed: str = ""
    capped: bool = False
    settled: bool = False
    lost: bool = False
    happened: Counter[FaultKind] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    judged: RunFindings | None = None


def run(
    implementation: Implementation[Any],
    schedule: Schedule,
    carriage: Carriage,
    settings: Settings,
    log: Log | None = None,
    tracer: Tracer = NULL_TRACER,  # noqa: ARG001 - as of groups whose members stay
) -> Ending:
    """Run a schedule to its end, with the fates of datagrams by `carriage`.

    Raises:
        Raised: the members cannot even be made.
    """
    with chance(schedule.chance):
        return _Run(implementation, schedule, carriage, settings, log).take()


class _Run:
    def __init__(
        self,
        implementation: Implementation[Any],
        schedule: Schedule,
        carriage: Carriage,
        settings: Settings,
        log: Log | None,
    ) -> None:
        self.schedule, self.settings = schedule, settings
        processes = range(schedule.members)
        self.starts = dict.fromkeys(processes, 0.0)
        clocks = dict.fromkeys(processes, Clock())
        for entry in schedule.entries:
            if isinstance(entry, Start):
                self.starts[entry.process] = entry.at_ms
            elif isinstance(entry, Skew):
                clocks[entry.process] = Clock(entry.offset_ms, entry.rate)
        self.starts[0] = 0.0
        self.founders = [process for process, at in self.starts.items() if at == 0.0]
        self.log = log or Log(schedule.members)
        timeouts = LOCAL if schedule.timeouts is None else Timeouts(**schedule.timeouts)
        with foreign():
            self.group = SimulatedMembers(
                schedule.members, schedule.chance, protocol=implementation, carriage=carriage,
                timeouts=timeouts, hints=schedule.hints, clocks=list(clocks.values()), watcher=self,
                layers=Layers() if schedule.layers is None else Layers(**schedule.layers),
            )  # fmt: skip
        self.log.watch(self.group)
        self.ending = Ending(self.group, schedule, self.log)
        self._cuts: dict[Cut, int] = {}
        """The cuts of now, and how many datagrams their links had lost before."""
        self._slows: dict[Slow, int] = {}
        self._delivered = Counter[int]()
        self._waiting = [entry for entry in schedule.entries if isinstance(entry, Once)]

    # What is watched ----------------------------------------------------------------------------------------

    def cause(self, process: int, kind: str, datagram: int | None) -> None:
        """Pass the input of a process on to the log."""
        self.log.cause(process, kind, datagram)

    def sends(self, process: int, to: int, datagram: int, kind: str, copies: int) -> None:
        """Pass the sending of a datagram on to the log."""
        self.log.sends(process, to, datagram, kind, copies)

    def takes(self, process: int, life: Life, events: Sequence[Event]) -> None:
        """Pass the application's events on to the log; begin the faults that wait for this number of
        deliveries.
        """
        self.log.takes(process, life, events)
        if self._waiting:
            self._delivered[process] += sum(isinstance(event, Delivery) for event in events)
            for once in [one for one in self._waiting if self._delivered[one.process] >= one.delivered]:
                self._waiting.remove(once)
                self._put(once.then, self.group.now)

    # The script ---------------------------------------------------------------------------------------------

    def take(self) -> Ending:
        """Run the schedule to its end, and return the final state. An error that a member raises ends the
        run.
        """
        group, ending = self.group, self.ending
        for process, at in self.starts.items():
            group.at(at, lambda process=process: self._start(process))  # type: ignore[misc]
        payloads, counts = self.schedule.payloads(), Counter[int]()
        for broadcast in self.schedule.broadcasts:
            process = broadcast.process
            counts[process] += 1
            payload = payloads[process, counts[process]]
            group.at(broadcast.at_ms, lambda p=process, payload=payload: self._want(p, payload))  # type: ignore[misc]
        for entry in self.schedule.entries:
            if not isinstance(entry, Once):
                self._put(entry, 0.0)
        try:
            with alive():
                self._take()
        except BaseException as error:
            if is_interrupt(error):
                raise
            ending.failed = raised(error)
        ending.missing += [
            f"process {one.process} has not delivered {one.delivered} messages" for one in self._waiting
        ]
        for kind, count in (
            (FaultKind.LOSS, group.lost - group.cuts.total()),
            (FaultKind.DUPLICATION, group.duplicated),
            (FaultKind.REORDERING, group.reordered),
            (FaultKind.FALSE_SUSPICION, group.false_suspicions),
        ):
            ending.happened[kind] += count
        return ending

    def _take(self) -> None:
        ending, limit_ms = self.ending, self.schedule.ends_ms
        self._let_go_on(limit_ms)
        if ending.lost:
            return
        began_ms = self.group.now
        while not ending.capped and not ending.settled and self._gets_on(began_ms):
            self._let_go_on(self.group.now + _LOOKS_MS)
            if self._lost() or self._forgotten():  # as yet: a welcome may be on its way
                self._let_go_on(self.group.now + _ON_ITS_WAY_MS + 2 * self.group.timeouts.exclude_ms)
                ending.lost = self._lost() or self._forgotten()
                if ending.lost:
                    return
            ending.settled = self._settled()
        if not ending.settled:
            return
        ending.settled = False
        view = self._up()[0].machine.view
        for process in range(self.schedule.members):
            if self.group.up(process):
                self._want(process, b"last %d" % process)
        while not ending.capped and not ending.settled and self._gets_on(began_ms):
            self._let_go_on(self.group.now + _LOOKS_MS)
            ending.settled = self._settled()
            if ending.settled and self._up()[0].machine.view == view:
                ending.settled = self._all_have_the_last()
        self._let_go_on(self.group.now + LINGER_MS)

    def _gets_on(self, began_ms: float) -> bool:
        """Return True if something was delivered in the last `bound_ms`, or if these have not passed since
        `began_ms`.
        """
        lives = self.group.all_lives
        last_ms = max((life.delivered_at[-1] for life in lives if life.delivered_at), default=0.0)
        return self.group.now < max(began_ms, last_ms) + self.settings.bound_ms

    def _all_have_the_last(self) -> bool:
        """Return True if all running processes have delivered the last message of each of them. Without a
        common order, numbers of deliveries do not show this.
        """
        lives = self._up()
        last = {life.sent[-1] for life in lives if life.sent}
        return all(last <= {one.payload for one in life.deliveries} for life in lives)

    def _let_go_on(self, until: float) -> None:
        """Let virtual time pass until `until`. End each process that has left, as soon as no other process
        needs it.
        """
        group = self.group
        while group.now < until and not self.ending.capped:
            left = self.settings.steps_max - group.steps
            self.ending.capped = not group.run(min(until, group.now + _LOOKS_MS), left)
            for process in range(self.schedule.members):
                life = group.life(process) if group.up(process) else None
                if life is None or not life.over or life.paused or life.machine.owes:
                    continue
                if isinstance(life.events[-1], Left):
                    group.farewell(process)

    def _lost(self) -> bool:
        """Return True if a running process knows a view, and those that run are no majority of the last one.

        A process that joins counts as a member of the view once it, or a running member, knows of the view.
        """
        last, up = self._last_view(), self._up()
        told = [life for life in up if life.machine.view is not None]
        if last is None or not told:
            return False
        numbers = {life.machine.view.number for life in told if life.machine.view is not None}
        there = {life.member for life in (up if last.number in numbers else told)}
        return len(there.intersection(last.members)) < last.majority

    def _forgotten(self) -> bool:
        """Return True if there was a view, and no running process knows of any."""
        return self._last_view() is not None and all(life.machine.view is None for life in self._up())

    def _last_view(self) -> View | None:
        views = [life.machine.view for life in self.group.all_lives if life.machine.view is not None]
        return max(views, key=lambda view: view.number, default=None)

    def _settled(self) -> bool:
        """Return True if all running processes are in one view, and have delivered all that each of them has
        broadcast.
        """
        lives = self._up()
        members = {life.member for life in lives}
        views = {None if life.machine.view is None else life.machine.view.number for life in lives}
        return (
            bool(lives)
            and len(views) == 1
            and all(
                life.machine.epoch is not None
                and life.machine.view is not None
                and set(life.machine.view.members) == members
                for life in lives
            )
            and not self.group.waits
            and not any(life.leaves for life in lives)
            and len({life.machine.delivered for life in lives}) == 1
            and all(
                len(life.sent) == sum(one.source == life.member for one in life.deliveries) for life in lives
            )
        )

    def _up(self) -> list[Life]:
        return [life for life in self.group.all_lives if life.alive and not life.over]

    def _start(self, process: int) -> None:
        """Start a process with its command line, which is the same each time (rule 1)."""
        views = [life.machine.view for life in self._up() if life.machine.view is not None]
        untold = {life.member for life in self._up() if life.machine.view is None}
        own = {life.member for life in self.group.lives[process]}
        there = self.schedule.members
        if views:
            others = {one for one in max(views, key=lambda view: view.number).members if one not in own}
            there = len(others - untold)
        founds = process == 0 and 2 * there >= self.schedule.members and not self._forgotten()
        self.group.begin(process, len(self.founders) if founds else None)

    def _want(self, process: int, payload: bytes) -> None:
        if self.group.up(process):
            self.log.broadcast(process, payload)
            self.group.want(process, payload)

    def _put(self, entry: Entry, after: float) -> None:
        """Schedule the effects of a fault; the times of its entry count from `after`."""
        match entry:
            case Crash(at_ms=at, process=process):
                self._at(after + at, entry, process, "crashes", self._crash)
            case Restart(at_ms=at, process=process):
                self._at(after + at, entry, process, "is started again", self._restart)
            case Leave(at_ms=at, process=process):
                self._at(after + at, entry, process, "leaves", self._leave)
            case Pause(at_ms=at, until_ms=until, process=process):
                self._at(after + at, entry, process, f"stopped for {until - at:g} ms", self._pause)
            case Jump(at_ms=at, process=process, by_ms=by):
                self._at(after + at, entry, process, f"clock jumps by {by:g} ms", self._jump)
            case Start(process=process) if process in self.founders:
                pass
            case Start():
                self.ending.happened[FaultKind.JOIN] += 1
            case Skew():
                self.ending.happened[FaultKind.SKEW] += 1
            case Cut(at_ms=at, until_ms=until, links=links):
                told = ", ".join(f"{sender} to {to}" for sender, to in links)
                self._at(after + at, entry, None, f"cut {told}", self._cut)
                self._at(after + until, entry, None, f"heal {told}", self._heal)
            case Slow(at_ms=at, until_ms=until, links=links, by_ms=by):
                told = ", ".join(f"{sender} to {to}" for sender, to in links)
                self._at(after + at, entry, None, f"{by:g} ms slower: {told}", self._slow)
                self._at(after + until, entry, None, f"as before: {told}", self._fast)

    def _at(
        self, at: float, entry: Any, process: int | None, what: str, act: Callable[[Any], FaultKind | None]
    ) -> None:
        """Schedule a fault for this time; note it as missing if it cannot happen then."""

        def happen() -> None:
            gone = process is not None and not self.group.up(process) and not isinstance(entry, Restart)
            if gone and not self.ending.lost:
                assert process is not None, "it happens to a process"
                state = "has ended" if self.group.lives[process] else "has not started"
                self.ending.missing.append(f"at {at:g} ms process {process} {what}, and it {state}")
                return
            if self.ending.lost:
                return
            self.log.fault(process, what)
            kind = act(entry)
            if kind is not None:
                self.ending.happened[kind] += 1

        self.group.at(at, happen)

    def _crash(self, entry: Crash) -> FaultKind:
        self.group.crash(entry.process)
        self.ending.lost = self._lost()
        return FaultKind.CRASH

    def _restart(self, entry: Restart) -> FaultKind:
        if self.group.lives[entry.process]:
            self.group.crash(entry.process)
        self.ending.lost = self._lost()
        if not self.ending.lost:  # or else the founder would rightly found another group
            self._start(entry.process)
        return FaultKind.RESTART

    def _leave(self, entry: Leave) -> FaultKind | None:
        """Let the application of a process leave. A process that is stopped, or about to return, leaves when
        it goes on.
        """
        life = self.group.life(entry.process)
        if life.paused or life.over:
            self._put(structs.replace(entry, at_ms=self.group.now + _RETRIES_MS), 0.0)
            return None
        self.group.depart(entry.process)
        return FaultKind.LEAVE

    def _pause(self, entry: Pause) -> FaultKind | None:
        if self.group.life(entry.process).over:
            by = self.group.now + _RETRIES_MS - entry.at_ms
            self._put(structs.replace(entry, at_ms=entry.at_ms + by, until_ms=entry.until_ms + by), 0.0)
            return None
        self.group.pause(entry.process, entry.until_ms - entry.at_ms)
        return FaultKind.PAUSE

    def _jump(self, entry: Jump) -> FaultKind:
        self.group.jump(entry.process, entry.by_ms)
        return FaultKind.JUMP

    def _cut(self, entry: Cut) -> FaultKind:
        self._cuts[entry] = sum(self.group.cuts[link] for link in entry.links)
        self._set_links()
        both = any((to, sender) in entry.links for sender, to in entry.links)
        return FaultKind.PARTITION if both else FaultKind.ONE_WAY_CUT

    def _heal(self, entry: Cut) -> None:
        if sum(self.group.cuts[link] for link in entry.links) == self._cuts.pop(entry):
            self.ending.idle.append(f"the cut at {entry.at_ms:g} ms lost no datagram")
        self._set_links()

    def _slow(self, entry: Slow) -> None:
        self._slows[entry] = sum(self.group.slowed[link] for link in entry.links)
        self._set_links()

    def _fast(self, entry: Slow) -> None:
        if sum(self.group.slowed[link] for link in entry.links) == self._slows.pop(entry):
            self.ending.idle.append(f"no datagram was slower from {entry.at_ms:g} ms on")
        self._set_links()

    def _set_links(self) -> None:
        """Cut or slow the links whose faults are active now; restore all others."""
        self.group.cut = {link for cut in self._cuts for link in cut.links}
        self.group.slow = {}
        for slow in self._slows:
            for link in slow.links:
                self.group.slow[link] = self.group.slow.get(link, 0.0) + slow.by_ms
