"""Two-phase commit for every number of resource managers: the proof of `two-phase`.

In words: the order to commit is sent when all managers were heard to be prepared. Then no manager has
aborted, since a prepared one aborts only when told to; and the transaction manager sends only one of the two
orders.
"""

from __future__ import annotations

from antiphon.spec.examples.two_phase import RM, Abort, Commit, Phase, Prepared, Status, TwoPhase
from antiphon.spec.lang import invariant


class TwoPhaseProof(TwoPhase):
    """Invariants of the proof: the messages that must have been sent when a resource manager commits."""

    @invariant
    def CommittedTogether(self) -> bool:
        """Invariant: a resource manager has committed only after the order to commit."""
        return all(
            self.status[r] is not Status.COMMITTED or Commit() in self.messages for r in self.each(RM)
        )

    @invariant
    def ToldByPhase(self) -> bool:
        """Invariant: the transaction manager's messages agree with its decision."""
        return (Commit() in self.messages) == (self.phase is Phase.COMMITTED) and (
            Abort() in self.messages
        ) == (self.phase is Phase.ABORTED)

    @invariant
    def HeardWasSaid(self) -> bool:
        """Invariant: a resource manager that counts as prepared has sent so, and is not working any more."""
        return all(r not in self.prepared or Prepared(r) in self.messages for r in self.each(RM)) and all(
            Prepared(r) not in self.messages or self.status[r] is not Status.WORKING for r in self.each(RM)
        )

    @invariant
    def CommitIfAllPrepared(self) -> bool:
        """Invariant: the order to commit is sent only when all are prepared, and then no resource manager has
        aborted.
        """
        return Commit() not in self.messages or all(
            r in self.prepared and self.status[r] is not Status.ABORTED for r in self.each(RM)
        )

    @invariant
    def PreparedAbortsWhenTold(self) -> bool:
        """Invariant: a resource manager that has said to be prepared aborts only when ordered."""
        return all(
            Prepared(r) not in self.messages
            or self.status[r] is not Status.ABORTED
            or Abort() in self.messages
            for r in self.each(RM)
        )
