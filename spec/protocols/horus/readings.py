"""Sentences about Horus' layers that have several meanings, each with what else it may mean.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995, the section on the stack
TOTAL:MBRSHIP:FRAG:NAK:COM:ATM.
"""

from __future__ import annotations

from antiphon.spec.lang import ambiguity
from antiphon.spec.protocols.horus.boundaries import Status
from antiphon.spec.protocols.horus.com import Com
from antiphon.spec.protocols.horus.nak import Nak
from antiphon.spec.protocols.horus.total import Total
from antiphon.spec.services import Process

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
        """Nothing."""
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
        """Nothing about its own casts."""
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
        """Nobody."""
        return False


ranked = ambiguity(
    "ranked",
    "all that is left",
    about="which messages are delivered in the order of the rank of the source: all that were not delivered "
    "before the view, or "
    "only those that were sent during the flush, so that a numbered message behind a gap is never delivered",
)


@ranked.reading("what the flush sent")
class RankedOfFlush(Total):
    """Only what the flush sent is delivered in the order of the rank."""

    def deliver_numbers_of(self, p: Process, q: Process) -> None:
        """Nothing: what has a number and was not delivered never is."""
