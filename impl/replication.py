"""Machine of one replica of a primary-backup service, without tasks, sockets and clocks.

It is given what a replica meets, in order: the views and updates that its group delivers, and the requests of
clients. It says what is to be broadcast, and what is to be sent. `primary_backup` is its shell, and says how
the replicas of a service work together.

This module must not know what a request says, or where a reply goes.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import IntEnum
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct, msgpack
from msgspec.structs import replace

from antiphon.impl.errors import GroupFailed, PayloadTooLarge
from antiphon.impl.membership.member import Member, View
from antiphon.impl.protocols.core import bytes_copy
from antiphon.impl.states import Store

__all__ = [
    "REQUEST_BYTES_MAX",
    "WAITING_MAX",
    "Answer",
    "Elsewhere",
    "Outcome",
    "Replica",
    "Reply",
    "Request",
    "Service",
    "Snapshot",
    "Update",
    "decode_reply",
    "decode_request",
    "decode_update",
    "encode",
    "require_size",
]

REQUEST_BYTES_MAX = 60_000
"""Largest size of a request and of an answer in bytes: each is one datagram."""

WAITING_MAX = 1_000
"""Largest number of requests that wait at the primary; further ones are dropped, and clients repeat them."""

_REASON_CHARACTERS = 1_000

Sender = TypeVar("Sender")
"""Type of the sender of a request, of which only the shell knows more."""


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


class Outcome(IntEnum):
    """Kind of result of a request."""

    ANSWERED, FAILED, FORGOTTEN = range(3)


class Request(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Request number `counter` of a client; number 0 asks for a session."""

    client: bytes
    session: int
    counter: int
    body: bytes


class Answer(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag=0):
    """The result of a request: an answer, or the reason for none."""

    client: bytes
    session: int
    counter: int
    outcome: Outcome
    answer: bytes


class Elsewhere(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag=1):
    """Reply of a backup: the address of the primary."""

    host: str
    port: int


