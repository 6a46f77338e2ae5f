"""NAK by steps that a member can decide from its own state: it sends a status because of what it knows
itself.

`Nak` sends a status only if it would change something at its reader, which only the model can see. In this
module a member sends the number of its casts to those members that have not acknowledged all of them. Such a
status, like every message, is answered with a status. That is enough for everybody to get everything, and for
the group to fall silent.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995: "Each endpoint will occasionally multicast its
protocol status, so buffered messages may be flushed".
"""

from __future__ import annotations

from antiphon.spec.environment import Losses
from antiphon.spec.lang import Map, Set, action, emit, everywhere, on, require
from antiphon.spec.protocols.horus.boundaries import ComReceive, ComSend, Data, Envelope, Status
from antiphon.spec.protocols.horus.fifo_stacks import OverFrag, OverNak
from antiphon.spec.protocols.horus.properties import FifoBroadcast, NakChecked
from antiphon.spec.services import Process


class LocalStatus(NakChecked):
    """NAK whose members read their own variables only. State: `owed[p]` the members to which p owes an
    answer.
    """

    owed: Map[Process, Set[Process]] = everywhere(Set())

    @on(ComReceive)
    def owe(self, call: ComReceive) -> None:
        """Note that the receiver owes the source an answer, if the header is a message, or a status that
        gives the number of the source's casts.
        """
        source = call.source
        header = call.header
        if source is not None and (
            isinstance(header, Data) or (isinstance(header, Status) and header.sent > 0)
        ):
            self.owed[call.process] |= {source}

    def lacks(self, p: Process, q: Process) -> bool:
        """Return True if, as far as p knows, q lacks some of p's casts."""
        return self.acknowledged[p][q] < self.cast[p]

    def has_news(self, p: Process, q: Process) -> bool:
        """Return True if p's status report may tell q something new, as far as p knows."""
        return q in self.owed[p] or self.lacks(p, q)

    @action(fairness="weak")
    def tell(self, p: Process) -> None:
        """Send p's status report to each member for which it may be news; it gives the number of p's casts
        only to members that have not acknowledged all of them.
        """
        require(any(q != p and self.has_news(p, q) for q in self.each(Process)))
        for q in self.each(Process):
            if q != p and self.has_news(p, q):
                sent = self.cast[p] if self.lacks(p, q) else 0
                emit(ComSend(p, q, Status(self.expected[p][q] - 1, sent)))
        self.owed[p] = Set()


class NakByMember(LocalStatus, OverNak, Losses[Envelope]):
    """NAK:COM under an application, where each member uses its own state only."""


class FragByMember(LocalStatus, OverFrag, Losses[Envelope]):
    """FRAG:NAK:COM under an application, where each member uses its own state only."""


class NakByMemberChecked(NakByMember, FifoBroadcast):
    """The stack of `NakByMember`, judged as FIFO broadcast."""


class FragByMemberChecked(FragByMember, FifoBroadcast):
    """The stack of `FragByMember`, judged as FIFO broadcast."""
