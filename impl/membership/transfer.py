"""Transfer of an application's state from one member to another, in pieces, beside the group's messages.

A process that has just joined asks a member, the donor, for its state, as of some place in the common order
or a later one. The donor refuses with a reason, or begins: it names the place and the last view that the
state contains, sends pieces, and ends with a digest of all. This travels on a link, which loses nothing.

1. A new request replaces the earlier one, to whichever member. A member that still sends that state gets
   `stopped`, and forgets it.
2. When a donor fails, the next request says how far the pieces have come, of which state, and with which
   digest. A donor that keeps a state of the same place, with the same bytes up to there, goes on behind them.
   Another one says why it begins again.
3. A `Snapshot` is the state of one place. It is sent when it is complete, or while it is made if that takes
   longer than `_MADE_MS`. A donor keeps it for those who may need it, but only `KEPT_MS` longer than one of
   them says that it does.
4. Who waits for a state, or for the rest of one, says so to all members now and then. Who has the whole state
   says that to all members, so that they forget what they keep for it.
5. A donor keeps the newest state however large it is, and `KEPT_BYTES_MAX` of the older ones that nobody says
   to need.

No clock and no socket. This module must not know what the state is, or who is a member.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, msgpack

from antiphon.impl.errors import UNREADABLE
from antiphon.impl.layers.links import Links
from antiphon.impl.protocols.core import NATURAL_MAX

__all__ = ["KEPT_BYTES_MAX", "KEPT_MS", "PIECE_BYTES", "Snapshot", "State", "Transfers", "Wanted"]

PIECE_BYTES = 2**14
"""Number of bytes of a state in one datagram. Most of what a piece costs is its datagram."""

KEPT_BYTES_MAX = 2**27
"""Largest number of bytes of all states that a member keeps for those that have joined, and that none of them
says to need. The newest state does not count.
"""

KEPT_MS = 60_000.0
"""Milliseconds that a member keeps a state which nobody says to need."""

_SAYS_SO = 6
"""Number of times in `KEPT_MS` that a process which waits for a state says so: some of these may be lost."""

_MADE_MS = 500.0
"""Milliseconds for which no piece of a state is sent while the state is made. Its application takes no events
until then, and sending takes the time of the same processor.
"""

_PEERS_MAX = 64
"""Largest number of transfers that one member gives at a time."""

_AHEAD = 16
"""Largest number of pieces that are on their way at a time. The group's own messages wait behind these in the
receiver's socket.
"""

_CHUNK_BYTES = 2**16
"""Smallest number of bytes that a snapshot keeps as the application gave them; fewer are collected."""

_WHY_LENGTH_MAX = 200

_Count = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]

_PIECE, _TOLD = b"\x00", b"\x01"


class _Want(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="want"):
    """Message: the sender requests the state, as of this place in the common order or a later one."""

    after: _Count


class _Resume(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="resume"):
    """Message: the sender requests the rest of a state, or else a whole one of place `after` or later."""

    after: _Count
    number: _Count
    """Place in the common order of the state that has come in part."""
    view: _Count
    """Last view that this state contains."""
    size: _Count
    """Number of bytes of this state that have come."""
    digest: bytes
    """Digest of the bytes that have come."""


class _Refused(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="refused"):
    """Message: the sender refuses to give its state."""

    why: Annotated[str, Meta(max_length=_WHY_LENGTH_MAX)]


class _Begun(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="begun"):
    """Message: pieces follow, of a state of this place in the common order, with the views up to this one.
    Earlier pieces are void.
    """

    number: _Count
    view: _Count


class _Resumed(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="resumed"):
    """Message: the next pieces continue those that the request named."""


class _Anew(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="anew"):
    """Message: the sender cannot continue the pieces that the request named, and begins a whole state."""

    why: Annotated[str, Meta(max_length=_WHY_LENGTH_MAX)]


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
    part: _Resume | None = None
    """Part of a state that the process has already, or None."""

    @property
    def place(self) -> tuple[int, int]:
        """Place and view that a donor's application must have reached before it answers."""
        return (self.after, 0) if self.part is None else (self.part.number, self.part.view)


class State(NamedTuple):
    """State of an application that has arrived completely."""

    number: int
    """Place in the common order of the state: it contains everything up to there, and nothing after it."""
    view: int
    """Last view that the state contains."""
    pieces: tuple[bytes, ...]


