"""A membership on a UDP socket under asyncio: moves bytes, arms one timer, decides nothing.

1. Where a member listens stands in its `Member`; where a process listens that may be one, in the seeds. What
   comes is known by its incarnation (`sessions`), whatever address it comes from.
2. A datagram that the operating system refuses is a lost datagram, counted by kind in `faults`. That nobody
   listens at a member's port is handed on as a hint.
3. After each step `on_progress` is called once; an exception in a step stops the shell and goes to
   `on_failure`.

This module must not know a protocol, or who uses the events.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

from antiphon.impl.errors import GroupClosed
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.membership import Membership
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.transport.addresses import peer
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.sessions import Received, Sessions
from antiphon.impl.transport.shell import Shell, enlarged, fault_kind

__all__ = ["MemberShell"]

_IP_RECVERR = 11
"""Linux: errors come with the address that they are about (linux/in.h)."""

_MSG_ERRQUEUE = getattr(socket, "MSG_ERRQUEUE", 0)

_TRIES = 3
"""How often a datagram is sent that the operating system answers with an error, perhaps of another one."""

Address = tuple[str, int]


class MemberShell(Shell):
    """Carries the datagrams of one membership, on one socket."""

    def __init__(
        self,
        membership: Membership,
        keys: Keyring | None,
        *,
        on_progress: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        """Without `keys` whoever reaches the socket takes part."""
        super().__init__(on_progress, on_failure)
        self.membership = membership
        self.sessions = Sessions(membership.group, membership.me.incarnation, keys)
        self._socket: socket.socket | None = None
        self._tells_whose = False
        """Whether the operating system says which address an error is about."""

    async def open(self, sock: socket.socket) -> None:
        """Take part on a bound socket, which is closed in the end. Raises `GroupClosed`: opened before."""
        if self._closed is not None:
            raise GroupClosed("a shell is opened once")
        self._socket = enlarged(sock)
        self._tells_whose = bool(_MSG_ERRQUEUE) and sock.family == socket.AF_INET
        if self._tells_whose:
            sock.setsockopt(socket.IPPROTO_IP, _IP_RECVERR, 1)
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, sock=sock)

    def broadcast(self, payload: bytes) -> Identifier:
        """Send to the group. Raises as the membership's `broadcast`, and `GroupClosed` when not open."""
        if self._transport is None:
            raise GroupClosed("the shell is not open")
        now = self._now()
        identifier = self.membership.broadcast(payload, now)
        if self.membership.unsent:
            self._drain(now)
        return identifier

    def leave(self) -> None:
        """Ask the others for a view without this member."""
        self._step(self.membership.leave)

    def flush(self) -> None:
        """Send what the membership was given to send."""
        self._step(lambda _: None)

    def stop(self) -> None:
        """Stop at once. Again: nothing."""
        super().stop()
        self._socket = None

    # asyncio's side -----------------------------------------------------------------------------------------

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        """Hand on what a process of the group has sent to this run of this one."""
        self._step(lambda now: self._receive(peer(addr)[:2], data, now))

    def _receive(self, address: Address, frame: bytes, now: float) -> None:
        received = self.sessions.received(address, frame, now)
        if isinstance(received, Received):
            self.membership.datagram_received(received.source, address, received.data, now)
        elif received is not None:
            self.membership.dropped[received.kind] += 1

    def error_received(self, exc: Exception) -> None:
        """Count what the operating system says about some earlier datagram, and hand on whose port it is."""
        kind = fault_kind(exc)
        self.faults[kind] += 1
        if kind == "ECONNREFUSED" and self._transport is not None:
            now = self._now()
            for address in self._refused():
                self._hint(address, now)

    def _refused(self) -> list[Address]:
        """The addresses where nobody listens, as the socket's queue of errors has them."""
        addresses = []
        while self._socket is not None and self._tells_whose:
            try:
                _, _, _, address = self._socket.recvmsg(0, 256, _MSG_ERRQUEUE | socket.MSG_DONTWAIT)
            except OSError:
                break
            addresses.append(cast(Address, address[:2]))
        return addresses

    def _hint(self, address: Address, now: float) -> None:
        epoch = self.membership.epoch
        for member in () if epoch is None else epoch.roster.members:
            if member.address == address:
                self.membership.hint(member, now)

    # Steps --------------------------------------------------------------------------------------------------

    def _start(self, now: float) -> None:
        self.membership.start(now)

    def _tick(self, now: float) -> None:
        self.membership.tick(now)

    def _next_deadline(self) -> float | None:
        return self.membership.next_deadline()

    def _send_all(self, now: float) -> None:
        for to, data in self.membership.datagrams_to_send():
            if isinstance(to, Member):
                self.sessions.send(to.address, to.incarnation, data, now)
            else:
                self.sessions.send(to, None, data, now)
        if self._transport is None:
            return
        for address, frame in self.sessions.frames_to_send():
            self._send(frame, address)

    def _send(self, frame: bytes, address: Address) -> None:
        """Send a datagram, or lose it.

        What the operating system says of an earlier one, it says to the next that is sent, and does not send
        it: that one is sent again, or the end of one member would make all others deaf.
        """
        assert self._socket is not None, "it is open"
        for _ in range(_TRIES):
            try:
                self._socket.sendto(frame, address)
            except BlockingIOError:
                self.faults["buffer_full"] += 1
            except OSError as error:
                self.error_received(error)
                continue
            return
