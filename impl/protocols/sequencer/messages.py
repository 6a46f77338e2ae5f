"""The two messages of SEQUENCER: the document's headers FORWARD and DATA, each with the message it stands on.

The tag of a message, "the sender's address and a monotonically increasing sequence number (seqno)", is its
identifier. Both headers name the view in which they were sent.

This module must not know what a process does with a message.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Design".
"""

from __future__ import annotations

from msgspec import Struct

from antiphon.impl.protocols.core import Identifier, Natural, Payload

__all__ = ["Data", "Forward", "Message"]


class Forward(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="forward"):
    """FORWARD: a member's message on its way to the coordinator."""

    view: Natural
    identifier: Identifier
    payload: Payload


class Data(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="data"):
    """DATA: a message at its place among the coordinator's multicasts, with the tag of who sent it."""

    view: Natural
    identifier: Identifier
    payload: Payload


Message = Forward | Data
