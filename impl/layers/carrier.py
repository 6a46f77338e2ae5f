"""A carrier takes the encoded messages of a member, and makes the datagrams that bring them to the others.

There are three: `Plain`, one message a datagram; `packing.Packing`, all that waits for a member in as few as
hold it; `links.Links`, which packs too, and lets nothing be lost or overtaken. An item is one encoded
message; a carrier must not know what it holds.
"""

from __future__ import annotations

from typing import Protocol

from antiphon.impl.protocols.core import Send

__all__ = ["Carrier", "Plain"]


class Carrier(Protocol):
    """The interface between an endpoint and the datagrams. `now` is in milliseconds, and never decreases."""

    @property
    def full(self) -> bool:
        """Return True if so much waits for some member that nothing more should be made."""
        ...

    def send(self, to: int, item: bytes) -> None:
        """Take an item for a member."""
        ...

    def received(self, sender: int, data: bytes, now: float) -> list[bytes] | str:
        """The items that a datagram brings, in order, or what is wrong with it: then nothing has changed."""
        ...

    def tick(self, now: float) -> None:
        """Let every waiting time run out whose end has come."""
        ...

    def next_deadline(self) -> float | None:
        """Return the time at which `tick` has something to do, or None."""
        ...

    def outputs(self, now: float) -> list[Send[bytes]]:
        """Hand over, once, the datagrams to send, in order."""
        ...


class Plain:
    """One item a datagram, just as it is."""

    full = False

    def __init__(self) -> None:
        self._items: list[Send[bytes]] = []

    def send(self, to: int, item: bytes) -> None:
        """Take an item for a member."""
        self._items.append(Send(to, item))

    def received(self, sender: int, data: bytes, now: float) -> list[bytes]:  # noqa: ARG002
        """The one item."""
        return [data]

    def tick(self, now: float) -> None:
        """Do nothing: there are no waiting times."""

    def next_deadline(self) -> float | None:
        """None."""
        return None

    def outputs(self, now: float) -> list[Send[bytes]]:  # noqa: ARG002
        """Hand over, once, the datagrams to send, in order."""
        items, self._items = self._items, []
        return items
