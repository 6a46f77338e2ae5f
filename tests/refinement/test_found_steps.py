"""Mappings that do not name the machine's steps: the search finds them, or names the guard that blocks them.
"""

from __future__ import annotations

from typing import Annotated

import antiphon
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.alternating_bit import AlternatingBitIsOneAtATime, Data
from antiphon.spec.examples.alternating_bit import Message as BitMessage
from antiphon.spec.examples.voting import Acceptor, Ballot, Value, VotingIsConsensus
from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Set,
    Spec,
    action,
    emit,
    environment,
    everywhere,
    record,
    require,
)

Count = Annotated[int, Between(0, 4)]


class Process(Index, size="processes", ordered=True):
    """A process that takes from the pile."""


@record
class Took:
    """A process has taken one."""

    process: Process
    count: Count


class Members(Spec):
    """Number of processes."""

    processes: Const[int] = 2


class Pile(Members):
    """Processes take from a pile, one at a time."""

    left: Count = 4
    pairs: Map[Process, Map[Process, bool]] = everywhere(everywhere(False))

    @action
    def take(self, p: Process) -> None:
        """Take one."""
        require(self.left > 0)
        self.left -= 1
        emit(Took(p, self.left))

    @environment
    def meet(self, p: Process, q: Process) -> None:
        """Two meet, and the one remembers the other."""
        require(not self.pairs[p][q])
        self.pairs[p][q] = True


class Grabbing(Members):
    """Takes two at once, and speaks of both."""

    left: Count = 4
    met: Set[Process] = Set()

    @action
    def grab(self, p: Process) -> None:
        """Take two at once."""
        require(self.left > 1)
        emit(Took(p, self.left - 1))
        emit(Took(p, self.left - 2))
        self.left -= 2

    @action
    def greet(self, p: Process) -> None:
        """Let P meet itself."""
        require(p not in self.met)
        self.met |= {p}


class GrabbingIsPile(Grabbing, refines=Pile):
    """A helper for a map of maps takes both keys; `left` needs none."""

    def pairs(self, p: Process, q: Process) -> bool:
        """A pair only of a process with itself."""
        return p == q and p in self.met


class Deeper(GrabbingIsPile):
    """The same, by way of `super()`."""

    def pairs(self, p: Process, q: Process) -> bool:
        return super().pairs(p, q)


class ByRow(Grabbing, refines=Pile):
    """A helper for a map of maps may take one key, and give the rest as a map."""

    def pairs(self, p: Process) -> Map[Process, bool]:
        """Pairs only of a process with itself."""
        return Map({q: p == q and p in self.met for q in self.each(Process)})


class AsAWhole(Grabbing, refines=Pile):
    """A helper for a map of maps may take no key, and give the map."""

    def pairs(self) -> Map[Process, Map[Process, bool]]:
        """Pairs only of a process with itself."""
        return Map({
            p: Map({q: p == q and p in self.met for q in self.each(Process)}) for p in self.each(Process)
        })  # fmt: skip


class Mute(GrabbingIsPile):
    """Says one word for two."""

    @action
    def grab(self, p: Process) -> None:
        require(self.left > 1)
        emit(Took(p, self.left - 1))
        self.left -= 2


class Gone(GrabbingIsPile):
    """Forgets whom it met."""

    @action
    def forget(self, p: Process) -> None:
        """Forget a meeting: the machine has no such step."""
        require(p in self.met)
        self.met -= {p}


def test_one_transition_may_be_several_steps() -> None:
    for mapping in (GrabbingIsPile, Deeper, ByRow, AsAWhole):
        report = antiphon.refine(mapping)
        assert report["Refinement"].outcome is Outcome.HOLDS
        assert report.exploration.states == 12
        assert "Pile: 12 of its states; transitions: meet 12, take 16, stutters 0" in report.notes


def test_a_word_that_is_not_said_is_missed() -> None:
    verdict = antiphon.refine(Mute)["Refinement"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.reason == (
        "no sequence of at most 3 steps of Pile changes left from 4 to 2, while the protocol emits "
        "Took(p0, 3); possible there: take(p0), take(p1), meet(p0, p0), meet(p0, p1), meet(p1, p0), "
        "meet(p1, p1)"
    )


def test_what_no_step_does_is_told_with_what_is_possible() -> None:
    verdict = antiphon.refine(Gone)["Refinement"]
    assert verdict.trace is not None
    assert [step.action for step in verdict.trace.steps] == ["greet", "forget"]
    assert verdict.reason.startswith(
        "no sequence of at most 3 steps of Pile changes pairs from ((True, False), (False, False)) to"
    )


class Hasty(VotingIsConsensus):
    """Votes where that is not safe."""

    def shows_safe_at(self, quorum: Set[Acceptor], b: Ballot, v: Value) -> bool:
        """Planted fault: every value is safe at every ballot."""
        return True


def test_voting_is_consensus_and_hasty_voting_is_not() -> None:
    """The protocol's helper `chosen` is the machine's variable: the mapping says nothing at all."""
    assert antiphon.refine(VotingIsConsensus)["Refinement"].outcome is Outcome.HOLDS
    verdict = antiphon.refine(Hasty)["Refinement"]
    assert verdict.outcome is Outcome.VIOLATED
    assert "changes chosen from {v0} to {v0, v1}" in verdict.reason
    assert verdict.trace is not None
    votes = verdict.trace.states[-1][0]
    assert {vote.value for some in votes for vote in some} == {Value(0), Value(1)}


class Impatient(AlternatingBitIsOneAtATime):
    """Sends the next value before the last one was acknowledged."""

    @action
    def send_new_value(self, d: Data) -> None:
        self.sent = d
        self.sender_bit = 1 - self.sender_bit
        self.messages += (BitMessage(self.sender_bit, d),)


def test_the_alternating_bit_is_one_value_at_a_time_and_without_waiting_is_not() -> None:
    """All names are the same on both sides; channels, losses and repetitions are stutters."""
    report = antiphon.refine(AlternatingBitIsOneAtATime)
    assert report["Refinement"].outcome is Outcome.HOLDS
    assert (
        "OneAtATime: 20 of its states; transitions: learn 24, receive 48, send 72, stutters 1,052"
        in report.notes
    )
    verdict = antiphon.refine(Impatient)["Refinement"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.reason.startswith(
        "send(d0) is not enabled in OneAtATime: self.acknowledged == self.sender_bit is false ("
    )
    assert verdict.trace is not None
    assert len(verdict.trace) == 2


def test_a_search_for_steps_keeps_to_the_bounds() -> None:
    report = antiphon.refine(GrabbingIsPile, max_seconds=0.0)
    assert report["Refinement"].outcome is Outcome.UNKNOWN
    assert report["Refinement"].reason.startswith("not decided: the bound of 0 seconds")
