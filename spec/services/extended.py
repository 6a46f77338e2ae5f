"""Extended virtual synchrony: a group may part, and a process learns, before a new view, with whom it goes
on.

Source: Moser, Amir, Melliar-Smith and Agarwal 1994, "Extended virtual synchrony"; Transitional Set and
Agreement on Successors as Chockler, Keidar and Vitenberg 2001 have them. What is written here is their sense,
not their words.

A view is a *regular configuration*. Before the next one a process enters the *transitional configuration* of
its view, the part of it that goes on together with it, and may deliver there what was sent in the view and
can be promised to that part only. A part without a majority does so too: nothing here speaks of a primary
partition.

1. Configurations: as in `ViewAgreement`; and `TransitionalSet`, `AgreementOnSuccessors`.
2. Messages: delivered in the configuration in which they were sent or in the transitional one after it
   (`SendingViewDelivery`), once (`UniformIntegrity`), by their sender unless it fails (`VscValidity`).
3. `FailureAtomicity`: processes that are in the same transitional configuration have delivered the same
   before it, and deliver the same in it when they go on to the same view.
4. `SafeDelivery`, of `SafeExtendedSynchrony`: a message that is delivered in a configuration, regular or
   transitional, is delivered by all members of that configuration that do not fail.
5. `ExtendedTotalOrder`: a process may skip a message of the total order only in its transitional
   configuration, and only a message of a process outside of that configuration.

The specifications of that paper by number: 1.1 and 1.4 `UniformIntegrity`; 1.2 `SendingViewDelivery`; 1.3
`BroadcastOnce`; 2.1 `MembershipPrecision` (of `survey`); 2.2 and 2.3, that an event belongs to one
configuration, are true of whatever is judged here, since it is the one installed last; 2.4
`LocalMonotonicity`; 3 `VscValidity`; 4 `FailureAtomicity` and `ViewSynchrony`; 5 `ReliableCausal` (of
`causal`); 6.1 and 6.2 `UniformNumbering` (of `order`); 6.3 `ExtendedTotalOrder`; 7.1 and 7.2 `SafeDelivery`.
"""

from __future__ import annotations

from typing import Final

from antiphon.spec.lang import Map, Set, everywhere, expect, obligation, on
from antiphon.spec.services.events import Deliver, Install, Installed, Message, Process, Transition, View
from antiphon.spec.services.order import Count, Place
from antiphon.spec.services.order_in_views import ReliableOrder
from antiphon.spec.services.promises import Promises, Property
from antiphon.spec.services.views import EXTENDED_VIRTUAL_SYNCHRONY, OwnLists, PartitionableSynchrony


