"""Proof by induction that the ordering machine gives total order, for every number of processes, messages,
numbers and series: `antiphon check antiphon.spec.services.ordering_induction:OrderingProof --prove --every
processes,messages,numbers,series`.

In words: a message that a process has delivered has a number, and the process has gone at least as far as
this number; what was delivered before has a smaller one. Since a number has one message and a message one
number, for everybody and for ever, no two processes deliver two messages in different orders, and no process
delivers one twice. The last number that a process has delivered or passed over is one that it has learned.
"""

from __future__ import annotations

from antiphon.spec.lang import invariant
from antiphon.spec.services.broadcast import ReliableBroadcast
from antiphon.spec.services.events import Message, Process
from antiphon.spec.services.order import OrderOfPairs, Pair
from antiphon.spec.services.ordering import Assigned, OrderingMachine, Position


class OrderingProof(OrderingMachine, ReliableBroadcast, OrderOfPairs):
    """The ordering machine, with what broadcast promises at every delivery, and the invariants of the
    proof.
    """

    def is_up_to(self, item: Assigned, position: Position) -> bool:
        """Return True if the number of `item` is not after the position."""
        return item.series < position.series or (
            item.series == position.series and item.number <= position.number
        )

    def is_before(self, item: Assigned, other: Assigned) -> bool:
        """Return True if the number of `item` is before that of `other`."""
        return item.series < other.series or (item.series == other.series and item.number < other.number)

    @invariant
    def SubmittedIsBroadcast(self) -> bool:
        """Invariant: what was handed to the machine was broadcast, and nothing else."""
        return all((m in self.submitted) == (self.origin[m] is not None) for m in self.each(Message))

    @invariant
    def AssignedWasSubmitted(self) -> bool:
        """Invariant: only messages that were handed to the machine have numbers."""
        return all(item.message is None or item.message in self.submitted for item in self.history)

    @invariant
    def LearnedIsAssigned(self) -> bool:
        """Invariant: what a process has learned is an assignment that was made."""
        return all(item in self.history for p in self.each(Process) for item in self.learned[p])

    @invariant
    def DeliveredIsDelivered(self) -> bool:
        """Invariant: both judges know the same deliveries, and each of them is in every pair."""
        return all(
            self.delivered[p][m] == self.has_delivered(p, m)
            for p in self.each(Process)
            for m in self.each(Message)
        ) and all(
            Pair(a, b) not in self.before[p] or (self.has_delivered(p, a) and self.has_delivered(p, b))
            for p in self.each(Process)
            for a in self.each(Message)
            for b in self.each(Message)
        )

    @invariant
    def DeliveredWasReached(self) -> bool:
        """Invariant: a delivered message has a number, and the process has gone as far."""
        return all(
            any(item.message == m and self.is_up_to(item, self.at[p]) for item in self.history)
            for p in self.each(Process)
            for m in self.each(Message)
            if self.delivered[p][m]
        )

    @invariant
    def InTheOrderOfNumbers(self) -> bool:
        """Invariant: what a process delivered before has a smaller number."""
        return all(
            self.is_before(item, other)
            for p in self.each(Process)
            for a in self.each(Message)
            for b in self.each(Message)
            if a != b and Pair(a, b) in self.before[p]
            for item in self.history
            if item.message == a
            for other in self.history
            if other.message == b
        )
