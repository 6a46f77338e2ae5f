"""Properties of iRBP: views, numbers, buffers, the order of messages; and the states to be reached."""

from __future__ import annotations

from antiphon.spec.environment.detectors import EventuallyStrong
from antiphon.spec.lang import invariant, leads_to, obligation, witness
from antiphon.spec.protocols.irbp.bounds import IrbpBounded, NormalSparing
from antiphon.spec.protocols.irbp.figure32 import Phase, ViewChange
from antiphon.spec.protocols.irbp.members import JoinAndLeave
from antiphon.spec.protocols.irbp.normal_phase import Number
from antiphon.spec.services import Message, Process, TotalOrderBroadcast, View, ViewSynchrony


class NormalPhaseChecked(NormalSparing, TotalOrderBroadcast):
    """The normal phase by itself, checked against total order broadcast."""

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every process has delivered every message."""
        return all(self.delivered[p][m] for p in self.each(Process) for m in self.each(Message))


class EndingChanges(ViewChange):
    """Obligations of a view change of either figure."""

    @obligation
    def ViewChangesEnd(self) -> bool:
        """Obligation: in the end no process that is up is still in a view for which a change was called."""
        return not any(self.called[self.version[p]] and not self.is_gone(p) for p in self.each(Process))


class IrbpProperties(IrbpBounded, EndingChanges):
    """iRBP with regular views, and the properties of its state."""

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def MajorityInList(self) -> bool:
        """Invariant: a token list contains a majority of the list before it."""
        return all(
            2 * len(self.listed[v + 1] & self.listed[v]) > len(self.listed[v])
            for v in self.each(View)
            if v < self.views
            if len(self.listed[v + 1]) > 0
        )

    @invariant
    def FreshNumber(self) -> bool:
        """Invariant: the number that the sequencer gives next is unknown to all users of its list."""
        return not any(
            self.holds_token(p)
            and not self.is_gone(q)
            and self.phase[q] == Phase.normal
            and self.version[q] == self.version[p]
            and any(k == self.last_number[p] + 1 and self.knows(q, k) for k in self.each(Number))
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @invariant
    def OldBuffersEmpty(self) -> bool:
        """Invariant: a process with a new list has in its buffers no message and no number of an earlier
        list.
        """
        return not any(
            self.phase[p] == Phase.normal
            and not self.is_gone(p)
            and sent.version < self.version[p]
            and (self.keeps(p, sent.message) or self.names(p, sent.message))
            for p in self.each(Process)
            for sent in self.data
        )

    def keeps(self, p: Process, m: Message) -> bool:
        """Return True if p has m in a buffer: in recvQ, in stableQ with its number, or for sending."""
        return (
            m in self.received[p]
            or self.pending[p] == m
            or (m in self.collected[p] and any(item.message == m for item in self.stable[p]))
        )

    def names(self, p: Process, m: Message) -> bool:
        """Return True if p has the identifier of m with its number in a buffer."""
        return any(item.message == m for item in self.numbered[p] | self.stable[p])

    @obligation
    def TimeBoundedBuffering(self) -> bool:
        """Obligation, section 4.3.3: "every message is eventually discarded from all output buffers"."""
        return not any(
            not self.is_gone(p) and self.keeps(p, m) for p in self.each(Process) for m in self.each(Message)
        )

    # Witnesses ----------------------------------------------------------------------------------------------

    @witness
    def ExcludedLives(self) -> bool:
        """Witness: a process is up that the next list excludes, after others have installed that list."""
        return any(
            not self.is_gone(p)
            and p not in self.listed[v + 1]
            and any(not self.is_gone(q) and self.version[q] == v + 1 for q in self.each(Process))
            for p in self.each(Process)
            for v in self.each(View)
            if v < self.views
            if v == self.version[p]
        )

    @witness
    def StableByDecision(self) -> bool:
        """Witness: the decision (step 6) has made a message stable that no round of the token made stable."""
        return any(
            self.phase[p] == Phase.adopting
            and not self.is_gone(p)
            and any(
                item.message is not None
                and item.number > self.last_number[p] - len(self.token_list(p)) + 1
                and item.number > self.last_delivered[p]
                for item in self.stable[p]
            )
            for p in self.each(Process)
        )

    @witness
    def SequencedLater(self) -> bool:
        """Witness: a message has a number that was given in a later list than the first."""
        return any(ack.version > 1 and ack.message is not None for ack in self.acks)


class IrbpChecked(IrbpProperties, TotalOrderBroadcast, ViewSynchrony):
    """iRBP with regular views, checked against total order broadcast and view-synchronous communication."""

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every live process has delivered every message, and some process has installed another
        list.
        """
        return any(self.version[p] > 1 and not self.is_gone(p) for p in self.each(Process)) and all(
            self.is_gone(p) or self.delivered[p][m] for p in self.each(Process) for m in self.each(Message)
        )


class IrbpLive(IrbpChecked, EventuallyStrong):
    """iRBP with a detector of class eventually S, and its liveness properties on fair runs."""

    def is_broadcast(self, m: Message) -> bool:
        """Return True if m was broadcast."""
        return self.origin[m] is not None

    def is_broadcast_and_delivered(self, m: Message) -> bool:
        """Return True if m was broadcast, and its sender has delivered it or has stopped."""
        return any(
            self.origin[m] == p and (self.delivered[p][m] or self.is_gone(p)) for p in self.each(Process)
        )

    def is_delivered(self, m: Message) -> bool:
        """Return True if some process, up or not, has delivered m."""
        return any(self.delivered[p][m] for p in self.each(Process))

    def is_delivered_by_all(self, m: Message) -> bool:
        """Return True if every live process has delivered m."""
        return all(self.delivered[p][m] or self.is_gone(p) for p in self.each(Process))

    def is_called(self, v: View) -> bool:
        """Return True if a view change was called in list v."""
        return self.called[v]

    def is_left(self, v: View) -> bool:
        """Return True if no process that is up uses list v any more."""
        return not any(self.version[p] == v and not self.is_gone(p) for p in self.each(Process))

    own_messages_arrive = leads_to("is_broadcast", "is_broadcast_and_delivered")
    what_one_delivers_all_deliver = leads_to("is_delivered", "is_delivered_by_all")
    view_changes_end = leads_to("is_called", "is_left")


class IrbpMembers(IrbpChecked, JoinAndLeave):
    """iRBP whose processes join and leave."""

    @witness
    def Joined(self) -> bool:
        """Witness: a process that joined has delivered a message."""
        return any(
            not self.begins_in_first(p) and any(self.delivered[p][m] for m in self.each(Message))
            for p in self.each(Process)
        )

    @witness
    def LeftByItself(self) -> bool:
        """Witness: without any failure or suspicion, a process has left, and the others go on without it."""
        return any(
            self.leaving[p]
            and self.left[p]
            and any(self.version[q] > self.version[p] and not self.is_gone(q) for q in self.each(Process))
            for p in self.each(Process)
        ) and not any(
            self.down[p] or self.suspected[p][q] for p in self.each(Process) for q in self.each(Process)
        )
