"""What a stack sends: the bytes that its lowest layer hands to the network, headers and all.

Each layer pushes its header by encoding it together with what it was given, and pops it by decoding. This
module must not know any layer.
"""

from __future__ import annotations

from msgspec import Struct

from antiphon.impl.protocols.core import Payload

__all__ = ["HEADER_BYTES_MAX", "Frame", "flaw"]

HEADER_BYTES_MAX = 64
"""More than a layer's header can take."""


class Frame(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="frame"):
    """A message of the lowest layer."""

    body: Payload


def flaw(message: Frame, members: int) -> str | None:
    """Nothing is out of range: what the bytes mean is the layers' affair, who judge it."""
    del message, members
    return None
