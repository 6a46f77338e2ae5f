"""FRAG cuts large messages into fragments, says on each whether it is the last, and puts them together again.

| paper                                                                        | here             |
|------------------------------------------------------------------------------|------------------|
| `a message that is larger than that maximum size`                            | `fragment_bytes` |
| `the FRAG layer splits the message into multiple fragments`                  | `down`           |
| `pushes a boolean value that indicates whether it is the last one or not`    | `Fragment.last`  |
| `When the last fragment is received, it delivers the message`                | `_gather`        |

The repairs DISCARD_AFTER_LOSS and MARK_FIRST, for the upcall LOST_MESSAGE, of which the text says nothing,
are not needed: the window of NAK sees to it that nothing is lost.

Source: van Renesse and others 1995, on FRAG.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from antiphon.impl.protocols.horus.layers.layer import Cast, Down, Layer, Receive, popped, pushed
from antiphon.impl.protocols.horus.messages import HorusViolation

__all__ = ["Frag", "FragSnapshot", "Fragment"]


class Fragment(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Part of a message, and whether it is the last."""

    last: bool
    part: bytes


_DECODER = msgspec.msgpack.Decoder(Fragment)


class FragSnapshot(NamedTuple):
    """The whole state of the layer FRAG at one member."""

    gathered: tuple[tuple[bytes, ...], ...]


class Frag(Layer):
    """Layer FRAG: `_gathered[q]` are the fragments of q that wait for a last one."""

    def __init__(self, me: int, members: int, fragment_bytes: int, message_bytes_max: int) -> None:
        """Make the layer. Raises ValueError: a fragment has no room for a byte."""
        if fragment_bytes < 1:
            raise ValueError(f"fragment_bytes is {fragment_bytes}; a fragment has at least one byte")
        super().__init__(me, members)
        self._fragment_bytes = fragment_bytes
        self._parts_max = -(-message_bytes_max // fragment_bytes)
        self._gathered: list[tuple[bytes, ...]] = [()] * members

    def down(self, call: Down) -> None:
        """Cast a message as fragments, one cast of the layer below each; an empty message is one fragment."""
        size, step = len(call.body), self._fragment_bytes
        for start in range(0, max(size, 1), step):
            part = call.body[start : start + step]
            self.below(Cast(pushed(Fragment(start + step >= size, part))))

    def up(self, call: Receive) -> None:
        """Gather a fragment of a message. Bytes that are no fragment, or one too many, are a violation."""
        fragment = popped(_DECODER, call.body)
        if fragment is None or len(self._gathered[call.origin]) >= self._parts_max:
            self.violated(HorusViolation.MALFORMED, call.origin)
        else:
            self._gather(call.origin, fragment)

    def _gather(self, origin: int, fragment: Fragment) -> None:
        """Keep a fragment; after the last one of a message deliver the whole message."""
        parts = (*self._gathered[origin], fragment.part)
        self._gathered[origin] = () if fragment.last else parts
        if fragment.last:
            self.above(Receive(origin, b"".join(parts)))

    def snapshot(self) -> FragSnapshot:
        """Return the fragments that wait for a last one."""
        return FragSnapshot(tuple(self._gathered))

    def restore(self, snapshot: FragSnapshot) -> None:
        """Set the state to a snapshot."""
        self._gathered = list(snapshot.gathered)