class Update(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Broadcast of the primary: the result of a request that it executed in this view, and the update of the
    state.
    """

    view: int
    answer: Answer
    update: bytes

    def failed(self, error: Exception) -> Update:
        """Return the update in place of this one if its request fails: the state stays as it is."""
        answer = replace(self.answer, outcome=Outcome.FAILED, answer=_reason(error))
        return Update(self.view, answer, b"")


class Reply(NamedTuple, Generic[Sender]):
    """Reply to the sender of a request."""

    to: Sender
    content: Answer | Elsewhere


class _Waiting(NamedTuple, Generic[Sender]):
    """Request that waits at the primary, with its sender."""

    request: Request
    sender: Sender


class Snapshot(NamedTuple, Generic[Sender]):
    """State of a replica, immutable; the state of its service is not part of it."""

    me: Member | None
    view: View | None
    answers: tuple[Answer, ...]
    waiting: tuple[_Waiting[Sender], ...]
    executing: bool


decode_request = msgpack.Decoder(Request).decode
decode_reply = msgpack.Decoder(Answer | Elsewhere).decode
decode_update = msgpack.Decoder(Update).decode
encode = msgpack.Encoder().encode

_decode_record = msgpack.Decoder(list[Answer]).decode


class Replica(Generic[Sender]):
    """One replica: it knows its view, the requests that wait, and the last answer of each client."""

    def __init__(self, service: Service, clients_max: int) -> None:
        """Make a replica of a service that keeps the last answers of so many clients."""
        self.me: Member | None = None
        """Member that this process is; another one after an exclusion. The shell sets it before each call."""
        self._service = service
        self._clients_max = clients_max
        self._view: View | None = None
        """Last view that was entered."""
        self._answers: OrderedDict[bytes, Answer] = OrderedDict()
        """Last answer of each client; the client that was answered longest ago comes first."""
        self._waiting: dict[bytes, _Waiting[Sender]] = {}
        """Request of each client that has no answer yet, at the primary."""
        self._executing = False
        """True if the first waiting request was executed in this view, and its update is still to come."""
        self._updates: list[Update] = []
        self._replies: list[Reply[Sender]] = []
        self._failures: list[Exception] = []

    @property
    def primary(self) -> Member | None:
        """Return the first member of the last view; None before the first view."""
        return None if self._view is None else self._view.members[0]

    @property
    def is_primary(self) -> bool:
        """Return True if this replica executes requests."""
        return self.primary is not None and self.primary == self.me

    def updates_to_broadcast(self) -> list[Update]:
        """Return, once, the updates to broadcast, in order."""
        updates, self._updates = self._updates, []
        return updates

    def replies_to_send(self) -> list[Reply[Sender]]:
        """Return, once, the replies to send, in order."""
        replies, self._replies = self._replies, []
        return replies

    def failures(self) -> list[Exception]:
        """Return, once, the exceptions that the service has raised, in order."""
        failures, self._failures = self._failures, []
        return failures

    def enter(self, view: View) -> None:
        """Enter a view. Requests that were executed before, and whose updates were not delivered, will be
        executed again.

        Raises:
            GroupFailed: the view is not later than the last one.
        """
        if self._view is not None and view.number <= self._view.number:
            raise GroupFailed(f"view {view.number} after view {self._view.number}: it was founded anew")
        self._view = view
        self._executing = False
        if not self.is_primary:
            self._waiting.clear()
        self._execute()

    def settle(self, update: Update, number: int) -> None:
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
        if answer.outcome is not Outcome.FORGOTTEN:
            self._answers[answer.client] = answer
            self._answers.move_to_end(answer.client)
            if len(self._answers) > self._clients_max:
                self._answers.popitem(last=False)
        waiting = self._waiting.get(answer.client)
        if waiting is not None and waiting.request.counter == answer.counter:
            del self._waiting[answer.client]
            self._replies.append(Reply(waiting.sender, answer))
        self._execute()

    def requested(self, request: Request, sender: Sender) -> None:
        """Handle a request: answer it from the record, let it wait if this is the primary, or name the
        primary.
        """
        last = self._answers.get(request.client)
        if last is not None and request.counter <= last.counter:
            if request.counter == last.counter:  # else its client has gone on
                self._replies.append(Reply(sender, last))
        elif self.is_primary:
            before = self._waiting.get(request.client)
            if (before is None and len(self._waiting) < WAITING_MAX) or (
                before is not None and request.counter >= before.request.counter
            ):
                self._waiting[request.client] = _Waiting(request, sender)
                self._execute()
        elif self.primary is not None:
            self._replies.append(Reply(sender, Elsewhere(*self.primary.address)))

    def record(self) -> bytes:
        """Return the last answers, encoded for a replica that joins."""
        return encode(list(self._answers.values()))

    def load_record(self, record: bytes) -> None:
        """Replace the last answers by those of another replica, and drop the requests that wait: others may
        have executed them.
        """
        self._waiting.clear()
        self._answers = OrderedDict((answer.client, answer) for answer in _decode_record(record))

    def snapshot(self) -> Snapshot[Sender]:
        """Return the state between two calls, after which nothing is left to send."""
        answers, waiting = tuple(self._answers.values()), tuple(self._waiting.values())
        return Snapshot(self.me, self._view, answers, waiting, self._executing)

    def restore(self, snapshot: Snapshot[Sender]) -> None:
        """Set the state to that of a snapshot."""
        self.me, self._view, answers, waiting, self._executing = snapshot
        self._answers = OrderedDict((answer.client, answer) for answer in answers)
        self._waiting = {one.request.client: one for one in waiting}
        self._updates, self._replies, self._failures = [], [], []

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
        told = Answer(request.client, request.session, request.counter, outcome, answer)
        self._updates.append(Update(self._view.number, told, update))

    def _outcome(self, request: Request) -> tuple[Outcome, bytes, bytes]:
        """Return the result of a request in the present state."""
        if request.counter == 0:
            return Outcome.ANSWERED, b"", b""
        last = self._answers.get(request.client)
        if last is None or last.session != request.session:
            return Outcome.FORGOTTEN, b"", b""
        try:
            answer, update = map(bytes_copy, self._service.execute(request.body))
            require_size("an answer", answer)
        except Exception as error:  # noqa: BLE001 - the client gets it, whatever it is
            self._failures.append(error)
            return Outcome.FAILED, _reason(error), b""
        return Outcome.ANSWERED, answer, update


def require_size(what: str, data: bytes) -> None:
    """Raise `PayloadTooLarge` for more than REQUEST_BYTES_MAX bytes."""
    if len(data) > REQUEST_BYTES_MAX:
        raise PayloadTooLarge(f"{what} of {len(data)} bytes; it has at most {REQUEST_BYTES_MAX}")


def _reason(error: Exception) -> bytes:
    return f"{type(error).__name__}: {error}"[:_REASON_CHARACTERS].encode(errors="replace")
