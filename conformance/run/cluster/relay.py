"""Relay of the datagrams between processes: each one passes one of its sockets.

There is one socket for each ordered pair: process p sends its datagrams for q to the socket (p, q), and the
relay forwards or drops them. All sockets are on the loopback interface, on ports that the operating system
chooses. This module decides nothing (`faults.Link` does) and never looks into a datagram.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping

from antiphon.conformance.run.cluster.alarm import Alarm
from antiphon.conformance.run.cluster.faults import Counts, Faults, Link

LOOPBACK = "127.0.0.1"

BATCH = 64
"""Number of datagrams that one socket forwards before the others have their turn."""

DATAGRAM_BYTES_MAX = 65_535
"""Length of the longest possible datagram of UDP."""

Pair = tuple[int, int]


class Relay:
    """The sockets between `processes` processes. It forwards from `start` to `close`."""

    def __init__(self, processes: int, seed: int, faults: Faults) -> None:
        """Bind the sockets; datagrams that arrive before `start` wait in them.

        Raises:
            OSError: a socket cannot be bound.
        """
        self.links: dict[Pair, Link] = {}
        self._sockets: dict[Pair, socket.socket] = {}
        self._addresses: dict[int, tuple[str, int]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._alarm: Alarm | None = None
        try:
            for sender in range(processes):
                for receiver in range(processes):
                    if sender != receiver:
                        self._sockets[sender, receiver] = bound_socket()
                        self.links[sender, receiver] = Link(seed, sender, receiver, faults)
        except OSError:
            self.close()
            raise

    def routes(self, sender: int) -> dict[int, tuple[str, int]]:
        """Return the addresses to which process `sender` sends, by receiver."""
        return {to: pipe.getsockname() for (by, to), pipe in self._sockets.items() if by == sender}

    def start(self, ports: Mapping[int, int]) -> None:
        """Start to forward, process p being at `ports[p]`. Needs the running event loop.

        A datagram for a process without a port is refused; another call adds the port.
        """
        self._loop = asyncio.get_running_loop()
        self._alarm = Alarm(self._ring)
        self._addresses |= {process: (LOOPBACK, port) for process, port in ports.items()}
        for pair, pipe in self._sockets.items():
            self._loop.add_reader(pipe, self._readable, pair, pipe)

    def close(self) -> None:
        """Stop forwarding and free the ports; delayed datagrams are lost. A second call does nothing."""
        if self._alarm is not None:
            self._alarm.cancel()
        for pipe in self._sockets.values():
            if self._loop is not None:
                self._loop.remove_reader(pipe)
            pipe.close()
        self._sockets.clear()

    @property
    def counts(self) -> Counts:
        """Return the counts of all links together."""
        return sum((link.counts for link in self.links.values()), Counts())

    def _readable(self, pair: Pair, pipe: socket.socket) -> None:
        link, now = self.links[pair], self._now()
        for _ in range(BATCH):
            try:
                data, address = pipe.recvfrom(DATAGRAM_BYTES_MAX)
            except OSError:
                break
            if address != self._addresses.get(pair[0]):
                link.counts.strange += 1
                continue
            self._forward(pair, link.offer(data, now))
        self._ring_by(link.next_due())

    def _forward(self, pair: Pair, leaving: list[bytes]) -> None:
        """Send datagrams to the receiver of a pair, from the socket that the receiver knows as the
        sender's.
        """
        sender, receiver = pair
        back, address = self._sockets[receiver, sender], self._addresses.get(receiver)
        for data in leaving:
            try:
                if address is None:
                    raise OSError(f"process {receiver} has not started")
                back.sendto(data, address)
            except OSError:
                self.links[pair].counts.refused += 1

    def _ring(self) -> None:
        now = self._now()
        for pair, link in self.links.items():
            self._forward(pair, link.due(now))
            self._ring_by(link.next_due())

    def _ring_by(self, due: float | None) -> None:
        assert self._alarm is not None, "it has started"
        self._alarm.ring_by(due)

    def _now(self) -> float:
        assert self._alarm is not None, "it has started"
        return self._alarm.now()


def bound_socket() -> socket.socket:
    """Return a socket that does not block, at a port of the loopback interface.

    Raises:
        OSError: the socket cannot be bound.
    """
    pipe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        pipe.setblocking(False)
        pipe.bind((LOOPBACK, 0))
    except OSError:
        pipe.close()
        raise
    return pipe
