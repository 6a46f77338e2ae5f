"""View-synchronous communication: what processes that install the same views promise each other about
messages.

Source: Barchet-Estefanel 2002, section 4.3.2: an agreement on the history of views, and Validity,
Termination, View Synchrony, Sending View Delivery, Same View Delivery and Integrity of view-synchronous
communication (VSC). That a process is in the view that it installs, that views grow and that nothing is sent
or delivered outside a view is taken for granted there; Chockler, Keidar and Vitenberg 2001 call these Self
Inclusion, Local Monotonicity and Initial View Event.

1. All are uniform, as their sentences are: what a process installs and delivers before it crashes counts.
   Only what is said of "correct" processes (Validity, one half of Termination) leaves out the crashed.
2. The view of a broadcast and of a delivery is the view that the process installed last. Two views are
   consecutive at a process if it installs one after the other; their numbers may leave some out. A process
   that is listed in a view and never installs it was not in it: Agreement on Successors speaks of those.
3. Judgement does not depend on how concurrent events were merged: what two processes did is compared when the
   later of the two does it, by what each did in its own order. An event costs a number of operations
   proportional to the number of processes, whatever the length of the log.
4. Where a view was installed with different members, `ViewAgreement` is broken. A process then is judged by
   its own list, and what is promised to the members of the view is promised to those that stand in all lists.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from antiphon.spec.lang import Map, Set, everywhere, expect, obligation, on
from antiphon.spec.services.broadcast import Deliveries, Failures
from antiphon.spec.services.events import (
    Broadcast,
    Deliver,
    Install,
    Installed,
    Message,
    Process,
    View,
    Views,
)
from antiphon.spec.services.order import Count
from antiphon.spec.services.promises import Promises, Property


class ViewAgreement(Failures, Views):
    """Agreement on views: a number denotes the same view for all that install it, and every process installs
    views in ascending order.

    Safety: `ViewAgreement`, `SelfInclusion`, `LocalMonotonicity`.

    State: `entered[p]` is the view that p installed last (None: none since the start), `came_from[p][v]` the
    view that p was in before it installed v (None: it has not installed v), `listed_as[v]` the members with
    which v was installed: of several lists, which break `ViewAgreement`, those that stand in all of them.
    """

    entered: Map[Process, View | None] = everywhere(None)
    came_from: Map[Process, Map[View, Installed | None]] = everywhere(everywhere(None))
    listed_as: Map[View, Set[Process] | None] = everywhere(None)

    def view_of(self, p: Process) -> Installed:
        """Return the view that p has installed last, 0 if none."""
        v = self.entered[p]
        return v if v is not None else 1 if self.begins_in_first(p) else 0

    def founders(self) -> Set[Process]:
        """Return the processes that are in the first view from the beginning."""
        return Set() | {p for p in self.each(Process) if self.begins_in_first(p)}

    def agreed_members(self, v: View) -> Set[Process] | None:
        """Return the members of v on which all lists agree; None if no process has been in v."""
        told = self.listed_as[v]
        is_first = v == 1 and self.joiners < self.processes
        return told if told is not None else self.founders() if is_first else None

    def belongs_to(self, p: Process, v: Installed | None) -> bool:
        """Return True if p is a member of view v; False if there is no such view."""
        members = self.agreed_members(v) if v is not None and v > 0 else None
        return members is not None and p in members

    @on(Install)
    def judge_install(self, event: Install) -> None:
        """Check view agreement: "if p installs v_i^p and if q installs v_i^q, then v_i^p = v_i^q" (section
        4.3.2).

        A view that is not later than the process's last one is not entered: the process stays where it was.
        """
        p = event.process
        v = event.view
        told = self.agreed_members(v)
        if told is not None:
            q = next((q for q in self.each(Process) if self.came_from[q][v] is not None), p)
            expect(event.members == told, "ViewAgreement", Install(q, v, told))
        expect(p in event.members, "SelfInclusion")
        expect(v > self.view_of(p), "LocalMonotonicity")
        self.listed_as[v] = told & event.members if told is not None else event.members
        if v > self.view_of(p):
            self.came_from[p][v] = self.view_of(p)
            self.entered[p] = v


class OwnLists(ViewAgreement):
    """Lists of members that each process itself received with its views.

    State: `told_members[p]` is the list with which p installed its view (None: it has installed none).
    """

    told_members: Map[Process, Set[Process] | None] = everywhere(None)

    def own_members(self, p: Process) -> Set[Process]:
        """Return the members of p's view by p's own list; nobody, if p is in none."""
        told = self.told_members[p]
        return told if told is not None else self.founders() if self.view_of(p) > 0 else Set()

    @on(Install)
    def judge_install(self, event: Install) -> None:
        """Judge an installation, and record the list of members with which p goes on."""
        is_later = event.view > self.view_of(event.process)
        super().judge_install(event)
        if is_later:
            self.told_members[event.process] = event.members


class PartitionableSynchrony(ViewAgreement, Deliveries):
    """Part of view synchrony that makes sense where a group may part, and each part has views of its own.

    Safety: `ViewSynchrony`, `SendingViewDelivery`, `SameViewDelivery`, `InitialView`, those of
    `ViewAgreement`, and integrity. Obligation: `VscValidity`.

    State: `sent_in[m]` is the view in which m was broadcast, `delivered_in[p][m]` the view in which p
    delivered it first (0: in none), `apart[p][q][v]` how many messages one of p and q has delivered in v and
    the other has not.
    """

    sent_in: Map[Message, Installed | None] = everywhere(None)
    delivered_in: Map[Process, Map[Message, Installed | None]] = everywhere(everywhere(None))
    apart: Map[Process, Map[Process, Map[View, Count]]] = everywhere(everywhere(everywhere(0)))

    @on(Broadcast)
    def note_sending_view(self, event: Broadcast) -> None:
        """Note the view in which a message is sent; a second broadcast is judged by `BroadcastOnce`."""
        expect(self.view_of(event.process) > 0, "InitialView")
        if self.sent_in[event.message] is None:
            self.sent_in[event.message] = self.view_of(event.process)

    @on(Deliver)
    def judge_delivery_view(self, event: Deliver) -> None:
        """Check a first delivery against the broadcast and against the deliveries of all others."""
        p = event.process
        m = event.message
        expect(self.view_of(p) > 0, "InitialView")
        if m is not None and self.delivered_in[p][m] is None:
            self.judge_sending_view(p, m)
            self.judge_same_view(p, m)
            self.compare_deliveries(p, m)
            self.delivered_in[p][m] = self.view_of(p)

    def judge_sending_view(self, p: Process, m: Message) -> None:
        """Check Sending View Delivery: "A message broadcasted in view v, if delivered, ought to be delivered
        in view v".
        """
        sent = self.sent_in[m]
        sender = self.origin[m]
        if sent is not None and sender is not None:
            expect(self.view_of(p) == sent, "SendingViewDelivery", Broadcast(sender, m))

    def judge_same_view(self, p: Process, m: Message) -> None:
        """Check Same View Delivery: "all processes deliver a message m in the same view, even if this is not
        the view where the message was initially sent".
        """
        for q in self.each(Process):
            other = self.delivered_in[q][m]
            expect(other is None or other == self.view_of(p), "SameViewDelivery", Deliver(q, m))

    def compare_deliveries(self, p: Process, m: Message) -> None:
        """Update, for each process, how many deliveries in this view differ from p's: one more for processes
        that lack m, one less for those that have it.
        """
        v = self.view_of(p)
        for q in self.each(Process):
            if q != p and v > 0:
                now = self.apart[p][q][v] - 1 if self.delivered_in[q][m] == v else self.apart[p][q][v] + 1
                self.apart[p][q][v] = now
                self.apart[q][p][v] = now

    @on(Install)
    def judge_install(self, event: Install) -> None:
        """Check View Synchrony: "If a process p belongs to two consecutive views v and v', and VS-Deliver(m)
        in view v, then every process q in v and v' that installs v', also VS-Delivers(m), i.e., delivers m
        before installing v'".

        The deliveries of two processes in v are complete when both have gone on to v'.
        """
        p = event.process
        v = self.view_of(p)
        if v > 0 and event.view > v:
            for q in self.each(Process):
                if self.came_from[q][event.view] == v and self.apart[p][q][v] > 0:
                    self.tell_difference(p, q, v)
        super().judge_install(event)

    def tell_difference(self, p: Process, q: Process, v: View) -> None:
        """Report, as a violation of `ViewSynchrony`, a message that one of p and q has delivered in v and the
        other lacks.
        """
        expect(False, "ViewSynchrony", Deliver(self.who_has_more(p, q, v), self.one_apart(p, q, v)))

    def one_apart(self, p: Process, q: Process, v: View) -> Message | None:
        """Return a message that one of p and q has delivered in v and the other has not."""
        return next(
            (
                m
                for m in self.each(Message)
                if (self.delivered_in[p][m] == v) != (self.delivered_in[q][m] == v)
            ),
            None,
        )

    def who_has_more(self, p: Process, q: Process, v: View) -> Process:
        """Return the process, p or q, that delivered in v the message of `one_apart(p, q, v)`, which the
        other lacks.
        """
        m = self.one_apart(p, q, v)
        return p if m is not None and self.delivered_in[p][m] == v else q

    @obligation
    def VscValidity(self) -> bool:
        """Obligation, Validity: "If a correct process executes VSCast(m), then it eventually VS-Delivers m
        (in view v or in a subsequent view)".
        """
        return all(
            self.delivered[q][m] or self.origin[m] != q or not self.correct(q)
            for m in self.each(Message)
            for q in self.each(Process)
        )


class ViewSynchrony(PartitionableSynchrony):
    """View-synchronous communication in a primary partition: there is one history of views, and excluded
    processes do not count.

    Obligations beside what `PartitionableSynchrony` asks: `PrimaryPartition`, `VscTermination`.
    """

    @obligation
    def PrimaryPartition(self) -> bool:
        """Obligation: views come one after the other: some process goes to each view from the one
        before it.
        """
        return all(
            self.agreed_members(v) is None
            or self.is_first_view(v)
            or any(self.comes_from_last(p, v) for p in self.each(Process))
            for v in self.each(View)
        )

    def is_first_view(self, v: View) -> bool:
        """Return True if there has been no view before v."""
        return not any(self.agreed_members(u) is not None for u in self.each(View) if u < v)

    def comes_from_last(self, p: Process, v: View) -> bool:
        """Return True if p has gone to v from the last view before v."""
        w = self.came_from[p][v]
        return (
            w is not None
            and not any(self.agreed_members(u) is not None for u in self.each(View) if u > w and u < v)
        )

    @obligation
    def VscTermination(self) -> bool:
        """Obligation, Termination: "If a process executes VSCast(m), then (1) every process in view v
        VS-Delivers(m) or (2) every correct process in v installs a new view".
        """
        return all(
            self.delivered[q][m] or not self.belongs_to(q, self.sent_in[m]) or self.is_behind(self.sent_in[m])
            for m in self.each(Message)
            for q in self.each(Process)
        )

    def is_behind(self, v: Installed | None) -> bool:
        """Return True if every correct process in v has gone on to a later view."""
        return v is not None and not any(
            self.belongs_to(p, v) and self.correct(p) and self.view_of(p) <= v for p in self.each(Process)
        )


class UniformViewSynchrony(ViewSynchrony):
    """View synchrony with uniform delivery: no process delivers a message that not all live members of its
    view deliver.
    """

    @obligation
    def UniformDelivery(self) -> bool:
        """Obligation: each process of view v that stays up delivers what any process delivers in v."""
        return all(
            self.delivered[q][m]
            or not self.correct(q)
            or not any(self.belongs_to(q, self.delivered_in[p][m]) for p in self.each(Process))
            for m in self.each(Message)
            for q in self.each(Process)
        )


# What logs are judged by ------------------------------------------------------------------------------------

VIRTUAL_SYNCHRONY: Final = "virtual-synchrony"
EXTENDED_VIRTUAL_SYNCHRONY: Final = "extended-virtual-synchrony"
VIEW_SYNCHRONY: Final = "view-synchrony"
"""Virtual synchrony of a group that sends undelivered messages of one view again in the next: a message need
not be delivered in the view in which it was broadcast.
"""

PARTITIONABLE_SYNCHRONY: Final = "partitionable-synchrony"
"""View synchrony of a group that may part: each part goes on with views of its own, and nobody is told
beforehand with whom.
"""

_in_views = partial(
    Property,
    promised=(VIRTUAL_SYNCHRONY, EXTENDED_VIRTUAL_SYNCHRONY, VIEW_SYNCHRONY, PARTITIONABLE_SYNCHRONY),
    by="both",
)
_in_primary = partial(Property, promised=(VIRTUAL_SYNCHRONY, VIEW_SYNCHRONY), by="virtual synchrony")
_in_its_view = partial(Property, promised=(VIRTUAL_SYNCHRONY, EXTENDED_VIRTUAL_SYNCHRONY), by="both")

VIEW_PROMISES: Final = Promises(
    (
        _in_views(
            "InitialView",
            "nothing is broadcast or delivered before a view is installed",
            "broadcasts and deliveries",
            reason="happens in no view",
            for_some=True,
        ),
        _in_views(
            "SelfInclusion",
            "a process installs only views that it is a member of",
            "views installed",
            nothing="no view is installed",
            reason="the process is not among the members that it is told",
            for_some=True,
        ),
        _in_views(
            "LocalMonotonicity",
            "a process installs views by growing numbers",
            "views installed",
            nothing="no view is installed",
            reason="installed in that view or a later one",
            for_some=True,
        ),
        _in_views(
            "ViewAgreement",
            "all who install a view install it with the same members",
            "views installed by several",
            nothing="no view that two processes install",
            reason="installed with other members than elsewhere",
            for_some=True,
        ),
        _in_primary(
            "PrimaryPartition",
            "somebody goes to each view from the one before it",
            "views later than the first",
            nothing="no view after the first",
            reason="nobody went to this view from the one before it",
            for_some=True,
        ),
        _in_its_view(
            "SendingViewDelivery",
            "a message is delivered in the view in which it was broadcast",
            "deliveries",
            reason="delivered in another view than it was sent in",
            for_some=True,
        ),
        _in_views(
            "SameViewDelivery",
            "a message is delivered in one view, by whomever",
            "deliveries",
            reason="delivered in different views",
            for_some=True,
        ),
        _in_views(
            "ViewSynchrony",
            "processes that go from one view to the same next one have delivered the same in it",
            "views installed from one view",
            nothing="no two processes go from one view to the same next one",
            reason="installed by two processes of which one has delivered more in the view before",
        ),
        _in_views(
            "VscValidity",
            "a correct process delivers what it broadcasts",
            "broadcasts by their sources",
            reason="broadcast by a correct process, never delivered by it",
        ),
        _in_primary(
            "VscTermination",
            "what is broadcast in a view all its members deliver, or all its correct members install a later "
            "one",
            "broadcasts by their sources",
            reason="not delivered by all of its view, which a correct process has not left",
        ),
        _in_primary(
            "UniformDelivery",
            "what any process delivers in a view, all its correct members deliver",
            "deliveries owed",
            by="virtual synchrony, safe",
            reason="delivered by one process of a view, not by the other, which has not crashed",
            safe=True,
            of_delivery=True,
        ),
    ),
    (VIRTUAL_SYNCHRONY, VIEW_SYNCHRONY, PARTITIONABLE_SYNCHRONY),
    UniformViewSynchrony,
)
