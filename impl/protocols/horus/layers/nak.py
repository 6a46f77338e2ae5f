"""NAK: numbers casts, requests missing ones, and fills every gap in the order of each source.

| paper                                                              | here                                |
|--------------------------------------------------------------------|-------------------------------------|
| `pushes a sequence number on each outgoing message`                | `Data.place`                        |
| `sends back a negative acknowledgement (NAK)`                      | `Negative`, timer ASK               |
| `buffers some messages for retransmission`                         | `_buffer`, from `oldest` on         |
| `If not, it will send a place holder`                              | `PlaceHolder`                       |
| `Each endpoint will occasionally multicast its protocol status`    | `Status`, timer TELL                |
| `so buffered messages may be flushed`                              | `_release`                          |
| `window-based flow control may be implemented`                     | at most `buffer` casts are kept     |

Repair AWAIT_ROOM: the window is implemented. What is cast beyond it waits in `_waiting`, so that nothing
falls out of the buffer which somebody lacks. A place holder then answers only a NAK that is no longer needed,
and "a LOST_MESSAGE event" never results.

What is decided here: a member cannot see whether its status would be news to another. It says how many it has
cast only to who has not acknowledged all; such a status, and every message, is answered with a status.

Source: van Renesse and others 1995, on NAK.
"""

from __future__ import annotations

from collections import deque
from typing import ClassVar, NamedTuple

import msgspec

from antiphon.impl.protocols.core import Natural, Wait
from antiphon.impl.protocols.horus.layers.layer import (
    Cast,
    Down,
    Layer,
    Receive,
    Send,
    Timer,
    popped,
    pushed,
)
from antiphon.impl.protocols.horus.messages import HorusViolation

__all__ = ["ASK", "TELL", "Data", "Header", "Nak", "NakSnapshot", "Negative", "PlaceHolder", "Status"]

ASK, TELL = "ask", "tell"


