"""Packing: items that wait for the same member travel together in one datagram, up to its size.

An item that travels alone is the datagram, just as it is. Several are a pack: the byte 0xC1, which opens
nothing in MessagePack, and before each item its length in four bytes, the highest first. The order of the
items for one member stays. Nothing waits longer than for `outputs`.
"""

from __future__ import annotations

from struct import Struct

from antiphon.impl.protocols.core import Send

__all__ = ["ITEM_BYTES", "Packing", "pack", "unpack"]

_LENGTH = Struct(">I")
_MARK = b"\xc1"

ITEM_BYTES = _LENGTH.size
"""Number of bytes that a pack adds to each item; the mark is one byte more."""


def pack(items: list[bytes], head: bytes = b"") -> bytes:
    """Return the datagram that carries these items, at least one, behind `head`."""
    if len(items) == 1:
        return head + items[0] if head else items[0]
    length = _LENGTH.pack
    return b"".join([head, _MARK, *(part for item in items for part in (length(len(item)), item))])


def unpack(data: bytes | memoryview) -> list[bytes | memoryview] | str:
    """Return the items in a datagram, without its head and without copies, or the reason why it is no
    pack.
    """
    if data[:1] != _MARK:
        return [data]
    items: list[bytes | memoryview] = []
    data, at = memoryview(data), 1
    while at < len(data):
        if at + ITEM_BYTES > len(data):
            return f"a pack ends within a length, at byte {at}"
        (length,) = _LENGTH.unpack_from(data, at)
        at += ITEM_BYTES
        if at + length > len(data):
            return f"an item of {length} bytes at byte {at} of {len(data)}"
        items.append(data[at : at + length])
        at += length
    return items


class Packing:
    """Carrier for cores that tolerate a network which loses and reorders."""

    full = False

    def __init__(self, datagram_bytes: int, head: bytes = b"") -> None:
        """Make a carrier of datagrams that begin with `head` and have at most `datagram_bytes` bytes behind
        it; a single item that is larger gets a datagram of its own.
        """
        self._datagram_bytes = datagram_bytes
        self._head = head
        self._waiting: dict[int, list[bytes]] = {}

    def send(self, to: int, item: bytes) -> None:
        """Queue an item for a member."""
        self._waiting.setdefault(to, []).append(item)

    def received(self, sender: int, data: bytes | memoryview, now: float) -> list[bytes | memoryview] | str:
        """Return the items in a datagram, which came without its head."""
        del sender, now
        return unpack(data)

    def tick(self, now: float) -> None:
        """Do nothing: this carrier has no timers."""

    def next_deadline(self) -> float | None:
        """Return None: this carrier has no timers."""
        return None

    def outputs(self, now: float) -> list[Send[bytes]]:  # noqa: ARG002
        """Return, once, the datagrams to send, with the waiting items packed."""
        waiting, self._waiting = self._waiting, {}
        return [
            Send(to, pack(items, self._head))
            for to, all_items in waiting.items()
            for items in self._packs(all_items)
        ]

    def _packs(self, items: list[bytes]) -> list[list[bytes]]:
        packs: list[list[bytes]] = []
        room = 0
        for item in items:
            size = len(item) + ITEM_BYTES
            if not packs or size > room:
                packs.append([])
                room = self._datagram_bytes - len(_MARK)
            packs[-1].append(item)
            room -= size
        return packs
