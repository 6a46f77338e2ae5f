"""Between two layers pass downcalls and upcalls, each an event: a layer emits the calls of its neighbours,
handles its own.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995, the section on the stack
TOTAL:MBRSHIP:FRAG:NAK:COM:ATM. Its Common Protocol Interface is what this file stands for: one pair of calls
a boundary, and no layer reads the state of another.

What is cast is named, not copied: a `Unit` is the k-th cast of its author at a boundary. What an author casts
never changes, so whoever handed it down knows it when it comes up again, and a layer below can neither look
into it nor alter it. `lost` is the upcall LOST_MESSAGE.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, Map, everywhere, record
from antiphon.spec.services import Group, Process

Place = Annotated[int, Between(1, "casts")]
"""A sequence number: the place of a cast among its author's."""

LastPlace = Annotated[int, Between(0, "casts")]

NextPlace = Annotated[int, Between(1, "casts + 1")]


class Casts(Group):
    """The place of each cast below FRAG: at most `casts` of one author, `cast[p]` of p so far."""

    casts: Const[int] = 2

    cast: Map[Process, LastPlace] = everywhere(0)

    def room(self, p: Process) -> int:
        """Return how many messages p may cast now: as many as numbers are left. A layer with a window answers
        otherwise.
        """
        return self.casts - self.cast[p]


@record
class Unit:
    """The cast of `author` at `place`."""

    author: Process
    place: Place


# Headers of NAK ---------------------------------------------------------------------------------------------


@record
class Data:
    """A message with its sequence number, which is `unit.place`; the first time or again."""

    unit: Unit


@record
class PlaceHolder:
    """Substitute for a message that is not buffered any more."""

    place: Place


@record
class Negative:
    """A negative acknowledgement: the receiver misses this number."""

    place: Place


@record
class Status:
    """The protocol status, as far as its receiver reads it: what the sender has of the receiver's casts, and
    how many it has cast itself.
    """

    received: LastPlace
    sent: LastPlace


Header = Data | PlaceHolder | Negative | Status


# The network below COM --------------------------------------------------------------------------------------


@record
class Envelope:
    """Packet of the network for one endpoint. `source` is what COM pushes; None where it does not."""

    to: Process
    source: Process | None
    header: Header


# COM above and below ----------------------------------------------------------------------------------------


@record
class ComCast:
    """Down: to every endpoint of the view but oneself."""

    process: Process
    header: Header


@record
class ComSend:
    """Down: to one endpoint."""

    process: Process
    to: Process
    header: Header


@record
class ComView:
    """Down: `member` is no longer a destination of `process`."""

    process: Process
    member: Process


@record
class ComReceive:
    """Up: a header from `source`, None when the sender did not push its address."""

    process: Process
    source: Process | None
    header: Header


# NAK --------------------------------------------------------------------------------------------------------


@record
class NakCast:
    """Down: the next cast of `process`."""

    process: Process


@record
class NakReceive:
    """Up: the next message that came from `origin`."""

    process: Process
    origin: Process
    unit: Unit


@record
class NakLost:
    """Up: LOST_MESSAGE, in place of the next message from `origin`, the one with number `place`."""

    process: Process
    origin: Process
    place: Place


# FRAG -------------------------------------------------------------------------------------------------------


@record
class FragCast:
    """Down: the next message of `process`, of `size` fragments."""

    process: Process
    size: Annotated[int, Between(1, "fragments")]


@record
class FragReceive:
    """Up: a reassembled message; None when it is not a message that anybody cast."""

    process: Process
    origin: Process
    unit: Unit | None
