"""Run of a group whose members change: processes are started, disturbed, restarted, and brought together.

1. All start, and found the group; one may start later.
2. While they broadcast, one fault after the other is injected, several at a time while a majority of all
   processes stays running, connected, and in the last reported view.
3. After the faults the processes broadcast the rest of their shares. Then each broadcasts once more, until
   all have delivered the last messages of all in one view. Then they write down their states, and leave.

Whatever happens, no process outlives the run. This module knows no protocol, and judges nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import ClassVar

from antiphon.conformance.run.cluster import control
from antiphon.conformance.run.cluster.changing.faults import (
    TIMEOUTS,
    Deed,
    What,
    joins_after_s,
    round_s,
    rounds,
    spared,
)
from antiphon.conformance.run.cluster.changing.hub import Hub
from antiphon.conformance.run.cluster.exercise import EXERCISED
from antiphon.conformance.run.cluster.processes import Node, NodeFailed
from antiphon.conformance.run.cluster.relay import Pair
from antiphon.conformance.run.cluster.settings import ClusterSettings
from antiphon.conformance.run.swarm.settings import FaultKind

__all__ = ["STATE", "Run", "RunningMember"]

STATE = "state-{}.txt"
"""File with the final state of a process."""

_LEFT = b'{"kind":"left"}\n'
"""Last line of the log of a member that has left; without it the others have not agreed to that in time."""

_LOOKS_S = 0.02

_TOGETHER_S = 30.0
"""Longest time that a deed waits until it may be done (`_may`); a group on a busy machine takes seconds."""

_EXCLUDES = 20.0
"""Longest time that a process stays stopped until the others have excluded it, in `exclude_ms`."""

_LAST_S = 10.0
"""Seconds that the last messages of a round are waited for before there is another round."""


class RunningMember(Node):
    """Running process of a member."""

    MODULE: ClassVar[str] = "antiphon.conformance.run.cluster.changing.node"

    standing: control.Standing | None = None
    sent = 0
    """Number of messages of the share that the group has taken."""
    round = 0
    """Number of the last round whose messages of all processes it has delivered."""
    kept: int | None = None
    """Number of messages in its final state."""
    leaves = False
    """True if the end of the process is no failure of the run."""
    stopped = False
    """True if SIGSTOP has stopped it."""

    def how_far(self) -> str:
        """Return the member's progress in words."""
        if self.standing is None:
            return f"process {self.number} has seen no view"
        where = f"view {self.standing.view} of {len(self.standing.members)} members"
        blocked = ", blocked" if self.standing.blocked else ""
        return f"process {self.number} has seen {where}{blocked}, and broadcast {self.sent} of its messages"

    def _take(self, said: control.Said) -> None:
        match said:
            case control.Standing():
                self.standing = said
            case control.Sent(count):
                self.sent = count
            case control.Everybody(number):
                self.round = max(self.round, number)
            case control.Kept(messages):
                self.kept = messages
            case _:
                super()._take(said)
        self._on_news()

    @property
    def ended(self) -> asyncio.Task[None]:
        """Task that is done when the process has ended."""
        return self._listening


