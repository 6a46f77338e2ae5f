"""Messages that no correct member of SEQUENCER sends over reliable queues, by kind."""

from __future__ import annotations

from antiphon.impl.errors import Violation

__all__ = ["SequencerViolation"]


class SequencerViolation(Violation):
    """A message that SEQUENCER, repaired, never sends; it is ignored and counted under exactly one kind.

    The last three do no harm when they are ignored; each of the others shows an order that differs from the
    own one.
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
        """Whether two processes hold different things for true."""
        return self not in {self.FOREIGN_FORWARD, self.MISDIRECTED, self.TOO_EARLY}
