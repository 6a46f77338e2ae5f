"""Promises of Pinwheel: every process has a message that some process takes for stable, and total order
broadcast.

Source: J. Kim and C. Kim, 1997, section 3, second paragraph.
"""

from __future__ import annotations

from antiphon.spec.lang import invariant, witness
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Number
from antiphon.spec.protocols.chang_maxemchuk.properties import InQueuesProperties, SequenceProperties
from antiphon.spec.protocols.pinwheel.algorithm import Notifying, Pinwheel
from antiphon.spec.protocols.pinwheel.queues import PinwheelInQueues
from antiphon.spec.services import Process, TotalOrderBroadcast


class NotifyingProperties(Notifying, SequenceProperties):
    """Properties of positive notification."""

    @invariant
    def StableIsEverywhere(self) -> bool:
        """Invariant: all processes have a message that LTM_i takes for stable, `g <= min({R_i[k] | 1 <= k <=
        n})`, and all messages before it.
        """
        return all(
            not self.is_stable(p, g) or all(self.has_up_to(q, g) for q in self.each(Process))
            for p in self.each(Process)
            for g in self.each(Number)
        )

    def has_up_to(self, q: Process, g: Number) -> bool:
        """Return True if q has the updates with gsns up to g, and knows their ACKs."""
        return self.acknowledged[q] >= g and all(
            self.has_number(q, k) for k in self.each(Number) if k <= g
        )

    def is_stable(self, p: Process, g: Number) -> bool:
        """Return True if p takes the update with gsn g for stable."""
        return all(self.heard[p][q] >= g for q in self.each(Process))

    @witness
    def StableEarly(self) -> bool:
        """Witness: the first update is known to be stable before n - 1 others are acknowledged."""
        return self.assigned < self.processes and any(self.is_stable(p, 1) for p in self.each(Process))


class PinwheelProperties(Pinwheel, NotifyingProperties):
    """Pinwheel with its own properties."""


class PinwheelChecked(PinwheelProperties, TotalOrderBroadcast):
    """Pinwheel, checked against its own properties and total order broadcast."""


class PinwheelInQueuesChecked(
    PinwheelInQueues, InQueuesProperties, NotifyingProperties, TotalOrderBroadcast
):
    """Pinwheel over queues, checked against the properties of queues, those of Pinwheel, and total order
    broadcast.
    """
