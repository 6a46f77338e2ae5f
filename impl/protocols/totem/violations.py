"""Messages that no correct member of Totem's ring sends over reliable queues, by kind."""

from __future__ import annotations

from antiphon.impl.errors import Violation

__all__ = ["TotemViolation"]


class TotemViolation(Violation):
    """A message that the ring never sends; it is ignored and counted under exactly one kind.

    The last three do no harm when they are ignored; each of the others shows an order that differs from the
    own one.
    """

    SECOND_TOKEN = "token_while_this_process_holds_it"
    TOKEN_BACK = "token_that_knows_less_than_before"
    TWO_UPDATES = "two_updates_for_one_number"
    TWO_NUMBERS = "two_numbers_for_one_update"
    NEVER_GIVEN = "number_that_the_token_did_not_give"
    FOREIGN_UPDATE = "update_of_another_member"
    NUMBER_AHEAD = "number_too_far_ahead"
    NOT_THE_RING = "token_from_a_member_that_is_not_before_this_one"

    @property
    def breaks_order(self) -> bool:
        """Whether two processes hold different things for true."""
        return self not in {self.FOREIGN_UPDATE, self.NUMBER_AHEAD, self.NOT_THE_RING}
