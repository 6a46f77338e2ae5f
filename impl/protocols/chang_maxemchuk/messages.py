"""The two messages of CM.

| paper           | here  |
|-----------------|-------|
| `MSG(U, U_id)`  | `Msg` |
| `ACK(t, U_id, g)` | `Ack` |

The sender of a message, t of an ACK, is that of its datagram. This module must not know what a process does
with a message.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3.
"""

from __future__ import annotations

from msgspec import Struct

from antiphon.impl.protocols.core import Identifier, Natural, Payload

__all__ = ["Ack", "Message", "Msg"]


class Msg(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="msg"):
    """An update and its U_id."""

    identifier: Identifier
    payload: Payload


class Ack(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="ack"):
    """Acknowledgement that gives an update its gsn, and passes the token to the next process of the cycle."""

    number: Natural
    identifier: Identifier


Message = Msg | Ack
