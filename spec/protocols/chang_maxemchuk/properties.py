"""Promises of CM: the processes that have an update after a number of acknowledgements, and total order
broadcast.

Source: J. Kim and C. Kim, 1997, section 3, first paragraph.
"""

from __future__ import annotations

from antiphon.spec.lang import invariant, obligation, witness
from antiphon.spec.protocols.chang_maxemchuk.algorithm import ChangMaxemchuk, Number, Sequence
from antiphon.spec.protocols.chang_maxemchuk.queues import ChangMaxemchukInQueues, InQueues
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


class SequenceProperties(Sequence):
    """Properties that CM and Pinwheel share."""

    @obligation
    def AllAssigned(self) -> bool:
        """Obligation: every update gets a number."""
        return self.assigned == self.broadcasts

    def sent_by(self, p: Process) -> int:
        """Return the number of updates that p has multicast."""
        return sum(1 for m in self.each(Message) if self.source[m] == p)

    @invariant
    def WindowKept(self) -> bool:
        """Invariant: no process has more updates without a number than its window allows."""
        return all(
            sum(1 for m in self.each(Message) if self.source[m] == p and not self.is_numbered(m))
            <= self.window
            for p in self.each(Process)
        )

    @witness
    def SendsAgain(self) -> bool:
        """Witness: a process has multicast more updates than its window holds, since it learned the numbers
        of the earlier ones.
        """
        return any(self.sent_by(p) > self.window for p in self.each(Process))

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every update was multicast, and every process has delivered every update."""
        return self.broadcasts == self.messages and all(
            self.status[p] == self.messages for p in self.each(Process)
        )


class ChangMaxemchukProperties(ChangMaxemchuk, SequenceProperties):
    """CM with its own properties."""

    def holders(self, k: Number) -> int:
        """Return the number of processes that have the update with gsn k."""
        return sum(1 for p in self.each(Process) if self.has_number(p, k))

    @invariant
    def HoldersGrow(self) -> bool:
        """Invariant: after U and L subsequent updates are acknowledged, L + 1 processes have obtained U (L <
        n).
        """
        return all(
            k > self.assigned or self.holders(k) > min(self.assigned - k, self.processes - 1)
            for k in self.each(Number)
        )

    @invariant
    def StableAfterRound(self) -> bool:
        """Invariant: after U and n - 1 subsequent updates are acknowledged, all processes have U."""
        return all(
            k + self.processes - 1 > self.assigned or self.holders(k) == self.processes
            for k in self.each(Number)
        )

    @witness
    def HoldersNoMore(self) -> bool:
        """Witness: after n - 2 acknowledgements that follow the one of an update, one process does not have
        the update.
        """
        return any(
            k + self.processes - 2 == self.assigned and self.holders(k) == self.processes - 1
            for k in self.each(Number)
        )


class ChangMaxemchukChecked(ChangMaxemchukProperties, TotalOrderBroadcast):
    """CM, checked against its own properties and total order broadcast."""


class InQueuesProperties(InQueues):
    """Properties that CM and Pinwheel over queues share."""

    @invariant
    def RemovedIsEverywhere(self) -> bool:
        """Invariant: an update that a process has removed from its buffer was obtained by every process."""
        return all(
            m in self.buffer[p] or all(m in self.obtained[q] for q in self.each(Process))
            for p in self.each(Process)
            for m in self.obtained[p]
        )

    @witness
    def SomethingRemoved(self) -> bool:
        """Witness: a process has removed an update."""
        return any(self.obtained[p] != self.buffer[p] for p in self.each(Process))

    @witness
    def AckOvertaken(self) -> bool:
        """Witness: an ACK arrived before one with a lower gsn."""
        return any(len(self.early[p]) > 0 for p in self.each(Process))


class ChangMaxemchukInQueuesChecked(ChangMaxemchukInQueues, InQueuesProperties, ChangMaxemchukChecked):
    """CM over queues, checked against the properties of queues, those of CM, and total order broadcast."""
