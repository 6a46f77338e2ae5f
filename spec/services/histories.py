"""Histories of groups with changing views in which nothing is promised: the machine on which definitions are
compared.

Processes broadcast, deliver broadcast messages, and go through the same views, each at its own pace; one may
crash. An invariant of this module states that one property follows from another, a witness that it does not.

Source: the definitions of Barchet-Estefanel 2002, section 4.3.2.
"""

from __future__ import annotations

from typing import Self

from antiphon.spec.lang import (
    Map,
    Set,
    action,
    emit,
    environment,
    everywhere,
    invariant,
    on,
    require,
    step_invariant,
    witness,
)
from antiphon.spec.services.events import Broadcast, Crash, Deliver, Install, Message, Process, View
from antiphon.spec.services.views import PartitionableSynchrony


class AnyHistory(PartitionableSynchrony):
    """State of a history of honest deliveries, with the properties that it has broken so far.

    State: `sending_view_broken`, `same_view_broken` and `synchrony_broken` stand for Sending View Delivery,
    Same View Delivery and View Synchrony; `sent_late[m]` says that m was broadcast in a view that somebody
    had left already.
    """

    sending_view_broken: bool = False
    same_view_broken: bool = False
    synchrony_broken: bool = False
    sent_late: Map[Message, bool] = everywhere(False)

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast p's message."""
        require(self.correct(p) and self.origin[m] is None)
        emit(Broadcast(p, m))

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver, at p, a message that was broadcast."""
        require(self.correct(p) and self.origin[m] is not None and not self.delivered[p][m])
        emit(Deliver(p, m))

    @action
    def install(self, p: Process, v: View) -> None:
        """Go on to view v at p, the next view of p."""
        require(self.correct(p) and v == self.view_of(p) + 1)
        emit(Install(p, v, Set(q for q in self.each(Process))))

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, if no other process has crashed."""
        require(all(self.correct(q) for q in self.each(Process)))
        emit(Crash(p))

    @on(Broadcast)
    def note_sending_view(self, event: Broadcast) -> None:
        """Note whether a process broadcasts m in a view that another process has already left."""
        v = self.view_of(event.process)
        self.sent_late[event.message] = any(self.view_of(q) > v for q in self.each(Process))
        super().note_sending_view(event)

    def judge_sending_view(self, p: Process, m: Message) -> None:
        """Record that p delivers m outside the view in which m was sent, and do not refuse the delivery."""
        if self.sent_in[m] != self.view_of(p):
            self.sending_view_broken = True

    def judge_same_view(self, p: Process, m: Message) -> None:
        """Record that p delivers m in another view than some process has, and do not refuse the delivery."""
        for q in self.each(Process):
            other = self.delivered_in[q][m]
            if other is not None and other != self.view_of(p):
                self.same_view_broken = True

    def tell_difference(self, p: Process, q: Process, v: View) -> None:
        """Record that p and q have delivered different messages in v, and do not refuse their going on."""
        self.synchrony_broken = True

    @invariant
    def SendingViewImpliesSameView(self) -> bool:
        """Invariant: a run with Sending View Delivery has Same View Delivery."""
        return self.sending_view_broken or not self.same_view_broken

    @invariant
    def NoWayOutForLateMessages(self) -> bool:
        """Invariant: a late message is one broadcast in a view that another process had left. Once its sender
        leaves the view too, the sender has not delivered the message, or Sending View Delivery or View
        Synchrony is broken.
        """
        return not any(
            self.sent_late[m]
            and self.origin[m] == p
            and self.sent_in[m] != self.view_of(p)
            and self.delivered[p][m]
            and not self.sending_view_broken
            and not self.synchrony_broken
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @step_invariant
    def NothingAfterCrash(self, before: Self) -> bool:
        """Step invariant: a crashed process goes to no view and delivers nothing."""
        return all(
            before.correct(p)
            or (self.view_of(p) == before.view_of(p) and self.delivered[p] == before.delivered[p])
            for p in self.each(Process)
        )

    def is_done(self) -> bool:
        """Return True if each process that is up is in the last view and has delivered everything."""
        return all(
            not self.correct(p) or (self.view_of(p) == self.views and self.delivered[p][m])
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @witness
    def SameViewAlone(self) -> bool:
        """Witness: Same View Delivery without Sending View Delivery."""
        return self.is_done() and self.sending_view_broken and not self.same_view_broken

    @witness
    def SendingViewAlone(self) -> bool:
        """Witness: Sending View Delivery without View Synchrony."""
        return self.synchrony_broken and not self.sending_view_broken

    @witness
    def SynchronyAlone(self) -> bool:
        """Witness: View Synchrony without Same View Delivery, so without Sending View Delivery too."""
        return self.is_done() and self.same_view_broken and not self.synchrony_broken

    @witness
    def AllButSendingView(self) -> bool:
        """Witness: View Synchrony with Same View Delivery, and without Sending View Delivery."""
        return self.SameViewAlone() and not self.synchrony_broken

    @witness
    def LateMessage(self) -> bool:
        """Witness: a message was broadcast in a view that another process had left, and everybody who goes on
        has delivered it.
        """
        return self.is_done() and any(self.sent_late[m] for m in self.each(Message))
