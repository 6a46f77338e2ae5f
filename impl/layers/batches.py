"""What an application broadcasts while its core is busy becomes one payload of the core: a batch.

1. A message gets its identifier when it is put: the source's count, from 1. It waits until the core takes the
   next batch, which takes all that wait, in order, as far as there is room.
2. At most `ahead` own batches are on their way, from the core's `broadcast` to its delivery here. This is
   what makes batches grow with the load: alone, a message goes at once and alone.
3. A message larger than a batch is cut: each but its last piece fills a batch alone. It is delivered with
   its last piece.
4. Every member unpacks the same batches in the same order, so all give a message the same place: deliveries
   are numbered 1, 2, 3, ..., at each member, whatever numbers the core gives.
5. A core delivers each source's payloads in the order in which they were broadcast. A payload that is no
   batch, or not the next one of its source, is ignored, by all members alike; `broken` counts them.
6. What waits or is on its way has at most `buffer_bytes` and one message; then `full` is true and `put`
   refuses. What comes in pieces has at most `message_bytes_max` of each source.

No clock and no socket. This module must not know what a core does with a payload.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial
from itertools import count, repeat
from typing import Any, NamedTuple

from msgspec import MsgspecError, Struct, msgpack

from antiphon.impl.errors import Busy, PayloadTooLarge
from antiphon.impl.protocols.core import Delivery, Identifier, Natural, bytes_copy

__all__ = ["Batch", "Batches", "BatchesSnapshot"]

_BATCH_BYTES = 1 + 9 + 1 + 5
_PART_BYTES = 5

_delivery: Any = partial(tuple.__new__, Delivery)


class Batch(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One payload of a core."""

    first: Natural
    """The identifier, at its source, of the first part; the next parts have the next ones."""
    cut: bool
    """Whether the last part goes on in the source's next batch."""
    parts: list[bytes]


class BatchesSnapshot(NamedTuple):
    """The whole state, immutable."""

    waiting: tuple[bytes, ...]
    offset: int
    last_put: int
    last_taken: int
    on_their_way: tuple[int, ...]
    delivered: int
    sources: tuple[tuple[int, int, tuple[bytes, ...] | None], ...]
    broken: int


class _Source:
    """How far a source's batches have come."""

    def __init__(self, last: int = 0, pieces: list[bytes] | None = None) -> None:
        self.last = last
        """The identifier of its last part."""
        self.pieces = pieces
        """The pieces of that part's message, if it goes on."""