class Snapshot:
    """State of this member's application as of one place, while it is made and afterwards."""

    def __init__(self, number: int, view: int, needed_by: Iterable[bytes] = ()) -> None:
        """Begin with no bytes; the members `needed_by` may need the state."""
        self.number, self.view = number, view
        self.complete = False
        self.dropped = False
        """True if nobody gets the state any more, so that it need not be completed."""
        self.needed_by = set(needed_by)
        self.needed = False
        """True if one of the members `needed_by` has said that it waits for a state."""
        self.until = 0.0
        """Time at which the state is forgotten, if nobody says until then that it is needed."""
        self.given_from = 0.0
        """Time from which pieces are sent, also if the state is not complete."""
        self._chunks: list[bytes] = []
        self._begins: list[int] = []
        """Place of the first byte of each chunk."""
        self._rest = bytearray()
        """Bytes behind the last chunk, too few for one."""
        self._size = 0
        self._digest = hashlib.blake2b(digest_size=32)
        self._digested = 0
        """Number of the first bytes that are in the digest."""

    def __len__(self) -> int:
        return self._size

    def add(self, data: bytes | memoryview) -> None:
        """Append some bytes, without copying them if they are many and nobody can change them."""
        if type(data) is bytes and len(data) >= _CHUNK_BYTES:
            self._close_chunk()
            self._keep(data)
        else:
            self._rest += data
            if len(self._rest) >= _CHUNK_BYTES:
                self._close_chunk()
        self._size += len(data)

    def _close_chunk(self) -> None:
        if self._rest:
            self._keep(bytes(self._rest))
            self._rest.clear()

    def _keep(self, chunk: bytes) -> None:
        self._begins.append(self._begins[-1] + len(self._chunks[-1]) if self._chunks else 0)
        self._chunks.append(chunk)

    def piece(self, at: int) -> bytes:
        """Return the bytes from position `at` on, as many as one datagram carries."""
        piece = b"".join(self._views(at, min(at + PIECE_BYTES, self._size)))
        if at <= self._digested < at + len(piece):
            self._digest.update(piece[self._digested - at :])
            self._digested = at + len(piece)
        return piece

    def _views(self, at: int, end: int) -> Iterator[memoryview]:
        """Yield the bytes from one place to another, as they are kept."""
        kept = self._size - len(self._rest)
        place = bisect_right(self._begins, at) - 1
        while at < min(end, kept):
            begin, chunk = self._begins[place], self._chunks[place]
            yield memoryview(chunk)[at - begin : end - begin]
            at, place = begin + len(chunk), place + 1
        if end > kept:
            yield memoryview(bytes(self._rest))[max(at - kept, 0) : end - kept]

    @property
    def digest(self) -> bytes:
        """The digest of all bytes so far. What `piece` has returned in order is in it already."""
        for view in self._views(self._digested, self._size):
            self._digest.update(view)
        self._digested = self._size
        return self._digest.digest()

    def begins_with(self, size: int, digest: bytes) -> bool:
        """Return True if the first `size` bytes have this digest."""
        if size > self._size:
            return False
        begun = hashlib.blake2b(digest_size=32)
        for view in self._views(0, size):
            begun.update(view)
        if size > self._digested:
            self._digest, self._digested = begun, size
        return begun.digest() == digest


class _Giving:
    """Transfer at the member that gives."""

    def __init__(self) -> None:
        self.link = Links(0, 2, segment_bytes_max=2 * PIECE_BYTES)
        self.wanted: Wanted | None = None
        """Request of the receiver, once it has come."""
        self.snapshot: Snapshot | None = None
        self.sent = 0
        """Number of bytes of the state that the link has, or that the receiver had before."""
        self.complete = False
        """True if all was given."""

    def say(self, message: _Refused | _Begun | _Resumed | _Anew | _Ended) -> None:
        """Send a message that is no piece."""
        self.link.send(1, _TOLD + _encode(message))

    def fill(self) -> None:
        """Give the link more of the state, as far as that is made and few pieces are on their way, and its
        digest last.
        """
        snapshot = self.snapshot
        if snapshot is None or self.complete:
            return
        while self.sent < len(snapshot) and self.link.unacknowledged(1) < _AHEAD:
            piece = snapshot.piece(self.sent)
            if len(piece) < PIECE_BYTES and not snapshot.complete:
                return
            self.link.send(1, _PIECE + piece)
            self.sent += len(piece)
        if snapshot.complete and self.sent >= len(snapshot):
            self.say(_Ended(snapshot.digest))
            self.complete = True


