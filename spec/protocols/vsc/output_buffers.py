"""The time-bounded buffering problem: when may a process that waits for an ACK discard a message from its
output buffer?

Source: Barchet-Estefanel 2002, sections 3.1.1 and 4.3.3: p sends m to q repeatedly until it receives ack(m),
over channels that may lose; "if q crashes, p might never receive ack(m) from q". P's failure detector is all
that distinguishes a crashed q from one that is not heard of. Section 4.3.4: program-controlled crash.

Two runs go side by side. In the first q has crashed before anything reached it; in the second q is up, and
every copy so far is lost. P has seen the same in both, for as long as `alike`. A rule for discarding can
depend only on p's `history`. Here p may discard after any history that it can have in the first run, so the
states in which any rule discards are all explored. A rule must let p discard at last in the first run; the
question is whether it then loses m, in the second, for a q that lives. Finite histories decide it; they show
nothing about what a class of detectors promises for the rest of a run.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Const,
    Seq,
    Spec,
    action,
    ambiguity,
    invariant,
    mutation,
    require,
    witness,
)


class Seen(Enum):
    """Event at p: it sends m once more, or its failure detector begins or ends to suspect q."""

    sent, suspected, trusted = range(3)


detector = ambiguity(
    "detector",
    "eventually perfect",
    about="which of the failure detectors of section 4.3.3 p has: class ◊P, class S, or the perfect one, P",
)

discarding = ambiguity(
    "discarding",
    "alone",
    about="whether p merely discards m (section 4.3.3), or kills q and then discards it (section 4.3.4)",
)


class OutputBuffer(Spec):
    """Output buffer of p that holds message m for q, in two runs that p cannot distinguish: in one q is
    alive, in the other it has crashed.
    """

    length: Const[int] = 4

    history: Annotated[Seq[Seen], AtMost("length")] = ()
    alike: bool = True
    discarded: bool = False
    killed: bool = False

    def suspects(self) -> bool:
        """Return True if p suspects q now."""
        told = tuple(seen for seen in self.history if seen is not Seen.sent)
        return len(told) > 0 and told[-1] is Seen.suspected

    def could_be_told(self, seen: Seen) -> bool:
        """Return True if the event may come next in p's history: p may send at any time, and p's detector
        alternates between suspicion and trust.
        """
        return seen is Seen.sent or (seen is Seen.suspected) != self.suspects()

    def tells_of_dead(self, seen: Seen) -> bool:
        """Return True if the detector may report `seen` in the run where q has crashed: always, since it may
        be late and err meanwhile.
        """
        return True

    def tells_of_living(self, seen: Seen) -> bool:
        """Return True if the detector may report `seen` in the run where q is up: always, since ◊P may err
        for a while.
        """
        return True

    @action(fairness="weak")
    def see(self, seen: Seen) -> None:
        """See an event in the run where q has crashed, and note whether p could see it in the run where q is
        up. After p has discarded m nothing more matters.
        """
        require(len(self.history) < self.length and not self.discarded)
        require(self.could_be_told(seen) and self.tells_of_dead(seen))
        self.alike = self.alike and self.tells_of_living(seen)
        self.history += (seen,)

    @action(fairness="weak")
    def discard(self) -> None:
        """Discard m from the output buffer, where p's rule says so after the present history; it happens once
        at most.
        """
        require(not self.discarded and self.may_discard())
        self.discarded = True
        self.killed = self.kills()

    def may_discard(self) -> bool:
        """Return True if p's rule may discard m after the present history: as printed after any history."""
        return True

    def kills(self) -> bool:
        """Return True if p kills q before it discards m."""
        return False

    @invariant
    def EveryRuleLoses(self) -> bool:
        """Invariant: whatever p has seen when it discards m, p has seen the same in a run where q lives and
        never gets m.
        """
        return not self.discarded or (self.alike and not self.killed)

    @invariant
    def NoLoss(self) -> bool:
        """Invariant: if p has discarded m, then q has received m or is not alive."""
        return not self.discarded or not self.alike or self.killed

    @invariant
    def OpinionsChange(self) -> bool:
        """Invariant: p's opinion of q alternates: suspicion first, then trust, then suspicion again."""
        told = tuple(seen for seen in self.history if seen is not Seen.sent)
        return all((told[k] is Seen.suspected) == (k % 2 == 0) for k in range(len(told)))

    @witness
    def DiscardedAfterTrust(self) -> bool:
        """Witness: p has suspected q, trusts it again, and discards m."""
        return self.discarded and len(self.history) > 0 and self.history[-1] is Seen.trusted

    @witness
    def DiscardedAfterSuspicion(self) -> bool:
        """Witness: p suspects q, has sent m before and after the suspicion, and discards it."""
        return (
            self.discarded
            and self.suspects()
            and len(self.history) > 2
            and self.history[0] is Seen.sent
            and self.history[-1] is Seen.sent
        )


@detector.reading("strong")
class DetectorStrong(OutputBuffer):
    """Reading of section 4.3.3: the detector is strong (S): one correct process, p itself, is never
    suspected, and q may be suspected for ever.
    """

    def tells_of_living(self, seen: Seen) -> bool:
        """Return True: a strong detector may say anything about q while it lives."""
        return True


@detector.reading("perfect")
class DetectorPerfect(OutputBuffer):
    """Reading of section 4.3.3: the detector is perfect (P): it suspects nobody before the crash."""

    def tells_of_dead(self, seen: Seen) -> bool:
        """Return True unless `seen` says that p trusts q again: a perfect detector never does after the crash
        of q.
        """
        return seen is not Seen.trusted

    def tells_of_living(self, seen: Seen) -> bool:
        """Return True unless `seen` is a suspicion: a perfect detector has none while q lives."""
        return seen is not Seen.suspected

    @invariant
    def NothingTakenBack(self) -> bool:
        """Invariant: p never trusts q again after a suspicion."""
        return all(seen is not Seen.trusted for seen in self.history)

    def may_discard(self) -> bool:
        """Return True if p suspects q, as the rule for discarding asks."""
        return self.suspects()


@discarding.reading("after killing")
class DiscardingAfterKilling(OutputBuffer):
    """Reading of section 4.3.4 ("p can decide to kill q, and then to discard m from its output buffer"): p
    kills q before it discards.
    """

    def kills(self) -> bool:
        """Return True: p always kills q first."""
        return True


@mutation("p discards without regard to what it has seen")
class Hasty(OutputBuffer):
    """Planted fault: p discards a message from its output buffer at any time. Correct code asks the failure
    detector first.
    """

    def may_discard(self) -> bool:
        """Return True: p may discard m after every history."""
        return True


class OutputBufferChecked(OutputBuffer, readings=(detector, discarding), mutations=(Hasty,)):
    """Time-bounded buffering with each class of failure detectors."""
