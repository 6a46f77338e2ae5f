"""Messages that no correct member of RBP with stability sends, by kind."""

from __future__ import annotations

from antiphon.impl.errors import Violation

__all__ = ["ResilientViolation"]


class ResilientViolation(Violation):
    """A message that figure 25, repaired, never sends; it is ignored and counted under exactly one kind.

    The last three speak of what cannot be yet, and ignoring them does no harm; each of the others shows an
    order that differs from the own one.
    """

    TWO_IDENTIFIERS = "two_identifiers_for_one_number"
    TWO_NUMBERS = "two_numbers_for_one_identifier"
    TWO_PAYLOADS = "two_payloads_for_one_identifier"
    FIRST_NOT_NULL = "message_at_number_one"
    NEVER_BROADCAST = "identifier_that_its_source_never_broadcast"
    SECOND_TOKEN = "number_that_is_this_process_to_give"
    OUT_OF_TURN = "token_passed_out_of_turn"
    NUMBER_AHEAD = "number_beyond_the_next_turn_of_this_process"
    IDENTIFIER_AHEAD = "identifier_not_among_the_next_of_its_source"

    @property
    def breaks_order(self) -> bool:
        """Whether two processes hold different things for true."""
        return self not in {self.OUT_OF_TURN, self.NUMBER_AHEAD, self.IDENTIFIER_AHEAD}
