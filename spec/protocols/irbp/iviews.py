"""Figure 34 within the bounds of figure 32, and the properties that its core and its external
processes have.
"""

from __future__ import annotations

from antiphon.spec.environment.detectors import DetectedAtOnce
from antiphon.spec.lang import (
    Map,
    Set,
    action,
    ambiguity,
    everywhere,
    invariant,
    obligation,
    repair,
    witness,
)
from antiphon.spec.protocols.irbp.bounds import Assigned, Urgent, ViewsFinite
from antiphon.spec.protocols.irbp.figure34 import IViewChange
from antiphon.spec.protocols.irbp.normal_phase import Data
from antiphon.spec.protocols.irbp.properties import EndingChanges
from antiphon.spec.protocols.irbp.repairs import REPAIRS
from antiphon.spec.services import Message, Process, TotalOrderBroadcast, View, ViewSynchrony

acknowledging = ambiguity(
    "acknowledging",
    "TL_i",
    about="step 2 awaits an ack from every p_i: of TL_i, as step 4 has it, or of the whole group, which "
    "section 5.2.3 needs (`reintegration of external processes in a new i-view`)",
)


@acknowledging.reading("group")
class GroupAcknowledges(IViewChange):
    """Reading of figure 34, steps 2 and 3: external processes also acknowledge, and those that did are in the
    next list.
    """

    def members_of(self, p: Process, heard: Set[Process]) -> Set[Process]:
        """Return the members of the next list (step 3, `all processes that sent ack`): also external
        processes that may return.
        """
        back = {q for q in self.each(Process) if self.may_return(q, p)}
        return super().members_of(p, heard) | back


@repair("steps 1, 3, 5: seqQ is sent, agreed upon and taken in as by figure 32", answers="IRB-12")
class ExchangeQueues(IViewChange):
    """Repair of figure 34, steps 1, 3 and 5. Printed: `send ack to all`. Repaired: the messages of seqQ are
    exchanged and agreed upon, as in figure 32.
    """

    def exchanges_queues(self) -> bool:
        """Return True: the queues are exchanged, as in figure 32."""
        return True


@repair(
    "step 6: what p has broadcast, and is in recvQ still, it sends again until it has a number",
    answers="IRB-33",
    builds_on=(ExchangeQueues,),
)
class RepeatOwn(IViewChange):
    """Repair of figure 34, step 6. Printed: nothing about a message whose number the exchange has taken back.
    Repaired: its sender sends it again until it has a number.
    """

    last_sent: Map[Process, Message | None] = everywhere(None)

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast m, and remember it, so that it can be sent again."""
        super().broadcast(p, m)
        self.last_sent[p] = m

    def clear_up(self, p: Process) -> None:
        """Send p's last message again if recvQ_p still has it, that is, if it has no number."""
        super().clear_up(p)
        if any(m == self.last_sent[p] for m in self.received[p]):
            self.pending[p] = self.last_sent[p]


@repair(
    "step 6: whoever is not in TL takes the number i+1 and the list all the same, and is external",
    answers="IRB-14",
)
class GoOnOutside(IViewChange):
    """Repair of figure 34, step 6. Printed: `if p_k ∈ TL, then "install" TL as the next view TL_{i+1}`,
    without an `else`. Repaired: a process outside TL adopts number i+1 and the list too, and is external.
    """

    def has_else(self, p: Process) -> bool:
        """Return True: step 6 has an `else`."""
        return True

    def stay_outside(self, p: Process, members: Set[Process]) -> None:
        """Adopt the new list as an external process."""
        super().stay_outside(p, members)
        self.go_on(p, members)
        self.end_outside(p)


class IViewsFinite(IViewChange, ViewsFinite):
    """Figure 34 with finitely many views, where state that no process will read is forgotten."""

    def end_outside(self, p: Process) -> None:
        """Forget the parts of an external process's state that no process will read any more."""
        self.forget_report(p)
        self.begins[p] = False
        self.suspected[p] = everywhere(False)


