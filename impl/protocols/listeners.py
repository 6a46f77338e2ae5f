"""External members at the ordering member: each gets the stable messages, as fast as it takes them.

A member that reports how much it has gets what follows, at most EXTERNAL_AHEAD messages and EXTERNAL_BYTES
ahead of that: so nothing piles up for a stopped one. Before each part comes a notice of how much is stable. A
member that needs a message which is not kept any more gets the notice `Gone`.

This module must not know a protocol.

Source: Barchet-Estefanel 2002, section 4.4.3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from antiphon.impl.protocols.core import NATURAL_MAX, Natural
from antiphon.impl.protocols.history import History, Ordered

__all__ = [
    "EXTERNAL_AHEAD",
    "EXTERNAL_BYTES",
    "Gone",
    "Listeners",
    "ListenersSnapshot",
    "Stable",
    "Upto",
]

EXTERNAL_AHEAD = 64
"""Largest number of messages on their way to an external member."""

EXTERNAL_BYTES = 2**18
"""Number of bytes on their way to an external member from which on the member is sent no more."""

Upto = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
"""Number that includes all before it; 0: none."""


class Stable(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="stable"):
    """Notice: all of the core have everything up to this number."""

    number: Upto


class Gone(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="gone"):
    """Notice: the sender has deleted everything up to this number, of which the external member needs
    some.
    """

    number: Natural


class ListenersSnapshot(NamedTuple):
    """The state of all external members, immutable."""

    listeners: tuple[tuple[int, tuple[int, int, int, int], tuple[Ordered, ...], bool], ...]


class _Listener:
    """State of an external member that has reported something."""

    def __init__(self) -> None:
        self.has = 0
        """Number up to which the external member has reported to have all messages."""
        self.sent = 0
        """Number up to which the member has all messages, or was sent them since it last asked."""
        self.highest = 0
        """The highest number that the member was ever sent."""
        self.told = -1
        """The highest number that was reported to the member as stable; -1: none."""
        self.flying: deque[Ordered] = deque()
        """Messages that the member was sent and has not acknowledged."""
        self.flying_bytes = 0
        self.gone = False
        """True if the member needs a message that is not kept any more."""

    @property
    def open(self) -> bool:
        """Return True if another message may be sent."""
        return len(self.flying) < EXTERNAL_AHEAD and self.flying_bytes < EXTERNAL_BYTES

    def send(self, message: Ordered) -> None:
        """Send the listener its next message."""
        self.sent = message.number
        self.highest = max(self.sent, self.highest)
        self.flying.append(message)
        self.flying_bytes += message.size


class Listeners:
    """All external members of a list that have reported something."""

    def __init__(self) -> None:
        self._listeners: dict[int, _Listener] = {}

    def has(self, process: int, number: int) -> bool:
        """Record that an external member has everything up to this number; return False if the member was not
        sent that much.
        """
        listener = self._listeners.get(process, _Listener())
        if number > listener.highest:
            return False
        self._listeners[process] = listener
        listener.has, listener.sent = max(number, listener.has), max(number, listener.sent)
        while listener.flying and listener.flying[0].number <= number:
            listener.flying_bytes -= listener.flying.popleft().size
        return True

    def asks(self, process: int, number: int) -> bool:
        """Arrange that the external member is sent this message and those after it again; return False if it
        was never sent those before it.

        A request for a message that the member has reported to have is out of date, and is ignored.
        """
        if not self.has(process, number - 1):
            return False
        listener = self._listeners[process]
        if number > listener.has:
            listener.flying.clear()
            listener.flying_bytes = 0
            listener.sent, listener.told, listener.gone = listener.has, -1, False
        return True

    def outputs(self, history: History) -> Iterator[tuple[int, Stable | Gone | Ordered]]:
        """Yield, once, the receivers and the messages that external members are to be sent now, in order."""
        stable = history.stable
        for process, listener in self._listeners.items():
            if listener.gone or stable == listener.told == listener.sent or not listener.open:
                continue
            if stable > listener.told:
                listener.told = stable
                yield process, Stable(stable)
            while listener.sent < stable and listener.open:
                message = history.kept(listener.sent + 1)
                if message is None:
                    listener.gone = True
                    yield process, Gone(listener.sent + 1)
                    break
                listener.send(message)
                yield process, message

    def snapshot(self) -> ListenersSnapshot:
        """Return the whole state."""
        listeners = self._listeners.items()
        return ListenersSnapshot(
            tuple(
                (at, (one.has, one.sent, one.highest, one.told), tuple(one.flying), one.gone)
                for at, one in listeners
            )
        )

    def restore(self, snapshot: ListenersSnapshot) -> None:
        """Set the state to a snapshot."""
        self._listeners = {}
        for process, numbers, flying, gone in snapshot.listeners:
            listener = self._listeners[process] = _Listener()
            listener.has, listener.sent, listener.highest, listener.told = numbers
            listener.gone = gone
            listener.flying = deque(flying)
            listener.flying_bytes = sum(message.size for message in flying)
