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
    """Steps of one machine, from `_begin` to `stop`."""

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
        """Let the machine take part: the socket is open."""

    @abstractmethod
    def _tick(self, now: float) -> None:
        """Let the machine's timers run out."""

    @abstractmethod
    def _next_deadline(self) -> float | None:
        """Return when the machine has something to do, in milliseconds, or None."""

    @abstractmethod
    def _send_all(self, now: float) -> None:
        """Send all that the machine wants sent."""

    # Steps --------------------------------------------------------------------------------------------------

    @property
    def runs(self) -> bool:
        """Return True if the shell has begun, and not stopped."""
        return self._runs

    def taken(self) -> None:
        """Note that the application has taken events, which may let the machine go on."""
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
        """Return the time on the event loop's clock, in milliseconds."""
        return asyncio.get_running_loop().time() * 1000.0

    def _step(self, action: Callable[[float], None]) -> None:
        """Let the machine do something, send what it wants sent, and tell whoever waits for events."""
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
        """Send what is to be sent, and set the alarm."""
        self._send_all(now)
        self._arm()

    def _arm(self) -> None:
        """Keep an alarm that rings no later than the next deadline; one that rings early sets the next.

        Not every loop's handle knows when it rings.
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
    """Return a UDP socket at the own address, which errors name `at`. Raises `UnusableAddress`."""
    sock = socket.socket(family, socket.SOCK_DGRAM)
    try:
        sock.bind(own)
    except OSError as error:
        sock.close()
        told = f"cannot listen at {at or shown(own)}: {error.strerror}"
        raise UnusableAddress(error.errno, told) from error
    return enlarged(sock)
