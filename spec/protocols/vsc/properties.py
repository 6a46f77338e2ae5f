"""Properties of figure 29: view-synchronous communication, and witnesses of states that must be reached."""

from __future__ import annotations

from antiphon.spec.lang import witness
from antiphon.spec.protocols.vsc.bounds import VscBounded
from antiphon.spec.services.events import Message, Process
from antiphon.spec.services.views import ViewSynchrony


class VscChecked(VscBounded, ViewSynchrony):
    """Properties of figure 29."""

    @witness
    def SecondView(self) -> bool:
        """Witness: two processes are together in the second view."""
        return any(
            self.in_view[p] == 2 and self.in_view[q] == 2
            for p in self.each(Process)
            for q in self.each(Process)
            if p < q
        )

    @witness
    def LastView(self) -> bool:
        """Witness: two processes are together in the last view."""
        return any(
            self.in_view[p] == self.views and self.in_view[q] == self.views
            for p in self.each(Process)
            for q in self.each(Process)
            if p < q
        )

    @witness
    def LeftOut(self) -> bool:
        """Witness: a process is left out of the next view, and stays in its old one."""
        return any(self.left_out[p] for p in self.each(Process))

    @witness
    def DeliveredByDecision(self) -> bool:
        """Witness: a process has delivered a message in step 6, as part of the decision."""
        return any(
            m in self.handed[p] and m not in self.unstable[p] and self.in_view[p] > 1 and not self.down[p]
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @witness
    def Stabilised(self) -> bool:
        """Witness: a process has removed a message from its unstable set, and another process has not yet."""
        return any(
            m in self.handed[p] and m not in self.unstable[p] and m in self.unstable[q]
            for m in self.each(Message)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def SentLater(self) -> bool:
        """Witness: a message is delivered that was sent in a later view than the first."""
        return any(
            self.sent_in[m] == 2 and self.delivered_in[p][m] == 2 and self.origin[m] != p
            for m in self.each(Message)
            for p in self.each(Process)
        )
