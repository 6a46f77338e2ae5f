"""What no correct member of a stack says, by kind."""

from __future__ import annotations

from antiphon.impl.errors import Violation

__all__ = ["HorusViolation"]


class HorusViolation(Violation):
    """A header that no layer pushes; the message is ignored and counted under exactly one kind.

    The last five do no harm when they are ignored; each of the others shows an order that differs from the
    own one.
    """

    TWO_MESSAGES = "two_messages_for_one_number"
    SECOND_TOKEN = "token_while_this_process_holds_it"
    MALFORMED = "header_that_no_layer_pushes"
    FALSE_SOURCE = "address_of_another_member"
    NEVER_CAST = "number_of_a_message_that_was_never_cast"
    GAVE_UP = "place_holder_for_a_message_that_is_missing"
    NUMBER_AHEAD = "number_too_far_ahead"

    @property
    def breaks_order(self) -> bool:
        """Whether two processes hold different things for true."""
        return self in {self.TWO_MESSAGES, self.SECOND_TOKEN}
