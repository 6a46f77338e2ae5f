"""Requests to a process of a group from processes that are no members, and the replies, as sealed datagrams.

Both sides have the group's key. Their frames are as `sessions` has them, under a name of their own: so their
mark is another one than the group's, and they go through the socket at which the member listens. Datagrams
are lost, or come twice when they were sent twice. This module must not know what a request says.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable

from antiphon.impl.errors import Rejection
from antiphon.impl.transport.addresses import Address
from antiphon.impl.transport.incarnations import CHANCE_BYTES, incarnation
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.sessions import Received, Sessions
from antiphon.impl.transport.shared_socket import SharedSocket

__all__ = ["RequestPort"]


class RequestPort:
    """One side of requests and replies at a shared socket, from `open` to `close`."""

    def __init__(
        self,
        group: str,
        keys: Callable[[], Keyring | None],
        on_data: Callable[[Address, bytes, bytes], None],
        on_refusal: Callable[[list[Address]], None] = lambda _: None,
    ) -> None:
        """Make one side of requests to the group with this name. `keys` returns the keys that the group has
        at present.

        `on_data` gets an address, the incarnation that listens there, and what it has sent; `on_refusal` the
        addresses where nobody listens.
        """
        self.group = f"requests to {group}"
        self.dropped: Counter[Rejection] = Counter()
        """Number of unusable datagrams, by kind."""
        self.faults: Counter[str] = Counter()
        """Number of datagrams that the operating system refused, by kind."""
        self._keys = keys
        self._on_data = on_data
        self._on_refusal = on_refusal
        self._socket: SharedSocket | None = None
        self.renew()

    def renew(self) -> None:
        """Use a new incarnation from now on, since the other side may have forgotten the present one."""
        own = incarnation(time.time_ns() // 1_000, secrets.token_bytes(CHANCE_BYTES))
        self._used = self._keys()
        self._sessions = Sessions(self.group, own, self._used)

    def open(self, socket: SharedSocket) -> None:
        """Send and receive through an open socket.

        Raises:
            InvalidSetting: requests to a group of this name are taken there already.
            GroupClosed: the socket is not open.
        """
        socket.add(self)
        self._socket = socket

    def close(self) -> None:
        """Stop at once, and leave the socket open for other groups. A second call does nothing."""
        if self._socket is not None:
            self._socket.remove(self)
            self._socket = None

    @property
    def closed(self) -> bool:
        """Return True if the port is not open at a socket."""
        return self._socket is None

    def send(self, to: Address, data: bytes, source: bytes | None = None) -> None:
        """Send bytes to the process with this incarnation at an address; without an incarnation, to any
        process that listens there.
        """
        self._keyed().send(to, source, data, self._now())
        self._flush()

    # The socket's side --------------------------------------------------------------------------------------

    def knows(self, mark: bytes) -> bool:
        """Return True if frames with this mark are requests to the group, or replies."""
        return self._keyed().knows(mark)

    def frame_received(self, address: Address, frame: bytes) -> bool:
        """Handle a frame. Return True if it was sent to this run of this process."""
        received = self._keyed().received(address, frame, self._now())
        self._flush()
        if isinstance(received, Received):
            self._on_data(address, received.source, received.data)
        elif received is not None:
            self.dropped[received.kind] += 1
        return isinstance(received, Received)

    def refused(self, kind: str, addresses: list[Address]) -> None:
        """Count an error of the operating system, and pass the addresses on at which nobody listens."""
        self.faults[kind] += 1
        self._on_refusal(addresses)

    def socket_lost(self, _error: Exception) -> None:
        """Stop, since the operating system has closed the socket."""
        self._socket = None

    def _keyed(self) -> Sessions:
        """Return the sessions, with the keys that the group has at present."""
        keys = self._keys()
        if keys is not self._used and keys is not None:
            self._sessions.rekey(keys)
            self._used = keys
        return self._sessions

    def _flush(self) -> None:
        for address, frame in self._sessions.frames_to_send():
            if self._socket is not None:
                self._socket.send(frame, address, self.faults)

    def _now(self) -> float:
        return asyncio.get_running_loop().time() * 1000.0
