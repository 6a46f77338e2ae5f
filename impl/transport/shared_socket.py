"""One UDP socket, for one group that processes join, or for several.

    async with SharedSocket(("10.0.0.1", 7000)) as here:
        async with Group.join("orders", bind=here, ...) as orders, Group.join("jobs", bind=here, ...) as jobs:
            ...

A frame begins with the mark of its group, which the group's name and key make: so each group gets its own. A
frame with an unknown mark goes to all groups, and each counts and drops it.

The operating system reports on this socket that nobody listens at an address to which a datagram was sent. It
reports that for the next datagram, whichever that is for, and does not send that one.

This module must not know what a frame holds behind its mark.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from types import TracebackType
from typing import Any, Protocol, Self, cast

from antiphon.impl.errors import GroupClosed, InvalidSetting, UnusableAddress
from antiphon.impl.transport.addresses import Address, peer, resolved, shown
from antiphon.impl.transport.sessions import MARK_BYTES
from antiphon.impl.transport.shell import bound, enlarged, fault_kind

__all__ = ["SharedSocket", "Sharing"]

_RECEIVES_ERRORS = {socket.AF_INET: (socket.IPPROTO_IP, 11), socket.AF_INET6: (socket.IPPROTO_IPV6, 25)}
"""Socket option by address family, on Linux, with which the system reports errors together with the address
that they are about: level and number (linux/in.h, linux/in6.h)."""

_MSG_ERRQUEUE = getattr(socket, "MSG_ERRQUEUE", 0)

_USELESS_MAX = 256
"""Largest number of frames without use after which the event loop has its turn."""

_FRAME_BYTES_MAX = 2**16
"""Largest number of bytes of a frame."""

_TRIES = 3
"""Number of tries to send a datagram that the operating system refuses; the error may be about an earlier
one.
"""


class Sharing(Protocol):
    """Interface of a group that uses a shared socket."""

    @property
    def group(self) -> str:
        """Name of the group."""
        ...

    def knows(self, mark: bytes) -> bool:
        """Return True if frames with this mark belong to the group."""
        ...

    def frame_received(self, address: Address, frame: bytes) -> bool:
        """Handle a frame from an address. Return True if a process of the group has sent it to this run."""
        ...

    def refused(self, kind: str, addresses: list[Address]) -> None:
        """Handle an error of the operating system; `addresses` are those at which nobody listens."""
        ...

    def socket_lost(self, error: Exception) -> None:
        """Handle the loss of the socket, which the operating system has closed."""
        ...


class SharedSocket(asyncio.DatagramProtocol):
    """A UDP socket at which groups listen; an asynchronous context manager, used once."""

    def __init__(self, bind: Address | socket.socket) -> None:
        """Make a socket at an address, or from a bound socket, which is closed in the end."""
        self._bind = bind
        self._groups: list[Sharing] = []
        self._socket: socket.socket | None = None
        self._transport: asyncio.DatagramTransport | None = None
        self._closed: asyncio.Future[None] | None = None
        self._tells_whose = False
        """True if the operating system says which address an error is about."""

    async def __aenter__(self) -> Self:
        """Bind the socket and listen. Raises as `open` does."""
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the socket. Groups that still use it fail."""
        await self.close()

    async def open(self) -> None:
        """Bind the socket and listen.

        Raises:
            UnusableAddress: the address cannot be bound, or its host not resolved.
            GroupClosed: the socket was opened before.
        """
        if self._closed is not None:
            raise GroupClosed("a socket is opened once; make another one")
        self._closed = asyncio.get_running_loop().create_future()
        if isinstance(self._bind, socket.socket):
            sock = enlarged(self._bind)
        else:
            found = await resolved(self._bind, {})
            sock = bound(found.family, found.own or self._bind, shown(self._bind))
        self._socket = sock
        self._tells_whose = bool(_MSG_ERRQUEUE) and sock.family in _RECEIVES_ERRORS
        if self._tells_whose:
            sock.setsockopt(*_RECEIVES_ERRORS[sock.family], 1)
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, sock=sock)

    @property
    def socket(self) -> socket.socket:
        """Return the underlying socket. Raise `GroupClosed` if it is not open."""
        if self._socket is None:
            raise GroupClosed("the socket is not open: use it within `async with`")
        return self._socket

    def add(self, group: Sharing) -> None:
        """Let a group send and receive through the socket.

        Raises:
            InvalidSetting: a group of this name uses the socket already.
            GroupClosed: the socket is not open.
        """
        at = shown(self.socket.getsockname())
        if any(other.group == group.group for other in self._groups):
            raise InvalidSetting(f"bind: group {group.group!r} listens at {at} already, in this process")
        self._groups.append(group)

    def remove(self, group: Sharing) -> None:
        """Stop delivering frames to a group. A group that does not use the socket is ignored."""
        if group in self._groups:
            self._groups.remove(group)

    def send(self, frame: bytes, address: Address, faults: Counter[str]) -> None:
        """Send a frame, or lose it, and count the reason by kind in `faults`.

        If the call fails with an error, the frame is sent again, `_TRIES` times in all, since the error may
        belong to an earlier frame. Otherwise the end of one member would lose datagrams to all others.
        """
        for _ in range(_TRIES):
            if self._socket is None:
                return
            try:
                self._socket.sendto(frame, address)
            except BlockingIOError:
                faults["buffer_full"] += 1
            except OSError as error:
                self.error_received(error)
                continue
            except (TypeError, ValueError, OverflowError) as error:  # an address that is none
                faults[fault_kind(error)] += 1
            return

    @property
    def waiting(self) -> bool:
        """Return True if a frame that has come was not read yet."""
        try:
            return self._socket is not None and self._socket.recv(1, socket.MSG_PEEK) is not None
        except BlockingIOError:
            return False
        except OSError as error:  # it is about an earlier frame, or this frame is longer
            self.error_received(error)
            return True

    async def close(self) -> None:
        """Close the socket at once, and wait until it is closed. A second call does nothing."""
        self._socket = None
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
            assert self._closed is not None, "it was opened"
            await self._closed
        for group in list(self._groups):
            group.socket_lost(UnusableAddress(0, "the socket was closed while the group was open"))

    # asyncio's side -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport, with which the socket listens."""
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        """Hand a frame to the groups that know its mark. Read on while frames are of no use: they take less
        time than the turns of the event loop in which it would read them.
        """
        for _ in range(_USELESS_MAX):
            if self._handed(data, addr) or self._socket is None:
                return
            try:
                data, addr = self._socket.recvfrom(_FRAME_BYTES_MAX)
            except BlockingIOError:
                return
            except OSError as error:
                self.error_received(error)
                return
        self._handed(data, addr)

    def _handed(self, data: bytes, addr: tuple[str | Any, int]) -> bool:
        """Hand a frame to the groups that know its mark. Return True if it was of use to one of them."""
        address, groups = peer(addr)[:2], self._groups
        if len(groups) > 1:
            mark = data[:MARK_BYTES]
            groups = [group for group in groups if group.knows(mark)] or list(groups)
        used = [group.frame_received(address, data) for group in groups]
        return any(used)

    def error_received(self, exc: Exception) -> None:
        """Pass an error of the operating system about an earlier datagram to the groups."""
        kind = fault_kind(exc)
        addresses = self._refused() if kind == "ECONNREFUSED" else []
        for group in list(self._groups):
            group.refused(kind, addresses)

    def _refused(self) -> list[Address]:
        """Return the addresses at which nobody listens, read from the socket's error queue."""
        addresses = []
        while self._socket is not None and self._tells_whose:
            try:
                _, _, _, address = self._socket.recvmsg(0, 256, _MSG_ERRQUEUE | socket.MSG_DONTWAIT)
            except OSError:
                break
            addresses.append(cast(Address, address[:2]))
        return addresses

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the loss of the socket to the groups, if the operating system has closed it."""
        self._socket = self._transport = None
        if self._closed is not None and not self._closed.done():
            self._closed.set_result(None)
        if exc is not None:
            for group in list(self._groups):
                group.socket_lost(exc)
