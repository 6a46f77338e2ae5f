"""Messages of SEQUENCER: the document's headers FORWARD and DATA, each with its message.

The tag of a message, "the sender's address and a monotonically increasing sequence number (seqno)", is its
identifier. Both headers name the view in which they were sent.

This module must not know what a process does with a message.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Design".
"""

from __future__ import annotations

from msgspec import Struct

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Identifier, Natural, Payload

__all__ = ["Data", "Forward", "Message", "SequencerViolation"]


class Forward(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="forward"):
    """Message FORWARD: a member's message on its way to the coordinator."""

    view: Natural
    identifier: Identifier
    payload: Payload


class Data(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="data"):
    """Message DATA: a message at its place among the coordinator's multicasts, with the tag of its sender."""

    view: Natural
    identifier: Identifier
    payload: Payload


Message = Forward | Data


class SequencerViolation(Violation):
    """A message that SEQUENCER, repaired, never sends; it is ignored and counted under exactly one kind.

    Ignoring a message of the last three kinds does no harm. Each of the other kinds shows that its sender has
    a different order than this process.
    """

    NOT_COORDINATOR = "multicast_of_a_member_that_does_not_order"
    NUMBER_LEFT_OUT = "multicast_that_leaves_a_number_of_its_source_out"
    NEVER_BROADCAST = "identifier_that_its_source_never_broadcast"
    TWO_PAYLOADS = "two_payloads_for_one_identifier"
    FOREIGN_FORWARD = "forward_of_another_members_message"
    MISDIRECTED = "forward_to_a_member_that_does_not_order"
    TOO_EARLY = "message_of_a_view_that_nobody_announced"

    @property
    def breaks_order(self) -> bool:
        """Return True if two processes have contradictory orders."""
        return self not in {self.FOREIGN_FORWARD, self.MISDIRECTED, self.TOO_EARLY}
