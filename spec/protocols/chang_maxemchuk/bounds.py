"""Bound: the senders are known beforehand, so that a U_id, the l-th update of a process, says which update it
is.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, constraint
from antiphon.spec.protocols.chang_maxemchuk.queues import ChangMaxemchukInQueues, InQueues
from antiphon.spec.services import Message, Process


class InTurn(InQueues):
    """The first update comes from process `first`, each next one from `step` processes further."""

    first: Const[int] = 0
    step: Const[int] = 1

    @constraint("broadcast")
    def is_sender(self, p: Process, m: Message) -> bool:
        """Bound: it is the turn of p."""
        return p.index == (self.first + m.index * self.step) % self.processes


class ChangMaxemchukBounded(ChangMaxemchukInQueues, InTurn):
    """CM over queues with known senders."""
