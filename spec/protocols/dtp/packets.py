"""Packets and memory of DTP: MSG, ACK, ACK of NULL and REQ as packets, and what `BUF_i` holds of an ACK.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 4.2, first paragraph.

A `Message` stands for an update. Its U_id, the pair (sender, lsn), and the hgsn that it carries are fixed
when it is multicast: "LTM_i multicasts the same MSG at every timeout", so no update ever gets a second U_id
or a second hgsn. A REQ is one packet for each entry of its msglst.

As printed, nothing distinguishes two NULLs after the same gsn. A repair numbers them, in the field `nulls`,
which is 0 without the repair.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, record
from antiphon.spec.services import Message, Process

Number = Annotated[int, Between(1, "messages + spare")]
"""gsn: a global sequence number that is assigned."""

Status = Annotated[int, Between(0, "messages + spare")]
"""hgsn: the gsn of the message that a process has delivered (with F > 0: obtained) last; 0 at first."""

Nulls = Annotated[int, Between(0, "nulls")]
"""Number of a NULL, counted since the last gsn; always 0 as printed, where NULLs have no numbers."""


@record
class Acknowledged:
    """ACK in BUF: the update that got the gsn, the process that assigned the gsn, and the process that the
    ACK names as next holder.
    """

    message: Message
    sender: Process
    next_holder: Process


@record
class Pass:
    """Content of an ACK(t, U_id, g, m) about the token. The update is None in an ACK of NULL."""

    message: Message | None
    number: Status
    next_holder: Process
    nulls: Nulls


@record
class Msg:
    """MSG(U, (j, l), h): update U, the l-th of process j, whose hgsn is h; on its way to one process."""

    to: Process
    message: Message


@record
class Ack:
    """ACK(t, U_id, g, m): t gives gsn g to an update, and the token to m; on its way to one process."""

    to: Process
    sender: Process
    message: Message
    number: Number
    next_holder: Process


@record
class Null:
    """ACK(t, NULL, g, m): t passes the token to m without an update; on its way to one process."""

    to: Process
    sender: Process
    number: Status
    next_holder: Process
    nulls: Nulls


@record
class AskMessage:
    """REQ(j, h, {('msg', U_id)}): j, whose hgsn is h, asks for an update; on its way to one process."""

    to: Process
    sender: Process
    status: Status
    message: Message


@record
class AskNumber:
    """REQ(j, h, {('ack', gsn)}): j, whose hgsn is h, asks for an ACK; on its way to one process."""

    to: Process
    sender: Process
    status: Status
    number: Number


Request = AskMessage | AskNumber

Packet = Msg | Ack | Null | AskMessage | AskNumber
