"""Steps of one machine under asyncio, with one alarm.

A shell carries the datagrams of a machine that has no clock and no socket. It hands in what has come and the
time, sends what the machine wants sent, and sets an alarm for the machine's next deadline. After each step it
calls `on_progress`; an exception in a step stops the shell and goes to `on_failure`.

This module must not know a machine, a datagram, or who uses what is delivered.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any

from antiphon.impl.errors import UnusableAddress
from antiphon.impl.transport.addresses import shown

__all__ = ["SOCKET_BYTES", "Shell", "bound", "enlarged", "fault_kind"]

SOCKET_BYTES = 2**22
"""Requested size of the socket's buffer in each direction; the operating system may give less
(net.core.rmem_max).
"""


class Shell(ABC):
    """Base class of shells: it takes the steps of one machine, from `_begin` to `stop`."""

    def __init__(self, on_progress: Callable[[], None], on_failure: Callable[[Exception], None]) -> None:
        self.faults: Counter[str] = Counter()
        """Number of datagrams that the operating system has refused, by the kind of error."""
        self._on_progress = on_progress
        self._on_failure = on_failure
        self._runs = False
        self._alarm: asyncio.TimerHandle | None = None
        self._rings_at = 0.0

    # The machine, which a shell knows -----------------------------------------------------------------------

    @abstractmethod
    def _start(self, now: float) -> None:
        """Start the machine; the socket is open."""

    @abstractmethod
    def _tick(self, now: float) -> None:
        """Run the timers of the machine that are due."""

    @abstractmethod
    def _next_deadline(self) -> float | None:
        """Return the time of the machine's next timer, in milliseconds, or None."""

    @abstractmethod
    def _send_all(self, now: float) -> None:
        """Send all datagrams that the machine has to send."""

    # Steps --------------------------------------------------------------------------------------------------

    @property
    def runs(self) -> bool:
        """Return True if the shell has begun, and was not stopped."""
        return self._runs

    def taken(self) -> None:
        """Record that the application has taken events, and let the machine go on, which may have waited for
        that.
        """
        if self._runs:
            self._arm()

    def stop(self) -> None:
        """Stop all timers, receptions and sending at once. A second call does nothing."""
        self._runs = False
        if self._alarm is not None:
            self._alarm.cancel()

    def _begin(self) -> None:
        self._runs = True
        self._step(self._start)

    def _now(self) -> float:
        """Return the time of the event loop's clock, in milliseconds."""
        return asyncio.get_running_loop().time() * 1000.0

    def _step(self, action: Callable[[float], None]) -> None:
        """Take a step of the machine, send its datagrams, and call `on_progress`."""
        if not self._runs:
            return
        now = self._now()
        try:
            action(now)
            self._drain(now)
            self._on_progress()
        except Exception as error:  # noqa: BLE001 - whatever failed, the user of the group has to learn it
            self.stop()
            self._on_failure(error)

    def _drain(self, now: float) -> None:
        """Send the machine's datagrams, and set the alarm."""
        self._send_all(now)
        self._arm()

    def _arm(self) -> None:
        """Set the alarm to ring no later than the next deadline; an alarm that rings early is set again.

        The time of a set alarm is stored here, since the handle of some event loops does not have it.
        """
        deadline = self._next_deadline()
        if deadline is None:
            return
        if self._alarm is not None:
            if self._rings_at <= deadline:
                return
            self._alarm.cancel()
        self._rings_at = deadline
        self._alarm = asyncio.get_running_loop().call_at(deadline / 1000.0, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._step(self._tick)


def fault_kind(error: Exception) -> str:
    """Return the name of an error of the operating system, such as "ECONNREFUSED", or of the exception's
    type.
    """
    code = error.errno if isinstance(error, OSError) else None
    return type(error).__name__ if code is None else errno.errorcode.get(code, str(code))


def enlarged(sock: socket.socket) -> socket.socket:
    """Ask the operating system for larger buffers of a socket, and return it."""
    sock.setblocking(False)
    for side in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        sock.setsockopt(socket.SOL_SOCKET, side, SOCKET_BYTES)
    return sock


def bound(family: int, own: Any, at: str | None = None) -> socket.socket:
    """Return a UDP socket bound to an address, which errors call `at`. Raise `UnusableAddress` if it cannot
    be bound.
    """
    sock = socket.socket(family, socket.SOCK_DGRAM)
    try:
        sock.bind(own)
    except OSError as error:
        sock.close()
        told = f"cannot listen at {at or shown(own)}: {error.strerror}"
        raise UnusableAddress(error.errno, told) from error
    return enlarged(sock)
