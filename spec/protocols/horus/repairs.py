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
    """Printed: "window-based flow control may be implemented"."""

    def room(self, p: Process) -> int:
        """As many as there are numbers for and room in the buffer."""
        return min(super().room(p), self.buffer + self.oldest[p] - 1 - self.cast[p])


@repair(
    "LOST_MESSAGE: what was gathered is thrown away, and what follows up to the next last fragment, since "
    "the lost one may have "
    "been a last one; idle where `await_room` sees to it that nothing is lost",
    answers="HOR-06",
)
class DiscardAfterLoss(Frag):
    """Printed: "When the last fragment is received, it delivers the message", and nothing about LOST_MESSAGE.

    State: `skipping[p][q]` whether p throws fragments of q away.
    """

    skipping: Map[Process, Map[Process, bool]] = everywhere(everywhere(False))

    def collect(self, p: Process, q: Process, author: Process, piece: Piece) -> None:
        """After a loss fragments are thrown away, up to a last one."""
        if self.skipping[p][q] and not self.begins_anew(piece):
            self.skipping[p][q] = not piece.last
        else:
            self.skipping[p][q] = False
            super().collect(p, q, author, piece)

    def begins_anew(self, piece: Piece) -> bool:
        """Return True if a fragment shows that a new message begins: one boolean does not say it."""
        return False

    @on(NakLost)
    def resynchronise(self, call: NakLost) -> None:
        """Forget what a loss has touched: it is not delivered."""
        self.gathered[call.process][call.origin] = ()
        self.skipping[call.process][call.origin] = True

    @witness
    def Skipping(self) -> bool:
        """A member throws fragments away after a loss."""
        return any(self.skipping[p][q] for p in self.each(Process) for q in self.each(Process))


@repair(
    "a second boolean says whether a fragment is the first one, and skipping ends there; idle where "
    "`await_room` sees to it that "
    "nothing is lost",
    answers="HOR-06",
    builds_on=(DiscardAfterLoss,),
)
class MarkFirst(DiscardAfterLoss):
    """Printed: "pushes a boolean value that indicates whether it is the last one or not"."""

    def begins_anew(self, piece: Piece) -> bool:
        """The first fragment says so."""
        return piece.part == 1


@repair(
    "what has a number is delivered before what has none, in the order of the numbers, gaps or not; the "
    "rank orders the rest",
    answers="HOR-10",
)
class NumbersFirst(Total):
    """Printed: "messages are delivered in the order of the rank of the source"."""

    def deliver_the_rest(self, p: Process) -> None:
        """Numbers first, in spite of gaps."""
        for k in self.each(Number):
            item = self.numbered[p][k]
            if item is not None:
                self.numbered[p][k] = None
                self.hand_up(p, item.source, item.message)
        super().deliver_the_rest(p)
