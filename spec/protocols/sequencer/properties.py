"""Properties of SEQUENCER: total order broadcast, and its tables and tags as the design describes them."""

from __future__ import annotations

from typing import Self

from antiphon.spec.lang import (
    Map,
    everywhere,
    expect,
    invariant,
    obligation,
    on,
    step_invariant,
    witness,
)
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.protocols.sequencer.design import Number
from antiphon.spec.protocols.sequencer.readings import relabelling
from antiphon.spec.protocols.sequencer.shallow_copy import Copy, Request, SequencerCopy
from antiphon.spec.services import (
    Deliver,
    Installed,
    Message,
    Process,
    ReliableBroadcast,
    TotalOrderBroadcast,
)


class SequencerChecked(SequencerBounded, TotalOrderBroadcast):
    """Properties of SEQUENCER."""

    def deliver(self, p: Process, s: Process, k: Number, m: Message) -> None:
        """Deliver (M,S), and check that a seqno "needs to be 1 higher then prev seqno"; a process that joined
        has no previous one.
        """
        if not self.is_discarded(p, s, k) and self.first_view(p) == 1:
            expect(k == self.received_table[p][s] + 1, "NextNumber")
        super().deliver(p, s, k, m)

    @invariant
    def UniqueTags(self) -> bool:
        """Invariant: one tag is multicast with one message ("Each message has a unique tag")."""
        return all(
            a.sender != b.sender or a.number != b.number or a.message == b.message
            for s in self.each(Process)
            for t in self.each(Process)
            for a in self.log[s]
            for b in self.log[t]
        )

    @invariant
    def OnlyCoordinatorMulticasts(self) -> bool:
        """Invariant: in the first view "it is only the coordinator who sends multicasts" (section
        "Motivation").
        """
        return self.formed > 1 or all(
            len(self.log[p]) == 0 or self.coordinator(p) == p for p in self.each(Process)
        )

    @invariant
    def OwnUnseen(self) -> bool:
        """Invariant: the forward-table has only messages "not yet been received (as bcasts)" (section
        "Design").
        """
        return not any(
            self.forward_table[p][k] == m and self.delivered[p][m]
            for p in self.each(Process)
            for k in self.each(Number)
            for m in self.each(Message)
        )

    @invariant
    def EntriesOfMembers(self) -> bool:
        """Invariant: received-table has at most "N entries, where N is the number of members", and only for
        members.
        """
        return all(
            self.received_table[p][s] == 0 or s in self.current_members(p)
            for p in self.each(Process)
            for s in self.each(Process)
        )

    @step_invariant
    def ResentOnFailoverOnly(self, before: Self) -> bool:
        """Step invariant: messages are sent again at a view change only "If the coord leaves/crashes"."""
        return all(
            self.installed[p] == before.installed[p]
            or self.coordinator(p) != before.coordinator(p)
            or self.channel[p] == before.channel[p]
            for p in self.each(Process)
        )

    @obligation
    def Acknowledged(self) -> bool:
        """Obligation: every forward-table of a live member becomes empty, since the member gets its messages
        back.
        """
        return all(self.down[p] or not self.has_pending(p) for p in self.each(Process))

    @obligation
    def NothingLostAtStop(self) -> bool:
        """Obligation: a member that is up delivers what a process sent before it stopped."""
        return all(
            not any(self.origin[m] == p and self.stopped[p] for p in self.each(Process))
            or any(not self.down[q] and self.delivered[q][m] for q in self.each(Process))
            for m in self.each(Message)
        )

    @obligation
    def SurvivorsHeard(self) -> bool:
        """Obligation: every member that is up delivers what one of them has sent ("Reliability on
        failover").
        """
        return all(
            not any(self.origin[m] == p and not self.down[p] for p in self.each(Process))
            or all(self.delivered[q][m] or self.down[q] for q in self.each(Process))
            for m in self.each(Message)
        )

    @invariant
    def SenderOrder(self) -> bool:
        """Invariant: messages of one sender are delivered in the order in which it sent them."""
        return not any(
            self.is_overtaken(p, m, n)
            for p in self.each(Process)
            for m in self.each(Message)
            for n in self.each(Message)
        )

    @witness
    def Overtaken(self) -> bool:
        """Witness: a member delivers two messages of one sender, the later one first."""
        return any(
            self.is_overtaken(p, m, n)
            for p in self.each(Process)
            for m in self.each(Message)
            for n in self.each(Message)
        )

    def is_overtaken(self, p: Process, m: Message, n: Message) -> bool:
        """Return True if p delivered n before m, though the same sender sent m earlier."""
        at = self.place[p][m]
        before = self.place[p][n]
        is_one_sender = m < n and self.origin[m] == self.origin[n]
        return is_one_sender and at is not None and before is not None and before < at

    @witness
    def Resent(self) -> bool:
        """Witness: a new coordinator multicasts a message of another member that was sent to the old one."""
        return any(
            packet.view > 1 and packet.sender != s for s in self.each(Process) for packet in self.log[s]
        )

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every message was sent, and every process has accepted every message."""
        return self.broadcasts == self.messages and all(
            self.received_table[p][s] == self.last_number[s]
            for p in self.each(Process)
            for s in self.each(Process)
        )


class SequencerViews(SequencerChecked):
    """SEQUENCER with a record of the view in which each process delivered each message (0: not yet)."""

    delivered_in: Map[Process, Map[Message, Installed]] = everywhere(everywhere(0))

    @on(Deliver)
    def judge_view(self, event: Deliver) -> None:
        """Check that live members deliver a message in one view, and that a joiner delivers none that a live
        member delivered before the joiner's first view.
        """
        p = event.process
        m = event.message
        if m is not None:
            for q in self.each(Process):
                v = self.delivered_in[q][m]
                if v > 0 and v != self.installed[p]:
                    expect(self.crashed[q], "SameViewDelivery", Deliver(q, m))
                if v > 0 and v < self.first_view(p):
                    expect(self.crashed[q], "NothingBeforeJoining", Deliver(q, m))
            self.delivered_in[p][m] = self.installed[p]


class SequencerCopyChecked(SequencerCopy, ReliableBroadcast, readings=(relabelling,)):
    """Properties of the relabelling of one message."""

    @step_invariant
    def MulticastToAll(self, before: Self) -> bool:
        """Step invariant: a multicast of the coordinator is on its way to all others."""
        return self.multicast == before.multicast or all(
            q.index == 0 or Copy(q, Process(0)) in self.network for q in self.each(Process)
        )

    @witness
    def AskedAgain(self) -> bool:
        """Witness: a member has asked the coordinator for the message."""
        return any(isinstance(packet, Request) and packet.to.index == 0 for packet in self.network)

    @witness
    def AskedOriginator(self) -> bool:
        """Witness: a request goes "to B, rather than A"."""
        return any(isinstance(packet, Request) and packet.to.index == 1 for packet in self.network)
