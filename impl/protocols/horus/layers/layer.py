"""Interface of a layer: it gets calls from above and from below, and makes calls to both.

Rules of every layer:
1. Downcalls are `Cast`, to every other member of the view, and `Send`, to one. Only COM gets a `Send`. The
   one upcall is `Receive`: the window of NAK makes LOST_MESSAGE impossible. Bodies are bytes.
2. A call is a step of the layer, which may call its neighbours in turn. It never waits, and reads no clock.
3. A member's own copy of a cast needs no layer: the caster has it. TOTAL hands it up at its place.
4. The state of a layer follows from its calls, is its own, and is in its snapshot.
5. A layer decides which of its timers run; the stack decides when they expire.

This module must not know any layer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

import msgspec

from antiphon.impl.errors import UNREADABLE
from antiphon.impl.protocols.core import Wait
from antiphon.impl.protocols.horus.messages import HorusViolation

__all__ = ["Cast", "Down", "Layer", "Receive", "Send", "Timer", "popped", "pushed"]

H = TypeVar("H")


class Cast(NamedTuple):
    """Downcall: send to every other member of the view."""

    body: bytes
    lasting: bool = True
    """False if the message is worth nothing once the view has ended, as the token is."""


class Send(NamedTuple):
    """Downcall: send to one member."""

    to: int
    body: bytes


class Receive(NamedTuple):
    """Upcall: a message that `origin` cast, or sent to this member."""

    origin: int
    body: bytes


Down = Cast | Send


class Timer(NamedTuple):
    """Timer of a layer: its purpose, and the member that it concerns."""

    name: str
    of: int


def _unlinked(call: object, _: object = None) -> None:
    raise AssertionError(f"{call}: this layer stands in no stack")


class Layer(ABC):
    """A layer of member `me`; a stack sets `below`, `above` and `violated` before anything is called."""

    intervals: ClassVar[tuple[str, ...]] = ()
    """Names of the layer's timers; the stack knows the first waiting time of each."""

    def __init__(self, me: int, members: int) -> None:
        self.me = me
        self.members = members
        self.others = tuple(process for process in range(members) if process != me)
        self.below: Callable[[Down], None] = _unlinked
        self.above: Callable[[Receive], None] = _unlinked
        self.violated: Callable[[HorusViolation, int], None] = _unlinked

    @abstractmethod
    def down(self, call: Down) -> None:
        """Handle a call from above."""

    @abstractmethod
    def up(self, call: Receive) -> None:
        """Handle a call from below."""

    @property
    def full(self) -> bool:
        """Return True if the application should cast nothing more for now."""
        return False

    @property
    def progress(self) -> int:
        """Measure of progress: a number that grows with everything that brings this layer further."""
        return 0

    def waits(self) -> tuple[Wait, ...]:
        """Return the messages that this layer needs from other members before it can go on."""
        return ()

    def timers(self) -> Mapping[Timer, int]:
        """Return the running timers, each with a number that changes when its awaited event comes closer."""
        return {}

    def expire(self, timer: Timer) -> None:
        """Run the action of one of `timers`."""
        raise AssertionError(f"{timer}: {type(self).__name__} waits for nothing")

    @abstractmethod
    def snapshot(self) -> Hashable:
        """Return the whole state, immutable and canonical."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Set the state to a snapshot."""


_ENCODER = msgspec.msgpack.Encoder()


def pushed(header: msgspec.Struct) -> bytes:
    """Return a header, which contains the body that it was pushed on, encoded as bytes."""
    return _ENCODER.encode(header)


def popped(decoder: msgspec.msgpack.Decoder[H], body: bytes) -> H | None:
    """Return the header of these bytes, or None if no layer pushes such a header."""
    try:
        return decoder.decode(body)
    except UNREADABLE:
        return None
