"""Bound of CM: senders are fixed beforehand, so that the pair U_id (sender, l-th update) determines the
update.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, constraint
from antiphon.spec.protocols.chang_maxemchuk.queues import ChangMaxemchukInQueues, InQueues
from antiphon.spec.services import Message, Process


class InTurn(InQueues):
    """Restriction: senders take turns: the first update comes from process `first`, each next one from `step`
    processes further.
    """

    first: Const[int] = 0
    step: Const[int] = 1

    @constraint("broadcast")
    def is_sender(self, p: Process, m: Message) -> bool:
        """Bound: it is p's turn to multicast m."""
        return p.index == (self.first + m.index * self.step) % self.processes


class ChangMaxemchukBounded(ChangMaxemchukInQueues, InTurn):
    """CM over queues with known senders."""
