"""Group of another system: its members are started on hosts, disturbed, and brought together again.

1. All members start, and come together in one view.
2. While they broadcast, one fault after the other is injected, each at its time.
3. Every link is healed, every member that is away is started again, and all broadcast once more.

This module knows no system but by its member's words, and judges nothing.
"""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import permutations
from pathlib import Path
from typing import Final

from antiphon.conformance.run.cluster.relay import Pair
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.conformance.run.systems.faults import LOSS, Fault, SystemSettings
from antiphon.conformance.run.systems.hosts import Hosts
from antiphon.conformance.run.systems.logs import Printed
from antiphon.conformance.run.systems.members import System

__all__ = ["Group"]

_TOGETHER_S: Final = 40.0
"""Seconds that the members have to come together in one view."""

_EVERY_S: Final = 0.05
"""Seconds between two broadcasts of a member."""

_SETTLES_S: Final = 30.0
"""Seconds in which the members deliver their last messages."""


class _Member:
    """A running member: its process, and the lines that it prints, which go to a file."""

    def __init__(self, name: str, command: Sequence[str], home: Path) -> None:
        self.name = name
        self.is_gone = self.is_whole = False
        self._file = home / f"{name}.lines.txt"
        with self._file.open("wb") as out, (home / f"{name}.errors.txt").open("wb") as errors:
            self.process = subprocess.Popen(  # noqa: S603 - a member that was built here
                command, stdin=subprocess.PIPE, stdout=out, stderr=errors, start_new_session=True
            )
        self.said = 0
        self._has_view = False

    def tell(self, command: str) -> None:
        """Write a command; a member that has ended does not get it."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError, ValueError):  # it has ended, or is being ended
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()

    def has_view(self) -> bool:
        """Return True if it has installed a view; before, it cannot broadcast."""
        self._has_view = self._has_view or bool(self.printed().views)
        return self._has_view

    def printed(self) -> Printed:
        """Return the whole lines so far, without their times."""
        lines = self._file.read_bytes().decode(errors="replace").split("\n")[:-1]
        untimed = tuple(line.partition(" ")[2] for line in lines)
        return Printed(self.name, untimed, self.is_gone, self.is_whole)


class Group:
    """One group on its hosts: `play` runs it, `printed` has what its members said."""

    def __init__(
        self,
        settings: SystemSettings,
        system: System,
        hosts: Hosts,
        built: Path,
        home: Path,
        on_news: Callable[[str], None],
    ) -> None:
        self.happened: list[Fault] = []
        self.missing: list[str] = []
        self._settings, self._system, self._hosts = settings, system, hosts
        self._built, self._home, self._on_news = built, home, on_news
        self._all: list[_Member] = []
        self._at: dict[int, _Member] = {}
        self._lives = Counter[int]()
        self._quiet = threading.Event()
        self._stopped: set[int] = set()

    def play(self, faults: Sequence[Fault]) -> None:
        """Run everything; nothing runs afterwards."""
        for host in range(self._settings.processes):
            self._start(host)
        if not self._together():
            told = f"the members did not come together in {_TOGETHER_S:.0f} s: {self._how_far()}"
            self.missing.append(told)
            return
        talking = threading.Thread(target=self._talk, name="talk", daemon=True)
        talking.start()
        try:
            self._inject(faults)
            for host in range(self._settings.processes):
                if host not in self._at:
                    self._start(host)
            if not self._together():
                self.missing.append(
                    f"the members did not come together again in {_TOGETHER_S:.0f} s: {self._how_far()}"
                )
        finally:
            self._quiet.set()
            talking.join()
        for member in self._at.values():
            self._say(member)
        self._settle()
        if FaultKind.LOSS in self._settings.kinds and not self._hosts.lost():
            self.missing.append(f"no packet was lost although the probability is {LOSS}")
        for member in self._at.values():
            if member.process.poll() is not None:
                self.missing.append(
                    f"{member.name} has ended with {member.process.returncode}: {member.name}.errors.txt"
                )

    def end(self) -> None:
        """End all processes."""
        for host, member in self._at.items():
            self._hosts.signal(host, signal.SIGKILL)
            member.end()

    def printed(self) -> list[Printed]:
        """Return the lines of all runs of members."""
        return [member.printed() for member in self._all]

    def version(self) -> str:
        """Return the version that a member has printed."""
        told = (line[8:] for each in self.printed() for line in each.lines if line.startswith("version "))
        return next(told, "of unknown version")

    # Members ------------------------------------------------------------------------------------------------

    def _start(self, host: int) -> None:
        self._lives[host] += 1
        name = f"p{host}.{self._lives[host]}"
        home, hosts = self._home.absolute(), self._settings.processes
        command = self._system.command(self._built, home, name, host, hosts)
        member = _Member(name, self._hosts.inside(host, command), self._home)
        self._all.append(member)
        self._at[host] = member

    def _kill(self, host: int) -> None:
        member = self._at.pop(host)
        member.is_gone = True
        self._hosts.signal(host, signal.SIGKILL)
        member.end()

    def _say(self, member: _Member) -> None:
        member.said += 1
        member.tell(f"say {member.name}:{member.said}")

    def _talk(self) -> None:
        """Let every member broadcast, each at its own pace, until the run is quiet."""
        while not self._quiet.wait(_EVERY_S):
            for host, member in [*self._at.items()]:
                if host not in self._stopped and member.has_view():
                    self._say(member)

    def _together(self) -> bool:
        """Wait until all running members are in one view of just these; return whether it came."""
        until = time.monotonic() + _TOGETHER_S
        while time.monotonic() < until:
            last = [each.views[-1:] for each in (member.printed() for member in [*self._at.values()])]
            if all(last) and len({tuple(view) for view in last}) == 1 and len(last[0][0][1]) == len(last):
                return True
            if any(member.process.poll() is not None for member in self._at.values()):
                return False
            time.sleep(0.2)
        return False

    def _settle(self) -> None:
        """Wait until every member has delivered the last messages of all; note it if that never happens."""
        last = {f"got {member.name}:{member.said}" for member in self._at.values()}
        until = time.monotonic() + _SETTLES_S
        while time.monotonic() < until:
            late = [each.name for each in self._at.values() if not last.issubset(each.printed().lines[-500:])]
            if not late:
                for member in self._at.values():
                    member.is_whole = True
                return
            time.sleep(0.2)
        told = f"the last messages were not delivered in {_SETTLES_S:.0f} s by {', '.join(late)}"
        self.missing.append(told)

    def _how_far(self) -> str:
        told = []
        for member in self._at.values():
            ended = member.process.poll()
            views = member.printed().views
            where = f"has a view of {len(views[-1][1])}" if views else "has no view"
            told.append(f"{member.name} {where if ended is None else f'ended with {ended}'}")
        return ", ".join(told)

    # Faults -------------------------------------------------------------------------------------------------

    def _inject(self, faults: Sequence[Fault]) -> None:
        """Inject each fault at its time, and undo it at the end of its time. A fault whose host is stopped or
        away at its time begins when the host is back.
        """
        began = time.monotonic()
        undoing: list[tuple[float, int, Callable[[], None]]] = []

        def until(at: float) -> None:
            while undoing and min(undoing)[0] <= at:
                due = min(undoing)
                undoing.remove(due)
                _sleep_until(began + due[0])
                due[2]()
            _sleep_until(began + at)

        for number, fault in enumerate(faults):
            until(fault.at_s)
            self._on_news(str(fault))
            undo, begins_s = self._begin(fault), fault.at_s
            while undo is None and undoing:
                begins_s = max(begins_s, min(undoing)[0])
                until(begins_s)
                undo = self._begin(fault)
            if undo is None:
                continue
            self.happened.append(fault)
            undoing.append((begins_s + fault.lasts_s, number, undo))
        while undoing:
            until(max(undoing)[0])
        asked = {fault.kind for fault in faults}
        for kind in sorted(asked - {fault.kind for fault in self.happened}):
            self.missing.append(f"{kind} never happened")

    def _begin(self, fault: Fault) -> Callable[[], None] | None:
        """Begin a fault; return what ends it, or None if it is not possible now."""
        match fault.kind:
            case FaultKind.PARTITION | FaultKind.ONE_WAY_CUT:
                pairs = self._cut_pairs(fault)
                self._hosts.cut(pairs)
                return lambda: self._hosts.heal(pairs)
        (host,) = fault.hosts
        if host not in self._at or host in self._stopped or len(self._at) < 2:
            return None
        match fault.kind:
            case FaultKind.PAUSE:
                self._stopped.add(host)
                self._hosts.signal(host, signal.SIGSTOP)
                return lambda: self._go_on(host)
            case FaultKind.LEAVE:
                member = self._at[host]
                member.tell("leave")
                with suppress(subprocess.TimeoutExpired):
                    member.process.wait(5.0)
        self._kill(host)
        return lambda: self._start(host)

    def _go_on(self, host: int) -> None:
        self._hosts.signal(host, signal.SIGCONT)
        self._stopped.discard(host)

    def _cut_pairs(self, fault: Fault) -> list[Pair]:
        if fault.kind is FaultKind.ONE_WAY_CUT:
            sender, receiver = fault.hosts
            return [(sender, receiver)]
        return [
            pair
            for pair in permutations(range(self._settings.processes), 2)
            if (pair[0] in fault.hosts) != (pair[1] in fault.hosts)
        ]


def _sleep_until(at: float) -> None:
    time.sleep(max(0.0, at - time.monotonic()))


