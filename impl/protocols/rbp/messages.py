"""The five messages of RBP, in the words of figure 16, and what no correct member says with them.

| figure 16                  | here             | printed lines      |
|----------------------------|------------------|--------------------|
| `(m, B)`                   | `Data`           | 14, 18, 53         |
| `ACK(B, seqnum, toknext)`  | `Ack`            | 9, 15, 25, 48, 49  |
| `(B, seqnum)`              | `Numbered`       | 21, 39, 57         |
| `request(B)`               | `Request`        | 31, 43, 51         |
| `request_sn(first, last)`  | `RequestNumbers` | 29, 35, 55         |

Repairs: line 53 answers with `m'` alone, which no handler takes; here the answer is `Data`, with its B. No
handler takes the `(B, seqnum)` of lines 21 and 57 either; here `Numbered` has one. Line 15 waits for an ACK
of four fields; there are three. Figure 25 has the same messages; its TL never changes here.

This module must not know what a process does with a message.

Source: Barchet-Estefanel 2002, section 3.1.3, figure 16, and section 3.2, figure 25.
"""

from __future__ import annotations

from msgspec import Struct

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Identifier, Natural, Payload, Process

__all__ = [
    "NUMBERS_ASKED_MAX",
    "Ack",
    "Data",
    "Gone",
    "Message",
    "Numbered",
    "RbpViolation",
    "Request",
    "RequestNumbers",
    "RingMessage",
    "flaw",
]

NUMBERS_ASKED_MAX = 8
"""Largest number of numbers that one message asks for, which limits the answer of its receiver."""


class Data(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="data"):
    """Message with a body and its identifier."""

    identifier: Identifier
    payload: Payload


class Ack(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="ack"):
    """Acknowledgement: it names the source, gives the number, accepts the previous token and passes it on
    (section 3.1.3).

    `identifier` None is the NULL message.
    """

    identifier: Identifier | None
    number: Natural
    next_holder: Process


class Numbered(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="numbered"):
    """Number that is sent again to a member that missed it; it passes no token."""

    identifier: Identifier | None
    number: Natural


class Request(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="request"):
    """Request for the body of a message."""

    identifier: Identifier


class RequestNumbers(
    Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="request_numbers"
):
    """Request for the messages of the numbers first..last, both included, at most
    NUMBERS_ASKED_MAX of them.
    """

    first: Natural
    last: Natural


class Gone(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="gone"):
    """Notice that the sender has forgotten all numbers up to this one: "no more in the buffers" (section
    4.4.3).
    """

    number: Natural


RingMessage = Data | Ack | Numbered | Request | RequestNumbers
"""The messages of a ring that has all members."""

Message = RingMessage | Gone
"""The messages of a ring with external members beside it."""


def flaw(message: Message, members: int) -> str | None:
    """Return the field that is out of range for so many members, or None; a core takes only messages without
    a flaw.
    """
    if isinstance(message, Gone):
        return None
    if isinstance(message, RequestNumbers):
        if message.first > message.last:
            return f"first {message.first} is greater than last {message.last}"
        if message.last - message.first >= NUMBERS_ASKED_MAX:
            told = f"numbers {message.first} to {message.last}"
            return f"{told}; at most {NUMBERS_ASKED_MAX} are asked for at once"
        return None
    identifier = message.identifier
    if identifier is not None and identifier.source >= members:
        return f"source {identifier.source} is not one of {members} members"
    if isinstance(message, Ack) and message.next_holder >= members:
        return f"next holder {message.next_holder} is not one of {members} members"
    return None


class RbpViolation(Violation):
    """A message that no correct member sends; it is ignored and counted under exactly one kind.

    The last three kinds refer to numbers that are not assigned yet; ignoring such a message does no harm.
    Each of the other kinds shows that its sender has a different order than this process.
    """

    TWO_IDENTIFIERS = "two_identifiers_for_one_number"
    TWO_NUMBERS = "two_numbers_for_one_identifier"
    TWO_PAYLOADS = "two_payloads_for_one_identifier"
    MISPLACED_NULL = "null_elsewhere_than_at_number_one"
    """NULL under another number than 1, in a protocol without stability."""
    FIRST_NOT_NULL = "message_at_number_one"
    """Number 1 for another message than NULL, in a protocol with stability."""
    NEVER_BROADCAST = "identifier_that_its_source_never_broadcast"
    SECOND_TOKEN = "number_that_is_this_process_to_give"
    OUT_OF_TURN = "token_passed_out_of_turn"
    NUMBER_AHEAD = "number_beyond_the_next_turn_of_this_process"
    IDENTIFIER_AHEAD = "identifier_not_among_the_next_of_its_source"

    @property
    def breaks_order(self) -> bool:
        """Return True if two processes have contradictory orders."""
        return self not in {self.OUT_OF_TURN, self.NUMBER_AHEAD, self.IDENTIFIER_AHEAD}