class IViewsBounded(
    IViewsFinite,
    repairs=(*REPAIRS, GoOnOutside, ExchangeQueues, RepeatOwn),
    readings=(acknowledging,),
    restrictions=(DetectedAtOnce, Urgent, Assigned),
):
    """Figure 34, with the readings, repairs and restrictions to choose from."""


class IViewsChecked(IViewsBounded, EndingChanges, TotalOrderBroadcast, ViewSynchrony):
    """Figure 34, checked against total order broadcast and virtual synchrony, for all processes and for the
    core.
    """

    def in_last_list(self, p: Process) -> bool:
        """Return True if p is up, and in the last list."""
        return not self.is_gone(p) and any(
            p in self.listed[v] and all(w <= v or len(self.listed[w]) == 0 for w in self.each(View))
            for v in self.each(View)
        )

    @invariant
    def CoreOfTwo(self) -> bool:
        """Invariant: no list has one member only, which would take messages for stable that nobody
        else has.
        """
        return all(len(self.listed[v]) != 1 for v in self.each(View))

    @invariant
    def NothingIsSent(self) -> bool:
        """Invariant: reports and decisions contain no messages or numbers, only acks and lists of
        processes.
        """
        return all(len(self.reported[p]) == 0 for p in self.each(Process)) and not any(
            self.has_messages(v) for v in self.each(View)
        )

    def has_messages(self, v: View) -> bool:
        """Return True if the decision for list v contains numbers."""
        decided = self.decision[v]
        return decided is not None and len(decided.messages) > 0

    @obligation
    def CoreAgreement(self) -> bool:
        """Obligation: a message that a process of the core delivers is delivered by every process of the
        core.
        """
        return not any(
            self.in_last_list(p)
            and self.in_last_list(q)
            and self.delivered[p][m]
            and not self.delivered[q][m]
            for p in self.each(Process)
            for q in self.each(Process)
            for m in self.each(Message)
        )

    @obligation
    def ExternalsFollow(self) -> bool:
        """Obligation: a message that the core delivers is delivered by every external process that is up."""
        return not any(
            self.in_last_list(p)
            and not self.in_last_list(q)
            and not self.is_gone(q)
            and self.delivered[p][m]
            and not self.delivered[q][m]
            for p in self.each(Process)
            for q in self.each(Process)
            for m in self.each(Message)
        )

    @witness
    def ExternalLives(self) -> bool:
        """Witness: a live process is external."""
        return any(not self.is_gone(p) and not self.is_core(p) for p in self.each(Process))

    @witness
    def ExternalSends(self) -> bool:
        """Witness: the core delivers a message of a process that is outside the list to which it was sent."""
        return any(
            self.origin[sent.message] == p
            and self.is_sent_past(p, sent)
            and any(self.delivered[q][sent.message] and self.in_last_list(q) for q in self.each(Process))
            for p in self.each(Process)
            for sent in self.data
        )

    @witness
    def ExternalReceives(self) -> bool:
        """Witness: a process delivers a message that was sent to a list of which it was no member."""
        return any(
            self.delivered[p][sent.message] and self.origin[sent.message] != p and self.is_sent_past(p, sent)
            for p in self.each(Process)
            for sent in self.data
        )

    def is_sent_past(self, p: Process, sent: Data) -> bool:
        """Return True if p is up, and uses the list to which the message was sent, and is not on it."""
        return (
            not self.is_gone(p)
            and self.version[p] == sent.version
            and sent.version > 1
            and p not in self.listed[sent.version]
        )

    @witness
    def ExternalReturns(self) -> bool:
        """Witness: a process is in a list again after having been external."""
        return any(
            p in self.listed[w] and p not in self.listed[v] and len(self.listed[v]) > 0
            for p in self.each(Process)
            for v in self.each(View)
            for w in self.each(View)
            if w == v + 1
        )
