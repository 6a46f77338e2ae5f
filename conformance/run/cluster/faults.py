"""Faults of links: the k-th datagram from one process to another gets the k-th decision of a seeded
generator.

1. Each ordered pair of processes has its own generator, so what happens on one link does not
   depend on how the links interleave.
2. Every decision takes the same number of draws: raising the loss leaves the duplications where they were.
3. Counts are of actual effects: a delayed datagram counts as reordered only when a later one of its link has
    overtaken it.

This module knows no socket, no clock (`now` is milliseconds, given by the caller) and no protocol.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

HOLD_MS = 4.0
"""Milliseconds that a datagram which is to be reordered waits for one that overtakes it."""

LATE_MS_MAX = 20.0
"""Largest delay of the second copy of a duplicated datagram, in milliseconds."""


class Faults(msgspec.Struct, frozen=True, kw_only=True):
    """The faults of a link: three probabilities, each at least 0 and less than 1."""

    loss: float = 0.0
    duplication: float = 0.0
    reordering: float = 0.0


class Counts(msgspec.Struct, kw_only=True):
    """Counts of a link, or of all of them, so far, in datagrams.

    `refused` counts datagrams that the operating system did not carry or that were for a process that had not
    started, `strange` datagrams from unknown addresses, which were dropped, `cut` those lost by a cut,
    `delayed` those that took longer than the receiver's waiting time. The last two occur in groups whose
    members change.
    """

    offered: int = 0
    dropped: int = 0
    duplicated: int = 0
    reordered: int = 0
    refused: int = 0
    strange: int = 0
    cut: int = 0
    delayed: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


@dataclass(frozen=True)
class Decision:
    """Fate of one datagram: lost, delayed to be overtaken, sent again after `late_ms`."""

    drop: bool
    hold: bool
    duplicate: bool
    late_ms: float


def decisions(seed: int, sender: int, receiver: int, faults: Faults) -> Iterator[Decision]:
    """Yield the decisions for the datagrams of one ordered pair of processes, in order, without end."""
    draw = random.Random(f"{seed}:{sender}:{receiver}").random
    while True:
        drop, hold, duplicate, late = draw(), draw(), draw(), draw()
        yield Decision(
            drop=drop < faults.loss,
            hold=hold < faults.reordering,
            duplicate=duplicate < faults.duplication,
            late_ms=late * LATE_MS_MAX,
        )


class Link:
    """Direction between two processes: datagrams go in, and come out when they may leave."""

    def __init__(self, seed: int, sender: int, receiver: int, faults: Faults) -> None:
        self.counts = Counts()
        self._decisions = decisions(seed, sender, receiver, faults)
        self._held: list[tuple[float, bytes]] = []
        self._late: list[tuple[float, int, bytes]] = []
        self._ties = itertools.count()

    def offer(self, data: bytes, now: float) -> list[bytes]:
        """Take one datagram; return the datagrams that leave now, in order: the taken one, and those that it
        has overtaken.
        """
        decision = next(self._decisions)
        self.counts.offered += 1
        if decision.drop:
            self.counts.dropped += 1
            return []
        if decision.duplicate:
            self.counts.duplicated += 1
            heapq.heappush(self._late, (now + decision.late_ms, next(self._ties), data))
        if decision.hold:
            self._held.append((now + HOLD_MS, data))
            return []
        overtaken = [held for _, held in self._held]
        self._held.clear()
        self.counts.reordered += len(overtaken)
        return [data, *overtaken]

    def due(self, now: float) -> list[bytes]:
        """Return the datagrams that are due: second copies, and delayed datagrams that none overtook."""
        leaving = [data for until, data in self._held if until <= now]
        self._held = [(until, data) for until, data in self._held if until > now]
        while self._late and self._late[0][0] <= now:
            leaving.append(heapq.heappop(self._late)[2])
        return leaving

    def next_due(self) -> float | None:
        """Return the time at which `due` has something to return, or None while nothing waits."""
        first = [until for until, _ in self._held[:1]] + [until for until, _, _ in self._late[:1]]
        return min(first, default=None)
