"""DTP is an ordering machine: the history is what the ACKs in all BUFs say, or said until they were removed.

Assigning is the second paragraph of "Update arrival" (the holder puts `ACK(i, U_id, R_i[i], m)` into its own
BUF), learning is "Receiving ACK message", delivering is handing an update over. NULLs spend no number. Stable
messages leave BUF together with their ACKs, delivered or not; a process is taken to remember what its BUF
held (`given`, which no step of the protocol reads). Tokens, requests and timeouts are stutters.
"""

from __future__ import annotations

from antiphon.spec.lang import Set
from antiphon.spec.protocols.dtp.bounds import DtpBounded
from antiphon.spec.protocols.dtp.packets import Number
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process
from antiphon.spec.services.ordering import (
    Assigned,
    Count,
    OrderingMachine,
    OrderingOfDeliveries,
    Position,
    steps_between,
)


class DtpOrdering(DtpBounded, OrderingOfDeliveries):
    """DTP with helpers that compute, from its state, the state of the ordering machine that it refines."""

    def deliver_covered(self, p: Process) -> None:
        """Deliver as DTP does; the record `given` keeps what BUF_p contains before anything is removed."""
        super().deliver_covered(p)
        self.given[p] |= self.said(p)

    def said(self, p: Process) -> Set[Assigned]:
        """Return the ACKs in BUF_p as numbered messages."""
        return Set() | {
            Assigned(1, k, m) for k in self.each(Number) for m in self.each(Message) if self.has_ack(p, k, m)
        }

    def submitted(self) -> Set[Message]:
        """Return the updates that were multicast: they have a source."""
        return Set() | {m for m in self.each(Message) if self.source[m] is not None}

    def learned(self, p: Process) -> Set[Assigned]:
        """Return the ACKs that are or were in BUF_p."""
        return self.given[p] | self.said(p)

    def at(self, p: Process) -> Position:
        """Return the position of p: the greatest gsn up to which p has delivered everything."""
        return Position(
            1,
            max(
                (
                    k
                    for k in self.each(Count)
                    if all(j in self.handed[p] for j in self.each(Number) if j <= k)
                ),
                default=0,
            ),
        )


DTP = Refinement(
    DtpOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages + spare"},
    bounds={"processes": 2, "messages": 2, "losses": 1, "timeouts": 1},
)
