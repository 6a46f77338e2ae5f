"""Promises of the ring of messages: total order broadcast, one token, and a bound on numbers that run ahead
of a process.

Source: J. Kim and C. Kim, 1997, section 5, the paragraph on Totem.
"""

from __future__ import annotations

from antiphon.spec.lang import constraint, invariant, restriction, witness
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Number
from antiphon.spec.protocols.totem.ring import Token, TotemRing, Update
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


@restriction("message k comes from the process after the k-th")
class TakeTurns(TotemRing):
    """Restriction: senders take turns: message k comes from process k + 1, cyclically."""

    @constraint("broadcast")
    def takes_turn(self, p: Process, m: Message) -> bool:
        """Bound: it is p's turn to broadcast message m."""
        return p.index == (m.index + 1) % self.processes


class TotemRingBounded(TotemRing, restrictions=(TakeTurns,)):
    """Totem's ring of processes that exchange messages; `TakeTurns` can be switched on."""


class TotemRingChecked(TotemRingBounded, TotalOrderBroadcast):
    """The ring, checked against its own properties and total order broadcast."""

    @invariant
    def OneToken(self) -> bool:
        """Invariant: one process holds the token, or the token is on its way to one."""
        holders = sum(1 for p in self.each(Process) if self.token[p] is not None)
        return holders + sum(1 for packet in self.network if isinstance(packet, Token)) == 1

    @invariant
    def StableIsDelivered(self) -> bool:
        """Invariant: every process has delivered each update that some process takes for stable."""
        return all(self.stable[p] <= self.status[q] for p in self.each(Process) for q in self.each(Process))

    @invariant
    def NumbersAheadAreBounded(self) -> bool:
        """Invariant: a number that comes to a process exceeds the last one delivered there by at most the
        number of updates that can be in flight.
        """
        ahead = self.processes * self.unstable_max
        return all(
            not isinstance(packet, Update) or packet.number <= self.status[packet.to] + ahead
            for packet in self.network
        )

    @witness
    def GapSeen(self) -> bool:
        """Witness: a process has an update and lacks an earlier one."""
        return any(self.early[p][k] is not None for p in self.each(Process) for k in self.each(Number))

    @witness
    def HeldBack(self) -> bool:
        """Witness: a process with the token and an update has to wait until its last update is known to be
        stable.
        """
        for p in self.each(Process):
            held = self.token[p]
            if held is not None and self.visit[p] == 0 and len(self.waiting[p]) > 0:
                if not self.may_multicast(p, held):
                    return True
        return False

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every process has delivered everything, and knows that all have."""
        return all(self.stable[p] == self.messages for p in self.each(Process))
