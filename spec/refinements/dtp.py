"""In what sense is DTP an ordering machine? The history is what the ACKs in all BUFs say, and what they said before they were removed as stable.

Assigning is the second paragraph of "Update arrival" (the holder puts `ACK(i, U_id, R_i[i], m)` into its own BUF), learning is "Receiving ACK
message", delivering is handing an update over. NULLs spend no number. Stable messages leave BUF together with their ACKs; what a process has
delivered it is taken to remember (`given`, which no step of the protocol reads). Tokens, requests and timeouts are stutters.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, on
from antiphon.spec.protocols.dtp import Dtp
from antiphon.spec.protocols.dtp_packets import Number
from antiphon.spec.refinements.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process
from antiphon.spec.services.ordering import Assigned, Count, OrderingMachine, OrderingOfDeliveries, Position, steps_between


class DtpOrdering(Dtp, OrderingOfDeliveries):
    """DTP, seen as the abstract ordering machine."""

    @on(Deliver)
    def remember(self, event: Deliver) -> None:
        """What is delivered, with its number: it is in BUF now."""
        p = event.process
        for k in self.each(Number):
            item = self.acks[p][k]
            if item is not None and item.message == event.message and k in self.handed[p]:
                self.given[p] |= {Assigned(1, k, item.message)}

    def submitted(self) -> Set[Message]:
        """What was multicast has a source."""
        return Set() | {m for m in self.each(Message) if self.source[m] is not None}

    def learned(self, p: Process) -> Set[Assigned]:
        """The ACKs in BUF_p, and what p has delivered."""
        return self.given[p] | {Assigned(1, k, m) for k in self.each(Number) for m in self.each(Message) if self.has_ack(p, k, m)}

    def at(self, p: Process) -> Position:
        """The last gsn before the first that p has not delivered."""
        return Position(1, max((k for k in self.each(Count) if all(j in self.handed[p] for j in self.each(Number) if j <= k)), default=0))


DTP = Refinement(
    DtpOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages + spare"},
    bounds={"processes": 2, "messages": 2, "losses": 1, "timeouts": 1},
)
