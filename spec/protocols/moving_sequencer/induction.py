"""Proof by induction that figure 12 as repaired gives total order, for every number of processes, messages
and losses: `antiphon check antiphon.spec.protocols.moving_sequencer.induction:MovingSequencerProof --repair
all --prove --every processes,messages,losses`.

In words: there is one token. Every number that is known anywhere, or on its way, was assigned by a holder,
and is at most the number of the token. A process knows the message of each number below its next one. So a
holder that misses no number up to the token's knows all that were assigned: the message that it takes has
none yet, and the number after the token's was given to nobody. So a number has one message, a message one
number, and each process delivers by growing numbers: what it delivered before has a smaller one.

`assigned` remembers what was numbered, and changes no step. That the numbers from 1 to `messages` suffice is
assumed by `is_a_number_left`, and not proved: no message has two, and to say that there are enough for all
would be to count.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, action, constraint, invariant
from antiphon.spec.protocols.moving_sequencer.figure12 import Data, Notice, Sequenced, Stage
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerProperties
from antiphon.spec.services import Message, Process, ReliableBroadcast
from antiphon.spec.services.order import OrderOfPairs, Pair


class MovingSequencerProof(MovingSequencerProperties, ReliableBroadcast, OrderOfPairs):
    """Figure 12, with its properties and the invariants of the proof."""

    assigned: Set[Sequenced] = Set()

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        """Number a message at p, and remember its number."""
        super().sequence(p)
        self.assigned |= self.numbered[p]

    @constraint("sequence")
    def is_a_number_left(self, p: Process) -> bool:
        """Bound: the numbers suffice for all messages."""
        return self.token_number < self.messages + self.spare

    # The token ----------------------------------------------------------------------------------------------

    @invariant
    def OneToken(self) -> bool:
        """Invariant: some process holds the token, or it is on its way to one."""
        return (self.token_to is None) != (self.holder is None)

    def is_informed(self, p: Process) -> bool:
        """Return True if p holds the token and misses no number."""
        return self.holder == p and (self.stage is Stage.bodies or self.stage is Stage.sequencing)

    @invariant
    def HolderKnowsAll(self) -> bool:
        """Invariant: a holder that misses no number knows every number that was assigned."""
        return all(
            item in self.numbered[p] or not self.is_informed(p)
            for p in self.each(Process)
            for item in self.assigned
        )

    # The numbers --------------------------------------------------------------------------------------------

    @invariant
    def UpToTheToken(self) -> bool:
        """Invariant: numbers were assigned up to that of the token, and nobody waits for a later one than the
        one after it.
        """
        return all(item.number <= self.token_number for item in self.assigned) and all(
            self.next_deliver[p] <= self.token_number + 1 for p in self.each(Process)
        )

    @invariant
    def OneNumber(self) -> bool:
        """Invariant: a number was assigned to one message, and a message got one number."""
        return all(
            (a.number == b.number) == (a.message == b.message) for a in self.assigned for b in self.assigned
        )

    @invariant
    def KnownWasAssigned(self) -> bool:
        """Invariant: a number that a process knows, or that is on its way, was assigned."""
        return all(item in self.assigned for p in self.each(Process) for item in self.numbered[p]) and all(
            packet.item in self.assigned for packet in self.network if isinstance(packet, Notice)
        )

    @invariant
    def KnowsWhatIsBelow(self) -> bool:
        """Invariant: a process knows the message of each number before its next one."""
        return all(
            item in self.numbered[p] or item.number >= self.next_deliver[p]
            for p in self.each(Process)
            for item in self.assigned
        )

    # The messages -------------------------------------------------------------------------------------------

    @invariant
    def BroadcastInTheirOrder(self) -> bool:
        """Invariant: the messages that were broadcast are the first ones."""
        return all((self.origin[m] is not None) == (m.index < self.broadcasts) for m in self.each(Message))

    @invariant
    def ReceivedWasBroadcast(self) -> bool:
        """Invariant: a message that is received, or on its way, was broadcast."""
        return all(
            self.origin[m] is not None
            or not (m in self.received[p] or Data(p, m) in self.sent or Data(p, m) in self.network)
            for p in self.each(Process)
            for m in self.each(Message)
        )

    # The deliveries -----------------------------------------------------------------------------------------

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
        """Invariant: a delivered message has a number, and the process is beyond it."""
        return all(
            any(item.message == m and item.number < self.next_deliver[p] for item in self.assigned)
            for p in self.each(Process)
            for m in self.each(Message)
            if self.delivered[p][m]
        )

    @invariant
    def InTheOrderOfNumbers(self) -> bool:
        """Invariant: what a process delivered before has a smaller number."""
        return all(
            item.number < other.number
            for p in self.each(Process)
            for a in self.each(Message)
            for b in self.each(Message)
            if a != b and Pair(a, b) in self.before[p]
            for item in self.assigned
            if item.message == a
            for other in self.assigned
            if other.message == b
        )