class Run:
    """Run of a changing group. `happened` counts the faults of processes that could be affected."""

    def __init__(
        self, settings: ClusterSettings, home: Path, hub: Hub, key: bytes | None, on_news: Callable[[], None]
    ) -> None:
        self.happened: Counter[What] = Counter()
        self.missing: list[str] = []
        """The faults that were not possible, with the reasons."""
        self.deeds: list[tuple[float, str]] = []
        """The injected faults, with their seconds after the beginning."""
        self.stops = [0] * settings.processes
        self.killed: set[str] = set()
        self.whole = False
        """True if the run ended as planned: all running processes in one view, with the last
        messages of all.
        """
        self._settings, self._home, self._hub, self._key, self._on_news = settings, home, hub, key, on_news
        self._began_at = time.monotonic()
        self._members: list[RunningMember | None] = [None] * settings.processes
        self._everyone: list[RunningMember] = []
        self._runs = Counter[int]()
        self._begun = [0] * settings.processes
        """The number of messages of its share that each process has broadcast in its earlier runs."""
        self._busy: set[int] = set()
        """The processes with a fault now."""
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watching: set[asyncio.Task[None]] = set()
        self._hurries = False
        lasts_s = settings.minutes * 60.0 or round_s(settings.kinds)
        self._every_s = lasts_s / max(1, settings.messages // settings.processes)

    @property
    def members(self) -> list[RunningMember]:
        """Return the running processes."""
        return [member for member in self._members if member is not None]

    @property
    def sent(self) -> int:
        """Return the number of messages of all shares that the group has taken."""
        return sum(
            begun if member is None else max(begun, member.sent)
            for begun, member in zip(self._begun, self._members, strict=True)
        )

    @property
    def view(self) -> control.Standing | None:
        """Return the last reported view."""
        seen = [member.standing for member in self._everyone if member.standing is not None]
        return max(seen, key=lambda standing: standing.view, default=None)

    async def play(self) -> None:
        """Run the group from its founding to its end, with the faults of the settings.

        Raises:
            NodeFailed: the first process that ends by itself.
        """
        playing = asyncio.create_task(self._play())
        try:
            await asyncio.wait([playing, self._failed], return_when=asyncio.FIRST_COMPLETED)
            if self._failed.done():
                self._failed.result()
            await playing
        finally:
            playing.cancel()
            await asyncio.wait([playing])

    async def end(self) -> None:
        """End all processes, and wait for them."""
        for member in self._everyone:
            member.leaves = True
        await asyncio.gather(*(member.end() for member in self._everyone))
        await asyncio.gather(*self._watching, return_exceptions=True)
        self._failed.cancel()
        if not self._failed.cancelled():
            self._failed.exception()  # it has been told

    def how_far(self) -> str:
        """Return the progress of all processes in words, and whether the last view has lost its majority."""
        told = [
            f"process {number} does not run" if member is None else member.how_far()
            for number, member in enumerate(self._members)
        ]
        view = self.view
        if view is not None:
            there = {member.standing.me for member in self.members if member.standing is not None}
            if 2 * len(there.intersection(view.members)) <= len(view.members):
                told.append(f"view {view.view} has lost its majority, and nobody can go on")
        return "; ".join(told)

    # The parts ----------------------------------------------------------------------------------------------

    async def _play(self) -> None:
        settings = self._settings
        late = FaultKind.JOIN in settings.kinds
        self._hub.start()
        await asyncio.gather(*(self._start(process) for process in range(settings.processes - late)))
        if late:
            await self._until(self._together)
            await asyncio.sleep(joins_after_s(settings.seed))
            self._note("process {} is started for the first time", settings.processes - 1)
            await self._start(settings.processes - 1)
        await self._until(self._together)
        self.happened[What.JOIN] += late
        if any(kind in settings.kinds for kind in FaultKind if kind is not FaultKind.JOIN):
            await self._disturb()
        await self._finish()

    async def _disturb(self) -> None:
        """Inject the faults of one round, or, with a time limit, of as many rounds as there is time for."""
        settings = self._settings
        over_at = time.monotonic() + settings.minutes * 60.0
        doing: set[asyncio.Task[None]] = set()
        try:
            for deeds in rounds(settings.seed, settings.processes, settings.kinds):
                for deed in deeds:
                    if not await self._until(partial(self._may, deed), _TOGETHER_S):
                        self.missing.append(
                            f"{deed}: that could not be done in {_TOGETHER_S:g} s: {self.how_far()}"
                        )
                        over_at = 0.0
                        break
                    self._busy.update(deed.to)
                    task = asyncio.create_task(self._do(deed))
                    task.add_done_callback(self._done)
                    doing.add(task)
                    await asyncio.sleep(deed.gap_s)
                if not deeds or time.monotonic() >= over_at:
                    break
        except BaseException:
            for task in doing:
                task.cancel()
            raise
        finally:
            await asyncio.gather(*doing, return_exceptions=True)

    async def _finish(self) -> None:
        """Bring all processes into one view, have them write their states, and let them leave."""
        self._hurries = True
        for member in self.members:
            member.tell(control.HURRY)
        await self._until(lambda: all(member.finished.done() for member in self.members))
        number = 0
        while True:
            await self._until(self._together)
            view, number = self.view, number + 1
            for member in self.members:
                member.tell(b"%s%d\n" % (control.LAST, number))
            had = await self._until(partial(self._have, number), _LAST_S)
            if had and self._together() and self.view == view:
                break
        for member in self.members:
            member.tell(control.KEEP)
        await self._until(lambda: all(member.kept is not None for member in self.members))
        self.whole = True
        for member in self.members:
            member.leaves = True
            await member.stop()  # one after the other: those that stay see it in a view

    def _have(self, number: int) -> bool:
        return all(member.round >= number for member in self.members)

    async def _until(self, condition: Callable[[], bool], most_s: float | None = None) -> bool:
        """Wait until the condition is true, for at most `most_s` seconds. Return whether it is."""
        until = None if most_s is None else time.monotonic() + most_s
        while not condition():
            if until is not None and time.monotonic() >= until:
                return False
            await asyncio.sleep(_LOOKS_S)
        return True

    # Who is where -------------------------------------------------------------------------------------------

    def _good(self) -> set[int]:
        """Return the processes that are in the last reported view, are connected there, and have no fault
        now.
        """
        view = self.view
        if view is None:
            return set()
        return {
            member.number
            for member in self.members
            if member.number not in self._busy
            and (standing := member.standing) is not None
            and not standing.blocked
            and standing.view == view.view
            and standing.me in view.members
        }

    def _together(self) -> bool:
        """Return True if all running processes are in one view that has no other member."""
        view, running = self.view, self.members
        good = self._good()
        return view is not None and len(view.members) == len(running) == len(good)

    def _may(self, deed: Deed) -> bool:
        """Return True if a fault may be injected now: a majority stays undisturbed."""
        victims, good = {*deed.to}, self._good()
        if deed.early and not victims & (self._busy | good) and self._members[deed.to[0]] is not None:
            return True
        processes = self._settings.processes
        return victims <= good and len(good - victims) >= processes - spared(processes)

    # Deeds --------------------------------------------------------------------------------------------------

    async def _do(self, deed: Deed) -> None:
        """Inject a fault; count it if it could affect a process."""
        member = self._members[deed.to[0]]
        assert member is not None, "it was asked whether this may be done"
        felt = member.standing is not None
        self._note(f"{deed}, for {deed.lasts_s:.2f} s")
        try:
            match deed.what:
                case What.CRASH | What.RESTART:
                    await self._end(member)
                    await self._away(member, deed)
                case What.LEAVE:
                    felt = await self._leave(member)
                    await self._away(member, deed)
                case What.PAUSE | What.LONG_PAUSE:
                    felt = await self._pause(member, deed)
                case _:
                    felt = await self._disturbed(deed)
        finally:
            self._busy.difference_update(deed.to)
        self.happened[deed.what] += felt

    def _done(self, task: asyncio.Task[None]) -> None:
        """Fail the run at once if a fault could not be injected, for example if a process that was to leave
        does not.
        """
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._failed.done():
            self._failed.set_exception(error)

    async def _away(self, member: RunningMember, deed: Deed) -> None:
        await asyncio.sleep(deed.lasts_s if deed.what is not What.RESTART else 0.0)
        await self._start(member.number)

    async def _end(self, member: RunningMember) -> None:
        """Kill a member's process by SIGKILL."""
        member.leaves = True
        if member.standing is not None:
            self.killed.add(member.standing.me)
        await member.kill()
        await self._gone(member)

    async def _leave(self, member: RunningMember) -> bool:
        member.leaves = True
        standing = member.standing
        await member.stop()
        await self._gone(member)
        if standing is None:
            return False
        path = self._home / f"member-{standing.me}.ndjson"
        return path.read_bytes().endswith(_LEFT)

    async def _gone(self, member: RunningMember) -> None:
        await member.ended
        self._hub.ended(member.number)
        self._begun[member.number] = max(self._begun[member.number], member.sent)
        self._members[member.number] = None

    async def _pause(self, member: RunningMember, deed: Deed) -> bool:
        """Stop a process, and let it go on after the fault's duration; for a long pause, once the others have
        excluded it. Return whether the fault could affect a process.
        """
        was = member.standing
        member.stopped = True
        paused = asyncio.create_task(member.pause(_EXCLUDES * TIMEOUTS.exclude_ms / 1000.0))
        try:
            await asyncio.sleep(deed.lasts_s)
            if deed.what is not What.LONG_PAUSE:
                return True
            most_s = _EXCLUDES * TIMEOUTS.exclude_ms / 1000.0
            return await self._until(lambda: was is not None and self._without(was.me), most_s)
        finally:
            paused.cancel()
            await asyncio.wait([paused])
            member.stopped = False
            self.stops[member.number] += 1

    def _without(self, incarnation: str) -> bool:
        return self.view is not None and incarnation not in self.view.members

    async def _disturbed(self, deed: Deed) -> bool:
        """Have the relay lose or delay datagrams for the fault's duration. Return whether there were any."""
        everybody = range(self._settings.processes)
        apart: list[Pair] = []
        if deed.what is What.PARTITION:
            apart = [(a, b) for a in everybody for b in everybody if (a in deed.to) != (b in deed.to)]
        elif deed.what is What.ONE_WAY_CUT:
            apart = [(deed.to[0], deed.other)]
        elif deed.what is What.DEAF:
            apart = [(sender, deed.to[0]) for sender in everybody if sender != deed.to[0]]
        before = self._hub.counts
        with self._hub.cut(apart) if apart else self._slowed(deed.to[0]):
            await asyncio.sleep(deed.lasts_s)
        after = self._hub.counts
        return after.cut > before.cut or after.delayed > before.delayed

    def _slowed(self, process: int) -> AbstractContextManager[None]:
        return self._hub.slowed(process, 1.3 * TIMEOUTS.suspect_ms)

    # Processes ----------------------------------------------------------------------------------------------

    async def _start(self, process: int) -> None:
        settings = self._settings
        orders = control.JoinOrders(
            group=self._home.name,
            protocol=settings.protocol,
            process=process,
            run=self._runs[process],
            seeds=self._hub.addresses,
            expect=settings.processes - (FaultKind.JOIN in settings.kinds),
            key=self._key,
            timeouts=TIMEOUTS,
            seed=settings.seed,
            begun=self._begun[process],
            share=settings.share(process),
            every_s=0.0 if self._hurries else self._every_s,
            exercised=(
                str(self._home / EXERCISED.format(process, self._runs[process])) if settings.record else ""
            ),
            logs=str(self._home.absolute()),
            state=str((self._home / STATE.format(process)).absolute()),
        )
        self._runs[process] += 1
        member = await RunningMember.start(process, control.line(orders), self._home, self._on_news)
        self._members[process] = member
        self._everyone.append(member)
        watching = asyncio.create_task(self._watch(member))
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)
        with contextlib.suppress(NodeFailed):  # who watches it tells
            self._hub.listens(process, await member.bound)
            member.tell(control.START)

    async def _watch(self, member: RunningMember) -> None:
        """Fail the run when a process ends that no fault has ended."""
        await asyncio.wait([member.ended])
        if not member.leaves and not self._failed.done():
            error = member.finished.exception() if member.finished.done() else None
            self._failed.set_exception(error or NodeFailed(f"process {member.number} has ended"))

    def _note(self, what: str, *values: object) -> None:
        self.deeds.append((round(time.monotonic() - self._began_at, 3), what.format(*values)))
