"""Primary-backup replication over views: one member executes requests, and all members have the results.

    group = Group.join("shop", ...)
    shop = PrimaryBackup(group, Shop())
    async with group:
        await shop.serve()

And in a process that is no member, but has the key:

    async with Client("shop", ["db1:7000", "db2:7000"], key) as client:
        answer = await client.request(b"one umbrella")

1. The first member of a view is the primary. It executes one request at a time, as of the state that all
   updates before have made, and broadcasts answer and update. Nothing has changed yet.
2. All members apply an update when it is delivered, and keep the answer, the last one of each client. Then it
   is stable, and the primary answers. An update that was lost has no answer.
3. An update counts in the view in which its request was executed. In a later view all members ignore it, and
   the request is executed again, by the primary of that view. So every update is applied to the state from
   which it was made.
4. A client asks one replica after the other until it has an answer. A request that was executed is answered
   from the record. A client begins with a request of its own, whose place in the common order is from then on
   the name of its session. Of a session that is not in the record no request is executed: it was forgotten.

This module must not know what a request says.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 4.3; claims PBK-01 to PBK-04 say what holds of it. That updates count in one view only, and the
record of answers, are ours.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from antiphon.impl.errors import (
    UNREADABLE,
    ClientForgotten,
    GroupClosed,
    GroupFailed,
    InvalidSetting,
    PayloadTooLarge,
    Rejection,
    RequestFailed,
    UnusableAddress,
)
from antiphon.impl.joined import JoinedEvent, JoinedGroup
from antiphon.impl.membership.member import Member, View
from antiphon.impl.protocols.core import Delivery, bytes_copy
from antiphon.impl.replication import (
    REQUEST_BYTES_MAX,
    Answer,
    Elsewhere,
    Outcome,
    Replica,
    Request,
    Service,
    Update,
    decode_reply,
    decode_request,
    decode_update,
    encode,
    require_size,
)
from antiphon.impl.transport.addresses import Address, parsed, resolved
from antiphon.impl.transport.requests import RequestPort
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.shared_socket import SharedSocket

__all__ = ["CLIENTS_MAX", "REQUEST_BYTES_MAX", "Client", "PrimaryBackup", "Service"]

CLIENTS_MAX = 10_000
"""Default number of clients whose last answer is kept."""

_SIZE_BYTES = 8

_logger = logging.getLogger("antiphon")


class PrimaryBackup:
    """One replica of a service, in a group in which nothing else broadcasts."""

    def __init__(self, group: JoinedGroup, service: Service, *, clients_max: int = CLIENTS_MAX) -> None:
        """Replicate a service. The group must not be open yet; this replica becomes the group's `state`.

        The last answers of `clients_max` clients are kept, the same number at all members. Beyond that the
        client is forgotten whose last request was executed longest ago.

        Raises:
            InvalidSetting: `clients_max` is less than 1, or the group has a `state` already.
        """
        if group.state is not None:
            raise InvalidSetting(f"state={group.state!r}: the group's state is that of one service")
        if type(clients_max) is not int or clients_max < 1:
            raise InvalidSetting(f"clients_max={clients_max!r}: it is a number, and at least 1")
        self._group = group
        self._service = service
        self._replica = Replica[tuple[Address, bytes]](service, clients_max)
        self._sending: set[asyncio.Task[None]] = set()
        self._port = RequestPort(group.group, lambda: group.keys, self._received)
        group.state = self

    @property
    def primary(self) -> Member | None:
        """Return the first member of the view, by the events that the application has taken; None before the
        first view.
        """
        return self._replica.primary

    @property
    def is_primary(self) -> bool:
        """Return True if this member executes requests."""
        return self.primary == self._group.me

    async def serve(self) -> None:
        """Execute, apply and answer within `async with` of the group, until it is left or closed.

        Raises:
            GroupClosed: the group is not open.
            GroupFailed: iteration of the group raises it; or the group was founded anew, while this process
                still has the state of the former group.
            InvalidSetting: requests to a group of this name are taken at this socket already.
        """
        self._port.open(self._group.shared_socket)
        try:
            async for event in self._group:
                self._take(event)
        finally:
            self._port.close()
            for task in self._sending:
                task.cancel()

    def _take(self, event: JoinedEvent) -> None:
        """Handle an event of the group."""
        self._replica.me = self._group.me
        match event:
            case View():
                self._replica.enter(event)
            case Delivery(number=number, payload=payload):
                self._replica.settle(decode_update(payload), number)
        self._go_on()

    def _received(self, address: Address, source: bytes, data: bytes) -> None:
        """Handle a request from a client; ignore an invalid datagram."""
        try:
            request = decode_request(data)
        except UNREADABLE:
            self._port.dropped[Rejection.MALFORMED] += 1
            return
        self._replica.me = self._group.me
        self._replica.requested(request, (address, source))
        self._go_on()

    def _go_on(self) -> None:
        """Send and broadcast what the replica says, and log which requests have failed."""
        for error in self._replica.failures():
            _logger.error("group %s: a request failed", self._group.group, exc_info=error)
        for (address, source), content in self._replica.replies_to_send():
            self._port.send(address, encode(content), source)
        for update in self._replica.updates_to_broadcast():
            task = asyncio.create_task(self._broadcast(update))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _broadcast(self, update: Update) -> None:
        """Broadcast an update; if it is too large, make its request fail."""
        with suppress(GroupClosed, GroupFailed):  # then iteration says so, or a view follows
            try:
                await self._group.broadcast(encode(update))
            except PayloadTooLarge as error:
                await self._group.broadcast(encode(update.failed(error)))

    async def save(self) -> AsyncIterator[bytes]:
        """Return the record of answers, and the state of the service."""
        record = self._replica.record()
        yield len(record).to_bytes(_SIZE_BYTES) + record
        async for piece in self._service.save():
            yield piece

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Replace record and state by those of another replica. Requests that waited here are dropped."""
        read = bytearray()
        end = _SIZE_BYTES
        async for piece in pieces:
            read += piece
            if len(read) >= _SIZE_BYTES:
                end = _SIZE_BYTES + int.from_bytes(read[:_SIZE_BYTES])
            if len(read) >= end:
                break
        self._replica.load_record(bytes(read[_SIZE_BYTES:end]))
        await self._service.load(_joined(bytes(read[end:]), pieces))


