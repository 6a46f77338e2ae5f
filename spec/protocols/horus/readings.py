"""Sentences about Horus' layers that have several meanings, each with what else it may mean.

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
    """COM pushes no address."""

    def address(self, p: Process) -> Process | None:
        """Return None: no address is pushed."""
        return None


status_tells = ambiguity(
    "status_tells",
    "received and sent",
    about="`its protocol status`: what a member has received, or also how many messages it has cast",
)


@status_tells.reading("received")
class StatusOfReceived(Nak):
    """A status says what a member has received."""

    def news(self, p: Process) -> Status:
        """Return no news about its own casts."""
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
    """The oracle chooses the next member in rank."""

    def is_chosen(self, p: Process, q: Process) -> bool:
        """The first member behind p that is in its view; after the last one, the first."""
        after = next((r for r in self.each(Process) if r > p and r not in self.left[p]), None)
        first = next((r for r in self.each(Process) if r not in self.left[p]), None)
        return q != p and q == (after if after is not None else first)


@oracle.reading("one that waits")
class OracleByNeed(Total):
    """The oracle chooses a member that has messages to send."""

    def is_chosen(self, p: Process, q: Process) -> bool:
        """Another that waits."""
        return q != p and len(self.waiting[q]) > 0


@oracle.reading("itself")
class OracleKeeps(Total):
    """The oracle never gives the token away."""

    def is_chosen(self, p: Process, q: Process) -> bool:
        """Return False: no process is chosen."""
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
    """Only what the flush sent is delivered in the order of the rank."""

    def deliver_numbers_of(self, p: Process, q: Process) -> None:
        """Do nothing: a numbered message that was not delivered never is."""


@ranked.reading("in turn")
class RankedInTurn(Total):
    """One message of each source is delivered in turn, as often as any is left."""

    def deliver_the_rest(self, p: Process) -> None:
        """As many rounds as there are messages."""
        for _ in self.each(Message):
            for q in self.each(Process):
                self.deliver_one(p, q)

    def deliver_one(self, p: Process, q: Process) -> None:
        """The first that is left of one source: with a number, then without."""
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
        """The message with this number waits at p, and is of q."""
        item = self.numbered[p][k]
        return item is not None and item.source == q


@ranked.reading("of who stays")
class RankedOfWhoStays(Total):
    """A source that is not in the new view has no rank in it, and what is left of it is not delivered."""

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
    """The application is told of the view first."""

    def go_on(self, p: Process) -> None:
        """Then it gets what is left of the old one."""
        emit(NewView(p))
        self.deliver_the_rest(p)
