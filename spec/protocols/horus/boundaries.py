"""Downcalls and upcalls between two layers, each an event: a layer emits the calls that its neighbours
handle, and handles those that they emit.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995, the section on the stack
TOTAL:MBRSHIP:FRAG:NAK:COM:ATM. This file models its Common Protocol Interface: one pair of calls for each
boundary, and no layer reads the state of another.

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
    """Counters of the casts below FRAG: `cast[p]` is how many p has made, at most `casts`."""

    casts: Const[int] = 2

    cast: Map[Process, LastPlace] = everywhere(0)

    def room(self, p: Process) -> int:
        """Return how many messages p may cast now: as many as numbers are left. A layer with a flow-control
        window may return less.
        """
        return self.casts - self.cast[p]


@record
class Unit:
    """Name of a cast: the one of `author` at `place` among its casts."""

    author: Process
    place: Place


# Headers of NAK ---------------------------------------------------------------------------------------------


@record
class Data:
    """Header of a message with its sequence number, `unit.place`; a repetition has the same header."""

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
    """Protocol status, the part for one receiver: how many of the receiver's casts the sender has, and how
    many it has cast itself.
    """

    received: LastPlace
    sent: LastPlace


Header = Data | PlaceHolder | Negative | Status


# The network below COM --------------------------------------------------------------------------------------


@record
class Envelope:
    """Packet of the network for one endpoint. `source` is the address that COM pushes; None if COM pushes
    none.
    """

    to: Process
    source: Process | None
    header: Header


# COM above and below ----------------------------------------------------------------------------------------


@record
class ComCast:
    """Downcall: cast a header to every other endpoint of the view."""

    process: Process
    header: Header


@record
class ComSend:
    """Downcall: send a header to one endpoint."""

    process: Process
    to: Process
    header: Header


@record
class ComView:
    """Downcall: `member` is no longer a destination of `process`."""

    process: Process
    member: Process


@record
class ComReceive:
    """Upcall: a header from `source`; None if the sender did not push its address."""

    process: Process
    source: Process | None
    header: Header


# NAK --------------------------------------------------------------------------------------------------------


@record
class NakCast:
    """Downcall: make the next cast of `process`."""

    process: Process


@record
class NakReceive:
    """Upcall: the next message that came from `origin`."""

    process: Process
    origin: Process
    unit: Unit


@record
class NakLost:
    """Upcall LOST_MESSAGE: the next message from `origin`, the one with number `place`, is lost."""

    process: Process
    origin: Process
    place: Place


# FRAG -------------------------------------------------------------------------------------------------------


@record
class FragCast:
    """Downcall: cast the next message of `process`, of `size` fragments."""

    process: Process
    size: Annotated[int, Between(1, "fragments")]


@record
class FragReceive:
    """Upcall: a reassembled message; None if its fragments make up no message that anybody cast."""

    process: Process
    origin: Process
    unit: Unit | None
