"""Messages that no correct member of DTP sends, by kind."""

from __future__ import annotations

from antiphon.impl.errors import Violation

__all__ = ["DtpViolation"]


class DtpViolation(Violation):
    """A message that DTP, repaired, never sends; it is ignored and counted under exactly one kind.

    The last two speak of what cannot be yet, and ignoring them does no harm; each of the others shows an
    order that differs from the own one.
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
        """Whether two processes hold different things for true."""
        return self not in {self.NUMBER_AHEAD, self.IDENTIFIER_AHEAD}
