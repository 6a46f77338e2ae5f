"""Between TOTAL and MBRSHIP, and above TOTAL, pass the calls of a group with views; the other calls stand in
`boundaries`.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995: "It adds strong semantics to the VIEW upcall, that
is, it guarantees that all members in the view that were also in the previous view have delivered the same
messages."
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Set, record
from antiphon.spec.services import Message, Process

Number = Annotated[int, Between(1, "messages")]
"""A number that the holder of the token gives, in one view."""

NextNumber = Annotated[int, Between(1, "messages + 1")]


# Headers of TOTAL -------------------------------------------------------------------------------------------


@record
class Ordered:
    """A message that a holder of the token has numbered."""

    message: Message
    number: Number


@record
class Unordered:
    """A message that is sent during the flush by a member that did not get the token in time."""

    message: Message


@record
class Token:
    """The token for `to`, with the number that comes next."""

    to: Process
    number: NextNumber


Body = Ordered | Unordered | Token


# MBRSHIP ----------------------------------------------------------------------------------------------------


@record
class GroupCast:
    """Downcall: cast to every other member of the view."""

    process: Process
    body: Body


@record
class GroupReceive:
    """Upcall: a message of the view, from `origin`."""

    process: Process
    origin: Process
    body: Body


@record
class GroupFlush:
    """Upcall: a flush has begun at `process`, and its remaining messages of this view are sent now."""

    process: Process


@record
class GroupView:
    """Upcall: the next view."""

    process: Process
    members: Set[Process]


# The top ----------------------------------------------------------------------------------------------------


@record
class NewView:
    """Upcall to the application: `process` goes on to its next view, and will deliver no more messages of the
    view that it leaves.
    """

    process: Process
