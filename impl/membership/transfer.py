"""Transfer of an application's state from one member to another, in pieces, beside the group's messages.

A process that has just joined asks a member for its state, as of some place in the common order or a later
one. The member refuses with a reason, or begins: it names the place and the last view that the state
contains, sends pieces as its application gives them, and ends with a digest of all. This travels on a link,
which loses nothing.

1. A new request replaces the earlier one, to whichever member. A member that still sends that state gets
   `stopped`, and forgets it.
2. A state that was received or sent completely is kept no longer than needed.

No clock and no socket. This module must not know what the state is, or who is a member.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from typing import Annotated, NamedTuple

from msgspec import Meta, MsgspecError, Struct, msgpack

from antiphon.impl.layers.links import Links
from antiphon.impl.protocols.core import NATURAL_MAX

__all__ = ["PIECE_BYTES", "State", "Transfers", "Wanted"]

PIECE_BYTES = 2**12
"""Number of bytes of a state in one datagram; a window of datagrams fits the buffer of a socket."""

_PEERS_MAX = 64
"""Largest number of transfers that one member gives at a time."""

_WHY_LENGTH_MAX = 200

_Count = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]

_PIECE, _TOLD = b"\x00", b"\x01"


class _Want(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="want"):
    """Message: the sender requests the state, as of this place in the common order or a later one."""

    after: _Count


class _Refused(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="refused"):
    """Message: the sender refuses to give its state."""

    why: Annotated[str, Meta(max_length=_WHY_LENGTH_MAX)]


class _Begun(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="begun"):
    """Message: pieces follow, of a state of this place in the common order, with the views up to this one.
    Earlier pieces are void.
    """

    number: _Count
    view: _Count


class _Ended(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="ended"):
    """Message: the state is complete; this is the digest of its pieces."""

    digest: bytes


class Wanted(NamedTuple):
    """Request of a process for the application's state."""

    by: bytes
    """Incarnation of the asking member."""
    transfer: int
    after: int
    """Place in the common order that the state must have reached."""


class State(NamedTuple):
    """State of an application that has arrived completely."""

    number: int
    """Place in the common order of the state: it contains everything up to there, and nothing after it."""
    view: int
    """Last view that the state contains."""
    pieces: tuple[bytes, ...]


class _Transfer:
    """One end of one transfer of a state."""

    def __init__(self) -> None:
        self.link = Links(0, 2, segment_bytes_max=2 * PIECE_BYTES)
        self.digest = hashlib.blake2b(digest_size=32)
        self.begun: _Begun | None = None
        self.pieces: list[bytes] = []
        self.complete = False
        """True if all was given, or all has come."""

    def say(self, message: _Refused | _Begun | _Ended) -> None:
        """Send a control message of the transfer, which is no piece."""
        self.link.send(1, _TOLD + _encode(message))


