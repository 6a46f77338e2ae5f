"""Sentences about Horus' layers that have several meanings, with a class for each other meaning.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995, the section on the stack
TOTAL:MBRSHIP:FRAG:NAK:COM:ATM.
"""

from __future__ import annotations

from antiphon.spec.lang import ambiguity, emit
from antiphon.spec.protocols.horus.boundaries import Status
from antiphon.spec.protocols.horus.com import Com
from antiphon.spec.protocols.horus.group import NewView, Number
from antiphon.spec.protocols.horus.nak import Nak
from antiphon.spec.protocols.horus.total import Total
from antiphon.spec.services import Message, Process

source_address = ambiguity(
    "source_address",
    "pushed",
    about="`If necessary, COM keeps track of the source`: what comes of it when COM does not, and so cannot "
    "filter either",
)


@source_address.reading("left out")
class AddressLeftOut(Com):
    """Reading of COM: it pushes no source address on messages."""

    def address(self, p: Process) -> Process | None:
        """Return None, since COM pushes no address."""
        return None


status_tells = ambiguity(
    "status_tells",
    "received and sent",
    about="`its protocol status`: what a member has received, or also how many messages it has cast",
)


@status_tells.reading("received")
class StatusOfReceived(Nak):
    """Reading of NAK: a status says what its sender has received, not how many messages it has cast."""

    def news(self, p: Process) -> Status:
        """Return a status without the number of the sender's own casts."""
        return Status(0, 0)


oracle = ambiguity(
    "oracle",
    "any",
    about="whom the oracle chooses: whomever, the next member in rank, one that has messages to send (as if "
    "it could know), "
    "or never another",
)


@oracle.reading("next in rank")
class OracleByRank(Total):
    """Reading of TOTAL: the oracle chooses the next member in rank as token holder."""

    def is_chosen(self, p: Process, q: Process) -> bool:
        """Return True if q is the next member after p in p's view, in the order of ranks, cyclically."""
        after = next((r for r in self.each(Process) if r > p and r not in self.left[p]), None)
        first = next((r for r in self.each(Process) if r not in self.left[p]), None)
        return q != p and q == (after if after is not None else first)


@oracle.reading("one that waits")
class OracleByNeed(Total):
    """Reading of TOTAL: the oracle chooses a member that has messages to send."""

    def is_chosen(self, p: Process, q: Process) -> bool:
        """Return True if q is another member, with messages that wait."""
        return q != p and len(self.waiting[q]) > 0


@oracle.reading("itself")
class OracleKeeps(Total):
    """Reading of TOTAL: the oracle always chooses the present holder, so the token never moves."""

    def is_chosen(self, p: Process, q: Process) -> bool:
        """Return False: the oracle chooses no other process."""
        return False


ranked = ambiguity(
    "ranked",
    "all that is left",
    about="which messages are delivered in the order of the rank of the source, and how: all that were not "
    "delivered before the view, one source after the other; or one message of each source in turn; or only "
    "those whose source is in the new view, and so has a rank there; or only those that were sent during the "
    "flush, so that a numbered message behind a gap is never delivered",
)


@ranked.reading("what the flush sent")
class RankedOfFlush(Total):
    """Reading of TOTAL: at a view change only the messages sent during the flush are delivered, in the order
    of the ranks.
    """

    def deliver_numbers_of(self, p: Process, q: Process) -> None:
        """Do nothing: a numbered message that waits at a view change is never delivered."""


@ranked.reading("in turn")
class RankedInTurn(Total):
    """Reading of TOTAL: at a view change sources take turns, one message each, until none is left."""

    def deliver_the_rest(self, p: Process) -> None:
        """Deliver at p the messages that are left, one of each source in turn, until none is left."""
        for _ in self.each(Message):
            for q in self.each(Process):
                self.deliver_one(p, q)

    def deliver_one(self, p: Process, q: Process) -> None:
        """Deliver at p the first message of q that is left; those with a number come before those without."""
        k = next((n for n in self.each(Number) if self.is_left(p, q, n)), None)
        if k is not None:
            item = self.numbered[p][k]
            if item is not None:
                self.numbered[p][k] = None
                self.hand_up(p, q, item.message)
        elif len(self.held[p][q]) > 0:
            m = self.held[p][q][0]
            self.held[p][q] = self.held[p][q][1:]
            self.hand_up(p, q, m)

    def is_left(self, p: Process, q: Process, k: Number) -> bool:
        """Return True if the message with number k waits at p and is from q."""
        item = self.numbered[p][k]
        return item is not None and item.source == q


@ranked.reading("of who stays")
class RankedOfWhoStays(Total):
    """Reading of TOTAL: a source outside the new view has no rank there, so its remaining messages are not
    delivered.
    """

    def deliver_rank(self, p: Process, q: Process) -> None:
        """Deliver nothing of a process that has left."""
        if q in self.left[p]:
            self.held[p][q] = ()
        else:
            super().deliver_rank(p, q)


view_upcall = ambiguity(
    "view_upcall",
    "after the rest",
    about="`When the new view is installed` and an order has been constructed: the application gets the VIEW "
    "upcall after what is left of the old view, or before it",
)


@view_upcall.reading("before the rest")
class UpcallBeforeTheRest(Total):
    """Reading of TOTAL: the application gets the VIEW upcall before the remaining messages of the
    old view.
    """

    def go_on(self, p: Process) -> None:
        """Give the VIEW upcall, and then deliver the rest of the old view."""
        emit(NewView(p))
        self.deliver_the_rest(p)
