"""Two-phase commit for every number of resource managers: the proof of `two-phase`.

In words: a commit is said when all were heard to be prepared, and then nobody has aborted, since who is
prepared aborts only when told; and the transaction manager says one of the two.
"""

from __future__ import annotations

from antiphon.spec.examples.two_phase import RM, Abort, Commit, Phase, Prepared, Status, TwoPhase
from antiphon.spec.lang import invariant


class TwoPhaseProof(TwoPhase):
    """Invariants of the proof: the messages that were sent when a manager commits."""

    @invariant
    def CommittedTogether(self) -> bool:
        """Invariant: a manager has committed only after the decision to commit, when all were prepared."""
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
        """Invariant: a manager that is taken to be prepared has said so, and works no more."""
        return all(r not in self.prepared or Prepared(r) in self.messages for r in self.each(RM)) and all(
            Prepared(r) not in self.messages or self.status[r] is not Status.WORKING for r in self.each(RM)
        )

    @invariant
    def CommitIfAllPrepared(self) -> bool:
        """A commit is said when all were prepared, and then nobody has aborted."""
        return Commit() not in self.messages or all(
            r in self.prepared and self.status[r] is not Status.ABORTED for r in self.each(RM)
        )

    @invariant
    def PreparedAbortsWhenTold(self) -> bool:
        """Invariant: a manager that has said to be prepared aborts only when told."""
        return all(
            Prepared(r) not in self.messages
            or self.status[r] is not Status.ABORTED
            or Abort() in self.messages
            for r in self.each(RM)
        )