class ExtendedVirtualSynchrony(OwnLists, PartitionableSynchrony):
    """Extended virtual synchrony as a state machine over events.

    State: `moves_with[p][v]` is the transitional configuration that p entered from v (None: it has not),
    `late[p][m]` whether p delivered m in a transitional configuration, `apart_early[p][q][v]` how many
    messages one of p and q, and not the other, delivered in v before its transitional configuration.
    """

    moves_with: Map[Process, Map[View, Set[Process] | None]] = everywhere(everywhere(None))
    late: Map[Process, Map[Message, bool]] = everywhere(everywhere(False))
    apart_early: Map[Process, Map[Process, Map[View, Count]]] = everywhere(everywhere(everywhere(0)))

    def part_of(self, p: Process, v: Installed) -> Set[Process] | None:
        """Return the transitional configuration that p entered when it was in view v; None if it entered
        none.
        """
        return self.moves_with[p][v] if v > 0 else None

    def is_moving(self, p: Process) -> bool:
        """Return True if p is in the transitional configuration of its view."""
        return self.part_of(p, self.view_of(p)) is not None

    @on(Transition)
    def judge_transition(self, event: Transition) -> None:
        """Check a transitional configuration: a part of the view with p in it, entered once; processes that
        entered it before have delivered the same messages.
        """
        p = event.process
        v = self.view_of(p)
        expect(v > 0 and not self.is_moving(p) and p in event.members, "TransitionalSet")
        if v > 0 and not self.is_moving(p):
            expect(event.members <= self.own_members(p), "TransitionalSet")
            for q in self.each(Process):
                if q != p and self.moves_with[q][v] == event.members and self.apart_early[p][q][v] > 0:
                    self.tell_torn(p, q, v)
            self.moves_with[p][v] = event.members

    def has_early(self, p: Process, m: Message, v: View) -> bool:
        """Return True if p has delivered m in v before the transitional configuration."""
        return self.delivered_in[p][m] == v and not self.late[p][m]

    def tell_torn(self, p: Process, q: Process, v: View) -> None:
        """Report, as a violation of `FailureAtomicity`, a message that only one of p and q has delivered in v
        before its transitional configuration.
        """
        expect(False, "FailureAtomicity", Deliver(self.who_has_early(p, q, v), self.one_torn(p, q, v)))

    def one_torn(self, p: Process, q: Process, v: View) -> Message | None:
        """Return a message that one of p and q has delivered in v before its transitional configuration, and
        the other has not.
        """
        return next(
            (m for m in self.each(Message) if self.has_early(p, m, v) != self.has_early(q, m, v)),
            None,
        )

    def who_has_early(self, p: Process, q: Process, v: View) -> Process:
        """Return the one of p and q that delivered the message of `one_torn(p, q, v)` in v before its
        transitional configuration; q if there is no such message.
        """
        m = self.one_torn(p, q, v)
        return p if m is not None and self.has_early(p, m, v) else q

    def compare_deliveries(self, p: Process, m: Message) -> None:
        """Compare p's delivery of m with those of all others, also the deliveries made before transitional
        configurations.
        """
        v = self.view_of(p)
        self.late[p][m] = self.is_moving(p)
        for q in self.each(Process):
            if q != p and v > 0 and not self.is_moving(p):
                before = self.apart_early[p][q][v]
                now = before - 1 if self.has_early(q, m, v) else before + 1
                self.apart_early[p][q][v] = now
                self.apart_early[q][p][v] = now
        super().compare_deliveries(p, m)

    @on(Install)
    def judge_install(self, event: Install) -> None:
        """Check that the processes that install the view together with p were in p's transitional
        configuration, and that no other process was.
        """
        p = event.process
        v = self.view_of(p)
        if event.view > v:
            part = self.part_of(p, v)
            expect(v == 0 or (part is not None and part <= event.members), "TransitionalSet")
            for q in self.each(Process):
                if q != p and self.came_from[q][event.view] is not None:
                    expect(
                        self.names_rightly(p, v, q, event.view)
                        and self.names_rightly_back(p, v, q, event.view),
                        "TransitionalSet",
                        Install(q, event.view, event.members),
                    )
        super().judge_install(event)

    def names_rightly(self, p: Process, v: Installed, q: Process, w: View) -> bool:
        """Return True if p's transitional configuration, on the way from v to w, contains q exactly if q came
        to w from v.
        """
        part = self.part_of(p, v)
        return part is None or (q in part) == (self.came_from[q][w] == v)

    def names_rightly_back(self, p: Process, v: Installed, q: Process, w: View) -> bool:
        """Return True if q, which has gone to w, had p in its transitional configuration exactly if q came
        from v, the view that p left.
        """
        u = self.came_from[q][w]
        part = self.part_of(q, u) if u is not None else None
        return part is None or (p in part) == (u == v)


class SafeExtendedSynchrony(ExtendedVirtualSynchrony):
    """Extended virtual synchrony with safe delivery."""

    @obligation
    def SafeDelivery(self) -> bool:
        """Obligation: a message delivered in a view, or in a transitional configuration, is delivered by all
        members of that view or configuration that do not fail.
        """
        return all(
            self.delivered[q][m]
            or not self.correct(q)
            or not any(self.is_promised(p, m, q) for p in self.each(Process))
            for m in self.each(Message)
            for q in self.each(Process)
        )

    def is_promised(self, p: Process, m: Message, q: Process) -> bool:
        """Return True if p's delivery of m obliges q: q is a member of the view or transitional configuration
        in which p delivered m.
        """
        v = self.delivered_in[p][m]
        part = self.part_of(p, v) if v is not None and self.late[p][m] else None
        return q in part if part is not None else self.belongs_to(q, v)


