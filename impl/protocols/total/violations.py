"""Messages that no correct member of TOTAL sends, by kind."""

from __future__ import annotations

from antiphon.impl.errors import Violation

__all__ = ["TotalViolation"]


class TotalViolation(Violation):
    """A message that TOTAL, repaired, never sends; it is ignored and counted under exactly one kind.

    The last five do no harm when they are ignored; each of the others shows an order that differs from the
    own one.
    """

    NOT_SEQUENCER = "broadcast_of_a_member_that_does_not_number"
    TWO_MESSAGES = "two_messages_for_one_number"
    TWO_PAYLOADS = "two_payloads_for_one_identifier"
    NEVER_BROADCAST = "identifier_that_its_source_never_broadcast"
    MISDIRECTED = "message_for_the_sequencer_to_another_member"
    FOREIGN_REQUEST = "request_for_another_members_message"
    NEVER_ASSIGNED = "number_that_was_not_given_yet"
    NUMBER_AHEAD = "number_too_far_ahead"
    IDENTIFIER_AHEAD = "identifier_too_far_ahead"

    @property
    def breaks_order(self) -> bool:
        """Whether two processes hold different things for true."""
        return self in {self.NOT_SEQUENCER, self.TWO_MESSAGES, self.TWO_PAYLOADS, self.NEVER_BROADCAST}
