"""Consensus judges events, and the machine that gives it can be a part of a protocol; so can reliable
broadcast.

A history is written as in "p0:1 d2:1": process 0 proposes value 1, process 2 decides it; "x1" is a
crash of 1.
"""

from __future__ import annotations

from typing import Annotated

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.environment import Crashes
from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Spec,
    action,
    everywhere,
    instance,
    obligation,
    program,
    require,
    witness,
)
from antiphon.spec.services import Crash, Process
from antiphon.spec.services.broadcast import Casting
from antiphon.spec.services.consensus import (
    Consensus,
    ConsensusChecked,
    Decide,
    Decision,
    Propose,
    Value,
)

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""


def judged(history: str) -> set[str]:
    """Properties that the history breaks, among three processes and three values."""
    judge = program(Consensus, processes=3, values=3).reference.session()
    broken: set[str] = set()
    for word in history.split():
        number, _, value = word[1:].partition(":")
        p = Process(int(number))
        event = Crash(p) if word[0] == "x" else (Propose if word[0] == "p" else Decide)(p, Value(int(value)))
        broken |= {refusal.property for refusal in judge.feed(event)}
    return broken | {name for name in ("Termination", "Agreement") if not judge.holds(name)}


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("p0:0 p1:1 p2:2 d0:1 d1:1 d2:1", set()),
        ("p0:0 p1:1 d0:1 x0 d1:1 x2", set()),
        ("p0:0 d0:0", set()),
        ("p0:0 p1:0 p2:0 d0:1 d1:1 d2:1", {"Validity"}),
        ("p0:0 d0:0 d0:0", {"Integrity"}),
        ("p0:0 p1:1 d0:0 x0 d1:1", {"UniformAgreement"}),
        ("p0:0 p1:1 d0:0 d1:1", {"UniformAgreement", "Agreement"}),
        ("p0:0 p1:1 d0:0 d1:1 x0", {"UniformAgreement"}),
        ("p0:0 p1:1 p2:2 d0:1 d1:1", {"Termination"}),
        ("p0:0 p1:1 p2:2 d0:1 d1:1 x2", set()),
        ("p0:0 p0:1", {"ProposeOnce"}),
    ],
)
def test_each_property_is_broken_by_its_history(history: str, broken: set[str]) -> None:
    """Agreement is about processes that do not crash, so that uniform agreement alone can be broken."""
    assert judged(history) == broken


def outcomes(spec: type[Spec], **constants: int) -> dict[str, Outcome]:
    return {verdict.property: verdict.outcome for verdict in check(program(spec, **constants)).verdicts}


def test_the_machine_gives_consensus() -> None:
    """Three processes and one crash; with two, one crash takes the majority, and nothing but termination."""
    assert set(outcomes(ConsensusChecked, processes=3, crashes=1).values()) == {Outcome.HOLDS}
    two = outcomes(ConsensusChecked, processes=2, crashes=1)
    assert {name for name, outcome in two.items() if outcome is Outcome.VIOLATED} == {"Termination"}


class Round(Index, size="rounds", ordered=True):
    """The number of a consensus."""


class Rounds(instance(Decision[Value], "agree", each=Round), Crashes):  # type: ignore[misc]
    """A consensus for each round; a process goes to the next with what it learned."""

    rounds: Const[int] = 2
    values: Const[int] = 2
    began: Map[Process, Annotated[int, Between(0, "rounds")]] = everywhere(0)

    def agree_is_gone(self, agree: Round, p: Process) -> bool:
        """Processes that are down are gone in every instance."""
        return self.down[p]

    @action
    def begin(self, p: Process, r: Round, v: Value) -> None:
        """Let P propose V."""
        require(self.began[p] == r.index)
        require(all(self.agree_told[s][p] for s in self.each(Round) if s < r))
        self.began[p] += 1
        self.agree_offer(r, p, v)

    @action
    def agree_decide(self, agree: Round, p: Process, q: Process) -> None:
        """Decide only after P has proposed."""
        require(self.began[p] > agree.index)
        super().agree_decide(agree, p, q)

    @witness
    def Different(self) -> bool:
        """Two rounds choose differently."""
        first = self.agree_chosen[Round(0)]
        second = self.agree_chosen[Round(1)]
        return first is not None and second is not None and first != second

    @obligation
    def EveryRoundEnds(self) -> bool:
        """Rounds end, unless too few processes are left for a majority."""
        return all(
            self.down[p] or self.agree_told[r][p] for p in self.each(Process) for r in self.each(Round)
        )


def test_a_protocol_has_one_consensus_a_round() -> None:
    found = outcomes(Rounds, processes=3, crashes=1)
    assert found["EveryRoundEnds"] is Outcome.HOLDS
    assert found["Different"] is Outcome.HOLDS
    assert outcomes(Rounds, processes=2, crashes=1)["EveryRoundEnds"] is Outcome.VIOLATED


class Word(Index, size="words", ordered=True):
    """A word that is R-broadcast."""


class Calls(Casting[Word], Crashes):
    """Specification in which any process may broadcast a word."""

    words: Const[int] = 1

    @action
    def say(self, p: Process, w: Word) -> None:
        """Broadcast the word once."""
        require(not any(self.has_cast(q, w) for q in self.each(Process)))
        self.r_broadcast(p, w)

    @obligation
    def AllOrNobody(self) -> bool:
        """If a process that is up R-delivers a word, all that are up do."""
        return all(
            self.down[p] or self.down[q] or w not in self.taken[p] or w in self.taken[q]
            for p in self.each(Process)
            for q in self.each(Process)
            for w in self.each(Word)
        )

    @witness
    def SomeAfterTheCrash(self) -> bool:
        """A word arrives of which only those know that have crashed."""
        return any(
            self.down[p] and not self.down[q] and w in self.cast[p] and w in self.taken[q]
            for p in self.each(Process)
            for q in self.each(Process)
            for w in self.each(Word)
        )

    @obligation
    def CrashedToo(self) -> bool:
        """Property that is not promised: the others R-deliver each word of a process that crashed."""
        return all(
            w not in self.taken[p] or all(w in self.taken[q] or self.down[q] for q in self.each(Process))
            for p in self.each(Process)
            for w in self.each(Word)
        )


class Quiet(Calls):
    """Mutant: who has R-delivered does not pass it on."""

    @action
    def receive_cast(self, p: Process, m: Word) -> None:
        """From who has cast it alone."""
        require(any(m in self.cast[q] and not self.down[q] for q in self.each(Process)))
        super().receive_cast(p, m)


def test_a_cast_reaches_all_that_are_up_or_nobody() -> None:
    found = outcomes(Calls, processes=3, crashes=1)
    assert found["AllOrNobody"] is Outcome.HOLDS
    assert found["SomeAfterTheCrash"] is Outcome.HOLDS
    assert found["CrashedToo"] is Outcome.VIOLATED
    assert outcomes(Quiet, processes=3, crashes=1)["AllOrNobody"] is Outcome.VIOLATED
