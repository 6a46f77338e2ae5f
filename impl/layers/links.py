"""Links: each pair of members is joined by a queue without loss, repetition or reordering, over a network
with all three.

An item is something to be sent; a segment is one datagram, and packs the items that wait for the same member.

1. The segments of a link are numbered from 1. At most WINDOW of them, in a row, are on their way: what a
   receiver keeps ahead of a gap is bounded by that, and so is what a sender keeps.
2. Every segment acknowledges: the last number up to which all came, and beyond it those that came. A receiver
   that has nothing to send acknowledges after `ack_ms`, at once when a segment came out of its turn or again,
   and when an eighth of the window waits for it.
3. What is missing below a segment that came is sent again: once at once, and then once in a round trip.
4. When nothing new is acknowledged for a waiting time, the oldest segment is sent again; as acknowledgements
   come, so are two, four, eight of those behind it. The waiting time follows the measured round trips (RFC
   6298), is at least `resend_ms`, and doubles with each expiry, up to `backoff_max` times. Segments that were
   sent twice measure nothing, nor does the first acknowledgement after an expiry. A round trip is cut to
   `backoff_max` times `resend_ms`: a longer one comes from a clock that jumped, or a stopped process.
5. A link on which everything is acknowledged sends nothing and has no timer.
6. `full` says that more than `queue_bytes_max` wait for some member: whoever makes items stops then.

No clock and no socket: `now`, in milliseconds, comes in, datagrams go out as data. This module must not know
what an item holds.

Source: RFC 9293, section 3.8 (numbers, cumulative acknowledgement); RFC 2018 (selective acknowledgement); RFC
6298 (waiting times).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, msgpack

from antiphon.impl.errors import UNREADABLE, GroupFailed
from antiphon.impl.protocols.core import NATURAL_MAX, Send

__all__ = ["ITEM_BYTES", "SEGMENT_BYTES", "WINDOW", "Links", "LinksSnapshot", "Segment"]

WINDOW = 64
"""Largest number of segments of a link on their way: the bits of `Segment.held`, and one."""

SEGMENT_BYTES = 1 + 9 + 9 + 9 + 5
"""The most bytes that a segment adds to its items."""

ITEM_BYTES = 5
"""The most bytes that a segment adds to each item."""

_OWED_MAX = WINDOW // 8

Count = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]


class Segment(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One datagram of a link."""

    number: Count
    """Place in the link, from 1; 0 carries no items and only acknowledges."""
    acknowledged: Count
    """Number up to which all segments have come."""
    held: Count
    """Bits of the segments beyond a gap: bit k says that number acknowledged + 2 + k has come."""
    items: tuple[bytes, ...]


class _Flying(NamedTuple):
    """Segment in flight."""

    items: tuple[bytes, ...]
    sent_at: float
    again: bool
    """True if it was sent more than once."""


class LinkSnapshot(NamedTuple):
    """One member's half of one link. Times are relative: the age of sent segments, the remaining waiting
    time.
    """

    waiting: tuple[bytes, ...]
    flying: tuple[tuple[int, tuple[bytes, ...], float, bool], ...]
    last: int
    acknowledged: int
    held: int
    resend: tuple[int, ...]
    round_trip: tuple[float, float] | None
    factor: int
    resend_left: float | None
    recovery: tuple[int, int, float]
    received: int
    ahead: tuple[tuple[int, tuple[bytes, ...]], ...]
    owed: int
    answer: bool
    ack_left: float | None


class LinksSnapshot(NamedTuple):
    """State of all links of one member, by the number of the other member."""

    links: tuple[tuple[int, LinkSnapshot], ...]


