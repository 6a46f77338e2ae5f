"""With one guard of a step dropped, the step's proof fails at the conjuncts that the guard is for, and at no
other.
"""

from collections.abc import Callable, Iterator

import pytest

from antiphon.model.mutation import mutants_of
from antiphon.spec.examples.proved.paxos import (
    Paxos,
    PaxosWithHistory,
    PaxosWithHistoryProof,
    Rounds,
)
from antiphon.spec.lang import Spec, program

Unproved = Callable[..., set[str]]
Table = dict[str, dict[str, set[str]]]

PAXOS_WITH_HISTORY: Table = {
    "join": {"r in self.begun": set(), "Member(a, r) not in self.left": set(), "below < r": set()},
    "propose": {
        "not self.is_proposed(r)": {"OneProposal"},
        "self.joins(quorum)": {"RefusersAreMany"},
        "self.have_joined(quorum, r)": {"RefusersDidNotVote"},
        "self.never_voted(quorum, r)": {"RefusersDidNotVote"},
    },
    "propose_again": {
        "not self.is_proposed(r)": {"OneProposal"},
        "self.joins(quorum)": {"RefusersAreMany"},
        "self.have_joined(quorum, r)": {"RefusersDidNotVote"},
        "self.voted_last(quorum, r, last, v)": {"RefusersAreMany", "RefusersDidNotVote"},
    },
    "vote": {
        "Member(a, r) not in self.left": {"RefusersDidNotVote"},
        "Choice(r, v) in self.proposed": {"VotesAreProposed"},
    },
    "decide": {
        "self.decides(r, v)": {"OneDecision", "DecidersAreMany", "DecidedIsProposed"},
        "Vote(a, r, v) in self.votes": {"DecidersVoted"},
    },
}
"""An acceptor that joins a round of nobody, or one that it has left, or leaves too many, is of no harm."""

PROOFS: tuple[tuple[type[Spec], tuple[type[Spec], ...], tuple[str, ...], Table], ...] = (
    (
        PaxosWithHistoryProof, (Rounds, Paxos, PaxosWithHistory), ("acceptors", "rounds", "values"),
        PAXOS_WITH_HISTORY,
    ),
)  # fmt: skip


def guards() -> Iterator[tuple[type[Spec], tuple[type[Spec], ...], tuple[str, ...], str, str, set[str]]]:
    """Every guard of every table."""
    for proof, texts, every, table in PROOFS:
        for step, dropped in table.items():
            for guard, failed in dropped.items():
                yield proof, texts, every, step, guard, failed


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("proof", "texts", "every", "step", "guard", "failed"), list(guards()))
def test_without_a_guard_the_proof_fails_where_the_guard_is_needed(
    unproved: Unproved,
    proof: type[Spec],
    texts: tuple[type[Spec], ...],
    every: tuple[str, ...],
    step: str,
    guard: str,
    failed: set[str],
) -> None:
    """Only the obligations of the step whose guard is dropped can fail."""
    bound = program(proof)
    (mutant,) = [
        item
        for item in mutants_of(bound, lambda cls: cls in texts)
        if item.name.endswith(f".{step}: guard dropped: `{guard}`")
    ]
    assert unproved(mutant.of(bound), every, step=step) == {f"{step}: {name}" for name in failed}


@pytest.mark.parametrize(("proof", "texts", "every", "table"), PROOFS)
def test_every_guard_of_a_step_stands_in_the_table(
    proof: type[Spec], texts: tuple[type[Spec], ...], every: tuple[str, ...], table: Table
) -> None:
    """No guard is left out, and none is listed that the text does not have."""
    bound = program(proof)
    steps = {action.name for action in bound.module.actions}
    found = set()
    for item in mutants_of(bound, lambda cls: cls in texts):
        where, _, change = item.name.partition(": ")
        if change.startswith("guard dropped") and where.partition(".")[2] in steps:
            found.add((where.partition(".")[2], change.partition("`")[2][:-1]))
    assert found == {(step, guard) for step, dropped in table.items() for guard in dropped}
