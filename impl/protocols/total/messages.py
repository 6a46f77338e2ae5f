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

from antiphon.impl.protocols.core import NATURAL_MAX, Identifier, Natural, Payload, source_flaw

__all__ = ["Bcast", "CumAck", "Message", "Request", "Resend", "flaw"]

Acknowledged = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
"""Up to which sequence id everything has arrived; 0: nothing has."""


class Request(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="request"):
    """A message to be broadcast to the group."""

    identifier: Identifier
    payload: Payload


class Bcast(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="bcast"):
    """A message with the sequence id assigned to it."""

    number: Natural
    identifier: Identifier
    payload: Payload


class Resend(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="resend"):
    """Asks for the message with this sequence id."""

    number: Natural


class CumAck(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="cum_ack"):
    """All up to this sequence id, inclusive, has arrived."""

    number: Acknowledged


Message = Request | Bcast | Resend | CumAck


def flaw(message: Message, members: int) -> str | None:
    """What is out of range for so many members, or None; a core takes only messages without a flaw."""
    return source_flaw(message, members) if isinstance(message, Request | Bcast) else None
