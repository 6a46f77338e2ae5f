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
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from enum import IntEnum
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from msgspec import MsgspecError, Struct, msgpack
from msgspec.structs import replace

from antiphon.impl.errors import (
    ClientForgotten,
    GroupClosed,
    GroupFailed,
    InvalidSetting,
    PayloadTooLarge,
    Rejection,
    RequestFailed,
    UnusableAddress,
)
from antiphon.impl.joined import JoinedEvent, JoinedGroup, Store
from antiphon.impl.membership.member import Member, View
from antiphon.impl.protocols.core import Delivery, bytes_copy
from antiphon.impl.transport.addresses import Address, parsed, resolved
from antiphon.impl.transport.requests import RequestPort
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.shared_socket import SharedSocket

__all__ = ["CLIENTS_MAX", "REQUEST_BYTES_MAX", "WAITING_MAX", "Client", "PrimaryBackup", "Service"]

REQUEST_BYTES_MAX = 60_000
"""Largest size of a request and of an answer in bytes: each is one datagram."""

CLIENTS_MAX = 10_000
"""Default number of clients whose last answer is kept."""

WAITING_MAX = 1_000
"""Largest number of requests that wait at the primary; further ones are dropped, and clients repeat them."""

_REASON_CHARACTERS = 1_000
_SIZE_BYTES = 8

_logger = logging.getLogger("antiphon")


class Service(Store, Protocol):
    """An application whose requests are executed once, by one member, and whose state all members have."""

    def execute(self, request: bytes) -> tuple[bytes, bytes]:
        """Return the answer to a request, and the update for `apply`; an empty update changes nothing.

        This method may be called twice for one request, with different results. It must not change the state,
        since the update may be lost, and must return within a heartbeat. An exception goes to the client, and
        the state stays as it is.
        """
        ...

    def apply(self, update: bytes) -> None:
        """Apply an update, as a function of state and update alone. An exception ends this replica."""
        ...


class _Outcome(IntEnum):
    """Kind of result of a request."""

    ANSWERED, FAILED, FORGOTTEN = range(3)