class Links:
    """Links of member `me` to all others."""

    def __init__(
        self,
        me: int,
        members: int,
        *,
        segment_bytes_max: int,
        queue_bytes_max: int = 2**22,
        ack_ms: float = 5.0,
        resend_ms: float = 25.0,
        backoff_max: int = 16,
        head: bytes = b"",
    ) -> None:
        """Make the links of member `me`. Segments have at most `segment_bytes_max` bytes, unless a single
        item has more. A datagram is a segment behind `head`, without which it comes back.

        Raises:
            ValueError: a time or a number is not positive, or acknowledgements are slower than what waits for
                them.
        """
        if not 0 < ack_ms < resend_ms or backoff_max < 1 or queue_bytes_max < 1:
            raise ValueError(
                f"ack_ms {ack_ms}, resend_ms {resend_ms}, backoff_max {backoff_max}, queue_bytes_max "
                f"{queue_bytes_max}: 0 < ack_ms < resend_ms, and the others are at least 1"
            )
        self._settings = _Settings(segment_bytes_max, queue_bytes_max, ack_ms, resend_ms, backoff_max)
        self._links = {to: _Link(to, self._settings) for to in range(members) if to != me}
        self._head = head
        self._encoder = msgpack.Encoder()
        self._decoder = msgpack.Decoder(Segment)
        self._now = 0.0

    @property
    def full(self) -> bool:
        """Return True if more than `queue_bytes_max` bytes wait for some member, so that callers should send
        nothing more for now.
        """
        return any(link.queued_bytes >= self._settings.queue_bytes_max for link in self._links.values())

    @property
    def silent(self) -> bool:
        """Return True if all items have arrived and are acknowledged, and no acknowledgement is due."""
        return self.next_deadline() is None and not any(link.urgent for link in self._links.values())

    def owes(self, to: int) -> bool:
        """Return True if a member has not acknowledged everything that was sent to it."""
        return self._links[to].owes

    def unacknowledged(self, to: int) -> int:
        """Return the number of items that wait for a member, and of segments on their way to it."""
        return self._links[to].unacknowledged

    def send(self, to: int, item: bytes) -> None:
        """Put an item at the end of the queue to a member."""
        self._links[to].put(item)

    def drop(self, to: int) -> None:
        """Delete all that waits for a member or is on its way to it, for a member that needs nothing more."""
        self._links[to].drop()

    def received(self, sender: int, data: bytes | memoryview, now: float) -> list[bytes] | str:
        """Return the items that are next on the link from `sender`, in order; or the reason why these bytes
        are no segment of the link, in which case nothing changes.
        """
        self._now = now
        try:
            segment = self._decoder.decode(data)
        except UNREADABLE as error:
            return str(error)
        link = self._links[sender]
        flaw = link.flaw(segment)
        if flaw is not None:
            return flaw
        link.acknowledge(segment.acknowledged, segment.held, now)
        return link.take(segment.number, segment.items, now) if segment.number else []

    def tick(self, now: float) -> None:
        """Run the timers that are due."""
        self._now = now
        for link in self._links.values():
            link.tick(now)

    def next_deadline(self) -> float | None:
        """Return the time of the next timer, or None if no timer runs."""
        return min([at for link in self._links.values() for at in link.deadlines()], default=None)

    def outputs(self, now: float) -> list[Send[bytes]]:
        """Return, once, the datagrams to send, in order. Raise `GroupFailed` when a link has used its last
        sequence number.
        """
        self._now = now
        head, encode = self._head, self._encoder.encode
        return [
            Send(to, head + encode(segment))
            for to, link in self._links.items()
            if link.urgent
            for segment in link.segments(now)
        ]

    def snapshot(self) -> LinksSnapshot:
        """Return the whole state: links with equal snapshots behave equally."""
        return LinksSnapshot(tuple((to, link.snapshot(self._now)) for to, link in self._links.items()))

    def restore(self, snapshot: LinksSnapshot, now: float) -> None:
        """Set the state to a snapshot, as if that snapshot had been taken at `now`."""
        self._now = now
        for to, link in snapshot.links:
            self._links[to] = _Link(to, self._settings)
            self._links[to].restore(link, now)


class _Settings(NamedTuple):
    segment_bytes_max: int
    queue_bytes_max: int
    ack_ms: float
    resend_ms: float
    backoff_max: int


