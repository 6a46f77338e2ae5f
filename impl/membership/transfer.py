"""The state of an application travels from one member to another, in pieces, beside the group's messages.

A process that has just joined asks a member for its state, as of some place in the common order or a later
one. The member answers with the place that its state is of, and the pieces; or that it has no state itself.
They travel on a link, which loses nothing, and are checked against a digest. Who gets no further asks another
member, from the beginning.

No clock and no socket. This module must not know what the state is, or who is a member.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable
from typing import Annotated, NamedTuple

from msgspec import Meta, MsgspecError, Struct, msgpack

from antiphon.impl.layers.links import Links
from antiphon.impl.protocols.core import NATURAL_MAX

__all__ = ["PIECE_BYTES", "State", "Transfers", "Wanted"]

PIECE_BYTES = 2**12
"""How much of a state travels in one datagram: a window of them fits the buffer of a socket."""

_PEERS_MAX = 64
"""How many transfers one member gives at a time."""

_Count = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]


class _Want(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="want"):
    """The state is wanted, as of this place or a later one."""

    after: _Count


class _Head(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="head"):
    """What follows: so many pieces, which have this digest, of this place."""

    number: _Count
    pieces: _Count
    digest: bytes


class _None(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="none"):
    """The sender has no state itself."""


class Wanted(NamedTuple):
    """Somebody wants the application's state."""

    by: bytes
    """The incarnation of the member."""
    transfer: int
    after: int
    """The place in the common order that the state has to be of, or a later one."""


class State(NamedTuple):
    """A state that has come whole."""

    number: int
    """The place in the common order that it is of: all up to it is in it, and nothing behind it."""
    pieces: tuple[bytes, ...]


class _Transfer:
    """One end of one transfer."""

    def __init__(self) -> None:
        self.link = Links(0, 2, segment_bytes_max=2 * PIECE_BYTES)
        self.head: _Head | None = None
        self.pieces: list[bytes] = []


class Transfers:
    """All transfers of one member. `now` is in milliseconds."""

    def __init__(self) -> None:
        self.wanted: deque[Wanted] = deque()
        """Who wants the state of this member's application."""
        self.state: State | None = None
        """The state that was asked for, once it has come."""
        self.progress_at = 0.0
        """When a piece of it came the last time, or it was asked for."""
        self._asked = 0
        self.waits = False
        """Whether a state was asked for, and neither came nor was refused."""
        self.donor: bytes | None = None
        """Who was asked the last time."""
        self._taking = _Transfer()
        self._giving: dict[tuple[bytes, int], _Transfer] = {}

    @property
    def idle(self) -> bool:
        """Whether nothing was asked for, here or of this member."""
        return self.donor is None and not self._giving

    # Who wants a state --------------------------------------------------------------------------------------

    def ask(self, donor: bytes, after: int, now: float) -> None:
        """Ask this member for its state, of that place or a later one, and nobody else any more."""
        self._asked += 1
        self.donor, self._taking, self.waits = donor, _Transfer(), True
        self.progress_at = now
        self._taking.link.send(1, _encode(_Want(after)))

    # Who has one --------------------------------------------------------------------------------------------

    def give(self, wanted: Wanted, number: int, pieces: Iterable[bytes]) -> None:
        """Send the state of this place."""
        transfer = self._giving.get((wanted.by, wanted.transfer))
        if transfer is None:
            return
        whole = b"".join(pieces)
        cut = [whole[at : at + PIECE_BYTES] for at in range(0, len(whole), PIECE_BYTES)]
        head = _Head(number, len(cut), hashlib.blake2b(whole, digest_size=32).digest())
        for item in (_encode(head), *cut):
            transfer.link.send(1, item)

    def refuse(self, wanted: Wanted) -> None:
        """Say that there is no state here."""
        transfer = self._giving.get((wanted.by, wanted.transfer))
        if transfer is not None:
            transfer.link.send(1, _encode(_None()))

    # Datagrams ----------------------------------------------------------------------------------------------

    def received(self, source: bytes, transfer: int, data: bytes, now: float) -> bool:
        """Handle a datagram of a transfer; False: it is none."""
        if source == self.donor and transfer == -self._asked:
            items = self._taking.link.received(1, data, now)
            if isinstance(items, str):
                return False
            return all(self._taken(item, now) for item in items)
        if transfer <= 0:
            return True  # of an end that was given up
        if (source, transfer) not in self._giving:
            while len(self._giving) >= _PEERS_MAX:
                del self._giving[next(iter(self._giving))]
            self._giving[source, transfer] = _Transfer()
        items = self._giving[source, transfer].link.received(1, data, now)
        if isinstance(items, str):
            return False
        for item in items:
            try:
                want = _decode_want(item)
            except MsgspecError:
                return False
            self.wanted.append(Wanted(source, transfer, want.after))
        return True

    def _taken(self, item: bytes, now: float) -> bool:
        """Take the head of a state, or its next piece."""
        self.progress_at = now
        taking = self._taking
        if taking.head is None:
            try:
                answer = _decode_answer(item)
            except MsgspecError:
                return False
            if isinstance(answer, _None):
                self.waits = False
                return True
            taking.head = answer
        else:
            taking.pieces.append(item)
        head = taking.head
        if len(taking.pieces) == head.pieces:
            whole = hashlib.blake2b(b"".join(taking.pieces), digest_size=32).digest()
            self.waits = False
            if whole == head.digest:
                self.state = State(head.number, tuple(taking.pieces))
        return True

    def tick(self, now: float) -> None:
        """Let every waiting time run out whose end has come."""
        for transfer in (self._taking, *self._giving.values()):
            transfer.link.tick(now)

    def next_deadline(self) -> float | None:
        """Return when `tick` has something to do, or None."""
        deadlines = [transfer.link.next_deadline() for transfer in (self._taking, *self._giving.values())]
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def datagrams(self, now: float) -> list[tuple[bytes, int, bytes]]:
        """Hand over, once, what is to be sent: the receiver's incarnation, the transfer, and the bytes."""
        out: list[tuple[bytes, int, bytes]] = []
        if self.donor is not None:
            out += [(self.donor, self._asked, send.message) for send in self._taking.link.outputs(now)]
        for (to, transfer), giving in self._giving.items():
            out += [(to, -transfer, send.message) for send in giving.link.outputs(now)]
        return out

    def forget(self, members: frozenset[bytes]) -> None:
        """Give nothing more to who is no member any more."""
        for to, transfer in list(self._giving):
            if to not in members:
                del self._giving[to, transfer]
        self.wanted = deque(wanted for wanted in self.wanted if wanted.by in members)


_encode = msgpack.Encoder().encode
_decode_want = msgpack.Decoder(_Want).decode
_decode_answer = msgpack.Decoder(_Head | _None).decode
