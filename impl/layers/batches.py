"""Batches: messages that are broadcast while the core is busy become one payload of the core.

1. A message gets its identifier when it is put: the source's count, from 1. It waits until the core takes the
   next batch, which takes all that wait, in order, as far as there is room.
2. At most `ahead` own batches are on their way, from the core's `broadcast` to its delivery here. So batches
   grow with the load, and a single message goes at once and alone.
3. A message larger than a batch is cut: each but its last piece fills a batch alone. It is delivered with
   its last piece.
4. Every member unpacks the same batches in the same order, so all give a message the same place: deliveries
   are numbered 1, 2, 3, ..., at each member, whatever numbers the core gives.
5. A core delivers each source's payloads in the order in which they were broadcast. A payload that is no
   batch, or not the next one of its source, is ignored, by all members alike; `broken` counts them.
6. Own messages that wait or are on their way have at most `buffer_bytes`, and one message more; then `full`
   is true and `put` refuses. The pieces of one message have at most `message_bytes_max`: if they have more,
   the members were given different sizes. Then this member fails, since the others deliver the message.
7. A slow application slows all members, so that none of them stores more for it than there is room. Each
   batch reports how much of the common order its source's application has taken. No batch of messages is made
   while some application has not taken `untaken_bytes` of what was delivered. A member whose application has
   taken a quarter of that since its last batch makes a batch, without messages if none waits. So at most
   `untaken_bytes`, one message, and the contents of `ahead` batches of each member are delivered and not
   taken. What was not taken of an earlier list of members counts until the member's first batch on this list;
   if that is `untaken_bytes`, its application takes all of it before the member makes a batch.
8. A message may ask to be delivered only when k members have it with its place (`holders`). All parts of a
   batch wait for the k of the batch: a message with a larger k begins the next batch, and one with a smaller
   k waits with the others. Each batch reports how much of the common order its source has. After a batch with
   k > 1, its source and the k - 1 members after it each make a batch to report that they have it, without
   messages if none waits; so k members have reported it before any other member delivers it.

No clock and no socket. This module must not know what a core does with a payload.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, count, repeat
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct, msgpack

from antiphon.impl.errors import UNREADABLE, Busy, GroupFailed, PayloadTooLarge
from antiphon.impl.protocols.core import (
    MEMBERS_MAX,
    NATURAL_MAX,
    Delivery,
    Identifier,
    Natural,
    Wait,
    bytes_copy,
)

__all__ = ["Batch", "Batches", "BatchesSnapshot"]

_BATCH_BYTES = 1 + 9 + 1 + 5 + 9 + 3 + 9
_PART_BYTES = 5
_TOLD_AGAIN = 4

_delivery: Any = partial(tuple.__new__, Delivery)


class Batch(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One payload of a core."""

    first: Natural
    """The identifier, at its source, of the first part; the next parts have the next ones."""
    cut: bool
    """True if the last part goes on in the source's next batch."""
    parts: list[bytes]
    """Messages and pieces; none if the batch only reports."""
    taken: Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
    """Number of bytes of the common order that the source's application had taken."""
    holders: Annotated[int, Meta(ge=1, le=MEMBERS_MAX)]
    """Number of members that must have the messages of this batch before they are delivered."""
    held: Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
    """Number of messages of the common order that its source had."""


class _Kept(NamedTuple):
    """Delivered messages, with their numbers, that wait until enough members have the last of them."""

    holders: int
    messages: tuple[Delivery, ...]


class BatchesSnapshot(NamedTuple):
    """Whole state of `Batches`, immutable."""

    waiting: tuple[tuple[bytes, int], ...]
    offset: int
    last_put: int
    last_taken: int
    on_their_way: tuple[int, ...]
    delivered: int
    delivered_bytes: int
    taken: int
    told: int
    owed: int
    told_held: int
    released_bytes: int
    kept: tuple[_Kept, ...]
    sources: tuple[tuple[int, tuple[bytes, ...] | None, int, int], ...]
    broken: int
    counted: tuple[int, ...]
    carried: tuple[int, ...]
    left: bool
    owes_first: bool


