"""Shell of an endpoint under asyncio: it moves bytes between a UDP socket and the endpoint, sets one timer,
and decides nothing.

Rules of this file:
1. The addresses of the peers are given: datagrams for member q go to one address, of q's socket or of a relay
   in front of it, and q's datagrams come from there. Datagrams from another address are dropped.
2. A datagram that the operating system refuses (nobody listens, buffer full) is a lost datagram: counted by
   kind in `faults`, reported to the tracer, and left to the protocol's timers.
3. With a multicast address, a message to everybody is one datagram, from the own address as all others are;
   the members share a second socket's address, at which it comes in, and ignore their own.
4. After each step `on_progress` is called once; an exception in a step stops the shell and goes to
   `on_failure`.

This module must not know a protocol, or who uses the deliveries.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast

from antiphon.impl import tracing
from antiphon.impl.errors import GroupClosed, InvalidKey, InvalidMembership, Rejection, UnusableAddress
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.tracing import NULL_TRACER, Tracer
from antiphon.impl.transport.addresses import Address, Peer, Target, multicast, peer, resolved, shown
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.incarnations import CHANCE_BYTES, Incarnations, incarnation
from antiphon.impl.transport.sealing import Keyring, Plain, Sealed
from antiphon.impl.transport.shell import Shell, bound, enlarged, fault_kind
from antiphon.impl.transport.wire import EVERYBODY, Rejected

__all__ = ["Address", "UdpShell"]

M = TypeVar("M")


def _nothing() -> None:
    """Do nothing: the default callback for progress."""


def _raise(error: Exception) -> None:
    """Raise the error, so that the event loop's exception handler gets it: the default callback for
    failures.
    """
    raise error


class UdpShell(Shell, asyncio.DatagramProtocol, Generic[M]):
    """Shell that carries the datagrams of one endpoint: `open` it, then `broadcast`; after `close` it cannot
    be opened again.
    """

    def __init__(
        self,
        endpoint: Endpoint[M],
        routes: Mapping[int, Address],
        *,
        keys: Keyring | None = None,
        multicast: Address | None = None,
        on_progress: Callable[[], None] = _nothing,
        on_failure: Callable[[Exception], None] = _raise,
        tracer: Tracer = NULL_TRACER,
    ) -> None:
        """Make a shell; `routes[q]` is the address of datagrams for member q; every other member has one.

        Without `keys` anybody can read and make datagrams. `multicast` is where datagrams for everybody go;
        an endpoint without multicast makes none.

        Raises:
            InvalidMembership: a route is missing, or leads to no member.
            InvalidKey: two keys cannot be told apart.
        """
        expected = set(range(endpoint.core.members)) - {endpoint.core.me}
        if set(routes) - {endpoint.core.me} != expected:
            raise InvalidMembership(
                f"routes to {sorted(routes)}; process {endpoint.core.me} needs routes to {sorted(expected)}"
            )
        super().__init__(on_progress, on_failure)
        self.endpoint = endpoint
        me, group = endpoint.core.me, endpoint.admission.group
        own = incarnation(time.time_ns() // 1_000, secrets.token_bytes(CHANCE_BYTES))
        self._sealing = Plain(group, me, own) if keys is None else Sealed(group, me, own, keys)
        self._incarnations = Incarnations(me, endpoint.core.members, own, self._sealing)
        self._routes = {process: address for process, address in routes.items() if process in expected}
        self._targets: dict[int, Target] = dict(self._routes)
        self._peers: dict[Peer, int] = {}
        self._multicast = multicast
        self._ears: asyncio.DatagramTransport | None = None
        self._tracer = tracer
        self._transport: asyncio.DatagramTransport | None = None
        self._closed: asyncio.Future[None] | None = None
        self._paused = False

    async def open(self, bind: Address | socket.socket) -> None:
        """Bind a socket, or adopt a bound one, and start the endpoint.

        Raises:
            UnusableAddress: the address cannot be bound, or a host not resolved.
            InvalidMembership: two members are at one address.
            GroupClosed: the shell was opened before.
        """
        if self._closed is not None:
            raise GroupClosed("a shell is opened once")
        found = await resolved(bind, self._routes)
        self._targets = found.routes
        self._peers = {peer(target): process for process, target in found.routes.items()}
        own = found.own
        if isinstance(bind, socket.socket):
            sock = enlarged(bind)
        else:
            sock = bound(found.family, own or bind, shown(bind))
        loop = asyncio.get_running_loop()
        if self._multicast is not None:
            try:
                joined = await multicast(self._multicast, sock)
            except UnusableAddress:
                sock.close()
                raise
            self._targets[EVERYBODY] = joined.target
            enlarged(joined.ears)
            ears = _Ears(self, peer(sock.getsockname()))
            self._ears, _ = await loop.create_datagram_endpoint(lambda: ears, sock=joined.ears)
        await loop.create_datagram_endpoint(lambda: self, sock=sock)

    @property
    def address(self) -> Address:
        """Return the address at which this member listens. Raise `GroupClosed` if it does not listen."""
        if self._transport is None:
            raise GroupClosed("the shell is not open")
        host, port = self._transport.get_extra_info("sockname")[:2]
        return (host, port)

    def broadcast(self, payload: bytes, holders: int = 1) -> Identifier:
        """Broadcast a message to the group. It is delivered when `holders` members have it.

        Raises:
            GroupClosed: the shell is not open.
            Busy, TypeError, PayloadTooLarge: as the core's `broadcast`; nothing was sent.
        """
        if self._transport is None:
            raise GroupClosed("the shell is not open")
        now = self._now()
        identifier = self.endpoint.broadcast(payload, now, holders)
        if self.endpoint.unsent:
            self._drain(now)
        return identifier

    @property
    def encrypted(self) -> bool:
        """Return True if the shell was made with keys."""
        return isinstance(self._sealing, Sealed)

    def rekey(self, keys: Keyring) -> None:
        """Replace the keys: the first key is used, all are accepted.

        Raises:
            InvalidKey: the shell has no key, or two keys cannot be told apart; nothing has changed.
        """
        if not isinstance(self._sealing, Sealed):
            raise InvalidKey("a member that was made without a key cannot get one while it runs")
        self._sealing.rekey(keys)

    def stop(self) -> None:
        """Stop at once, and close both sockets. A second call does nothing."""
        if self._ears is not None:
            self._ears.abort()
            self._ears = None
        super().stop()
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    async def close(self) -> None:
        """Stop, and wait until the sockets are closed. A second call does nothing."""
        self.stop()
        if self._closed is not None:
            await self._closed

    # asyncio's side.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the endpoint, since the socket is open."""
        self._transport = cast(asyncio.DatagramTransport, transport)
        self._closed = asyncio.get_running_loop().create_future()
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the shell: the socket was closed, by `close` or by the operating system."""
        self.stop()
        if self._closed is not None and not self._closed.done():
            self._closed.set_result(None)
        if exc is not None:
            self._on_failure(exc)

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        """Hand the bytes to the endpoint, if a member sent them in this run."""
        sender = self._peers.get(peer(addr))
        if sender is None:
            told = f"from {shown(addr)}, where no member is"
            self.endpoint.drop(Rejected(Rejection.FOREIGN_ADDRESS, told), data)
        else:
            self._step(lambda now: self._receive(sender, data, now))

    def error_received(self, exc: Exception) -> None:
        """Count the operating system's error about an earlier datagram."""
        self._fault(fault_kind(exc), str(exc))

    def pause_writing(self) -> None:
        """Drop datagrams from now on, since the operating system's buffer is full."""
        self._paused = True

    def resume_writing(self) -> None:
        """Send datagrams again, since the operating system's buffer has room."""
        self._paused = False

    # Steps.

    def _start(self, now: float) -> None:
        self._incarnations.start(now)
        self.endpoint.start(now)

    def _receive(self, sender: int, frame: bytes, now: float) -> None:
        data = self._incarnations.received(sender, frame, now)
        if isinstance(data, Rejected):
            self.endpoint.drop(data, frame)
        elif data is not None:
            self.endpoint.datagram_received(sender, data, now)

    def _tick(self, now: float) -> None:
        self.endpoint.tick(now)

    def _next_deadline(self) -> float | None:
        return self.endpoint.next_deadline()

    def _send_all(self, now: float) -> None:
        for to, data in self.endpoint.datagrams_to_send():
            self._incarnations.send(to, data, now)
        transport = self._transport
        assert transport is not None
        for to, data in self._incarnations.frames_to_send():
            if self._paused:
                self._fault("buffer_full", f"{len(data)} bytes for process {to}")
            else:
                transport.sendto(data, self._targets[to])

    def _fault(self, kind: str, detail: str) -> None:
        self.faults[kind] += 1
        if self._tracer.recording:
            self._tracer.record(tracing.TransportFault(self.endpoint.core.me, kind, detail))


class _Ears(asyncio.DatagramProtocol):
    """Receiver at the multicast socket, for datagrams to everybody."""

    def __init__(self, shell: UdpShell[Any], own: Peer) -> None:
        self._shell = shell
        self._own = own

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        """Pass a datagram to the shell, unless this member has sent it itself."""
        if peer(addr) != self._own:
            self._shell.datagram_received(data, addr)
