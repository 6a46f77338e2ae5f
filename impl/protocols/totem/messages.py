"""The two messages of the ring: the token, from member to member, and an update with its number, to all.

| paper                                                | here                        |
|------------------------------------------------------|-----------------------------|
| the token, `a sequence number field, called seq`     | `Token`, its `seq`          |
| `its own message delivery information`               | `told[p]`, of every member  |
| the message and `the sequence number of the message` | `Update`, its `number`      |

This module must not know what a process does with a message.

Source: J. Kim and C. Kim 1997, section 5, the paragraph on Totem.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import MEMBERS_MAX, NATURAL_MAX, Identifier, Natural, Payload, source_flaw

__all__ = ["Message", "Token", "TotemViolation", "Update", "flaw"]

Count = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
"""Number of messages, or 0 for none yet."""

Told = Annotated[tuple[Count, ...], Meta(min_length=2, max_length=MEMBERS_MAX)]
"""Numbers up to which each member had delivered when it last passed the token."""


class Token(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="token"):
    """Token: the right to multicast, sent to the next member of the ring."""

    seq: Count
    told: Told


class Update(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="update"):
    """Update with the number that its sender assigned as holder of the token."""

    number: Natural
    identifier: Identifier
    payload: Payload


Message = Token | Update


def flaw(message: Message, members: int) -> str | None:
    """Return the field that is out of range for so many members, or None; a core takes only messages without
    a flaw.
    """
    if isinstance(message, Update):
        return source_flaw(message, members)
    if len(message.told) != members:
        return f"{len(message.told)} members told how far they are; there are {members}"
    if max(message.told) > message.seq:
        return f"number {max(message.told)} was delivered, and the last that was given is {message.seq}"
    return None


class TotemViolation(Violation):
    """A message that the ring never sends; it is ignored and counted under exactly one kind.

    Ignoring a message of the last three kinds does no harm. Each of the other kinds shows that its sender has
    a different order than this process.
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
        """Return True if two processes have contradictory orders."""
        return self not in {self.FOREIGN_UPDATE, self.NUMBER_AHEAD, self.NOT_THE_RING}
