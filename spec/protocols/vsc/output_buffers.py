"""The time-bounded buffering problem: when may a process that waits for an ACK discard a message from its
output buffer?

Source: Barchet-Estefanel 2002, sections 3.1.1 and 4.3.3: p sends m to q repeatedly until it receives
ack(m), over channels that may lose; "if q crashes, p might never receive ack(m) from q"; q has crashed or is
merely not heard of, and p has its failure detector to tell. Section 4.3.4: program-controlled crash.

Two runs go side by side. In the one q has crashed before anything reached it; in the other it is up, and
every copy so far is lost. P has seen the same in both, for as long as `alike`. A rule that tells p when to
discard can depend on nothing but what p has seen, `history`; here p may discard after any history that it can
have in the first run, so that whatever the rule, the states in which it discards are among those that are
looked at. What a rule must give in the first run, that p discards at last, may in the second lose m for a q
that lives: that is the question. Finite histories decide it: of what a class of detectors promises for the
rest of a run they show nothing.
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
    """P's buffer with m for q, in the two runs."""

    length: Const[int] = 4

    history: Annotated[Seq[Seen], AtMost("length")] = ()
    alike: bool = True
    discarded: bool = False
    killed: bool = False

    def suspects(self) -> bool:
        """P suspects q now."""
        told = tuple(seen for seen in self.history if seen is not Seen.sent)
        return len(told) > 0 and told[-1] is Seen.suspected

    def could_be_told(self, seen: Seen) -> bool:
        """P sends at any time; its detector changes between two opinions."""
        return seen is Seen.sent or (seen is Seen.suspected) != self.suspects()

    def tells_of_dead(self, seen: Seen) -> bool:
        """Return True if the detector may say so where q has crashed: it may be late, and err meanwhile."""
        return True

    def tells_of_living(self, seen: Seen) -> bool:
        """Return True if the detector may say so where q is up: ◊P may err for a while."""
        return True

    @action(fairness="weak")
    def see(self, seen: Seen) -> None:
        """See an event where q has crashed, and note whether p could see it where q is up; not after it has
        discarded m, since that decides nothing more.
        """
        require(len(self.history) < self.length and not self.discarded)
        require(self.could_be_told(seen) and self.tells_of_dead(seen))
        self.alike = self.alike and self.tells_of_living(seen)
        self.history += (seen,)

    @action(fairness="weak")
    def discard(self) -> None:
        """P's rule says so, after this history; a second time would change nothing."""
        require(not self.discarded and self.may_discard())
        self.discarded = True
        self.killed = self.kills()

    def may_discard(self) -> bool:
        """Some rule says so after every history."""
        return True

    def kills(self) -> bool:
        """P kills q first."""
        return False

    @invariant
    def EveryRuleLoses(self) -> bool:
        """Whatever p has seen when it discards m, it has seen the same in a run where q lives and never gets
        m.
        """
        return not self.discarded or (self.alike and not self.killed)

    @invariant
    def NoLoss(self) -> bool:
        """Invariant: where p has discarded m, no q lives that has not got it."""
        return not self.discarded or not self.alike or self.killed

    @invariant
    def OpinionsChange(self) -> bool:
        """P has seen what a detector can say: trust, which becomes suspicion, which becomes trust."""
        told = tuple(seen for seen in self.history if seen is not Seen.sent)
        return all((told[k] is Seen.suspected) == (k % 2 == 0) for k in range(len(told)))

    @witness
    def DiscardedAfterTrust(self) -> bool:
        """P has suspected q, trusts it again, and discards m."""
        return self.discarded and len(self.history) > 0 and self.history[-1] is Seen.trusted

    @witness
    def DiscardedAfterSuspicion(self) -> bool:
        """P suspects q, has sent m before and after, and discards it."""
        return (
            self.discarded
            and self.suspects()
            and len(self.history) > 2
            and self.history[0] is Seen.sent
            and self.history[-1] is Seen.sent
        )


@detector.reading("strong")
class DetectorStrong(OutputBuffer):
    """S: p itself is the correct process that nobody suspects, and q may be suspected for ever."""

    def tells_of_living(self, seen: Seen) -> bool:
        """Anything."""
        return True


@detector.reading("perfect")
class DetectorPerfect(OutputBuffer):
    """P: nobody is suspected before it crashes."""

    def tells_of_dead(self, seen: Seen) -> bool:
        """A suspicion is right, and so never ends."""
        return seen is not Seen.trusted

    def tells_of_living(self, seen: Seen) -> bool:
        """No suspicion."""
        return seen is not Seen.suspected

    @invariant
    def NothingTakenBack(self) -> bool:
        """P never ends to suspect."""
        return all(seen is not Seen.trusted for seen in self.history)

    def may_discard(self) -> bool:
        """The rule: once p suspects q."""
        return self.suspects()


@discarding.reading("after killing")
class DiscardingAfterKilling(OutputBuffer):
    """Section 4.3.4: "p can decide to kill q, and then to discard m from its output buffer"."""

    def kills(self) -> bool:
        """Always."""
        return True


@mutation("p discards without regard to what it has seen")
class Hasty(OutputBuffer):
    """Also where the detector has said nothing."""

    def may_discard(self) -> bool:
        """At any time."""
        return True


class OutputBufferChecked(OutputBuffer, readings=(detector, discarding), mutations=(Hasty,)):
    """Time-bounded buffering with each class of failure detectors."""