class Batches:
    """One member's messages on their way into its core, and everybody's on their way out of it."""

    def __init__(
        self, me: int, *, batch_bytes: int, buffer_bytes: int, message_bytes_max: int, ahead: int
    ) -> None:
        """Raises `ValueError` when a limit leaves no room."""
        if batch_bytes <= _BATCH_BYTES + _PART_BYTES or min(buffer_bytes, message_bytes_max, ahead) < 1:
            raise ValueError(
                f"batch_bytes {batch_bytes}, buffer_bytes {buffer_bytes}, message_bytes_max "
                f"{message_bytes_max}, ahead {ahead}: a batch has more than {_BATCH_BYTES + _PART_BYTES} "
                "bytes, and the others are at least 1"
            )
        self._me = me
        self._room = batch_bytes - _BATCH_BYTES
        self._buffer_bytes = buffer_bytes
        self._message_bytes_max = message_bytes_max
        self._ahead = ahead
        self._waiting: deque[bytes] = deque()
        self._held_bytes = 0
        """The bytes of what waits and of what is on its way."""
        self._offset = 0
        """How much of the first that waits has gone."""
        self._last_put = 0
        self._last_taken = 0
        self._on_their_way: deque[int] = deque()
        """The bytes of each own batch that was taken and not delivered, in order."""
        self._delivered = 0
        self._sources: dict[int, _Source] = {}
        self.broken = 0
        self._encode = msgpack.Encoder().encode
        self._decode = msgpack.Decoder(Batch).decode

    # In -----------------------------------------------------------------------------------------------------

    @property
    def full(self) -> bool:
        """Whether `put` would refuse."""
        return self._held_bytes >= self._buffer_bytes

    @property
    def ready(self) -> bool:
        """Whether there is a batch for a core that takes one."""
        return bool(self._waiting) and len(self._on_their_way) < self._ahead

    @property
    def idle(self) -> bool:
        """Whether nothing waits and no own batch is on its way."""
        return not self._waiting and not self._on_their_way

    def checked(self, payload: bytes | bytearray | memoryview) -> bytes:
        """A payload as bytes that nobody can change.

        Raises:
            TypeError: it is not bytes-like; text has to be encoded.
            PayloadTooLarge: it has more than `message_bytes_max`.
        """
        if type(payload) is not bytes:
            payload = bytes_copy(payload)
        if len(payload) > self._message_bytes_max:
            raise PayloadTooLarge(f"{len(payload)} bytes; a message has at most {self._message_bytes_max}")
        return payload

    def put(self, payload: bytes | bytearray | memoryview) -> Identifier:
        """Let a message wait for its batch. Raises `Busy` when as much waits as may, and as `checked`."""
        payload = self.checked(payload)
        if self._held_bytes >= self._buffer_bytes:
            raise Busy(f"{self._held_bytes} bytes are on their way; broadcast again when `busy` is false")
        self._waiting.append(payload)
        self._held_bytes += len(payload) + _PART_BYTES
        self._last_put += 1
        return Identifier(self._me, self._last_put)

    def next(self) -> bytes:
        """The payload of the next batch; only while `ready`."""
        waiting, room, held = self._waiting, self._room, 0
        first = self._last_taken + 1
        parts: list[bytes] = []
        cut = len(waiting[0]) - self._offset > room - _PART_BYTES
        if cut:
            end = self._offset + room - _PART_BYTES
            parts.append(waiting[0][self._offset : end])
            self._offset = end
        else:
            while waiting:
                rest = waiting[0]
                if self._offset:
                    rest = rest[self._offset :]
                room -= len(rest) + _PART_BYTES
                if room < 0:
                    break
                parts.append(rest)
                held += len(waiting.popleft()) + _PART_BYTES
                self._offset = 0
            self._last_taken += len(parts)
        self._on_their_way.append(held)
        return self._encode(Batch(first, cut, parts))

    # Out ----------------------------------------------------------------------------------------------------

    def unpack(self, delivery: Delivery) -> list[Delivery]:
        """The messages that are delivered by this payload of the core, in order."""
        if delivery.source == self._me:
            self._held_bytes -= self._on_their_way.popleft()
        batch = self._read(delivery)
        if batch is None:
            self.broken += 1
            return []
        source = self._sources.setdefault(delivery.source, _Source())
        parts, first = batch.parts, batch.first
        source.last = first + len(parts) - 1
        if source.pieces is not None:
            source.pieces.append(parts[0])
            if batch.cut:
                return []
            parts[0], source.pieces = b"".join(source.pieces), None
        elif batch.cut:
            source.pieces = [parts[0]]
            return []
        before = self._delivered
        self._delivered += len(parts)
        numbered: Iterable[tuple[int, int, int, bytes]] = zip(
            repeat(delivery.source), count(first), count(before + 1), parts, strict=False
        )
        return list(map(_delivery, numbered))

    def _read(self, delivery: Delivery) -> Batch | None:
        """The batch in a payload, if it is the next one of its source."""
        try:
            batch = self._decode(delivery.payload)
        except MsgspecError:
            return None
        source = self._sources.get(delivery.source) or _Source()
        goes_on = source.pieces is not None
        if batch.first != source.last + (not goes_on) or not batch.parts:
            return None
        if batch.cut and len(batch.parts) > 1:
            return None
        if goes_on and sum(map(len, source.pieces or ())) + len(batch.parts[0]) > self._message_bytes_max:
            return None
        return batch

    # State --------------------------------------------------------------------------------------------------

    def snapshot(self) -> BatchesSnapshot:
        """The whole state: batches with equal snapshots behave equally."""
        sources = (
            (process, source.last, None if source.pieces is None else tuple(source.pieces))
            for process, source in sorted(self._sources.items())
        )
        return BatchesSnapshot(
            tuple(self._waiting),
            self._offset,
            self._last_put,
            self._last_taken,
            tuple(self._on_their_way),
            self._delivered,
            tuple(sources),
            self.broken,
        )

    def restore(self, snapshot: BatchesSnapshot) -> None:
        """Become what `snapshot` was taken of."""
        self._waiting = deque(snapshot.waiting)
        self._on_their_way = deque(snapshot.on_their_way)
        waiting_bytes = sum(len(message) + _PART_BYTES for message in snapshot.waiting)
        self._held_bytes = waiting_bytes + sum(snapshot.on_their_way)
        self._offset = snapshot.offset
        self._last_put, self._last_taken = snapshot.last_put, snapshot.last_taken
        self._delivered = snapshot.delivered
        self._sources = {
            process: _Source(last, None if pieces is None else list(pieces))
            for process, last, pieces in snapshot.sources
        }
        self.broken = snapshot.broken
