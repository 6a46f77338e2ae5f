"""Figure 6 among processes that crash and suspect one another, judged by consensus.

`ChandraTouegChecked` has a detector of class eventually S, and bounds on false suspicions and on rounds.
`ChandraTouegForever` has no bound on rounds, and a detector that promises completeness only: whether all
decide then depends on what the detector does in the end.
"""

from __future__ import annotations

from antiphon.spec.environment.detectors import (
    DetectedAtOnce,
    EventuallyStrong,
    FalseSuspicions,
    Suspicions,
)
from antiphon.spec.lang import (
    Set,
    action,
    eventually,
    eventually_always,
    everywhere,
    fair,
    implies,
    invariant,
    require,
    witness,
)
from antiphon.spec.protocols.chandra_toueg.bounds import ChandraTouegBounded
from antiphon.spec.protocols.chandra_toueg.figure6 import Phase, Reply, Round
from antiphon.spec.services.consensus import Consensus
from antiphon.spec.services.events import Process


class ChandraTouegDetecting(ChandraTouegBounded, Suspicions, Consensus, restrictions=(DetectedAtOnce,)):
    """Figure 6 with a failure detector.

    A message of a process that is up arrives in the end; a message of a crashed process may be lost.
    """

    def is_suspected(self, p: Process, q: Process) -> bool:
        """Return True if the detector of p suspects q: the detector supplies the figure's D_p."""
        return self.suspected[p][q]

    def are_up(self, heard: Set[Process]) -> bool:
        """Return True if all processes in `heard`, whose messages a process has received, are up."""
        return not any(self.down[q] for q in heard)

    proposing = fair("propose", per="p")
    beginning = fair("begin_round", per="p")
    gathering = fair("gather", per="p", where="are_up")
    replying = fair("adopt", "refuse", per="p")
    counting = fair("count", per="p", where="are_up")

    def everybody_has_decided(self) -> bool:
        """Return True if every process that is up has decided."""
        return all(self.down[p] or self.has_decided(p) for p in self.each(Process))

    def has_been_adopted(self, r: Round) -> bool:
        """Return True if a majority has adopted the estimate of round r."""
        return self.is_majority(Set(q for q in self.each(Process) if Reply(q, r, True) in self.replies))

    @invariant
    def Locked(self) -> bool:
        """Invariant: the value that a majority has adopted in a round is proposed by every later
        coordinator.
        """
        return all(
            item.value == other.value
            for item in self.proposals
            if self.has_been_adopted(item.round)
            for other in self.proposals
            if other.round > item.round
        )

    @invariant
    def OneProposal(self) -> bool:
        """Invariant: all proposals of one round have the same value."""
        return all(
            item.round != other.round or item.value == other.value
            for item in self.proposals
            for other in self.proposals
        )

    @witness
    def AllDecide(self) -> bool:
        """Witness: every process has decided."""
        return all(self.decision[p] is not None for p in self.each(Process))

    @witness
    def WrongSuspicion(self) -> bool:
        """Witness: a process refused a coordinator that was up, and the coordinator's estimate was decided
        all the same.
        """
        return any(
            not item.ack
            and not self.down[self.coordinator(item.round)]
            and any(
                other.round == item.round and self.decision[item.process] == other.value
                for other in self.proposals
            )
            for item in self.replies
        )


class ChandraTouegChecked(ChandraTouegDetecting, EventuallyStrong):
    """Consensus of figure 6 with a detector of class eventually S, for bounded exploration."""

    @witness
    def LaterRound(self) -> bool:
        """Witness: a process decides, in a later round than the first, a value that a crashed process had
        proposed.
        """
        return any(
            self.decision[p] is not None
            and self.round[p] > 1
            and all(self.down[q] for q in self.each(Process) if self.proposal[q] == self.decision[p])
            for p in self.each(Process)
        )


class ChandraTouegForever(ChandraTouegDetecting, FalseSuspicions):
    """Figure 6 with unlimited rounds, among processes that propose the same value, with a detector that need
    not be accurate.

    When all processes are at the end of the last round with one estimate, rounds are numbered from 1 again.
    This changes nothing else: messages of earlier rounds are never read, the next coordinator is the same,
    and with one estimate for all no timestamp matters. Every run of this class is a run of figure 6 with
    other round numbers.
    """

    def is_at_the_end(self, p: Process) -> bool:
        """Return True if p is about to begin a round beyond the last number."""
        return self.phase[p] is Phase.looping and self.round[p] == self.rounds and not self.has_decided(p)

    def knows_no_other(self, p: Process) -> bool:
        """Return True if no process has another estimate than p."""
        return all(self.down[q] or self.estimate[q] == self.estimate[p] for q in self.each(Process))

    @action(fairness="weak")
    def number_again(self) -> None:
        """Number the rounds from 1 again when all are over: the coordinator of the first round follows that
        of the last.
        """
        require(self.rounds % self.processes == 0)
        require(all(self.down[p] or self.is_at_the_end(p) for p in self.each(Process)))
        require(all(self.down[p] or self.knows_no_other(p) for p in self.each(Process)))
        require(all(self.down[p] or len(self.cast[p]) == 0 for p in self.each(Process)))
        self.round = everywhere(0)
        self.timestamp = everywhere(0)
        self.estimates = Set()
        self.proposals = Set()
        self.replies = Set()

    Decided = eventually("everybody_has_decided")
    """Termination: all that are up decide in the end. It fails if the detector is never accurate."""
    DecidedIfTrusted = implies(eventually_always("is_trusted_by_all"), eventually("everybody_has_decided"))
    """Termination where some process is suspected by nobody in the end."""
