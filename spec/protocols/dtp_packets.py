"""What does DTP send and remember? MSG, ACK, ACK of NULL and REQ as packets, and what `BUF_i` holds of an acknowledgement.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed Systems Engineering 4, 1997, section 4.2.

An update is `Message`, its payload identity. Its U_id, the pair (sender, lsn), is a function of it that is fixed when it is multicast: "LTM_i
multicasts the same MSG at every timeout", so no update ever gets a second one. So is the hgsn that it carries. A REQ is one packet for each
entry of its msglst.
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
"""How many NULLs were passed since the last gsn (as repaired; else 0)."""

Turn = Annotated[int, Between(0, "(messages + spare + 1) * (nulls + 1)")]
"""A pass of the token, as repaired: passes are numbered in the order in which they happen."""


@record
class Acknowledged:
    """An ACK in BUF: the update that has the number, who assigned it, and whom it names."""

    message: Message
    sender: Process
    next_holder: Process


@record
class Pass:
    """The last pass of a process in TRST: `ACK(i, U_id, g, m)`; None is NULL, `nulls` how many NULLs were passed since number g (as repaired)."""

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


@record
class Lowered:
    """What `process` knows of the delivery status of `peer` went down."""

    process: Process
    peer: Process