class _Link:
    """End of one link at one member: the items and segments to send, and those received."""

    def __init__(self, to: int, settings: _Settings) -> None:
        self._to = to
        self._settings = settings
        # Outgoing.
        self.queued_bytes = 0
        self._waiting: deque[bytes] = deque()
        self._flying: dict[int, _Flying] = {}
        self._last = 0
        self._acknowledged = 0
        self._held = 0
        self._resend: dict[int, None] = {}
        self._round_trip: tuple[float, float] | None = None
        self._factor = 1
        self._resend_at: float | None = None
        self._recovery = (0, 1, 0.0)
        """State of rule 4: last number to send again, how many to send next, and the time when it began."""
        # Incoming.
        self._received = 0
        self._ahead: dict[int, tuple[bytes, ...]] = {}
        self._owed = 0
        self._answer = False
        self._ack_at: float | None = None

    # Going out ----------------------------------------------------------------------------------------------

    def put(self, item: bytes) -> None:
        """Queue an item for a segment."""
        self._waiting.append(item)
        self.queued_bytes += len(item) + ITEM_BYTES

    def drop(self) -> None:
        """Delete the items that wait, and those in flight."""
        self._waiting.clear()
        self._flying.clear()
        self._resend.clear()
        self.queued_bytes, self._resend_at = 0, None

    @property
    def owes(self) -> bool:
        """Return True if an item waits, or a segment in flight is not acknowledged."""
        return bool(self._waiting or self._flying)

    @property
    def unacknowledged(self) -> int:
        """Return the number of waiting items and of segments in flight."""
        return len(self._waiting) + len(self._flying)

    @property
    def _open(self) -> bool:
        """Return True if the window has room for another segment."""
        return self._last - self._acknowledged < WINDOW

    @property
    def urgent(self) -> bool:
        """Return True if there is a segment to send now."""
        return self._answer or bool(self._resend) or (bool(self._waiting) and self._open)

    def segments(self, now: float) -> Iterable[Segment]:
        """Return the segments to send now: missing ones, new ones, or a bare acknowledgement."""
        bits = self._bits()
        segments = []
        for number in self._resend:
            flying = self._flying[number]
            self._flying[number] = _Flying(flying.items, now, again=True)
            segments.append(Segment(number, self._received, bits, flying.items))
        self._resend.clear()
        while self._waiting and self._open:
            if self._last == NATURAL_MAX:
                raise GroupFailed(
                    f"{NATURAL_MAX} datagrams were sent to process {self._to}, the last there is"
                )
            self._last += 1
            items = self._next_items()
            self._flying[self._last] = _Flying(items, now, again=False)
            segments.append(Segment(self._last, self._received, bits, items))
        if segments and self._resend_at is None:
            self._resend_at = now + self._waiting_ms()
        if not segments and self._answer:
            segments.append(Segment(0, self._received, bits, ()))
        self._answer, self._owed, self._ack_at = False, 0, None
        return segments

    def _next_items(self) -> tuple[bytes, ...]:
        """Return the waiting items, in order, that fit into one segment."""
        waiting, room = self._waiting, self._settings.segment_bytes_max - SEGMENT_BYTES
        items: list[bytes] = []
        while waiting and (not items or len(waiting[0]) + ITEM_BYTES <= room):
            item = waiting.popleft()
            room -= len(item) + ITEM_BYTES
            self.queued_bytes -= len(item) + ITEM_BYTES
            items.append(item)
        return tuple(items)

    def flaw(self, segment: Segment) -> str | None:
        """Return the reason why no correct member sends this segment, or None."""
        beyond = max(
            segment.acknowledged, segment.held and segment.acknowledged + 1 + segment.held.bit_length()
        )
        if beyond > self._last:
            return f"acknowledges {beyond}; the last one sent is {self._last}"
        if segment.number > self._received + WINDOW:
            return f"segment {segment.number}; after {self._received} at most {WINDOW} are on their way"
        if bool(segment.number) != bool(segment.items):
            return f"segment {segment.number} with {len(segment.items)} items"
        return None

    def acknowledge(self, acknowledged: int, held: int, now: float) -> None:
        """Process an acknowledgement of the other end: delete the acknowledged segments, measure the round
        trip, and mark the missing segments to be sent again. `held` is a bit mask of segments received beyond
        the first missing one.
        """
        if acknowledged < self._acknowledged:
            return
        if acknowledged == self._acknowledged:
            held |= self._held
        news = acknowledged > self._acknowledged or held != self._held
        if not news and held == 0:
            return
        for number in range(self._acknowledged + 1, acknowledged + 1):
            flying = self._flying.pop(number, None)
            self._resend.pop(number, None)
            if number == acknowledged and flying is not None and not flying.again and self._factor == 1:
                self._measure(now - flying.sent_at)
        self._acknowledged, self._held = acknowledged, held
        for number in self._marked(acknowledged, held):
            self._flying.pop(number, None)
            self._resend.pop(number, None)
        self._send_again(acknowledged + 1 + held.bit_length(), now)
        if news:
            self._recover()
            self._factor = 1
            self._resend_at = now + self._waiting_ms() if self._flying else None

    def _marked(self, acknowledged: int, held: int) -> Iterable[int]:
        return [acknowledged + 2 + bit for bit in range(held.bit_length()) if held >> bit & 1]

    def _send_again(self, beyond: int, now: float) -> None:
        """Mark the missing segments below `beyond`, which has arrived, to be sent again (rule 3)."""
        pause = self._round_trip[0] if self._round_trip else self._settings.resend_ms
        for number, flying in self._flying.items():
            if number >= beyond:
                break
            if not flying.again or now - flying.sent_at >= pause:
                self._resend[number] = None

    def _recover(self) -> None:
        """Mark the next segments that were sent before the waiting time ran out to be sent again (rule 4)."""
        last, burst, since = self._recovery
        if self._acknowledged >= last:
            return
        old = [n for n, flying in self._flying.items() if n <= last and flying.sent_at < since]
        self._resend.update(dict.fromkeys(old[:burst]))
        self._recovery = (last, 2 * burst, since)

    def _measure(self, sample: float) -> None:
        """Update the estimate of the round trip by a sample (RFC 6298, section 2)."""
        sample = min(sample, self._longest_ms)
        if self._round_trip is None:
            self._round_trip = (sample, sample / 2)
        else:
            mean, deviation = self._round_trip
            self._round_trip = (
                mean + (sample - mean) / 8,
                deviation + (abs(sample - mean) - deviation) / 4,
            )

    def _waiting_ms(self) -> float:
        mean, deviation = self._round_trip or (self._settings.resend_ms, 0.0)
        return self._factor * max(self._settings.resend_ms, min(mean + 4 * deviation, self._longest_ms))

    @property
    def _longest_ms(self) -> float:
        """Return the longest round trip that counts as measured; a longer sample is cut to it."""
        return self._settings.backoff_max * self._settings.resend_ms

    # Coming in ----------------------------------------------------------------------------------------------

    def take(self, number: int, items: tuple[bytes, ...], now: float) -> list[bytes]:
        """Take a segment that arrived; return the items that are next in order."""
        if number <= self._received or number in self._ahead:
            self._answer = True
            return []
        if number > self._received + 1:
            self._ahead[number] = items
            self._answer = True
            return []
        taken = list(items)
        self._received = number
        while self._received + 1 in self._ahead:
            self._received += 1
            taken += self._ahead.pop(self._received)
        self._owed += 1
        if self._ahead or self._owed >= _OWED_MAX:
            self._answer = True
        elif self._ack_at is None:
            self._ack_at = now + self._settings.ack_ms
        return taken

    def _bits(self) -> int:
        return sum(1 << number - self._received - 2 for number in self._ahead)

    # Time ---------------------------------------------------------------------------------------------------

    def deadlines(self) -> Iterable[float]:
        """Yield the times at which a segment has to be sent again or an acknowledgement sent."""
        return [at for at in (self._resend_at, self._ack_at) if at is not None]

    def tick(self, now: float) -> None:
        """Mark what is due: an acknowledgement that was delayed long enough, segments that were not
        acknowledged in time.
        """
        if self._ack_at is not None and self._ack_at <= now:
            self._answer, self._ack_at = True, None
        if self._resend_at is None or self._resend_at > now:
            return
        self._resend[next(iter(self._flying))] = None
        self._recovery = (self._last, 2, now)
        self._factor = min(2 * self._factor, self._settings.backoff_max)
        self._resend_at = now + self._waiting_ms()

    # State --------------------------------------------------------------------------------------------------

    def snapshot(self, now: float) -> LinkSnapshot:
        """Return the state of this end as data, with times relative to `now`."""
        last, burst, since = self._recovery
        return LinkSnapshot(
            tuple(self._waiting),
            tuple((n, items, now - at, again) for n, (items, at, again) in self._flying.items()),
            self._last,
            self._acknowledged,
            self._held,
            tuple(self._resend),
            self._round_trip,
            self._factor,
            None if self._resend_at is None else self._resend_at - now,
            (last, burst, now - since) if last > self._acknowledged else (0, 1, 0.0),
            self._received,
            tuple(sorted(self._ahead.items())),
            self._owed,
            self._answer,
            None if self._ack_at is None else self._ack_at - now,
        )

    def restore(self, snapshot: LinkSnapshot, now: float) -> None:
        """Set a new end to the state of a snapshot."""
        for item in snapshot.waiting:
            self.put(item)
        self._flying = {n: _Flying(items, now - age, again) for n, items, age, again in snapshot.flying}
        self._last, self._acknowledged, self._held = snapshot.last, snapshot.acknowledged, snapshot.held
        self._resend = dict.fromkeys(snapshot.resend)
        self._round_trip, self._factor = snapshot.round_trip, snapshot.factor
        self._resend_at = None if snapshot.resend_left is None else now + snapshot.resend_left
        last, burst, age = snapshot.recovery
        self._recovery = (last, burst, now - age)
        self._received, self._ahead = snapshot.received, dict(snapshot.ahead)
        self._owed, self._answer = snapshot.owed, snapshot.answer
        self._ack_at = None if snapshot.ack_left is None else now + snapshot.ack_left