class _Header(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Header that NAK pushes."""


class Data(_Header, frozen=True, tag=1):
    """Message with its sequence number, for the first time or again."""

    place: Natural
    body: bytes


class PlaceHolder(_Header, frozen=True, tag=2):
    """Reply for a message that is not buffered any more."""

    place: Natural


class Negative(_Header, frozen=True, tag=3):
    """Negative acknowledgement: the sender lacks this number."""

    place: Natural


class Status(_Header, frozen=True, tag=4):
    """Status: `received` is the number of the receiver's casts that the sender has; `sent` is the number of
    the sender's own casts if the status asks for an answer, else 0.
    """

    received: int
    sent: int


Header = Data | PlaceHolder | Negative | Status
_DECODER: msgspec.msgpack.Decoder[Header] = msgspec.msgpack.Decoder(Header)


class NakSnapshot(NamedTuple):
    """The whole state of the layer NAK at one member."""

    cast: int
    oldest: int
    buffer: tuple[bytes, ...]
    waiting: tuple[bytes, ...]
    expected: tuple[int, ...]
    known: tuple[int, ...]
    early: tuple[tuple[tuple[int, bytes], ...], ...]
    acknowledged: tuple[int, ...]
    owed: tuple[int, ...]


class Nak(Layer):
    """Layer NAK: it numbers casts, keeps them until all have them, and has lost ones sent again."""

    intervals: ClassVar[tuple[str, ...]] = (ASK, TELL)

    def __init__(self, me: int, members: int, buffer: int) -> None:
        """Make the layer. Raises ValueError: the buffer has no room for a cast."""
        if buffer < 1:
            raise ValueError(f"buffer is {buffer}; a member that may keep nothing casts nothing")
        super().__init__(me, members)
        self._room = buffer
        self._cast, self._oldest = 0, 1
        self._buffer: deque[bytes] = deque()
        self._waiting: deque[bytes] = deque()
        self._expected = [1] * members
        self._known = [0] * members
        self._early: list[dict[int, bytes]] = [{} for _ in range(members)]
        self._acknowledged = [0] * members
        self._owed: set[int] = set()

    # Downwards --------------------------------------------------------------------------------------------

    @property
    def full(self) -> bool:
        """Return True if the buffer has no room for another cast."""
        return self._cast - self._oldest + 1 >= self._room

    def down(self, call: Down) -> None:
        """Push a number and cast the message, as soon as the buffer has room."""
        self._waiting.append(call.body)
        self._flow()

    def _flow(self) -> None:
        while self._waiting and not self.full:
            body = self._waiting.popleft()
            self._cast += 1
            self._buffer.append(body)
            self.below(Cast(pushed(Data(self._cast, body))))

    # Upwards ----------------------------------------------------------------------------------------------

    def up(self, call: Receive) -> None:
        """Pop a header, and act on it."""
        origin = call.origin
        header = popped(_DECODER, call.body)
        wrong = HorusViolation.MALFORMED if header is None else self._impossible(origin, header)
        if wrong is not None:
            self.violated(wrong, origin)
            return
        match header:
            case Data(place=place, body=body):
                self._take_in(origin, place, body)
            case PlaceHolder():
                pass  # the number came meanwhile
            case Negative(place=place):
                self._answer(origin, place)
            case Status(received=received, sent=sent):
                self._note(origin, received, sent)

    def _impossible(self, origin: int, header: Header) -> HorusViolation | None:
        """Return the violation if no correct member sends this now, else None."""
        last = self._expected[origin] - 1 + self._room
        match header:
            case Data(place=place):
                return HorusViolation.NUMBER_AHEAD if place > last else None
            case PlaceHolder(place=place):
                return HorusViolation.GAVE_UP if place >= self._expected[origin] else None
            case Negative(place=place):
                return HorusViolation.NEVER_CAST if place > self._cast else None
            case Status(received=received, sent=sent):
                if not 0 <= received <= self._cast or sent < 0:
                    return HorusViolation.NEVER_CAST
                return HorusViolation.NUMBER_AHEAD if sent > last else None

    def _take_in(self, origin: int, place: int, body: bytes) -> None:
        """Store a message unless it is old, and pass up all messages that are next in order."""
        self._owed.add(origin)
        if place >= self._expected[origin]:
            self._known[origin] = max(self._known[origin], place)
            self._early[origin].setdefault(place, body)
            self._pass_up(origin)

    def _pass_up(self, origin: int) -> None:
        """Pass up the messages of `origin` that are next, in order."""
        while (body := self._early[origin].pop(self._expected[origin], None)) is not None:
            self._expected[origin] += 1
            self.above(Receive(origin, body))

    def _answer(self, origin: int, place: int) -> None:
        """Send the requested message again if it is still buffered, else a place holder."""
        kept = place >= self._oldest
        header = Data(place, self._buffer[place - self._oldest]) if kept else PlaceHolder(place)
        self.below(Send(origin, pushed(header)))

    def _note(self, origin: int, received: int, sent: int) -> None:
        """Note the casts that `origin` has, and the highest number that it has used."""
        self._acknowledged[origin] = max(self._acknowledged[origin], received)
        self._known[origin] = max(self._known[origin], sent)
        if sent:
            self._owed.add(origin)
        self._release()
        self._flow()

    def _release(self) -> None:
        """Forget the casts that everybody has."""
        everywhere = min(self._acknowledged[process] for process in self.others)
        while self._oldest <= everywhere:
            self._buffer.popleft()
            self._oldest += 1

    # Timers -----------------------------------------------------------------------------------------------

    def _lacks(self, process: int) -> bool:
        """Return True if this member lacks a cast of `process` that it knows to exist."""
        return self._expected[process] <= self._known[process]

    def _tells(self, process: int) -> bool:
        """Return True if a status of this member may be news to `process`."""
        return process in self._owed or self._acknowledged[process] < self._cast

    def timers(self) -> dict[Timer, int]:
        """Return the timers: ask each member from which a message is missing, and send a status to each
        member for which it may be news.

        A member that answers gets the next NAK, and the next status, after the first waiting time again.
        """
        waiting = {
            Timer(ASK, process): self._expected[process] for process in self.others if self._lacks(process)
        }
        if any(map(self._tells, self.others)):
            waiting[Timer(TELL, self.me)] = self._oldest
        return waiting

    def expire(self, timer: Timer) -> None:
        """Send a negative acknowledgement for the first missing number, or the status."""
        if timer.name == ASK:
            self.below(Send(timer.of, pushed(Negative(self._expected[timer.of]))))
            return
        for process in filter(self._tells, self.others):
            sent = self._cast if self._acknowledged[process] < self._cast else 0
            self.below(Send(process, pushed(Status(self._expected[process] - 1, sent))))
        self._owed.clear()

    # Looking at it ----------------------------------------------------------------------------------------

    @property
    def progress(self) -> int:
        """Measure of progress: casts, arrivals and acknowledgements."""
        came = sum(self._expected) + sum(self._known) + sum(len(early) for early in self._early)
        return self._cast + came + sum(self._acknowledged)

    def waits(self) -> tuple[Wait, ...]:
        """Return the missing numbers, and the casts that were not acknowledged."""
        missing = [
            Wait(f"message {self._expected[process]}", process)
            for process in self.others
            if self._lacks(process)
        ]
        late = [process for process in self.others if self._acknowledged[process] < self._cast]
        return (*missing, *(Wait(f"acknowledgement of message {self._cast}", process) for process in late))

    def snapshot(self) -> NakSnapshot:
        """Return the whole state."""
        return NakSnapshot(
            self._cast,
            self._oldest,
            tuple(self._buffer),
            tuple(self._waiting),
            tuple(self._expected),
            tuple(self._known),
            tuple(tuple(sorted(early.items())) for early in self._early),
            tuple(self._acknowledged),
            tuple(sorted(self._owed)),
        )

    def restore(self, snapshot: NakSnapshot) -> None:
        """Set the state to a snapshot."""
        self._cast, self._oldest = snapshot.cast, snapshot.oldest
        self._buffer, self._waiting = deque(snapshot.buffer), deque(snapshot.waiting)
        self._expected, self._known = list(snapshot.expected), list(snapshot.known)
        self._early = [dict(early) for early in snapshot.early]
        self._acknowledged, self._owed = list(snapshot.acknowledged), set(snapshot.owed)
