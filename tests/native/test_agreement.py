"""The kernel is the reference, only faster: the same successors in the same order, findings, counts and verdicts, for any number of threads."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.lang.random_specs import program_of, random_states

from antiphon.model.explicit import check
from antiphon.model.explicit.over_machine import MachineSpace
from antiphon.model.explicit.search import Bounds, Search
from antiphon.model.ground import layout
from antiphon.model.native import NativeSpace, store
from antiphon.model.native.packing import WordPacking
from antiphon.model.verdict import Report
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, SpecError, State, program
from antiphon.spec.protocols.moving_sequencer import MovingSequencerJudged
from antiphon.spec.protocols.rbp import Rbp, RbpJudged
from antiphon.spec.protocols.token_broadcast import Figure2Judged

RANDOM = range(12)


def summary(report: Report) -> tuple[Any, ...]:
    """What two engines must agree on when both saw everything."""
    verdicts = {item.property: (item.kind, item.outcome, None if item.trace is None else len(item.trace)) for item in report.verdicts}
    seen = report.exploration
    return verdicts, seen.states, seen.transitions, seen.depth, seen.complete, seen.fired, seen.never_fired


@pytest.mark.parametrize(
    "bound",
    [
        program(TwoPhase, managers=4),
        program(Figure2Judged, processes=2, messages=2),
        program(MovingSequencerJudged, processes=2, messages=1, repairs="all"),
        program(RbpJudged, processes=2, messages=1),
        program(RbpJudged, processes=2, messages=1, repairs="all"),
    ],
    ids=lambda bound: f"{bound.name}, {dict(bound.constants)}",
)
def test_both_engines_give_the_same_report(bound: Program) -> None:
    assert summary(check(bound, engine="native")) == summary(check(bound, engine="generated"))


def numbered(bound: Program, most: int, space: NativeSpace | MachineSpace) -> list[tuple[State, int]]:
    """The states of a space with their parents, in the order of discovery."""
    Search(space, bounds=Bounds(depth=most)).run()
    return [(space.value(number), space.parent(number)) for number in range(len(space))]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_states_are_numbered_as_the_reference_finds_them_whatever_the_number_of_threads(threads: int) -> None:
    bound = program(Rbp, processes=2, messages=1, repairs="all")
    starts = bound.reference.initial()
    expected = numbered(bound, 7, MachineSpace(bound, starts))
    assert numbered(bound, 7, NativeSpace(bound, starts, threads=threads)) == expected


@pytest.mark.parametrize("buffered", [store.BUFFERED, 1_500])
def test_threads_do_not_change_what_is_found_where_states_are_many(buffered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With small buffers a thread stops before the end of its part, and what the others did is done again."""
    monkeypatch.setattr(store, "BUFFERED", buffered)
    monkeypatch.setattr(store, "BUFFERED_TOGETHER", buffered)
    bound = program(TwoPhase, managers=6)
    found = []
    for threads in (1, 2, 4):
        space = NativeSpace(bound, bound.reference.initial(), threads=threads, graph=threads == 2)
        search = Search(space)
        search.run()
        kept = space.store
        found.append((search.transitions, kept.states.read(0, kept.row * kept.known), kept.parents.read(0, 4 * kept.known), kept.counts()))
    assert (found[0][0], len(found[0][1])) == (402305, 8 * 50816)
    assert found[0] == found[1] == found[2]


def outcome(bound: Program, state: State) -> tuple[Any, ...]:
    """What the reference does in one state: the successors in order, the number of transitions, what is broken; or that there is an error."""
    try:
        transitions = list(bound.reference.successors(state))
    except SpecError:
        return ("error",)
    after = [item.state for item in transitions if item.state != state]
    broken = {refusal.property for item in transitions for refusal in item.refused}
    return list(dict.fromkeys(after)), len(transitions), broken


def native_outcome(bound: Program, state: State) -> tuple[Any, ...]:
    space = NativeSpace(bound, [state], threads=1)
    block = space.expand(0, 1)
    if any(finding.error for finding in block.findings):
        return ("error",)
    broken = {name for finding in block.findings for name in finding.properties}
    return [space.value(number) for number in range(1, len(space))], block.transitions, broken


@pytest.mark.parametrize("seed", RANDOM)
def test_all_steps_from_random_states_of_random_specifications_agree(seed: int) -> None:
    bound = program_of(seed)
    for state in random_states(bound, random.Random(seed), 12):
        assert native_outcome(bound, state) == outcome(bound, state)


@pytest.mark.parametrize("seed", RANDOM)
def test_reports_about_random_specifications_agree(seed: int) -> None:
    """Verdicts and counts within two steps; a search that an error of the specification ends has no counts to compare."""
    bound = program_of(seed)
    reports = [check(bound, engine=engine, max_depth=2) for engine in ("native", "reference")]
    failed = [any(item.kind == "specification" for item in report.verdicts) for report in reports]
    assert failed[0] == failed[1]
    assert failed[0] or summary(reports[0]) == summary(reports[1])


@pytest.mark.parametrize("seed", RANDOM)
def test_predicates_of_random_specifications_agree(seed: int) -> None:
    bound = program_of(seed)
    for state in random_states(bound, random.Random(seed), 6):
        space = NativeSpace(bound, [state], threads=1)
        for predicate in bound.module.predicates:
            try:
                expected = bound.reference.holds(state, predicate.name)
            except SpecError:
                continue
            assert space.truth(predicate.name) == bytearray([expected])


@pytest.mark.parametrize("seed", RANDOM)
def test_words_keep_every_state(seed: int) -> None:
    bound = program_of(seed)
    packing = WordPacking(layout(bound).slots)
    space = NativeSpace(bound, random_states(bound, random.Random(seed), 12), threads=1)
    for number in range(len(space)):
        words = tuple(space.store.words(number))
        assert packing.pack(packing.unpack(words)) == words
        assert space.pack(space.value(number)) == words
