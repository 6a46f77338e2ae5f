"""Packets and memory of DTP: MSG, ACK, ACK of NULL and REQ as packets, and what `BUF_i` holds of an ACK.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 4.2, first paragraph.

An update is `Message`, its payload identity. Its U_id, the pair (sender, lsn), is a function of it that is
fixed when it is multicast: "LTM_i multicasts the same MSG at every timeout", so no update ever gets a second
one. So is the hgsn that it carries. A REQ is one packet for each entry of its msglst.

Nothing printed tells two NULLs after the same gsn apart. Where a repair does, the number stands in the field
`nulls`, which is 0 as printed.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, record
from antiphon.spec.services import Message, Process

Number = Annotated[int, Between(1, "messages + spare")]
"""gsn: a global sequence number that is assigned."""

Status = Annotated[int, Between(0, "messages + spare")]
"""hgsn: the gsn of the last message of a process, 0 at first."""

Nulls = Annotated[int, Between(0, "nulls")]
"""Number of a NULL since the last gsn; as printed always 0."""


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
    """MSG(U, (j, l), h), on its way to one process."""

    to: Process
    message: Message


@record
class Ack:
    """ACK(t, U_id, g, m), on its way to one process."""

    to: Process
    sender: Process
    message: Message
    number: Number
    next_holder: Process


@record
class Null:
    """ACK(t, NULL, g, m), on its way to one process."""

    to: Process
    sender: Process
    number: Status
    next_holder: Process
    nulls: Nulls


@record
class AskMessage:
    """REQ(j, h, {('msg', U_id)}), on its way to one process."""

    to: Process
    sender: Process
    status: Status
    message: Message


@record
class AskNumber:
    """REQ(j, h, {('ack', gsn)}), on its way to one process."""

    to: Process
    sender: Process
    status: Status
    number: Number


Request = AskMessage | AskNumber

Packet = Msg | Ack | Null | AskMessage | AskNumber
