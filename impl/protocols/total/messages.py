"""The messages of TOTAL, by the header types of the document's appendix.

| document                               | here      |
|----------------------------------------|-----------|
| TOTAL_REQUEST                          | `Request` |
| TOTAL_BCAST, the id assigned           | `Bcast`   |
| TOTAL_RESEND, the id to be sent again  | `Resend`  |
| TOTAL_CUM_SEQ_ACK, up to the id        | `CumAck`  |

TOTAL_UNICAST is none of a total order's; TOTAL_NEW_VIEW and its acknowledgement belong to view changes;
TOTAL_SEQ_ACK is "not currently used". Repair: a request, whose argument is "N/A", names its message.

This module must not know what a process does with a message.

Source: Cornell, "JavaGroups TOTAL", appendix, "TotalHeader types".
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import NATURAL_MAX, Identifier, Natural, Payload, source_flaw

__all__ = ["Bcast", "CumAck", "Message", "Request", "Resend", "TotalViolation", "flaw"]

Acknowledged = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
"""Sequence id up to which everything has arrived; 0: nothing has."""


class Request(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="request"):
    """Request to broadcast a message to the group."""

    identifier: Identifier
    payload: Payload


class Bcast(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="bcast"):
    """Broadcast of a message with its sequence id."""

    number: Natural
    identifier: Identifier
    payload: Payload


class Resend(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="resend"):
    """Request for the message with this sequence id."""

    number: Natural


class CumAck(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="cum_ack"):
    """Acknowledgement: all up to this sequence id, inclusive, have arrived."""

    number: Acknowledged


Message = Request | Bcast | Resend | CumAck


def flaw(message: Message, members: int) -> str | None:
    """Return the field that is out of range for so many members, or None; a core takes only messages without
    a flaw.
    """
    return source_flaw(message, members) if isinstance(message, Request | Bcast) else None


class TotalViolation(Violation):
    """A message that TOTAL, repaired, never sends; it is ignored and counted under exactly one kind.

    Ignoring a message of the last five kinds does no harm. Each of the other kinds shows that its sender has
    a different order than this process.
    """

    NOT_SEQUENCER = "broadcast_of_a_member_that_does_not_number"
    TWO_MESSAGES = "two_messages_for_one_number"
    TWO_PAYLOADS = "two_payloads_for_one_identifier"
    NEVER_BROADCAST = "identifier_that_its_source_never_broadcast"
    MISDIRECTED = "message_for_the_sequencer_to_another_member"
    FOREIGN_REQUEST = "request_for_another_members_message"
    NEVER_ASSIGNED = "number_that_was_not_given_yet"
    NUMBER_AHEAD = "number_too_far_ahead"
    IDENTIFIER_AHEAD = "identifier_too_far_ahead"

    @property
    def breaks_order(self) -> bool:
        """Return True if two processes have contradictory orders."""
        return self in {self.NOT_SEQUENCER, self.TWO_MESSAGES, self.TWO_PAYLOADS, self.NEVER_BROADCAST}
