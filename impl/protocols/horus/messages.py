"""The messages of a stack: the bytes that its lowest layer gives to the network, and the violations of its
layers.

Each layer pushes its header by encoding it together with what it was given, and pops it by decoding. This
module must not know any layer.
"""

from __future__ import annotations

from msgspec import Struct

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Payload

__all__ = ["HEADER_BYTES_MAX", "Frame", "HorusViolation", "flaw"]

HEADER_BYTES_MAX = 64
"""Largest number of bytes of a layer's header, with a margin."""


class Frame(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="frame"):
    """Message of the lowest layer."""

    body: Payload


def flaw(message: Frame, members: int) -> str | None:
    """Return None: the layers judge the bytes."""
    del message, members
    return None


class HorusViolation(Violation):
    """A header that no layer pushes; the message is ignored and counted under exactly one kind.

    Ignoring the last five kinds does no harm; each other kind shows an order other than this process's.
    """

    TWO_MESSAGES = "two_messages_for_one_number"
    SECOND_TOKEN = "token_while_this_process_holds_it"
    MALFORMED = "header_that_no_layer_pushes"
    FALSE_SOURCE = "address_of_another_member"
    NEVER_CAST = "number_of_a_message_that_was_never_cast"
    GAVE_UP = "place_holder_for_a_message_that_is_missing"
    NUMBER_AHEAD = "number_too_far_ahead"

    @property
    def breaks_order(self) -> bool:
        """Return True if two processes have contradictory orders."""
        return self in {self.TWO_MESSAGES, self.SECOND_TOKEN}
