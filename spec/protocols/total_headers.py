"""What do members of JavaGroups' TOTAL say to each other? The header types of the document's appendix, with the view each was sent in.

Source: Cornell, "JavaGroups TOTAL", appendix, "TotalHeader types". TOTAL_UNICAST is "not to be processed by the TOTAL layer", and TOTAL_SEQ_ACK is
sent by nobody; both are left out.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import View
from antiphon.spec.lang import Between, record
from antiphon.spec.services import Message, Process

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
    """TOTAL_NEW_VIEW: "the sequence id that will be used for the first broadcast message sent in this view"."""

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
    """TOTAL_NEW_VIEW_ACK, which "is not currently used"; only as repaired."""

    to: Process
    view: View
    sender: Process


@record
class CumAck:
    """TOTAL_CUM_SEQ_ACK: all up to `number` have arrived (0: none is known). Only in the readings that give it a sender."""

    to: Process
    view: View
    sender: Process
    number: Next


@record
class Last:
    """No header of the document: the sequence id of the last broadcast message. Only as repaired."""

    to: Process
    view: View
    number: Number


@record
class Discarded:
    """`process` discards `message`, since its sequence id is lower than the expected one."""

    process: Process
    message: Message


@record
class QueuedTwice:
    """`process` has `queued` under the sequence id under which it receives `message`, which it discards."""

    process: Process
    queued: Message
    message: Message


Packet = Request | Bcast | NewView | Resend | NewViewAck | CumAck | Last
