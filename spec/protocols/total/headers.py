"""Header types of TOTAL's packets, from the document's appendix; each packet is sent in a view.

Source: Cornell, "JavaGroups TOTAL", appendix, "TotalHeader types". TOTAL_UNICAST, "a unicast message not to
be processed by the TOTAL layer", is left out. TOTAL_NEW_VIEW_ACK and TOTAL_SEQ_ACK are "not currently used",
and of TOTAL_CUM_SEQ_ACK the text does not say who sends it: the literal text sends none of the three.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, record
from antiphon.spec.services import Message, Process, View

Number = Annotated[int, Between(1, "first_ids - 1 + messages + spare")]
"""A sequence id."""

Next = Annotated[int, Between(0, "first_ids + messages + spare")]
"""The sequence id that is expected or assigned next; 0: not known, or nothing to assign."""

First = Annotated[int, Between(1, "first_ids")]
"""The sequence id of the first message of a view."""


@record
class Request:
    """TOTAL_REQUEST: "a message to be broadcast to the group"."""

    to: Process
    view: View
    message: Message


@record
class Bcast:
    """TOTAL_BCAST: a message with "the sequence id assigned to this broadcast message"."""

    to: Process
    view: View
    number: Number
    message: Message


@record
class NewView:
    """TOTAL_NEW_VIEW: "the sequence id that will be used for the first broadcast message" of the view."""

    to: Process
    view: View
    first: First


@record
class Resend:
    """TOTAL_RESEND: "the sequence id of the message to be sent again"."""

    to: Process
    view: View
    sender: Process
    number: Number


@record
class NewViewAck:
    """TOTAL_NEW_VIEW_ACK: "Acknowledgement of the TOTAL_NEW_VIEW message ... not currently used"."""

    to: Process
    view: View
    sender: Process


@record
class CumAck:
    """TOTAL_CUM_SEQ_ACK: all "up to the specified sequence id (inclusive)" have arrived; 0: none is known."""

    to: Process
    view: View
    sender: Process
    number: Next


@record
class SeqAck:
    """TOTAL_SEQ_ACK: "The acknowledgement of a single message ... not currently used"."""

    to: Process
    view: View
    number: Number


Packet = Request | Bcast | NewView | Resend | NewViewAck | CumAck | SeqAck
