"""Typed events of one process, in their order, for a tracer that is a parameter.

Rules:
1. An event is immutable data; `process` is the member at which it happened.
2. No event carries a clock. Across processes, order follows from the datagram identifier `(sender, counter)`:
   its `Send` comes before every `Receive` of the same identifier. Several receptions of one identifier are
   duplicates.
3. A tracer never changes the behaviour of the traced code. Code that traces asks
   `tracer.recording` first, so that tracing with `NullTracer` costs one attribute
   look-up.

This module must not know any protocol: identifiers are pairs, messages are named by their kind.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from antiphon.impl.errors import Rejection
from antiphon.impl.errors import Violation as ViolationKind

__all__ = [
    "DETAIL_MAX",
    "NULL_TRACER",
    "Broadcast",
    "Deliver",
    "Dropped",
    "Event",
    "NullTracer",
    "Receive",
    "RecordingTracer",
    "Send",
    "Step",
    "Tracer",
    "TransportFault",
    "Violation",
]

DETAIL_MAX = 200
"""Largest number of characters of foreign data in an event."""

Pair = tuple[int, int]
"""Pair (source, id) of a broadcast message, or (sender, counter) of a datagram."""


class _Event(Struct, frozen=True, tag=str.lower, tag_field="event"):
    process: int


class Broadcast(_Event, frozen=True):
    """Event: the application's message got its identifier and was sent to all for the first time."""

    identifier: Pair
    payload: bytes


class Deliver(_Event, frozen=True):
    """Event: a message was handed to the application at its place in the total order."""

    identifier: Pair
    number: int
    payload: bytes


class Step(_Event, frozen=True):
    """Event: the core took an internal step; `action` is the protocol's word, or the timer that expired."""

    action: str
    identifier: Pair | None = None
    number: int | None = None


class Send(_Event, frozen=True):
    """Event: a datagram was sent to one member."""

    datagram: Pair
    to: int
    kind: str
    size_bytes: int


class Receive(_Event, frozen=True):
    """Event: a datagram of this group arrived and is about to be handled."""

    datagram: Pair
    kind: str


class Dropped(_Event, frozen=True):
    """Event: a datagram was refused before any protocol saw it."""

    kind: Rejection
    size_bytes: int
    detail: str


class Violation(_Event, frozen=True):
    """Event: a member sent a message that no correct member sends, which was ignored."""

    kind: ViolationKind
    sender: int
    detail: str


class TransportFault(_Event, frozen=True):
    """Event: the operating system refused to carry a datagram, which is lost for the protocol."""

    kind: str
    detail: str


Event = Broadcast | Deliver | Step | Send | Receive | Dropped | Violation | TransportFault


class Tracer(Protocol):
    """Receiver of events. If `recording` is false, `record` need not be called."""

    @property
    def recording(self) -> bool:
        """Return True if `record` does anything."""
        ...

    def record(self, event: Event) -> None:
        """Take one event. The method must neither raise nor call back into the traced code."""
        ...


class NullTracer:
    """Tracer that ignores all events."""

    recording = False

    def record(self, event: Event) -> None:
        """Ignore the event."""


class RecordingTracer:
    """Tracer that keeps every event, in order, in `events`."""

    recording = True

    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, event: Event) -> None:
        """Append the event to `events`."""
        self.events.append(event)


NULL_TRACER = NullTracer()
