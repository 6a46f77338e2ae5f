"""Proof by induction that the machine of view synchrony keeps its promises, for every number of processes,
messages and views, where all processes begin in the first view (`joiners` is 0): `antiphon check
antiphon.spec.services.view_induction:ViewSynchronyProof --prove --every processes,messages,views`.

In words: no view that has formed stands between a view and the one that was formed from it. So a process that
was in both, and has installed the later one, came to it from the earlier one, and there it had to have
delivered just what the others had that went before it. No process comes to it from any other view: a member
of the later view was one of the earlier. Afterwards it delivers nothing more in the earlier view. A message
is delivered in the view of its process only, which is the view in which it was sent; and a process leaves a
view with its own messages delivered.

`links` remembers from which view each view was formed, and `newest` the last one; they change no step.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, initial, invariant, record, step_invariant
from antiphon.spec.services.broadcast import Deliveries
from antiphon.spec.services.events import Installed, Message, Process, View
from antiphon.spec.services.view_machine import ViewSynchronousMachine


@record
class Link:
    """Two views of which the later was formed from the earlier (0: from none)."""

    earlier: Installed
    later: View


class ViewSynchronyProof(ViewSynchronousMachine, Deliveries):
    """The machine of view synchrony, with what it promises and the invariants of the proof."""

    newest: Installed = 0
    links: Set[Link] = Set()

    @initial
    def found(self) -> None:
        """Begin as the machine does; the first view is the newest."""
        super().found()
        self.newest = 1

    def note_installation(self, p: Process, v: View, members: Set[Process]) -> None:
        """Record that p is in view v, and from which view v was formed."""
        if not self.has_formed(v):
            self.links |= {Link(self.current_view[p], v)}
            self.newest = v
        super().note_installation(p, v, members)

    # What is promised ---------------------------------------------------------------------------------------

    @invariant
    def SameDeliveries(self) -> bool:
        """Invariant, View Synchrony: two processes that have gone from a view to the one that was formed from
        it have delivered the same messages there.
        """
        return all(
            (self.delivery_view[p][m] == link.earlier) == (self.delivery_view[q][m] == link.earlier)
            for link in self.links
            for p in self.each(Process)
            for q in self.each(Process)
            for m in self.each(Message)
            if self.has_followed(p, link.earlier, link.later)
            and self.has_followed(q, link.earlier, link.later)
            and p in self.view_members[link.later]
            and q in self.view_members[link.later]
        )

    @invariant
    def DeliveredWhereSent(self) -> bool:
        """Invariant, Sending View Delivery: a message is delivered in the view in which it was sent."""
        return all(
            self.delivery_view[p][m] == 0
            or (self.author[m] is not None and self.delivery_view[p][m] == self.sending_view[m])
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @invariant
    def OwnIsDelivered(self) -> bool:
        """Invariant: a process that has gone on from a view has delivered what it had sent there."""
        return all(
            self.author[m] != p
            or self.sending_view[m] == self.current_view[p]
            or (self.sending_view[m] < self.current_view[p] and self.delivery_view[p][m] > 0)
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @invariant
    def InItsView(self) -> bool:
        """Invariant, Self Inclusion: a process is a member of its view."""
        return all(
            v != self.current_view[p] or p in self.view_members[v]
            for p in self.each(Process)
            for v in self.each(View)
        )

    @step_invariant
    def Onwards(self, before: ViewSynchronyProof) -> bool:
        """Step invariant, Local Monotonicity: no process goes back to an earlier view."""
        return all(before.current_view[p] <= self.current_view[p] for p in self.each(Process))

    @step_invariant
    def OneList(self, before: ViewSynchronyProof) -> bool:
        """Step invariant: the members of a view that has formed stay as they are."""
        return all(
            (q in before.view_members[v]) == (q in self.view_members[v])
            for v in self.each(View)
            for p in self.each(Process)
            for q in self.each(Process)
            if p in before.view_members[v]
        )

    @step_invariant
    def AlongLinks(self, before: ViewSynchronyProof) -> bool:
        """Step invariant: a process goes on to a view only from the one from which that was formed, so that
        `SameDeliveries` speaks of all that have gone on.
        """
        return all(
            link.earlier == before.current_view[p]
            for link in self.links
            for p in self.each(Process)
            if link.later == self.current_view[p] and self.current_view[p] != before.current_view[p]
        )

    # What is true besides -----------------------------------------------------------------------------------

    @invariant
    def NewestHasFormed(self) -> bool:
        """Invariant: the newest view has formed, and no view after it."""
        return (
            self.newest == 0
            or any(
                v == self.newest and p in self.view_members[v]
                for p in self.each(Process)
                for v in self.each(View)
            )
        ) and all(
            v <= self.newest for p in self.each(Process) for v in self.each(View) if p in self.view_members[v]
        )

    @invariant
    def NobodyIsLater(self) -> bool:
        """Invariant: no process is in a view after the newest, and no view after it was formed."""
        return all(self.current_view[p] <= self.newest for p in self.each(Process)) and all(
            link.later <= self.newest for link in self.links
        )

    @invariant
    def NothingBetween(self) -> bool:
        """Invariant: a view is later than the one from which it was formed, and no view that has formed is
        between them.
        """
        return all(
            link.earlier < link.later
            and (v <= link.earlier or v >= link.later or p not in self.view_members[v])
            for link in self.links
            for p in self.each(Process)
            for v in self.each(View)
        )

    @invariant
    def MembersOfBoth(self) -> bool:
        """Invariant: every process has been in a view, and a member of a view was one of the view from which
        that was formed.
        """
        return all(self.current_view[p] > 0 for p in self.each(Process)) and all(
            p not in self.view_members[link.later]
            or (link.earlier > 0 and p in self.view_members[link.earlier])
            for link in self.links
            for p in self.each(Process)
        )

    @invariant
    def SameMessages(self) -> bool:
        """Invariant: the judge knows the same messages and deliveries as the machine."""
        return all(
            self.origin[m] == self.author[m] and self.delivered[p][m] == (self.delivery_view[p][m] > 0)
            for p in self.each(Process)
            for m in self.each(Message)
        )
