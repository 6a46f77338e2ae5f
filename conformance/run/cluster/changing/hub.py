"""A relay for processes that come and go: each is reached at one address, wherever its process listens.

There is one socket for each process. Its address is the one that the others know (`advertise=`), and what the
process sends comes from there. So a process that is started again, at another port of the operating system,
is at the same address as before. No sender learns from the operating system that a process has ended:
datagrams to it are refused here.

Datagrams that a process sent before it ended are still forwarded. This module never looks into a datagram.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from antiphon.conformance.run.cluster.alarm import Alarm
from antiphon.conformance.run.cluster.faults import Counts, Faults, Link
from antiphon.conformance.run.cluster.relay import BATCH, DATAGRAM_BYTES_MAX, LOOPBACK, Pair, bound_socket

__all__ = ["Hub"]


class Hub:
    """Relay with one socket for each of `processes` processes. It forwards from `start` to `close`."""

    def __init__(self, processes: int, seed: int, faults: Faults) -> None:
        """Bind the sockets. Raises OSError."""
        everybody = range(processes)
        self.links: dict[Pair, Link] = {
            (sender, receiver): Link(seed, sender, receiver, faults)
            for sender in everybody
            for receiver in everybody
            if sender != receiver
        }
        self._sockets: list[socket.socket] = []
        self._at: dict[int, tuple[str, int]] = {}
        """The address of each running process."""
        self._of: dict[tuple[str, int], int] = {}
        """The process that has each address, or had it last."""
        self._cut: dict[Pair, int] = {}
        """The number of cuts on a link."""
        self._slow_ms: dict[int, float] = {}
        """The additional delay of each process's datagrams."""
        self._late: list[tuple[float, int, Pair, bytes]] = []
        self._ties = itertools.count()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._alarm: Alarm | None = None
        try:
            for _ in everybody:
                self._sockets.append(bound_socket())
        except OSError:
            self.close()
            raise

    @property
    def addresses(self) -> tuple[tuple[str, int], ...]:
        """Return the address at which each process is reached."""
        return tuple(pipe.getsockname() for pipe in self._sockets)

    @property
    def counts(self) -> Counts:
        """Return the counts of all links together."""
        return sum((link.counts for link in self.links.values()), Counts())

    def start(self) -> None:
        """Start to forward. Needs the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._alarm = Alarm(self._ring)
        for process, pipe in enumerate(self._sockets):
            self._loop.add_reader(pipe, self._readable, process, pipe)

    def listens(self, process: int, port: int) -> None:
        """Record the address at which a process listens from now on."""
        address = (LOOPBACK, port)
        self._at[process] = address
        self._of[address] = process

    def ended(self, process: int) -> None:
        """Record that a process listens nowhere."""
        self._at.pop(process, None)

    def close(self) -> None:
        """Stop forwarding and free the ports; datagrams on their way are lost. A second call does nothing."""
        if self._alarm is not None:
            self._alarm.cancel()
        for pipe in self._sockets:
            if self._loop is not None:
                self._loop.remove_reader(pipe)
            pipe.close()
        self._sockets.clear()

    # Faults -------------------------------------------------------------------------------------------------

    @contextmanager
    def cut(self, pairs: Collection[Pair]) -> Iterator[None]:
        """Lose, within the context, the datagrams from the first to the second of each pair."""
        for pair in pairs:
            self._cut[pair] = self._cut.get(pair, 0) + 1
        try:
            yield
        finally:
            for pair in pairs:
                self._cut[pair] -= 1

    @contextmanager
    def slowed(self, process: int, late_ms: float) -> Iterator[None]:
        """Delay, within the context, the datagrams of this process."""
        self._slow_ms[process] = late_ms
        try:
            yield
        finally:
            del self._slow_ms[process]

    # Datagrams ----------------------------------------------------------------------------------------------

    def _readable(self, receiver: int, pipe: socket.socket) -> None:
        now = self._now()
        for _ in range(BATCH):
            try:
                data, address = pipe.recvfrom(DATAGRAM_BYTES_MAX)
            except OSError:
                break
            sender = self._of.get(address)
            if sender is None or sender == receiver:
                self.links[min(pair for pair in self.links if pair[1] == receiver)].counts.strange += 1
                continue
            pair = (sender, receiver)
            link = self.links[pair]
            if self._cut.get(pair):
                link.counts.offered += 1
                link.counts.cut += 1
                continue
            self._forward(pair, link.offer(data, now), now)
            self._ring_by(link.next_due())

    def _forward(self, pair: Pair, leaving: list[bytes], now: float) -> None:
        """Send datagrams to the receiver of a pair, now or when they are due, from the socket whose address
        the receiver knows as the sender's.
        """
        late_ms = self._slow_ms.get(pair[0])
        for data in leaving:
            if late_ms is None:
                self._send(pair, data)
            else:
                self.links[pair].counts.delayed += 1
                heapq.heappush(self._late, (now + late_ms, next(self._ties), pair, data))
                self._ring_by(self._late[0][0])

    def _send(self, pair: Pair, data: bytes) -> None:
        sender, receiver = pair
        address = self._at.get(receiver)
        try:
            if address is None:
                raise OSError(f"process {receiver} listens nowhere")
            self._sockets[sender].sendto(data, address)
        except OSError:
            self.links[pair].counts.refused += 1

    def _ring(self) -> None:
        now = self._now()
        while self._late and self._late[0][0] <= now:
            _, _, pair, data = heapq.heappop(self._late)
            self._send(pair, data)
        if self._late:
            self._ring_by(self._late[0][0])
        for pair, link in self.links.items():
            self._forward(pair, link.due(now), now)
            self._ring_by(link.next_due())

    def _ring_by(self, due: float | None) -> None:
        assert self._alarm is not None, "it has started"
        self._alarm.ring_by(due)

    def _now(self) -> float:
        assert self._alarm is not None, "it has started"
        return self._alarm.now()
