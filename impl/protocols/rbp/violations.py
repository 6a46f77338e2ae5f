"""Messages that no correct member of RBP sends, by kind."""

from __future__ import annotations

from antiphon.impl.errors import Violation

__all__ = ["RbpViolation"]


class RbpViolation(Violation):
    """A message that figure 16, repaired, never sends; it is ignored and counted under exactly one kind."""

    TWO_IDENTIFIERS = "two_identifiers_for_one_number"
    TWO_NUMBERS = "two_numbers_for_one_identifier"
    TWO_PAYLOADS = "two_payloads_for_one_identifier"
    MISPLACED_NULL = "null_elsewhere_than_at_number_one"
    NEVER_BROADCAST = "identifier_that_its_source_never_broadcast"
    WRONG_SUCCESSOR = "token_passed_to_another_than_the_successor"
    SECOND_TOKEN = "number_assigned_while_the_token_is_here"
