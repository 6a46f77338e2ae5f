"""Exploration of figure 6: a restriction by which local steps come first, and faults planted in the figure,
to see that each of its rules is needed.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, constraint, mutation, restriction
from antiphon.spec.protocols.chandra_toueg.figure6 import ChandraToueg, Estimate, Phase, Reply, Round
from antiphon.spec.services.events import Process


@restriction(
    "a process proposes and begins its next round as soon as it can, one process after the other: both are "
    "local and send only what others may leave unread, so that postponing them adds nothing that others see"
)
class Urgent(ChandraToueg):
    """Restriction: no other step happens while a process can propose or begin a round."""

    def can_go_on(self, p: Process) -> bool:
        """Return True if p can propose or begin a round."""
        return self.phase[p] is Phase.idle or (
            self.phase[p] is Phase.looping and not self.has_decided(p) and self.round[p] < self.rounds
        )

    @constraint("gather", "adopt", "refuse", "count", "receive_cast")
    def nobody_can_go_on(self) -> bool:
        """Bound: no process can propose or begin a round."""
        return not any(self.can_go_on(q) and not self.is_gone(q) for q in self.each(Process))

    @constraint("propose", "begin_round")
    def is_first(self, p: Process) -> bool:
        """Return True if no process before p can propose or begin a round."""
        return not any(self.can_go_on(q) and not self.is_gone(q) for q in self.each(Process) if q < p)


@mutation("half of the processes count as a majority")
class HalfIsEnough(ChandraToueg):
    """Planted fault in Chandra and Toueg's consensus, phases 2 and 4: half of the processes count as a
    majority. Correct code waits for more than half.
    """

    def is_majority(self, some: Set[Process]) -> bool:
        """Return True if `some` has at least half of the processes, rounded down: one of two or three."""
        return 2 * len(some) >= self.processes - 1 and len(some) > 0


@mutation("the coordinator proposes any estimate that it has received, whatever its timestamp")
class IgnoreTimestamps(ChandraToueg):
    """Planted fault in phase 2 of Chandra and Toueg's consensus: the coordinator selects any estimate.
    Correct code selects one with the largest timestamp.
    """

    def is_newest(self, item: Estimate, heard: Set[Process]) -> bool:
        """Return True: every estimate counts as the newest."""
        return True


@mutation("who suspects the coordinator acknowledges what it has not received")
class AcknowledgeSuspected(ChandraToueg):
    """Planted fault in phase 3 of Chandra and Toueg's consensus: a process that suspects the coordinator
    sends ack. Correct code sends nack.
    """

    def reply_to_suspected(self, p: Process, r: Round) -> Reply:
        """Return ack as the reply of p, which suspects the coordinator of round r (fault)."""
        return Reply(p, r, True)


class ChandraTouegBounded(
    ChandraToueg,
    restrictions=(Urgent,),
    mutations=(HalfIsEnough, IgnoreTimestamps, AcknowledgeSuspected),
):
    """Chandra and Toueg's figure 6, where the restriction and the planted faults of this module can be
    switched on.
    """