class _Source:
    """State of one source: what was unpacked of its batches at this member."""

    def __init__(
        self, last: int = 0, pieces: list[bytes] | None = None, taken: int = 0, held: int = 0
    ) -> None:
        self.last = last
        """The identifier of the last part of this source that was unpacked here."""
        self.pieces = pieces
        """The pieces of the message to which this last part belongs, if more pieces follow; else None."""
        self.taken = taken
        """Number of bytes that this source's application had taken, by the source's last batch."""
        self.held = held
        """Number of messages of the common order that this source had, by its last batch."""


class Batches:
    """Queues of one member: its own messages on their way into the core as batches, and all members' messages
    on their way out of it.
    """

    def __init__(
        self,
        me: int,
        members: int,
        *,
        batch_bytes: int,
        buffer_bytes: int,
        message_bytes_max: int,
        untaken_bytes: int,
        ahead: int,
        ordered: bool = True,
    ) -> None:
        """Make the queues of member `me`. Without `ordered`, members deliver in different orders, and another
        member may have delivered more than this one.

        Raises:
            ValueError: a limit leaves no room.
        """
        others = (buffer_bytes, message_bytes_max, untaken_bytes, ahead)
        if batch_bytes <= _BATCH_BYTES + _PART_BYTES or min(others) < 1:
            raise ValueError(
                f"batch_bytes {batch_bytes}, buffer_bytes {buffer_bytes}, message_bytes_max "
                f"{message_bytes_max}, untaken_bytes {untaken_bytes}, ahead {ahead}: a batch has more than "
                f"{_BATCH_BYTES + _PART_BYTES} bytes, and the others are at least 1"
            )
        self._me = me
        self._members = members
        self._room = batch_bytes - _BATCH_BYTES
        self._buffer_bytes = buffer_bytes
        self._message_bytes_max = message_bytes_max
        self._untaken_bytes = untaken_bytes
        self._ahead = ahead
        self._ordered = ordered
        self._waiting: deque[tuple[bytes, int]] = deque()
        """Payloads that wait, each with the number of members that must have it before its delivery."""
        self._held_bytes = 0
        """Bytes of messages that wait or are on their way."""
        self._offset = 0
        """Number of bytes of the first waiting message that have gone."""
        self._last_put = 0
        self._last_taken = 0
        self._on_their_way: deque[int] = deque()
        """The bytes of each own batch that was taken and not delivered, in order."""
        self._delivered = 0
        self._delivered_bytes = 0
        """Number of bytes of all messages delivered so far, which measures a place in the common order."""
        self._taken = 0
        self._told = 0
        self._owed = 0
        """Number of the last message that this member has to report to the others as received."""
        self._told_held = 0
        self._released_bytes = 0
        self._kept: deque[_Kept] = deque()
        self._sources = [_Source() for _ in range(members)]
        self._counted: Sequence[int] = range(members)
        """The members whose untaken bytes keep this member from making batches (rule 7)."""
        self._open = True
        """True if every other application has taken enough for another batch of messages."""
        self._carried = [0] * members
        """For each member the bytes of earlier lists that its application had not taken when this list began,
        until its first batch on this list.
        """
        self._left = False
        """True if the own application has not taken everything of earlier lists."""
        self._owes_first = False
        """True if the others wait for a batch of this member, since its application had left much."""
        self._names: Sequence[Any] = range(members)
        self._ids = [0] * members
        self._number = 0
        self.broken = 0
        self._encode = msgpack.Encoder().encode
        self._decode = msgpack.Decoder(Batch).decode

    def go_on(
        self, names: Sequence[Any], ids: Sequence[int], number: int, carried: Sequence[int], *, left: bool
    ) -> None:
        """Continue after another list of members, before anything is delivered.

        `names` are the members; `ids` counts the messages of each that were delivered before, `number` all of
        them. `carried` are the bytes that the application of each had not taken of them, as far as all know
        (`untaken_of`); `left` is True if the own application has not taken all. Then every message is
        delivered as soon as it is ordered (`holders` is 1).
        """
        self._names, self._ids, self._number = names, list(ids), number
        self._carried = list(carried[: self._members])
        own = self._carried[self._me] if self._me < self._members else 0  # who is external makes no batches
        self._left, self._owes_first = left and own > 0, _TOLD_AGAIN * own >= self._untaken_bytes
        self._look()

    def untaken_of(self, source: int) -> int:
        """Return the number of bytes delivered here that the application of a member has not taken, by the
        member's last batch: the same at all members that have delivered the same.
        """
        return self._carried[source] + self._delivered_bytes - self._sources[source].taken

    def count_on(self, sources: Sequence[int]) -> None:
        """Let only the applications of these members hold back batches (rule 7). The other members report
        nothing at present.
        """
        self._counted = sources
        self._look()

    def delivered_of(self, source: int) -> int:
        """Return the number of messages of this member that were delivered here."""
        known = self._sources[source]
        return known.last - (known.pieces is not None)

    # In -----------------------------------------------------------------------------------------------------

    @property
    def full(self) -> bool:
        """Return True if `put` would refuse a message for lack of room."""
        return self._held_bytes >= self._buffer_bytes

    @property
    def ready(self) -> bool:
        """Return True if a batch is ready for a core that can take one."""
        if self._left and self._carried[self._me] >= self._untaken_bytes:
            return False
        return len(self._on_their_way) < self._ahead and ((bool(self._waiting) and self._open) or self._owes)

    @property
    def _owes(self) -> bool:
        """Return True if other members wait for a report of what this member has, or of what its application
        has taken.
        """
        told = self._owed <= self._told_held and not self._owes_first
        return not told or _TOLD_AGAIN * (self._taken - self._told) >= self._untaken_bytes

    @property
    def slow(self) -> tuple[tuple[int, int], ...]:
        """Return the members whose applications hold everybody back, each with the number of bytes that its
        application has not taken.
        """
        untaken = ((process, self._untaken(process)) for process in self._counted)
        return tuple((process, held) for process, held in untaken if held >= self._untaken_bytes)

    @property
    def held(self) -> int:
        """Return the number of messages of the common order that this member has, delivered or not."""
        return self._delivered

    @property
    def lacking(self) -> tuple[Wait, ...]:
        """Return what this member waits for: a report from each member that must have the next messages
        before their delivery, and has not reported them.
        """
        if not self._kept:
            return ()
        holders, messages = self._kept[0]
        last = messages[-1]
        tellers = ((last.source + step) % self._members for step in range(holders))
        what = f"word of having message {last.source}:{last.id}"
        return tuple(
            Wait(what, process)
            for process in tellers
            if process != self._me and self._sources[process].held < last.number
        )

    @property
    def idle(self) -> bool:
        """Return True if no message waits and no own batch is on its way."""
        return not self._waiting and not self._on_their_way

    def checked(self, payload: bytes | bytearray | memoryview) -> bytes:
        """Return a payload as immutable bytes.

        Raises:
            TypeError: it is not bytes-like; text has to be encoded.
            PayloadTooLarge: it has more than `message_bytes_max`.
        """
        if type(payload) is not bytes:
            payload = bytes_copy(payload)
        if len(payload) > self._message_bytes_max:
            raise PayloadTooLarge(f"{len(payload)} bytes; a message has at most {self._message_bytes_max}")
        return payload

    def put(self, payload: bytes | bytearray | memoryview, holders: int = 1) -> Identifier:
        """Queue a message for the next batch and return its identifier. It is delivered when `holders`
        members have it.

        Raise `Busy` if there is no room for it, and the errors of `checked`.
        """
        payload = self.checked(payload)
        if self._held_bytes >= self._buffer_bytes:
            raise Busy(f"{self._held_bytes} bytes are on their way; broadcast again when `busy` is false")
        self._waiting.append((payload, holders))
        self._held_bytes += len(payload) + _PART_BYTES
        self._last_put += 1
        return Identifier(self._me, self._last_put)

    def next(self) -> bytes:
        """Return the payload of the next batch; call this only while `ready` is True."""
        first = self._last_taken + 1
        self._told, self._told_held, self._owes_first = self._taken, self._delivered, False
        parts: list[bytes] = []
        holders, cut, freed = 1, False, 0
        if self._waiting and self._open:
            holders = self._waiting[0][1]
            parts, cut, freed = self._next_parts(holders)
        self._on_their_way.append(freed)
        return self._encode(Batch(first, cut, parts, self._told, holders, self._told_held))

    def _next_parts(self, holders: int) -> tuple[list[bytes], bool, int]:
        """Return the parts of the next batch, whether its last part continues in another batch, and the
        number of bytes that its delivery frees.
        """
        waiting, room, freed = self._waiting, self._room, 0
        parts: list[bytes] = []
        if len(waiting[0][0]) - self._offset > room - _PART_BYTES:
            end = self._offset + room - _PART_BYTES
            parts.append(waiting[0][0][self._offset : end])
            self._offset = end
            return parts, True, 0
        while waiting:
            rest, wanted = waiting[0]
            whole = len(rest)
            if self._offset:
                rest = rest[self._offset :]
            room -= len(rest) + _PART_BYTES
            if room < 0 or wanted > holders:
                break
            parts.append(rest)
            freed += whole + _PART_BYTES
            waiting.popleft()
            self._offset = 0
        self._last_taken += len(parts)
        return parts, False, freed

    # Out ----------------------------------------------------------------------------------------------------

    def unpack(self, delivery: Delivery) -> list[Delivery]:
        """Return the messages to deliver with this payload of the core, in order: first earlier messages that
        waited for it, then its own, if they need not wait.

        Raises:
            GroupFailed: the pieces of a message have more than `message_bytes_max`.
        """
        batch = self._read(delivery)
        if batch is None:
            self.broken += 1
            return []
        if delivery.source == self._me:
            self._held_bytes -= self._on_their_way.popleft()
        source = self._sources[delivery.source]
        source.taken, source.held = batch.taken, batch.held
        self._carried[delivery.source] = 0
        parts, first = self._completed(source, batch)
        before = self._delivered
        self._delivered += len(parts)
        self._delivered_bytes += sum(map(len, parts)) + _PART_BYTES * len(parts)
        self._look()
        numbered: Iterable[tuple[Any, int, int, bytes]] = zip(
            repeat(self._names[delivery.source]),
            count(first + self._ids[delivery.source]),
            count(before + 1 + self._number),
            parts,
            strict=False,
        )
        messages = list(map(_delivery, numbered))
        if batch.holders == 1 and not self._kept:
            self._released_bytes = self._delivered_bytes
            return messages
        if messages:
            self._kept.append(_Kept(batch.holders, tuple(messages)))
            if (self._me - delivery.source) % self._members < batch.holders > 1:
                self._owed = self._delivered
        return self._released()

    def _released(self) -> list[Delivery]:
        """Remove and return the waiting messages that enough members have now (rule 8)."""
        released: list[Delivery] = []
        while self._kept:
            holders, messages = self._kept[0]
            others = (source for process, source in enumerate(self._sources) if process != self._me)
            if 1 + sum(source.held >= messages[-1].number for source in others) < holders:
                break
            released += messages
            self._released_bytes += sum(_PART_BYTES + len(message.payload) for message in messages)
            self._kept.popleft()
        return released

    def release(self) -> list[Delivery]:
        """Return the messages that still waited for reports of other members, since all members have them
        now.
        """
        released = [message for kept in self._kept for message in kept.messages]
        self._kept.clear()
        self._released_bytes = self._delivered_bytes
        return released

    def take(self) -> None:
        """Record that the application has taken everything that was delivered to it."""
        self._taken, self._left = self._released_bytes, False
        self._look()

    def _completed(self, source: _Source, batch: Batch) -> tuple[list[bytes], int]:
        """Return the messages that are complete with this batch, and the identifier of the first."""
        parts, first = batch.parts, batch.first
        if not parts:
            return parts, first
        source.last = first + len(parts) - 1
        if source.pieces is not None:
            source.pieces.append(parts[0])
            if batch.cut:
                return [], first
            parts[0], source.pieces = b"".join(source.pieces), None
        elif batch.cut:
            source.pieces = [parts[0]]
            return [], first
        return parts, first

    def _look(self) -> None:
        """Update whether every application has taken enough that this member may make batches (rule 7)."""
        self._open = not any(self._untaken(process) >= self._untaken_bytes for process in self._counted)

    def _untaken(self, process: int) -> int:
        """Return the number of delivered bytes that the application of a member has not taken, as far as this
        member knows.
        """
        if process != self._me:
            return self.untaken_of(process)
        return self._delivered_bytes - self._taken + (self._carried[process] if self._left else 0)

    def _read(self, delivery: Delivery) -> Batch | None:
        """Decode the batch in a payload. Return None if it is no batch, or not the next one of its source.
        Raise `GroupFailed` if the pieces of a message have more than `message_bytes_max`.
        """
        try:
            batch = self._decode(delivery.payload)
        except UNREADABLE:
            return None
        source = self._sources[delivery.source]
        goes_on = source.pieces is not None
        if delivery.source == self._me and not self._on_their_way:
            return None
        if batch.first != source.last + (not goes_on) or (batch.cut and len(batch.parts) != 1):
            return None
        if batch.taken < source.taken or batch.held < source.held or batch.holders > self._members:
            return None
        if self._ordered and (batch.taken > self._delivered_bytes or batch.held > self._delivered):
            return None
        most = self._message_bytes_max
        if goes_on and sum(map(len, chain(source.pieces or (), batch.parts[:1]))) > most:
            its = f"a message of {self._names[delivery.source]} has more than {most} bytes"
            raise GroupFailed(f"{its}, the most here: give all members the same Layers.message_bytes_max")
        return batch

    # State --------------------------------------------------------------------------------------------------

    def snapshot(self) -> BatchesSnapshot:
        """Return the whole state: batches with equal snapshots behave equally."""
        sources = (
            (source.last, None if source.pieces is None else tuple(source.pieces), source.taken, source.held)
            for source in self._sources
        )
        return BatchesSnapshot(
            tuple(self._waiting),
            self._offset,
            self._last_put,
            self._last_taken,
            tuple(self._on_their_way),
            self._delivered,
            self._delivered_bytes,
            self._taken,
            self._told,
            self._owed,
            self._told_held,
            self._released_bytes,
            tuple(self._kept),
            tuple(sources),
            self.broken,
            tuple(self._counted),
            tuple(self._carried),
            self._left,
            self._owes_first,
        )

    def restore(self, snapshot: BatchesSnapshot) -> None:
        """Set the state to a snapshot."""
        self._waiting = deque(snapshot.waiting)
        self._on_their_way = deque(snapshot.on_their_way)
        waiting_bytes = sum(len(message) + _PART_BYTES for message, _ in snapshot.waiting)
        self._held_bytes = waiting_bytes + sum(snapshot.on_their_way)
        self._offset = snapshot.offset
        self._last_put, self._last_taken = snapshot.last_put, snapshot.last_taken
        self._delivered, self._delivered_bytes = snapshot.delivered, snapshot.delivered_bytes
        self._taken, self._told = snapshot.taken, snapshot.told
        self._owed, self._told_held = snapshot.owed, snapshot.told_held
        self._released_bytes, self._kept = snapshot.released_bytes, deque(snapshot.kept)
        self._sources = [
            _Source(last, None if pieces is None else list(pieces), taken, held)
            for last, pieces, taken, held in snapshot.sources
        ]
        self.broken, self._counted = snapshot.broken, snapshot.counted
        self._carried, self._left = list(snapshot.carried), snapshot.left
        self._owes_first = snapshot.owes_first
        self._look()