class Transfers:
    """Transfers of one member. `now` is in milliseconds."""

    def __init__(self) -> None:
        self.wanted: deque[Wanted] = deque()
        """Processes that want the state of this member's application."""
        self.state: State | None = None
        """Requested state, once it has arrived and until it is `taken`."""
        self.asked_at = 0.0
        """Time of the last request for a state."""
        self.waits = False
        """True if a state was requested, and has neither arrived nor been refused."""
        self.donor: bytes | None = None
        """Member of the last request."""
        self.refusal: str | None = None
        """Reason why that member gives no state."""
        self._asked = 0
        self._taking = _Transfer()
        self._giving: dict[tuple[bytes, int], _Transfer] = {}
        self._last: dict[bytes, int] = {}
        """Number of the last transfer that each member has asked for."""

    @property
    def idle(self) -> bool:
        """Return True if no transfer is requested or under way."""
        return self.donor is None and not self._giving

    # Who wants a state --------------------------------------------------------------------------------------

    @property
    def begun(self) -> bool:
        """Return True if the asked member has begun to send its state."""
        return self._taking.begun is not None

    def ask(self, donor: bytes, after: int, now: float) -> None:
        """Ask this member for its state, as of this place or a later one; drop a request to any other
        member.
        """
        self._asked += 1
        self.donor, self._taking, self.waits, self.refusal = donor, _Transfer(), True, None
        self.asked_at = now
        self._taking.link.send(1, _encode(_Want(after)))

    def taken(self) -> None:
        """Delete the received state, since the application has loaded it."""
        self.state, self._taking.pieces = None, []

    # Who has one --------------------------------------------------------------------------------------------

    def gives(self, wanted: Wanted) -> bool:
        """Return True if the process still wants this state."""
        return (wanted.by, wanted.transfer) in self._giving

    def begin(self, wanted: Wanted, number: int, view: int) -> None:
        """Announce the pieces of a state of this place with the views up to this one. After an earlier
        announcement, this one begins the transfer again.
        """
        transfer = self._giving.get((wanted.by, wanted.transfer))
        if transfer is not None:
            transfer.digest = hashlib.blake2b(digest_size=32)
            transfer.say(_Begun(number, view))

    def piece(self, wanted: Wanted, data: bytes) -> None:
        """Send some bytes of the state, if it is still wanted."""
        transfer = self._giving.get((wanted.by, wanted.transfer))
        if transfer is not None:
            transfer.digest.update(data)
            for at in range(0, len(data), PIECE_BYTES):
                transfer.link.send(1, _PIECE + data[at : at + PIECE_BYTES])

    def end(self, wanted: Wanted) -> None:
        """Send the end of the state."""
        transfer = self._giving.get((wanted.by, wanted.transfer))
        if transfer is not None:
            transfer.say(_Ended(transfer.digest.digest()))
            transfer.complete = True

    def refuse(self, wanted: Wanted, why: str) -> None:
        """Refuse to send a state, for this reason."""
        transfer = self._giving.get((wanted.by, wanted.transfer))
        if transfer is not None:
            transfer.say(_Refused(why[:_WHY_LENGTH_MAX]))
            transfer.complete = True

    def stopped(self, source: bytes, transfer: int) -> None:
        """Forget a transfer whose receiver has given it up."""
        self._giving.pop((source, transfer), None)
        self.wanted = deque(one for one in self.wanted if (one.by, one.transfer) != (source, transfer))

    # Datagrams ----------------------------------------------------------------------------------------------

    def received(self, source: bytes, transfer: int, data: bytes, now: float) -> bool | None:
        """Handle a datagram of a transfer. Return False if it is invalid, and None if this member has given
        up the transfer.
        """
        if transfer <= 0:
            if source != self.donor or transfer != -self._asked:
                return None
            items = self._taking.link.received(1, data, now)
            return not isinstance(items, str) and all(self._item_received(item) for item in items)
        if transfer < self._last.get(source, 0):
            return True  # an earlier question
        if (source, transfer) not in self._giving:
            if transfer == self._last.get(source):
                return True  # answered
            self._forget_giving(lambda by: by == source)
            while len(self._giving) >= _PEERS_MAX:
                del self._giving[next(iter(self._giving))]
            self._giving[source, transfer] = _Transfer()
            self._last[source] = transfer
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

    def _item_received(self, item: bytes) -> bool:
        """Take a control message or a piece from the giver. Return False if no correct giver sends it at this
        point.
        """
        taking = self._taking
        if taking.complete or not self.waits:
            return True
        if item[:1] == _PIECE:
            if taking.begun is None:
                return False
            taking.digest.update(item[1:])
            taking.pieces.append(item[1:])
            return True
        try:
            told = _decode_answer(item[1:])
        except MsgspecError:
            return False
        match told:
            case _Refused(why=why):
                self.waits, self.refusal, taking.pieces = False, why, []
            case _Begun():
                taking.begun, taking.pieces = told, []
                taking.digest = hashlib.blake2b(digest_size=32)
            case _Ended(digest=digest) if taking.begun is not None:
                self.waits, taking.complete = False, True
                if digest == taking.digest.digest():
                    self.state = State(taking.begun.number, taking.begun.view, tuple(taking.pieces))
                else:
                    self.refusal, taking.pieces = "its pieces have another digest than it says", []
            case _:
                return False
        return True

    def tick(self, now: float) -> None:
        """Run the timers that are due, and forget sent parts that have arrived."""
        for key, transfer in list(self._giving.items()):
            transfer.link.tick(now)
            if transfer.complete and not transfer.link.owes(1):
                del self._giving[key]
        self._taking.link.tick(now)

    def next_deadline(self) -> float | None:
        """Return the time of the next timer, or None."""
        deadlines = [transfer.link.next_deadline() for transfer in (self._taking, *self._giving.values())]
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def datagrams(self, now: float) -> list[tuple[bytes, int, bytes]]:
        """Return, once, the datagrams to send: the receiver's incarnation, the transfer, and the bytes."""
        out: list[tuple[bytes, int, bytes]] = []
        if self.donor is not None:
            out += [(self.donor, self._asked, send.message) for send in self._taking.link.outputs(now)]
        for (to, transfer), giving in self._giving.items():
            out += [(to, -transfer, send.message) for send in giving.link.outputs(now)]
        return out

    def forget(self, members: frozenset[bytes]) -> None:
        """Stop all transfers to processes that are no members any more."""
        self._forget_giving(lambda by: by not in members)
        self._last = {by: transfer for by, transfer in self._last.items() if by in members}

    def _forget_giving(self, gone: Callable[[bytes], bool]) -> None:
        for by, transfer in list(self._giving):
            if gone(by):
                del self._giving[by, transfer]
        self.wanted = deque(wanted for wanted in self.wanted if not gone(wanted.by))


_encode = msgpack.Encoder().encode
_decode_want = msgpack.Decoder(_Want).decode
_decode_answer = msgpack.Decoder(_Refused | _Begun | _Ended).decode
