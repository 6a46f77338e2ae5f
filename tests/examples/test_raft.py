"""Raft is safe in small bounds, with as many states as TLC and SPIN count, and not safe without its rules."""

from __future__ import annotations

import pytest

from antiphon.model.engines import StorageOptions
from antiphon.model.explore import check
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.raft import AppendEntries, Raft, RequestVote, Server
from antiphon.spec.lang import Disabled, Program, State, Step, program

COUNTS = {(2, 2, 1): (2_075, 7_700), (3, 1, 1): (5_294, 43_323)}
"""States and transitions for so many servers, terms and entries; TLC and SPIN count the same."""
SAFE = ("ElectionSafety", "LogMatching", "LeaderCompleteness", "StateMachineSafety")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("engine", ["native", "generated"])
@pytest.mark.parametrize(("servers", "terms", "entries"), COUNTS)
def test_the_engines_find_as_many_states_and_nothing_is_broken(
    servers: int, terms: int, entries: int, engine: str
) -> None:
    bound = program(Raft, servers=servers, terms=terms, entries=entries)
    report = check(bound, engine=engine, properties=(*SAFE, "CommittedEverywhere"))
    explored = report.exploration
    assert (explored.states, explored.transitions) == COUNTS[servers, terms, entries]
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}


@pytest.mark.deep
def test_two_terms_of_three_servers_are_safe_and_an_entry_may_be_overwritten() -> None:
    report = check(program(Raft), storage=StorageOptions(symmetry=True))
    assert report.exploration.states == 163_620
    assert "stand for 980,295 that differ" in report.notes[0]
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fault", "terms", "property", "steps"),
    [("vote_again", 1, "ElectionSafety", 6), ("vote_for_anybody", 2, "LeaderCompleteness", 13)],
)
def test_a_rule_that_is_left_out_is_missed(fault: str, terms: int, property: str, steps: int) -> None:
    bound = program(Raft, terms=terms, **{fault: True})
    verdict = check(bound, properties=[property], storage=StorageOptions(symmetry=True), stop_at_first=True)[
        property
    ]
    assert verdict.outcome is Outcome.VIOLATED
    assert len(verdict.trace or ()) == steps


ONE, TWO, THREE = Server(0), Server(1), Server(2)


def elect(leader: Server, voter: Server, request: RequestVote, *before: Step) -> list[Step]:
    """The steps by which a server becomes the leader with one more vote."""
    return [
        *before, Step("time_out", (leader,)), Step("update_term", (voter, request)),
        Step("vote", (voter, request)), Step("become_leader", (leader,)),
    ]  # fmt: skip


def figure_8() -> tuple[list[Step], Step, list[Step]]:
    """Steps by which the entry of term 1 reaches two of three servers; its commitment; and the steps by which
    the entry of term 2 replaces it.
    """
    first, second = RequestVote(1, ONE, 0, 0), RequestVote(2, TWO, 0, 0)
    third, fourth = RequestVote(3, ONE, 1, 1), RequestVote(4, TWO, 1, 2)
    sent = AppendEntries(3, 0, 0, (1,), 0)
    steps = [
        *elect(ONE, TWO, first), Step("client_request", (ONE,)),
        *elect(TWO, THREE, second), Step("client_request", (TWO,)),
        *elect(ONE, THREE, third, Step("update_term", (ONE, second))),
        Step("append_entries", (ONE, 0)), Step("accept", (THREE, sent)),
    ]  # fmt: skip
    return (
        steps,
        Step("advance_commit", (ONE, 1)),
        elect(TWO, THREE, fourth, Step("update_term", (TWO, third))),
    )


def after(bound: Program, state: State, steps: list[Step]) -> State:
    """The state that these steps lead to."""
    for step in steps:
        state = bound.reference.apply(state, step).state
    return state


def test_an_entry_of_an_earlier_term_is_not_committed_by_counting_its_copies() -> None:
    """Figure 8: it could still be overwritten."""
    steps, commitment, later = figure_8()
    wrong = program(Raft, terms=4, count_all_copies=True)
    [start] = wrong.reference.initial()
    committed = after(wrong, start, [*steps, commitment])
    assert wrong.reference.holds(committed, "LeaderCompleteness")
    assert not wrong.reference.holds(after(wrong, committed, later), "LeaderCompleteness")
    right = program(Raft, terms=4)
    with pytest.raises(Disabled):
        after(right, start, [*steps, commitment])
