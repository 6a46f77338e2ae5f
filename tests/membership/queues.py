"""The cores of one list, joined by queues that lose nothing; a test says what arrives when."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from antiphon.impl.protocols.core import Delivery

__all__ = ["NOW", "Queues"]

NOW = 0.0


class Queues:
    """Members with the numbers 0, 1, ..., which have these cores."""

    def __init__(self, cores: Sequence[Any]) -> None:
        self.cores = list(cores)
        self.delivered: list[list[Delivery]] = [[] for _ in cores]
        self.queues: dict[tuple[int, int], deque[Any]] = {
            (me, to): deque() for me in range(len(cores)) for to in range(len(cores)) if me != to
        }
        for core in self.cores:
            core.start(NOW)

    def collect(self, me: int) -> None:
        """Take what one has to say and to deliver."""
        self.delivered[me] += self.cores[me].settle(NOW)
        for to, message in self.cores[me].outputs():
            self.queues[me, to].append(message)

    def say(self, me: int, payload: bytes = b"m") -> None:
        """Let one member broadcast."""
        self.cores[me].broadcast(payload, NOW)
        self.collect(me)

    def carry(self, sender: int, to: int, count: int = 1) -> None:
        """Bring so many of the messages that are on their way, in one datagram."""
        for _ in range(min(count, len(self.queues[sender, to]))):
            self.cores[to].receive(sender, self.queues[sender, to].popleft(), NOW)
        self.collect(to)

    def run(self, without: frozenset[int] = frozenset()) -> None:
        """Bring everything that is not for one of these."""
        for me in range(len(self.cores)):
            if me not in without:
                self.collect(me)
        for _ in range(1_000):
            pairs = [pair for pair, queue in self.queues.items() if queue and without.isdisjoint(pair)]
            if not pairs:
                return
            for sender, to in pairs:
                self.carry(sender, to, len(self.queues[sender, to]))
        raise AssertionError("they speak without end")

    def numbers(self, me: int) -> list[int]:
        """The numbers that one has delivered."""
        return [delivery.number for delivery in self.delivered[me]]
