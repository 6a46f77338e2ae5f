"""A carrier puts the encoded messages of a member into datagrams for the others, and takes them out there.

There are three: `Plain`, one message a datagram; `packing.Packing`, all that waits for a member in as few as
hold it; `links.Links`, which packs too, and lets nothing be lost or overtaken. An item is one encoded
message; a carrier must not know what it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from antiphon.impl.protocols.core import Send

__all__ = ["Carrier", "Plain"]


class Carrier(Protocol):
    """The interface between an endpoint and the datagrams. `now` is in milliseconds, and never decreases."""

    @property
    def full(self) -> bool:
        """Return True if so many items wait for some member that callers should send nothing more for now."""
        ...

    def send(self, to: int, item: bytes) -> None:
        """Queue an item for a member."""
        ...

    def received(
        self, sender: int, data: bytes | memoryview, now: float
    ) -> Sequence[bytes | memoryview] | str:
        """Return the items that a datagram brings, in order, or the reason for rejecting it, which changes
        nothing.
        """
        ...

    def tick(self, now: float) -> None:
        """Run the timers that are due."""
        ...

    def next_deadline(self) -> float | None:
        """Return the time of the next timer, or None."""
        ...

    def outputs(self, now: float) -> list[Send[bytes]]:
        """Return, once, the datagrams to send, in order."""
        ...


class Plain:
    """Carrier that puts one item into each datagram."""

    full = False

    def __init__(self) -> None:
        self._items: list[Send[bytes]] = []

    def send(self, to: int, item: bytes) -> None:
        """Queue an item for a member; it becomes a datagram of its own."""
        self._items.append(Send(to, item))

    def received(self, sender: int, data: bytes | memoryview, now: float) -> list[bytes | memoryview]:
        """Return the datagram as its one item."""
        del sender, now
        return [data]

    def tick(self, now: float) -> None:
        """Do nothing: this carrier has no timers."""

    def next_deadline(self) -> float | None:
        """Return None: this carrier has no timers."""
        return None

    def outputs(self, now: float) -> list[Send[bytes]]:  # noqa: ARG002
        """Return, once, the datagrams to send, in order."""
        items, self._items = self._items, []
        return items
