"""The draw of a seed for a group whose members change: the faults, their strength, and their times.

1. Each process has its own sequence of events: it crashes, is started again, leaves, or is stopped, never two
    of these at once. So each of them happens.
2. As a rule, a majority of the processes is there at any time: a group that has lost its majority stands
    still for ever, and has no further duties. One draw in ten ignores this rule.
3. In most runs there is no fault until the group has been founded. In the others one process at most, not the
  founder, ends and comes back, since the founder waits for all; and at the end, when the group has been
  founded, a process ends.
4. All processes are seeds. Fewer than half of them join later, and stay. The founder broadcasts from the
  beginning.

This module knows no protocol and runs nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import asdict

from antiphon.conformance.run.swarm.chance import Drawn, Link, Rates, Weather
from antiphon.conformance.run.swarm.schedule import (
    Broadcast,
    Crash,
    Cut,
    Entry,
    Jump,
    Leave,
    Pause,
    Restart,
    Schedule,
    Skew,
    Slow,
    Start,
)
from antiphon.conformance.run.swarm.settings import FaultKind, Settings
from antiphon.impl.membership.detector import LOCAL, Timeouts
from antiphon.impl.protocols.core import Implementation

__all__ = ["draw"]

TIMEOUTS = (
    Timeouts(heartbeat_ms=50, suspect_ms=150, exclude_ms=400),
    Timeouts(heartbeat_ms=50, suspect_ms=100, exclude_ms=300),
    Timeouts(heartbeat_ms=50, suspect_ms=250, exclude_ms=800),
    Timeouts(heartbeat_ms=40, suspect_ms=200, exclude_ms=200),
)
"""Waiting times of runs, except for one in sixteen with those of `LOCAL`: the behaviour depends on their
ratios, and heartbeats are most of the cost of a run.
"""

_FOUNDED_MS = 100.0
"""A group of which no datagram is lost has been founded by then, unless the founder waits for seeds that have
not started yet.
"""

_SAYS_MS = 300.0
"""Milliseconds after the founding at which something has been delivered."""

_DEAF = 0.25
"""Probability that a cut in one direction is one of all links to a process, which then hears nothing."""

_SIZES = (65_000, 1_400, 600)
_SPELLS = (FaultKind.CRASH, FaultKind.RESTART, FaultKind.LEAVE, FaultKind.PAUSE)
_GOING = (FaultKind.CRASH, FaultKind.RESTART, FaultKind.LEAVE)
_DATAGRAM_FAULTS = (FaultKind.LOSS, FaultKind.DUPLICATION, FaultKind.REORDERING)


def draw(seed: int, settings: Settings, implementation: Implementation[Any]) -> Drawn:  # noqa: ARG001
    """Return the draw of a seed; it is the same for all protocols."""
    draws = _Draws(seed, settings)
    delay_ms, rates = draws.delay_ms(), draws.rates()
    layers = {"ahead": draws.choice((1, 2, 4)), "datagram_bytes": draws.choice(_SIZES)}
    entries = tuple(draws.entries())
    schedule = Schedule(
        members=settings.members, entries=entries, delay_ms=delay_ms, calm_ms=draws.calm_ms, layers=layers,
        chance=seed, timeouts=asdict(draws.timeouts), hints=draws.hints,
    )  # fmt: skip
    return Drawn(draws.faults, schedule, _Later(seed, rates, delay_ms, draws.calm_ms, draws.begins_ms))


class _Later(Weather):
    """Generator of the fates of datagrams, whose faults begin at a given time."""

    def __init__(
        self, seed: int, rates: dict[Link, Rates], delay_ms: float, calm_ms: float, begins_ms: float
    ) -> None:
        super().__init__(seed, rates, delay_ms, calm_ms)
        self._begins_ms = begins_ms

    def __call__(self, sender: int, to: int, now: float) -> Sequence[float]:
        """Return the delays of the copies of a datagram that arrive; one usual delay before the faults
        begin.
        """
        if now < self._begins_ms:
            self._sent[sender, to] += 1
            return self._usual
        return super().__call__(sender, to, now)


class _Draws:
    """Random draws for the run of a seed, of a group whose members change. They are always made in the same
    order.
    """

    def __init__(self, seed: int, settings: Settings) -> None:
        self._random = random.Random(f"{seed}:changing")
        self._deaf = random.Random(f"{seed}:deaf")
        self._settings = settings
        kinds = FaultKind.of(join=True)
        self.faults = tuple(kind for kind in kinds if self._chance(0.5) and kind in settings.faults)
        self.timeouts = LOCAL if self._chance(1 / 16) else self.choice(TIMEOUTS)
        self.hints = self._chance(0.5)
        joins = FaultKind.JOIN in self.faults
        goes = any(kind in self.faults for kind in _GOING) and settings.members > 2
        self._founded = self._chance(0.6) or joins or not goes
        founded_ms = _FOUNDED_MS + (1.2 * self.timeouts.suspect_ms if joins else 0.0)
        self.begins_ms = founded_ms if self._founded else 0.0
        self._span_ms = round(self.timeouts.exclude_ms * self._random.uniform(0.5, 3.0), 1)
        self.calm_ms = round(self.begins_ms + self._span_ms, 1)
        self._away: list[tuple[float, float, int]] = []
        """Times at which processes are gone, until the others have noticed all of it."""
        self._starts: dict[int, float] = {}

    def choice(self, among: Sequence[Any]) -> Any:
        """Draw one of these elements."""
        return self._random.choice(among)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _between(self, least: float, most: float) -> float:
        return round(self._random.uniform(least, most), 1)

    def _moment(self) -> float:
        return self._between(self.begins_ms, self.calm_ms)

    def delay_ms(self) -> float:
        """Draw the usual delay of a datagram."""
        return self._between(2.0, 25.0) if FaultKind.DELAY in self.faults else 1.0

    def rates(self) -> dict[Link, Rates]:
        """Draw the faults of each link: all alike, or each strong, weak or none."""
        alike, late_ms = self._chance(0.5), self._between(2.0, 2 * self.timeouts.suspect_ms)
        strengths = [self._random.random() * 0.4 for _ in _DATAGRAM_FAULTS]
        strengths = [
            strength if kind in self.faults else 0.0
            for kind, strength in zip(_DATAGRAM_FAULTS, strengths, strict=True)
        ]
        found: dict[Link, Rates] = {}
        for link in _links(range(self._settings.members)):
            parts = [1.0 if alike else self.choice((0.0, 0.5, 1.5)) for _ in strengths]
            loss, duplication, reordering = (s * part for s, part in zip(strengths, parts, strict=True))
            found[link] = Rates(loss, duplication, reordering, late_ms)
        return found

    def entries(self) -> Iterator[Entry]:
        """Draw the broadcasts, and the faults other than those of datagrams."""
        processes = range(self._settings.members)
        yield from self._broadcasts(processes)
        starts = self._starts = dict.fromkeys(processes, self.begins_ms)
        if FaultKind.JOIN in self.faults and len(processes) > 2:
            joiners = self._random.randint(1, (len(processes) - 1) // 2)
            for process in self._random.sample(processes[1:], joiners):
                starts[process] = self._moment()
                yield Start(starts[process], process)
        for process in self._random.sample(processes, len(processes)):
            yield from self._life(process, starts[process])
        yield from self._of_links(processes)
        if not self._founded:
            at = self.calm_ms + 3 * self.timeouts.exclude_ms + 8 * self.timeouts.suspect_ms
            kind = self.choice([kind for kind in _GOING if kind in self.faults])
            yield from _spell(kind, self.choice(processes[1:]), at, None)
        if FaultKind.SKEW in self.faults:
            for process in processes:
                rate = round(1.1 ** self._random.uniform(-1.0, 1.0), 3)
                yield Skew(process, float(self._random.randrange(10**6)), rate)

    def _broadcasts(self, processes: Sequence[int]) -> Iterator[Broadcast]:
        """Draw the broadcasts: spread over the run, or in bursts with idle phases; from all processes, or
        mostly from one.
        """
        eager, favour = self.choice(processes), self.choice((0.0, 0.0, 0.8))
        bursts = sorted(self._between(0.0, self.calm_ms) for _ in range(self._random.randint(1, 5)))
        size = self.choice((0, 0, 100, 2_000))
        yield Broadcast(0.0, 0)
        for _ in range(self._settings.messages - 1):
            moment, burst = self._between(0.0, self.calm_ms), self.choice(bursts)
            process = eager if self._chance(favour) else self.choice(processes)
            size_bytes = self._random.randrange(size + 1)
            yield Broadcast(burst if FaultKind.IDLE in self.faults else moment, process, size_bytes)

    def _life(self, process: int, start: float) -> Iterator[Entry]:
        """Yield the events of a process's life, one after the other, from its start on."""
        at = start
        jumps = FaultKind.JUMP in self.faults and self._chance(0.5)
        kinds = [kind for kind in _SPELLS if kind in self.faults]
        if process == 0 and not self._founded:
            kinds = [kind for kind in kinds if kind is FaultKind.PAUSE]
        for _ in range(self._random.randint(0, 2) if kinds else 0):
            at = self._between(at, max(at, self.calm_ms))
            kind = self.choice(kinds)
            until = self._until(kind, at, forever=self._founded and start == self.begins_ms)
            if kind is not FaultKind.PAUSE and not self._may_go(kind, at, until, process):
                continue
            yield from _spell(kind, process, at, until)
            if until is None:
                return
            at = until + 5.0
        if jumps:
            yield self._jump(process, at)

    def _until(self, kind: FaultKind, at: float, *, forever: bool) -> float | None:
        """Draw the time at which a fault ends, or None if it never ends."""
        times = self.timeouts
        if kind is FaultKind.RESTART:
            return at
        if kind is not FaultKind.PAUSE and self._chance(0.3) and forever:
            return None
        least, most = self.choice(
            (
                (1.0, times.heartbeat_ms),
                (times.heartbeat_ms, 1.5 * times.suspect_ms),
                (times.suspect_ms, 2.0 * times.exclude_ms),
            )
        )
        return round(at + self._between(least, max(least, most)), 1)

    def _may_go(self, kind: FaultKind, at: float, until: float | None, process: int) -> bool:
        """Return True if a majority of processes stays while a process has this fault. In one draw of ten,
        return True in any case.
        """
        late_ms = 2 * self.timeouts.exclude_ms
        end = float("inf") if until is None else until + late_ms
        meanwhile = {other for begin, over, other in self._away if begin <= end and at <= over}
        gone = len(meanwhile - {process})
        there = sum(start == self.begins_ms or start + late_ms <= at for start in self._starts.values())
        careless = self._chance(0.1) and self._founded and at > self.begins_ms + _SAYS_MS
        alone = kind is FaultKind.LEAVE and not gone  # nobody misses it
        if 2 * (gone + 1) >= there and not careless and not alone:
            return False
        if not self._founded and any(other != process for _, _, other in self._away):
            return False
        self._away.append((at, end, process))
        return True

    def _jump(self, process: int, at: float) -> Jump:
        """Draw a jump of a process's clock: forward by up to ten seconds, or a stop that is longer than the
        others wait.
        """
        at = self._between(at, max(at, self.calm_ms))
        if self._chance(0.5):
            return Jump(at, process, -self._between(10.0, 1.5 * self.timeouts.exclude_ms))
        return Jump(at, process, self._between(self.timeouts.heartbeat_ms, 10_000.0))

    def _of_links(self, processes: Sequence[int]) -> Iterator[Entry]:
        """Draw the links that are cut or slow, and when."""
        times = self.timeouts
        if FaultKind.ONE_WAY_CUT in self.faults:
            for _ in range(self._random.randint(1, 2)):
                sender, to = self._random.sample(processes, 2)
                deaf = tuple(link for link in _links(processes) if link[1] == to)
                links = deaf if self._deaf.random() < _DEAF else ((sender, to),)
                at = self._moment()
                yield Cut(at, round(at + self._between(10.0, 1.5 * times.exclude_ms), 1), links)
        if FaultKind.PARTITION in self.faults:
            side = set(self._random.sample(processes, self._random.randint(1, len(processes) - 1)))
            crossing = tuple(link for link in _links(processes) if (link[0] in side) != (link[1] in side))
            at = self._moment()
            yield Cut(at, round(at + self._between(10.0, 2.0 * times.exclude_ms), 1), crossing)
        if FaultKind.FALSE_SUSPICION in self.faults:
            process, at = self.choice(processes), self._moment()
            links = tuple(link for link in _links(processes) if link[0] == process)
            by_ms = self._between(1.2 * times.suspect_ms, 2.5 * times.suspect_ms)
            yield Slow(at, round(at + by_ms, 1), links, by_ms)


def _spell(kind: FaultKind, process: int, at: float, until: float | None) -> Iterator[Entry]:
    match kind:
        case FaultKind.PAUSE if until is not None:
            yield Pause(at, until, process)
        case FaultKind.RESTART:
            yield Restart(at, process)
        case FaultKind.CRASH:
            yield Crash(at, process)
        case FaultKind.LEAVE:
            yield Leave(at, process)
    if kind in (FaultKind.CRASH, FaultKind.LEAVE) and until is not None:
        yield Restart(until, process)


def _links(processes: Sequence[int]) -> list[Link]:
    return [(sender, to) for sender in processes for to in processes if sender != to]