class Client:
    """Client that asks a replicated service from outside its group; an asynchronous context manager, used
    once.
    """

    def __init__(
        self,
        group: str,
        replicas: Sequence[Address | str],
        key: bytes | Keyring | None,
        *,
        retry_s: float = 0.5,
    ) -> None:
        """Make a client of the group with this name, which asks the replicas at these addresses: ("db1",
        7000) or "db1:7000".

        They need not be all replicas. After `retry_s` seconds without an answer the next one is asked.

        Raises:
            InvalidSetting: there is no address, one is not of this kind, or `retry_s` is not positive.
            InvalidKey: a key has not 32 bytes.
        """
        try:
            given = [parsed(one) if isinstance(one, str) else (one[0], int(one[1])) for one in replicas]
        except (TypeError, ValueError, IndexError) as error:
            raise InvalidSetting(f"replicas={replicas!r}: they have hosts with ports") from error
        if not given or not retry_s > 0:
            raise InvalidSetting(f"replicas={replicas!r}, retry_s={retry_s!r}: one at least, and a time")
        self._given = given
        self._retry_s = retry_s
        self._keys = key if key is None or isinstance(key, Keyring) else Keyring(key)
        self._port = RequestPort(group, lambda: self._keys, self._received, self._refused)
        self._socket: SharedSocket | None = None
        self._replicas: list[Address] = []
        self._at: Address = ("", 0)
        """Replica that gets the requests now: one of the given addresses, or the primary that a replica has
        named.
        """
        self._next = 0
        self._client = secrets.token_bytes(16)
        self._session = 0
        self._counter = 0
        self._news: asyncio.Queue[Answer | Elsewhere | list[Address]] = asyncio.Queue()
        """Replies, and addresses at which no process listens."""
        self._asking = asyncio.Lock()

    async def __aenter__(self) -> Self:
        """Open a socket.

        Raises:
            UnusableAddress: no replica's host can be resolved.
            GroupClosed: the client was opened before.
        """
        if self._socket is not None:
            raise GroupClosed("a client is opened once; make another one")
        sock: socket.socket | None = None
        problem: UnusableAddress | None = None
        for replica in self._given:
            try:
                sock = sock or socket.socket((await resolved(replica, {})).family, socket.SOCK_DGRAM)
                self._replicas.append((await resolved(sock, {0: replica})).routes[0][:2])
            except UnusableAddress as error:
                problem = error
        if sock is None:
            raise problem or UnusableAddress(0, "no address")
        self._socket = SharedSocket(sock)
        await self._socket.open()
        self._port.open(self._socket)
        self._at = self._replicas[0]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the socket."""
        assert self._socket is not None, "it is open"
        self._port.close()
        await self._socket.close()

    def rekey(self, key: bytes | Keyring) -> None:
        """Replace the group's keys: the first key is used, all are accepted. Raise `InvalidKey` if a key has
        not 32 bytes.
        """
        self._keys = key if isinstance(key, Keyring) else Keyring(key)

    async def request(self, body: bytes, timeout_s: float | None = None) -> bytes:
        """Return the answer to a request, which is executed once; requests of one client go one by one.

        Raises:
            PayloadTooLarge: it has more than REQUEST_BYTES_MAX bytes; nothing was sent.
            RequestFailed: `execute` raised, or its answer or update was too large; nothing has changed.
            ClientForgotten: the group keeps no answers for this client any more, and executes none of its
                requests. Whether this one was executed is not known. Make another client.
            TimeoutError: there was no answer in so many seconds. The request may still be executed, at most
                once, and not after a later request of this client.
            GroupClosed: outside `async with`.
        """
        require_size("a request", body := bytes_copy(body))
        if self._socket is None or self._port.closed:
            raise GroupClosed("a client asks within `async with`")
        try:
            async with asyncio.timeout(timeout_s), self._asking:
                if self._session == 0:
                    self._session = (await self._ask(Request(self._client, 0, 0, b""))).session
                self._counter += 1
                answer = await self._ask(Request(self._client, self._session, self._counter, body))
        except TimeoutError:
            told = f"no answer in {timeout_s:g} s; whether the request was executed is not known"
            raise TimeoutError(told) from None
        match answer.outcome:
            case Outcome.FAILED:
                raise RequestFailed(answer.answer.decode())
            case Outcome.FORGOTTEN:
                raise ClientForgotten("too many other clients have asked since this one's last request")
        return answer.answer

    async def _ask(self, request: Request) -> Answer:
        """Ask one replica after the other for the answer, and the primary whenever a replica names it."""
        self._news = asyncio.Queue()
        rounds = 0
        while True:
            asked: set[Address] = set()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._retry_s):
                    while True:
                        if self._at not in asked:
                            asked.add(self._at)
                            self._port.send(self._at, encode(request))
                        match await self._news.get():
                            case Answer(client=client, counter=counter) as answer:
                                if (client, counter) == (request.client, request.counter):
                                    return answer
                            case Elsewhere(host, port):
                                self._at = (host, port)
                            case nobody:
                                if self._at in nobody:
                                    self._turn()
            self._turn()
            rounds += 1
            if rounds % (len(self._replicas) + 1) == 0:
                self._port.renew()

    def _turn(self) -> None:
        """Make the next replica the one to ask."""
        self._next = (self._next + 1) % len(self._replicas)
        self._at = self._replicas[self._next]

    def _received(self, _address: Address, _source: bytes, data: bytes) -> None:
        try:
            self._news.put_nowait(decode_reply(data))
        except UNREADABLE:
            self._port.dropped[Rejection.MALFORMED] += 1

    def _refused(self, addresses: list[Address]) -> None:
        self._news.put_nowait(addresses)


async def _joined(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece
