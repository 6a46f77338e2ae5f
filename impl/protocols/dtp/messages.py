"""The five messages of DTP, each the content of one datagram.

| paper                               | here         |
|-------------------------------------|--------------|
| `MSG(U, (j, l), h)`                 | `Msg`        |
| `ACK(t, U_id, g, m)`                | `Ack`        |
| `ACK(t, NULL, g, m)`                | `Null`       |
| `REQ(j, h, {('msg', U_id)})`        | `AskMessage` |
| `REQ(j, h, {('ack', gsn)})`         | `AskNumber`  |

A REQ with several entries in its msglst is as many messages: whoever packs messages into datagrams joins
them. The sender of a MSG or a REQ is that of its datagram, or the j of U_id.

Repairs: every ACK carries R_t, what its sender knew of the others; a NULL carries how many NULLs there were
since the last gsn, itself included, so that every pass of the token has a number of its own.

This module must not know what a process does with a message.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 4.2.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import NATURAL_MAX, Identifier, Natural, Payload, Process, source_flaw

__all__ = [
    "Ack",
    "AskMessage",
    "AskNumber",
    "DtpViolation",
    "Message",
    "Msg",
    "Null",
    "Pass",
    "Status",
    "flaw",
]

Status = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
"""Status hgsn: the gsn up to which a process has obtained everything; 0 at first."""


class Msg(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="msg"):
    """Message with an update and its U_id, and the status of its source at the first multicast."""

    identifier: Identifier
    payload: Payload
    status: Status


class Ack(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="ack"):
    """Acknowledgement that gives a message its gsn (global sequence number) and passes the token to
    `next_holder`; `told` is R of its first sender, the status of each process.
    """

    sequencer: Process
    identifier: Identifier
    number: Natural
    next_holder: Process
    told: tuple[Status, ...]

    @property
    def turn(self) -> tuple[int, int]:
        """Position of this pass among all passes of the token: the gsn that this ACK assigns, and 0."""
        return (self.number, 0)


class Null(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="null"):
    """Acknowledgement of NULL, which passes the token after a silence; the gsn is the last that was given."""

    sequencer: Process
    number: Status
    next_holder: Process
    nulls: Natural
    told: tuple[Status, ...]

    @property
    def turn(self) -> tuple[int, int]:
        """Position of this pass among all passes of the token: the last assigned gsn, and the count of NULLs
        since that gsn.
        """
        return (self.number, self.nulls)


class AskMessage(
    Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="ask_message"
):
    """Request for a message; `status` is the asking process's own status, R_j[j]."""

    identifier: Identifier
    status: Status


class AskNumber(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="ask_number"):
    """Request for the ACK with a gsn."""

    number: Natural
    status: Status


Pass = Ack | Null

Message = Msg | Ack | Null | AskMessage | AskNumber


def flaw(message: Message, members: int) -> str | None:
    """Return the field that is out of range for so many members, or None; a core takes only messages without
    a flaw.
    """
    if isinstance(message, Msg | Ack | AskMessage) and (wrong := source_flaw(message, members)):
        return wrong
    if not isinstance(message, Ack | Null):
        return None
    if message.sequencer >= members or message.next_holder >= members:
        told = f"process {message.sequencer} passes the token to process {message.next_holder}"
        return f"{told}: there are {members} members"
    if message.sequencer == message.next_holder:
        return f"process {message.sequencer} passes the token to itself"
    if len(message.told) != members:
        return f"the status of {len(message.told)} members; there are {members}"
    if max(message.told) > message.number:
        return f"status {max(message.told)} is beyond {message.number}, the last number of all"
    return None


class DtpViolation(Violation):
    """A message that DTP, repaired, never sends; it is ignored and counted under exactly one kind.

    The last two kinds refer to numbers that are not assigned yet; ignoring such a message does no harm. Each
    of the other kinds shows that its sender has a different order than this process.
    """

    TWO_IDENTIFIERS = "two_identifiers_for_one_number"
    TWO_NUMBERS = "two_numbers_for_one_identifier"
    TWO_PAYLOADS = "two_payloads_for_one_identifier"
    NEVER_BROADCAST = "identifier_that_its_source_never_broadcast"
    NEVER_PASSED = "pass_that_its_sequencer_never_made"
    SECOND_TOKEN = "pass_while_this_process_holds_the_token"
    NUMBER_AHEAD = "number_that_is_too_far_ahead"
    IDENTIFIER_AHEAD = "identifier_that_is_too_far_ahead"

    @property
    def breaks_order(self) -> bool:
        """Return True if two processes have contradictory orders."""
        return self not in {self.NUMBER_AHEAD, self.IDENTIFIER_AHEAD}
