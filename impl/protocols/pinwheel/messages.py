"""The two messages of Pinwheel.

| paper             | here  |
|-------------------|-------|
| `MSG(U, U_id)`, with hgsn | `Msg` |
| `ACK(t, U_id, g)` | `Ack` |

The sender of a message, t of an ACK, is that of its datagram. This module must not know what a process does
with a message.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from antiphon.impl.protocols.core import NATURAL_MAX, Identifier, Natural, Payload

__all__ = ["Ack", "Message", "Msg"]

Status = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
"""Status hgsn: the gsn up to which a process has delivered; 0 at first."""


class Msg(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="msg"):
    """Message with an update, its U_id, and the hgsn of its source."""

    identifier: Identifier
    payload: Payload
    status: Status


class Ack(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="ack"):
    """Acknowledgement that gives an update its gsn; the last one of a holder passes the token to the next
    process of the cycle.
    """

    number: Natural
    identifier: Identifier
    passes: bool


Message = Msg | Ack