class ExtendedTotalOrder(ExtendedVirtualSynchrony, ReliableOrder):
    """Extended virtual synchrony with total order, in which a process may skip messages only in a
    transitional configuration.

    Gaps are found between two processes that both deliver a message after the gap. State:
    `counted[p][v][k][s]` is the number of messages of s among the first k messages that p delivered in v.
    """

    counted: Map[Process, Map[View, Map[Count, Map[Process, Count]]]] = everywhere(
        everywhere(everywhere(everywhere(0)))
    )

    def is_firm(self, p: Process, m: Message) -> bool:
        """Return True if p must not skip messages before m: p delivers m before its transitional
        configuration.
        """
        return not self.late[p][m]

    def tell_other(self, q: Process, first: Message) -> None:
        """Report that q has delivered another message, `first`, at the same place of the order."""
        expect(False, "ExtendedTotalOrder", Deliver(q, first))

    def judge_place(self, p: Process, m: Message, v: View) -> None:
        """Record the place of the delivery of m in v, and count the senders of the messages that p has
        delivered there.
        """
        k = self.length_in[p][v]
        before = self.counted[p][v][k - 1]
        self.counted[p][v][k] = Map(
            {s: before[s] + (1 if self.origin[m] == s else 0) for s in self.each(Process)}
        )
        super().judge_place(p, m, v)

    def compare_places(self, p: Process, q: Process, m: Message, v: View, j: Place) -> None:
        """Check that neither process has skipped a message that it must not, since the last message that both
        delivered.
        """
        super().compare_places(p, q, m, v, j)
        if self.crossed[p][q][v]:
            self.tell_delivery(q, v, j + 1)
        else:
            self.judge_gap(p, q, m, v, j)
            self.judge_gap(q, p, m, v, self.length_in[p][v])

    def judge_gap(self, p: Process, q: Process, m: Message, v: View, j: Place) -> None:
        """Check a gap of p between the last common message and m, which is at place j of q: p may skip only
        messages of processes outside its transitional configuration, and only if it delivers m in that
        configuration.
        """
        last = self.common[p][q][v]
        part = self.part_of(p, v) if self.late[p][m] else None
        for s in self.each(Process):
            if self.counted[q][v][j - 1][s] > self.counted[q][v][last][s] and (part is None or s in part):
                self.tell_delivery(q, v, last + 1)

    def tell_delivery(self, q: Process, v: View, k: Place) -> None:
        """Report that p has skipped a message that q has delivered in v, from place k on."""
        expect(False, "ExtendedTotalOrder", Deliver(q, self.delivered_at(q, v, k)))

    def delivered_at(self, q: Process, v: View, k: Place) -> Message | None:
        """Return the k-th message that q has delivered in v."""
        return next(
            (m for m in self.each(Message) if self.place_in_view[q][m] == k and self.delivered_in[q][m] == v),
            None,
        )


# What logs are judged by ------------------------------------------------------------------------------------

SAFE_DELIVERY: Final = "safe-delivery"
"""Keyword of safe delivery, an addition to the two keywords of views: all members deliver what one
delivers.
"""

EXTENDED_PROMISES: Final = Promises(
    (
        Property(
            "TransitionalSet",
            "a transitional configuration is a part of its view and of the next; of those who install the "
            "next, exactly its members come from the same view",
            "transitions",
            nothing="no transitional configuration",
            promised=(EXTENDED_VIRTUAL_SYNCHRONY,),
            by="extended",
            reason="those who go together to the next view are not who was told to",
            for_some=True,
        ),
        Property(
            "FailureAtomicity",
            "processes that enter the same transitional configuration have delivered the same before it",
            "several transitions",
            nothing="no transitional configuration",
            promised=(EXTENDED_VIRTUAL_SYNCHRONY,),
            by="extended",
            reason="entered by two processes of which one has delivered more in the view before",
        ),
        Property(
            "SafeDelivery",
            "what is delivered in a view all its correct members deliver; what is delivered in a "
            "transitional configuration, all correct members of that",
            "deliveries owed",
            promised=(EXTENDED_VIRTUAL_SYNCHRONY,),
            by="extended, safe",
            reason="delivered by one process of a view, not by the other, which has not crashed",
            safe=True,
            of_delivery=True,
        ),
    ),
    (EXTENDED_VIRTUAL_SYNCHRONY, SAFE_DELIVERY),
    SafeExtendedSynchrony,
)
EXTENDED_ORDER_PROMISES: Final = Promises(
    (
        Property(
            "ExtendedTotalOrder",
            "what a process passes over it passes over in its transitional configuration, and a process "
            "outside of that has sent it",
            "places compared",
            nothing="fewer than two processes deliver",
            promised=("extended-total-order",),
            reason="delivered without a message that stands before it, for which there is no excuse",
        ),
    ),
    ("extended-total-order",),
    ExtendedTotalOrder,
)