class _Request(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Request number `counter` of a client; number 0 asks for a session."""

    client: bytes
    session: int
    counter: int
    body: bytes


class _Answer(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag=0):
    """The result of a request: an answer, or the reason for none."""

    client: bytes
    session: int
    counter: int
    outcome: _Outcome
    answer: bytes


class _Elsewhere(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag=1):
    """Reply of a backup: the address of the primary."""

    host: str
    port: int


class _Update(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Broadcast of the primary: the result of a request that it executed in this view, and the update of the
    state.
    """

    view: int
    answer: _Answer
    update: bytes


class _Waiting(NamedTuple):
    """Request that waits at the primary, with the address of its sender."""

    request: _Request
    address: Address
    source: bytes


_request = msgpack.Decoder(_Request)
_reply = msgpack.Decoder(_Answer | _Elsewhere)
_update = msgpack.Decoder(_Update)
_record = msgpack.Decoder(list[_Answer])
_encode = msgpack.Encoder().encode


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
        self._clients_max = clients_max
        self._answers: OrderedDict[bytes, _Answer] = OrderedDict()
        """Last answer of each client; the client that was answered longest ago comes first."""
        self._view: View | None = None
        """Last view that was taken from the events."""
        self._view_number = 0
        """The number of the last view that was taken, in this run or an earlier one of this process."""
        self._waiting: dict[bytes, _Waiting] = {}
        """Request of each client that has no answer yet, at the primary."""
        self._executing = False
        """True if the first waiting request was executed in this view, and its update is still to come."""
        self._sending: set[asyncio.Task[None]] = set()
        self._port = RequestPort(group.group, lambda: group.keys, self._received)
        group.state = self

    @property
    def primary(self) -> Member | None:
        """Return the first member of the view, by the events that the application has taken; None before the
        first view.
        """
        return None if self._view is None else self._view.members[0]

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

    # What is delivered --------------------------------------------------------------------------------------

    def _take(self, event: JoinedEvent) -> None:
        match event:
            case View():
                self._enter(event)
            case Delivery(number=number, payload=payload):
                self._settle(_update.decode(payload), number)

    def _enter(self, view: View) -> None:
        """Enter a view. Requests that were executed before, and whose updates were not delivered, will be
        executed again.
        """
        if view.number <= self._view_number:
            raise GroupFailed(f"view {view.number} after view {self._view_number}: it was founded anew")
        self._view, self._view_number = view, view.number
        self._executing = False
        if not self.is_primary:
            self._waiting.clear()
        self._execute()

    def _settle(self, update: _Update, number: int) -> None:
        """Apply an update that was delivered with this number, and answer its client; ignore it if its view
        is over.
        """
        assert self._view is not None, "the first event is a view"
        if update.view != self._view.number:
            return
        self._executing = False
        answer = update.answer if update.answer.counter else replace(update.answer, session=number)
        if update.update:
            self._service.apply(update.update)
        if answer.outcome is not _Outcome.FORGOTTEN:
            self._answers[answer.client] = answer
            self._answers.move_to_end(answer.client)
            if len(self._answers) > self._clients_max:
                self._answers.popitem(last=False)
        waiting = self._waiting.get(answer.client)
        if waiting is not None and waiting.request.counter == answer.counter:
            del self._waiting[answer.client]
            self._port.send(waiting.address, _encode(answer), waiting.source)
        self._execute()

    # Requests -----------------------------------------------------------------------------------------------

    def _received(self, address: Address, source: bytes, data: bytes) -> None:
        """Handle a request from a client: answer it from the record, queue it if this is the primary, or name
        the primary. Ignore an invalid datagram.
        """
        try:
            request = _request.decode(data)
        except MsgspecError:
            self._port.dropped[Rejection.MALFORMED] += 1
            return
        last = self._answers.get(request.client)
        if last is not None and request.counter <= last.counter:
            if request.counter == last.counter:  # else its client has gone on
                self._port.send(address, _encode(last), source)
        elif self.is_primary:
            before = self._waiting.get(request.client)
            if (before is None and len(self._waiting) < WAITING_MAX) or (
                before is not None and request.counter >= before.request.counter
            ):
                self._waiting[request.client] = _Waiting(request, address, source)
                self._execute()
        elif self.primary is not None:
            self._port.send(address, _encode(_Elsewhere(*self.primary.address)), source)

    def _execute(self) -> None:
        """Execute the first waiting request, if this is the primary and the update of the previous request
        was delivered.
        """
        if self._executing or not self._waiting or not self.is_primary:
            return
        assert self._view is not None, "there is a primary"
        self._executing = True
        request = next(iter(self._waiting.values())).request
        outcome, answer, update = self._outcome(request)
        told = _Answer(request.client, request.session, request.counter, outcome, answer)
        task = asyncio.create_task(self._broadcast(_Update(self._view.number, told, update)))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    def _outcome(self, request: _Request) -> tuple[_Outcome, bytes, bytes]:
        """Return the result of a request in the present state."""
        if request.counter == 0:
            return _Outcome.ANSWERED, b"", b""
        last = self._answers.get(request.client)
        if last is None or last.session != request.session:
            return _Outcome.FORGOTTEN, b"", b""
        try:
            answer, update = map(bytes_copy, self._service.execute(request.body))
            _see_size("an answer", answer)
        except Exception as error:
            _logger.exception("group %s: a request failed", self._group.group)
            return _Outcome.FAILED, _reason(error), b""
        return _Outcome.ANSWERED, answer, update

    async def _broadcast(self, update: _Update) -> None:
        """Broadcast an update; if it is too large, make its request fail."""
        with suppress(GroupClosed, GroupFailed):  # then iteration says so, or a view follows
            try:
                await self._group.broadcast(_encode(update))
            except PayloadTooLarge as error:
                failed = replace(update.answer, outcome=_Outcome.FAILED, answer=_reason(error))
                await self._group.broadcast(_encode(_Update(update.view, failed, b"")))

    # The state of who joins ---------------------------------------------------------------------------------

    async def save(self) -> AsyncIterator[bytes]:
        """Return the record of answers, and the state of the service."""
        record = _encode(list(self._answers.values()))
        yield len(record).to_bytes(_SIZE_BYTES) + record
        async for piece in self._service.save():
            yield piece

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Replace record and state by those of another replica. Requests that waited here are dropped, since
        others may have executed them.
        """
        self._waiting.clear()
        read = bytearray()
        end = _SIZE_BYTES
        async for piece in pieces:
            read += piece
            if len(read) >= _SIZE_BYTES:
                end = _SIZE_BYTES + int.from_bytes(read[:_SIZE_BYTES])
            if len(read) >= end:
                break
        answers = _record.decode(bytes(read[_SIZE_BYTES:end]))
        self._answers = OrderedDict((answer.client, answer) for answer in answers)
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
        self._news: asyncio.Queue[_Answer | _Elsewhere | list[Address]] = asyncio.Queue()
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
        _see_size("a request", body := bytes_copy(body))
        if self._socket is None or self._port.closed:
            raise GroupClosed("a client asks within `async with`")
        try:
            async with asyncio.timeout(timeout_s), self._asking:
                if self._session == 0:
                    self._session = (await self._ask(_Request(self._client, 0, 0, b""))).session
                self._counter += 1
                answer = await self._ask(_Request(self._client, self._session, self._counter, body))
        except TimeoutError:
            told = f"no answer in {timeout_s:g} s; whether the request was executed is not known"
            raise TimeoutError(told) from None
        match answer.outcome:
            case _Outcome.FAILED:
                raise RequestFailed(answer.answer.decode())
            case _Outcome.FORGOTTEN:
                raise ClientForgotten("too many other clients have asked since this one's last request")
        return answer.answer

    async def _ask(self, request: _Request) -> _Answer:
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
                            self._port.send(self._at, _encode(request))
                        match await self._news.get():
                            case _Answer(client=client, counter=counter) as answer:
                                if (client, counter) == (request.client, request.counter):
                                    return answer
                            case _Elsewhere(host, port):
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
            self._news.put_nowait(_reply.decode(data))
        except MsgspecError:
            self._port.dropped[Rejection.MALFORMED] += 1

    def _refused(self, addresses: list[Address]) -> None:
        self._news.put_nowait(addresses)


def _see_size(what: str, data: bytes) -> None:
    if len(data) > REQUEST_BYTES_MAX:
        raise PayloadTooLarge(f"{what} of {len(data)} bytes; it has at most {REQUEST_BYTES_MAX}")


def _reason(error: Exception) -> bytes:
    return f"{type(error).__name__}: {error}"[:_REASON_CHARACTERS].encode(errors="replace")


async def _joined(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece
