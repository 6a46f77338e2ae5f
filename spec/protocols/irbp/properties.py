"""What must be true of iRBP: views, buffers, the order of messages; and the states that must be reached."""

from __future__ import annotations

from antiphon.spec.lang import witness
from antiphon.spec.protocols.irbp.bounds import IrbpBounded, NormalSparing
from antiphon.spec.services import Message, Process, TotalOrderBroadcast, View, ViewSynchrony


class NormalPhaseChecked(NormalSparing, TotalOrderBroadcast):
    """The normal phase by itself, checked against total order broadcast."""

    @witness
    def AllDelivered(self) -> bool:
        """Every process has delivered every message."""
        return all(self.delivered[p][m] for p in self.each(Process) for m in self.each(Message))


class IrbpChecked(IrbpBounded, TotalOrderBroadcast, ViewSynchrony):
    """iRBP with regular views, checked against total order broadcast and view-synchronous communication."""

    @witness
    def ExcludedLives(self) -> bool:
        """A process is up that the next list leaves out, and the others have installed it."""
        return any(
            not self.is_gone(p)
            and any(not self.is_gone(q) and self.version[q] > self.version[p] for q in self.each(Process))
            and p not in self.listed[v]
            for p in self.each(Process)
            for v in self.each(View)
            if v == self.version[p] + 1
        )
