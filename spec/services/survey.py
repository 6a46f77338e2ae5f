"""Further properties that group communication systems promise: agreement on successors, and safe indications.

Source: Chockler, Keidar and Vitenberg 2001, "Group communication specifications: a comprehensive study", in
sense, not in words. What else that survey lists stands elsewhere: Self Inclusion, Local Monotonicity, Initial
View Event, Primary Component, Sending and Same View Delivery, Virtual Synchrony and Self Delivery in `views`,
Transitional Set in `extended`, the FIFO and causal orders in `causal`, total order in `order`, Delivery
Integrity and No Duplication (together `UniformIntegrity`) in `broadcast`.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, everywhere, expect, obligation, on, record
from antiphon.spec.services.events import Install, Installed, Message, Process, View
from antiphon.spec.services.views import PartitionableSynchrony, ViewAgreement


@record
class Indicate:
    """`process` is told that `message`, which it has delivered, is safe."""

    process: Process
    message: Message


class AgreementOnSuccessors(ViewAgreement):
    """If a process goes from view v to view w, every member of v that installs w comes from v too."""

    @on(Install)
    def judge_install(self, event: Install) -> None:
        """Whoever has installed the view before came from the same one, if it was in it."""
        p = event.process
        v = self.view_of(p)
        w = event.view
        if w > v:
            for q in self.each(Process):
                u = self.came_from[q][w]
                if u is not None and u != v and q != p and (self.is_member(q, v) or self.is_member(p, u)):
                    expect(False, "AgreementOnSuccessors", Install(q, w, event.members))
        super().judge_install(event)

    def is_member(self, p: Process, v: Installed) -> bool:
        """P is a member of v, if v is a view."""
        return any(
            members is not None and p in members
            for w in self.each(View)
            for members in (self.agreed_members(w),)
            if w == v
        )


class SafeIndications(PartitionableSynchrony):
    """A system that delivers at once may tell later that a message is safe: every member of the view delivers
    it unless it crashes.

    Safety: `IndicatedIsDelivered`, in the view of the indication. Obligation: `SafeIndication`. State:
    `indicated_in[p][m]` is the view in which p was told that m is safe.
    """

    indicated_in: Map[Process, Map[Message, Installed | None]] = everywhere(everywhere(None))

    @on(Indicate)
    def note_indication(self, event: Indicate) -> None:
        """P has delivered m in the view that it is in."""
        p = event.process
        m = event.message
        expect(self.view_of(p) > 0 and self.delivered_in[p][m] == self.view_of(p), "IndicatedIsDelivered")
        if self.indicated_in[p][m] is None:
            self.indicated_in[p][m] = self.view_of(p)

    @obligation
    def SafeIndication(self) -> bool:
        """What a process is told to be safe in view v every member of v delivers that does not crash."""
        return all(
            self.indicated_in[p][m] != v or self.has_reached(m, v)
            for p in self.each(Process)
            for m in self.each(Message)
            for v in self.each(View)
        )

    def has_reached(self, m: Message, v: View) -> bool:
        """Every member of v that has not crashed has delivered m."""
        members = self.agreed_members(v)
        return members is None or all(self.delivered[q][m] or not self.correct(q) for q in members)