class _Taking:
    """Transfer at the member that takes, with one donor."""

    def __init__(self) -> None:
        self.link = Links(0, 2, segment_bytes_max=2 * PIECE_BYTES)
        self.answered = False
        """True if the donor has begun, or gone on."""
        self.complete = False
        self.begun: _Begun | None = None
        """Place of the state of which there are pieces, from this donor or an earlier one."""
        self.pieces: list[bytes] = []
        self.size = 0
        """Number of bytes of the pieces."""
        self.digest = hashlib.blake2b(digest_size=32)

    def go_on(self, earlier: _Taking) -> None:
        """Take over the pieces that an earlier donor has given."""
        self.begun, self.pieces, self.size = earlier.begun, earlier.pieces, earlier.size
        self.digest = earlier.digest.copy()

    def begin(self, begun: _Begun | None) -> None:
        """Forget all pieces; those of the state `begun` follow, or none."""
        self.begun, self.pieces, self.size = begun, [], 0
        self.digest = hashlib.blake2b(digest_size=32)

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        self.pieces.append(piece)
        self.size += len(piece)
        self.digest.update(piece)


class Transfers:
    """Transfers of one member. `now` is in milliseconds."""

    def __init__(self) -> None:
        self.wanted: deque[Wanted] = deque()
        """Processes that want the state of this member's application, and for which none is kept."""
        self.state: State | None = None
        """Requested state, once it has arrived and until it is `taken`."""
        self.asked_at = 0.0
        """Time of the last request for a state."""
        self._says_at = 0.0
        """Time at which this process says again that it waits for a state, if it does."""
        self.waits = False
        """True if a state was requested, and has neither arrived nor been refused."""
        self.donor: bytes | None = None
        """Member that was asked last for its state."""
        self.refusal: str | None = None
        """Reason why the member of the last request gives no state, or None."""
        self.resumed: int | None = None
        """Number of bytes behind which the donor has gone on; a reader sets it to None."""
        self.anew: str | None = None
        """Reason why the donor could not go on behind another one, and has begun again; a reader sets it to
        None.
        """
        self._after = 0
        self._asked = 0
        self._taking = _Taking()
        self._kept: list[Snapshot] = []
        """States for those that need them, the oldest first."""
        self._giving: dict[tuple[bytes, int], _Giving] = {}
        self._last: dict[bytes, int] = {}
        """Number of the last transfer that each member has asked for."""

    @property
    def idle(self) -> bool:
        """Return True if no transfer is requested or under way, and no state is kept."""
        return self.donor is None and not self._giving and not self._kept

    # Who wants a state --------------------------------------------------------------------------------------

    @property
    def begun(self) -> bool:
        """Return True if the asked member has begun to send its state, or to go on with another's."""
        return self._taking.answered

    @property
    def taken_bytes(self) -> int:
        """Number of bytes of a state that have come so far, and that the application has not taken."""
        return self._taking.size

    def ask(self, donor: bytes, after: int, now: float) -> None:
        """Ask this member, and no other any more, for its state as of place `after` or a later one; if pieces
        of such a state have come, ask only for the rest.
        """
        self._asked += 1
        earlier, self._taking = self._taking, _Taking()
        self.donor, self.waits, self.refusal, self._after = donor, True, None, after
        self.asked_at = self._says_at = now
        wish: _Want | _Resume = _Want(after)
        if earlier.begun is not None and earlier.size and earlier.begun.number >= after:
            self._taking.go_on(earlier)
            number, view = earlier.begun.number, earlier.begun.view
            wish = _Resume(after, number, view, earlier.size, earlier.digest.digest())
        self._taking.link.send(1, _encode(wish))

    def taken(self) -> None:
        """Forget the state that has come, since the application has it."""
        self.state = None
        self._taking.begin(None)

    # Who has one --------------------------------------------------------------------------------------------

    @property
    def kept_bytes(self) -> int:
        """Number of bytes of all states that are kept."""
        return sum(map(len, self._kept))

    def keep(self, snapshot: Snapshot, now: float) -> None:
        """Keep a state that is being made, for those that need it."""
        snapshot.until, snapshot.given_from = now + KEPT_MS, now + _MADE_MS
        self._kept.append(snapshot)

    def kept(self, number: int, view: int) -> bool:
        """Return True if a state of this place is kept."""
        return any((one.number, one.view) == (number, view) for one in self._kept)

    def serve(self) -> None:
        """Give what is kept to those that want it."""
        for wanted in list(self.wanted):
            if self._serve(wanted):
                self.wanted.remove(wanted)

    def add(self, snapshot: Snapshot, data: bytes | memoryview) -> None:
        """Append some bytes to a state that is kept, and forget the oldest states that nobody needs, if they
        are too large.
        """
        snapshot.add(data)
        idle = [one for one in self._kept[:-1] if not self._gets(one) and not one.needed]
        excess = sum(map(len, idle)) - KEPT_BYTES_MAX
        while excess > 0 and idle:
            excess -= len(idle[0])
            self._drop(idle.pop(0))

    def end(self, snapshot: Snapshot) -> None:
        """Note that a state is complete."""
        snapshot.complete = True

    def void(self, snapshot: Snapshot, why: str | None) -> None:
        """Forget a state that could not be made. Refuse it with the reason `why` to those that were getting
        it; without a reason, treat their requests as new ones.
        """
        self._drop(snapshot)
        for giving in self._giving.values():
            if giving.snapshot is snapshot and giving.wanted is not None:
                giving.snapshot = None
                self.wanted.append(giving.wanted._replace(part=None))
                if why is not None:
                    self.refuse(self.wanted.pop(), why)

    def refuse(self, wanted: Wanted, why: str) -> None:
        """Refuse a state: there is none here, or no longer."""
        giving = self._giving.get((wanted.by, wanted.transfer))
        if giving is not None:
            giving.say(_Refused(why[:_WHY_LENGTH_MAX]))
            giving.complete = True
        if wanted in self.wanted:
            self.wanted.remove(wanted)

    def stopped(self, source: bytes, transfer: int) -> None:
        """Forget a transfer that its receiver has given up; 0 says that it needs no state at all any more."""
        self._forget_giving(lambda by, number: by == source and transfer in (0, number))
        if transfer == 0:
            self._forget_needless(lambda by: by == source)

    def needs(self, source: bytes, now: float) -> None:
        """Keep for longer what is kept for a process that waits for a state, from whichever member."""
        for snapshot in self._kept:
            if source in snapshot.needed_by:
                snapshot.needed, snapshot.until = True, now + KEPT_MS

    def _serve(self, wanted: Wanted) -> bool:
        """Give a state that is kept; return False if none fits, or it is not known yet whether one does."""
        giving = self._giving.get((wanted.by, wanted.transfer))
        if giving is None:
            return True
        part = wanted.part
        if part is not None:
            same = next(
                (one for one in self._kept if (one.number, one.view) == (part.number, part.view)), None
            )
            if same is not None and part.size > len(same) and not same.complete:
                return False
            if same is not None and same.begins_with(part.size, part.digest):
                giving.say(_Resumed())
                giving.snapshot, giving.sent = same, part.size
                return True
        fitting = [one for one in self._kept if one.number >= wanted.after]
        if not fitting:
            return False
        if part is not None:
            giving.say(
                _Anew("its state of that place has other bytes" if same else "it keeps none of that place")
            )
        snapshot = min(fitting, key=lambda one: (one.number, one.view))
        giving.say(_Begun(snapshot.number, snapshot.view))
        giving.snapshot, giving.sent = snapshot, 0
        return True

    def _gets(self, snapshot: Snapshot) -> bool:
        """Return True if somebody gets this state now."""
        return any(giving.snapshot is snapshot for giving in self._giving.values())

    def _drop(self, snapshot: Snapshot) -> None:
        snapshot.dropped = True
        if snapshot in self._kept:
            self._kept.remove(snapshot)

    def _forget_needless(self, without: Callable[[bytes], bool]) -> None:
        """Forget the states that only members for which `without` holds may need."""
        for snapshot in self._kept:
            snapshot.needed_by = {by for by in snapshot.needed_by if not without(by)}
        self._forget_kept(lambda snapshot: not snapshot.needed_by)

    def _forget_kept(self, needless: Callable[[Snapshot], bool]) -> None:
        for snapshot in [one for one in self._kept if needless(one) and not self._gets(one)]:
            self._drop(snapshot)

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
            self._forget_giving(lambda by, _: by == source)
            while len(self._giving) >= _PEERS_MAX:
                del self._giving[next(iter(self._giving))]
            self._giving[source, transfer] = _Giving()
            self._last[source] = transfer
        giving = self._giving[source, transfer]
        items = giving.link.received(1, data, now)
        if isinstance(items, str):
            return False
        for item in items:
            try:
                want = _decode_want(item)
            except UNREADABLE:
                return False
            giving.wanted = Wanted(source, transfer, want.after, want if isinstance(want, _Resume) else None)
            if not self._serve(giving.wanted):
                self.wanted.append(giving.wanted)
        return True

    def _item_received(self, item: bytes) -> bool:
        """Take a control message or a piece from the giver. Return False if no correct giver sends it at this
        point.
        """
        taking = self._taking
        if taking.complete or not self.waits:
            return True
        if item[:1] == _PIECE:
            if taking.answered:
                taking.add(item[1:])
            return taking.answered
        try:
            told = _decode_answer(item[1:])
        except UNREADABLE:
            return False
        match told:
            case _Refused(why=why):
                self.waits, self.refusal = False, why
            case _Begun(number=number) if number < self._after:
                self.waits, self.refusal = False, f"its state is of number {number}, before {self._after}"
            case _Begun():
                taking.answered = True
                taking.begin(told)
            case _Resumed() if taking.begun is not None and not taking.answered:
                taking.answered, self.resumed = True, taking.size
            case _Anew(why=why):
                self.anew = why
            case _Ended(digest=digest) if taking.begun is not None and taking.answered:
                self.waits, taking.complete = False, True
                if digest == taking.digest.digest():
                    self.state = State(taking.begun.number, taking.begun.view, tuple(taking.pieces))
                else:
                    self.refusal = "its pieces have another digest than it says"
                    taking.begin(None)
            case _:
                return False
        return True

    def tick(self, now: float) -> None:
        """Run the timers that are due, and forget sent parts that have arrived, and states that were kept for
        long enough.
        """
        for key, giving in list(self._giving.items()):
            giving.link.tick(now)
            if giving.snapshot is not None:
                giving.snapshot.until = now + KEPT_MS
            if giving.complete and not giving.link.owes(1):
                if giving.snapshot is not None:
                    giving.snapshot.needed_by.discard(key[0])
                del self._giving[key]
        self._forget_kept(lambda snapshot: now >= snapshot.until or not snapshot.needed_by)
        self._taking.link.tick(now)
        done = self._taking.complete and self.state is None and self.refusal is None
        if done and self._taking.link.silent:
            self.donor = None

    def next_deadline(self) -> float | None:
        """Return the time of the next timer, or None."""
        links = (self._taking.link, *(giving.link for giving in self._giving.values()))
        deadlines = [link.next_deadline() for link in links]
        deadlines += [snapshot.until for snapshot in self._kept]
        deadlines += [self._says_at] if self.waits else []
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def datagrams(self, now: float) -> list[tuple[bytes, int, bytes]]:
        """Return, once, the datagrams to send: the receiver's incarnation, the transfer, and the bytes."""
        out: list[tuple[bytes, int, bytes]] = []
        if self.donor is not None:
            out += [(self.donor, self._asked, send.message) for send in self._taking.link.outputs(now)]
        for (to, transfer), giving in self._giving.items():
            snapshot = giving.snapshot
            if snapshot is not None and (snapshot.complete or now >= snapshot.given_from):
                giving.fill()
            out += [(to, -transfer, send.message) for send in giving.link.outputs(now)]
        return out

    def says_so(self, now: float) -> bool:
        """Return True if it is time to say to all members that this process waits for a state."""
        due = self.waits and now >= self._says_at
        if due:
            self._says_at = now + KEPT_MS / _SAYS_SO
        return due

    def forget(self, members: frozenset[bytes]) -> None:
        """Stop all transfers to processes that are no members any more."""
        self._forget_giving(lambda by, _: by not in members)
        self._forget_needless(lambda by: by not in members)
        self._last = {by: transfer for by, transfer in self._last.items() if by in members}

    def _forget_giving(self, gone: Callable[[bytes, int], bool]) -> None:
        for by, transfer in list(self._giving):
            if gone(by, transfer):
                del self._giving[by, transfer]
        self.wanted = deque(wanted for wanted in self.wanted if not gone(wanted.by, wanted.transfer))


_encode = msgpack.Encoder().encode
_decode_want = msgpack.Decoder(_Want | _Resume).decode
_decode_answer = msgpack.Decoder(_Refused | _Begun | _Resumed | _Anew | _Ended).decode
