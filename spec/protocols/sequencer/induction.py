"""Proof by induction that SEQUENCER gives total order in a stable view, for every number of processes and
messages: `antiphon check antiphon.spec.protocols.sequencer.induction:SequencerProof --prove --every
processes,messages`; with `--repair all` of the repaired text.

In words: only the coordinator multicasts, so that there is one log that everybody reads from its beginning. A
message is on its way to the coordinator once, or in the log once, and never both: the coordinator takes a
FORWARD from the queue when it multicasts it. A process has delivered nothing that stands in the log behind
the place up to which it has read. So the message that it delivers next was multicast after all that it has
delivered, and has not been delivered there: each process delivers in the order of the log, and nothing twice.

That a log has room for each message is shown by what it holds: no message twice.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, constraint, invariant
from antiphon.spec.protocols.sequencer.design import Sequencer
from antiphon.spec.protocols.sequencer.readings import READINGS
from antiphon.spec.protocols.sequencer.repairs import REPAIRS
from antiphon.spec.services import Message, Process, ReliableBroadcast
from antiphon.spec.services.order import OrderOfPairs, Pair


class SequencerProof(Sequencer, ReliableBroadcast, OrderOfPairs, repairs=REPAIRS, readings=READINGS):
    """SEQUENCER in one view, with the invariants of the proof."""

    crashes: Const[int] = 0
    views: Const[int] = 1

    @constraint("change_view", "leave")
    def is_the_view_changing(self) -> bool:
        """Return False: the view is stable. Nobody leaves it, and nobody has another one to install."""
        return False

    # The view -----------------------------------------------------------------------------------------------

    @invariant
    def OneView(self) -> bool:
        """Invariant: all are in the first view, and its coordinator is the first process."""
        return all(p in self.members[1] and self.installed[p] == 1 for p in self.each(Process))

    @invariant
    def OnlyCoordinatorMulticasts(self) -> bool:
        """Invariant: nobody but the coordinator multicasts, and nobody else is sent a FORWARD."""
        return all(
            p == Process(0)
            or (len(self.log[p]) == 0 and all(len(self.channel[q][p]) == 0 for q in self.each(Process)))
            for p in self.each(Process)
        )

    # The messages -------------------------------------------------------------------------------------------

    @invariant
    def BroadcastInTheirOrder(self) -> bool:
        """Invariant: the messages that were broadcast are the first ones, and each has a number."""
        return all(
            (self.origin[m] is not None) == (m.index < self.broadcasts) for m in self.each(Message)
        ) and all(self.last_number[p] <= self.broadcasts for p in self.each(Process))

    @invariant
    def ForwardedOnce(self) -> bool:
        """Invariant: a FORWARD is of a message of its sender, and no other FORWARD in its queue is."""
        return all(
            packet.sender == q and self.origin[packet.message] == q
            for p in self.each(Process)
            for q in self.each(Process)
            for packet in self.channel[q][p]
        ) and all(
            i == j or self.channel[q][p][i].message != self.channel[q][p][j].message
            for p in self.each(Process)
            for q in self.each(Process)
            for i in range(len(self.channel[q][p]))
            for j in range(len(self.channel[q][p]))
        )

    @invariant
    def MulticastOnce(self) -> bool:
        """Invariant: a multicast is of a message of its sender, no other multicast is, and no FORWARD."""
        return (
            all(self.origin[item.message] == item.sender for s in self.each(Process) for item in self.log[s])
            and all(
                i == j or self.log[s][i].message != self.log[s][j].message
                for s in self.each(Process)
                for i in range(len(self.log[s]))
                for j in range(len(self.log[s]))
            )
            and all(
                packet.message != item.message
                for p in self.each(Process)
                for q in self.each(Process)
                for packet in self.channel[q][p]
                for s in self.each(Process)
                for item in self.log[s]
            )
        )

    # The deliveries -----------------------------------------------------------------------------------------

    @invariant
    def WithinTheLog(self) -> bool:
        """Invariant: a process has received no more than was multicast, its own multicasts all, and passed up
        no more than it has received.
        """
        return all(
            self.handed_on(s, p) <= self.heard[s][p] and self.heard[s][p] <= len(self.log[s])
            for s in self.each(Process)
            for p in self.each(Process)
        ) and all(self.heard[s][s] == len(self.log[s]) for s in self.each(Process))

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
    def DeliveredWasMulticast(self) -> bool:
        """Invariant: a delivered message was multicast."""
        return all(
            any(item.message == m for item in self.log[Process(0)])
            for p in self.each(Process)
            for m in self.each(Message)
            if self.delivered[p][m]
        )

    @invariant
    def DeliveredWasHandedOn(self) -> bool:
        """Invariant: what a process has not received and passed up, it has not delivered."""
        return all(
            k < self.handed_on(s, p) or not self.delivered[p][self.log[s][k].message]
            for s in self.each(Process)
            for p in self.each(Process)
            for k in range(len(self.log[s]))
        )

    @invariant
    def InTheOrderOfTheLog(self) -> bool:
        """Invariant: what a process delivered before was multicast before."""
        return all(
            i < j
            for p in self.each(Process)
            for s in self.each(Process)
            for i in range(len(self.log[s]))
            for j in range(len(self.log[s]))
            if i != j and Pair(self.log[s][i].message, self.log[s][j].message) in self.before[p]
        )
