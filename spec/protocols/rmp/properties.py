"""Promises of the levels of RMP and the rings of TRMP, and total order broadcast."""

from __future__ import annotations

from antiphon.spec.lang import invariant, obligation, witness
from antiphon.spec.protocols.rmp.levels import Levels
from antiphon.spec.protocols.rmp.rings import RingsRepaired
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


class RmpChecked(Levels, TotalOrderBroadcast):
    """RMP's normal phase, checked against its level and total order broadcast."""

    def has(self, q: Process, m: Message) -> bool:
        """Return True if q has m in its buffer, or had it until it was stable."""
        return m in self.received[q] or m in self.collected[q]

    @invariant
    def HeldByEnough(self) -> bool:
        """Invariant: at least `level` processes have each message that some process has delivered."""
        return all(
            not any(self.delivered[p][m] for p in self.each(Process))
            or sum(1 for q in self.each(Process) if self.has(q, m)) >= self.level
            for m in self.each(Message)
        )

    @invariant
    def DeliveredSurvives(self) -> bool:
        """Invariant: a message that any process has delivered, even one that has stopped since, is held by
        some process that is up.
        """
        return all(
            not any(self.delivered[p][m] for p in self.each(Process))
            or any(self.has(q, m) and not self.down[q] for q in self.each(Process))
            for m in self.each(Message)
        )

    @invariant
    def CollectedAtAll(self) -> bool:
        """Invariant: every process has each message that some process has removed from its buffer."""
        return all(
            m not in self.collected[p] or self.has(q, m)
            for p in self.each(Process)
            for q in self.each(Process)
            for m in self.each(Message)
        )

    @witness
    def TwoInOneAck(self) -> bool:
        """Witness: an acknowledgement has numbered two messages."""
        return any(
            one.sender == other.sender
            and other.number == one.number + 1
            and one.message is not None
            and other.message is not None
            for one in self.acks
            for other in self.acks
        )

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every process has delivered every message."""
        return all(self.delivered[p][m] for p in self.each(Process) for m in self.each(Message))


class RingsChecked(RingsRepaired, TotalOrderBroadcast):
    """TRMP's rings, checked against total order broadcast."""

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every process has delivered every message."""
        return all(self.delivered[p][m] for p in self.each(Process) for m in self.each(Message))

    @witness
    def FromBelow(self) -> bool:
        """Witness: all processes have delivered a message whose sender is not on the ring of primaries."""
        return any(
            not self.is_primary(p)
            and self.source[m] == p
            and all(self.delivered[q][m] for q in self.each(Process))
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @obligation
    def PrimariesDeliver(self) -> bool:
        """Obligation: all primaries that are up deliver the messages of a primary."""
        return all(
            not any(
                self.source[m] == p and self.is_primary(p) and not self.down[p] for p in self.each(Process)
            )
            or all(self.delivered[q][m] or self.down[q] or not self.is_primary(q) for q in self.each(Process))
            for m in self.each(Message)
        )
