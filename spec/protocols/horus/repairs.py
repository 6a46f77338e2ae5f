"""Repairs of Horus' layers: a window for NAK, an answer of FRAG to LOST_MESSAGE, and numbers before ranks in
TOTAL.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995, the section on the stack
TOTAL:MBRSHIP:FRAG:NAK:COM:ATM.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, everywhere, on, repair, witness
from antiphon.spec.protocols.horus.boundaries import NakLost
from antiphon.spec.protocols.horus.frag import Frag, Piece
from antiphon.spec.protocols.horus.group import Number
from antiphon.spec.protocols.horus.nak import Nak
from antiphon.spec.protocols.horus.total import Total
from antiphon.spec.services import Process


@repair(
    "`window-based flow control may be implemented`: it is; a member casts only what its buffer has room for",
    answers="HOR-05",
)
class AwaitRoom(Nak):
    """Repair of NAK. Printed: "window-based flow control may be implemented". Repaired: it is; a member casts
    only while its buffer has room.
    """

    def room(self, p: Process) -> int:
        """Return how many messages p may cast: limited by the numbers and by the room in the buffer."""
        return min(super().room(p), self.buffer + self.oldest[p] - 1 - self.cast[p])


@repair(
    "LOST_MESSAGE: what was gathered is thrown away, and what follows up to the next last fragment, since "
    "the lost one may have "
    "been a last one; idle where `await_room` sees to it that nothing is lost",
    answers="HOR-06",
)
class DiscardAfterLoss(Frag):
    """Repair of FRAG. Printed: "When the last fragment is received, it delivers the message", and nothing
    about LOST_MESSAGE. Repaired: after a loss the fragments that were gathered are dropped, and so are those
    up to the next last fragment.

    State: `skipping[p][q]` says whether p drops fragments of q.
    """

    skipping: Map[Process, Map[Process, bool]] = everywhere(everywhere(False))

    def collect(self, p: Process, q: Process, author: Process, piece: Piece) -> None:
        """Drop fragments after a loss, up to and including a last fragment; without a loss gather the
        fragment.
        """
        if self.skipping[p][q] and not self.begins_anew(piece):
            self.skipping[p][q] = not piece.last
        else:
            self.skipping[p][q] = False
            super().collect(p, q, author, piece)

    def begins_anew(self, piece: Piece) -> bool:
        """Return True if a fragment shows that a new message begins; the one printed boolean never shows
        this.
        """
        return False

    @on(NakLost)
    def resynchronise(self, call: NakLost) -> None:
        """Drop the gathered fragments of the origin, and begin to skip its fragments."""
        self.gathered[call.process][call.origin] = ()
        self.skipping[call.process][call.origin] = True

    @witness
    def Skipping(self) -> bool:
        """Witness: a member drops fragments after a loss."""
        return any(self.skipping[p][q] for p in self.each(Process) for q in self.each(Process))


@repair(
    "a second boolean says whether a fragment is the first one, and skipping ends there; idle where "
    "`await_room` sees to it that "
    "nothing is lost",
    answers="HOR-06",
    builds_on=(DiscardAfterLoss,),
)
class MarkFirst(DiscardAfterLoss):
    """Repair of FRAG. Printed: "pushes a boolean value that indicates whether it is the last one or not".
    Repaired: a second boolean marks the first fragment, and ends the skipping after a loss.
    """

    def begins_anew(self, piece: Piece) -> bool:
        """Return True if the piece is marked as a first fragment."""
        return piece.part == 1


@repair(
    "what has a number is delivered before what has none, in the order of the numbers, gaps or not; the "
    "rank orders the rest",
    answers="HOR-10",
)
class NumbersFirst(Total):
    """Repair of TOTAL. Printed: "messages are delivered in the order of the rank of the source". Repaired:
    numbered messages come first, in the order of numbers; the ranks order the others.
    """

    def deliver_the_rest(self, p: Process) -> None:
        """Deliver the numbered messages first, in order, whether or not there are gaps, and then those
        without a number.
        """
        for k in self.each(Number):
            item = self.numbered[p][k]
            if item is not None:
                self.numbered[p][k] = None
                self.hand_up(p, item.source, item.message)
        super().deliver_the_rest(p)
