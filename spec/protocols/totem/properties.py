"""Promises of Totem: every process has delivered an update that some process takes for stable, and total
order broadcast.

Source: J. Kim and C. Kim, 1997, section 5, the paragraph on Totem and its footnote. The footnote's sentence
on runs in which everything arrives at once is checked in `bounds.Instant`.
"""

from __future__ import annotations

from antiphon.spec.lang import invariant, witness
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Number
from antiphon.spec.protocols.totem.bounds import TotemBounded
from antiphon.spec.services import Process, TotalOrderBroadcast


class TotemProperties(TotemBounded):
    """Totem with its own properties."""

    @invariant
    def StableIsDelivered(self) -> bool:
        """Invariant: every process has delivered each update that some process takes for stable."""
        return all(self.seen[p] <= self.status[q] for p in self.each(Process) for q in self.each(Process))

    @witness
    def UnstableBefore(self) -> bool:
        """Witness: two passes before the end of the second rotation, some process does not know that an
        update is stable.
        """
        return any(
            k <= self.assigned
            and self.passes == self.sent_at[k] + 2 * self.processes - 2
            and any(self.seen[p] < k for p in self.each(Process))
            for k in self.each(Number)
        )

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every update was multicast, and every process has delivered every update."""
        return self.assigned == self.messages and all(
            self.status[p] == self.messages for p in self.each(Process)
        )


class TotemChecked(TotemProperties, TotalOrderBroadcast):
    """The ordering of Totem, checked against its own properties and total order broadcast."""
