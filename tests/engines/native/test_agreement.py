"""The kernel is the reference, only faster: the same successors in the same order, findings, counts and
verdicts, for any number of threads.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.engines.native.summary import summary
from tests.ground.small_specs import Logs
from tests.lang.random_specs import program_of, random_states

from antiphon.conformance.compare.suites import check_engine
from antiphon.model.bounds import Bounds
from antiphon.model.engines import Engine, open_space, transitions_of
from antiphon.model.engines.interface import NO_PARENT, StateSpace
from antiphon.model.engines.native import NativeSpace
from antiphon.model.engines.native.driver import store
from antiphon.model.engines.native.kernels import fields
from antiphon.model.explore import check
from antiphon.model.explore.search import Search
from antiphon.model.ground import layout
from antiphon.model.ground.words import WordPacking
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, SpecError, State, program
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerChecked
from antiphon.spec.protocols.rbp.properties import RbpChecked, RbpProperties
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked

RANDOM = range(12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "bound",
    [
        program(TwoPhase, managers=4),
        program(Figure2Checked, processes=2, messages=2),
        program(MovingSequencerChecked, processes=2, messages=1, repairs="all"),
        program(RbpChecked, processes=2, messages=1),
        program(RbpChecked, processes=2, messages=1, repairs="all"),
        program(Logs),
        program(Logs, length=4),
    ],
    ids=lambda bound: f"{bound.name}, {dict(bound.constants)}",
)
def test_both_engines_give_the_same_report(bound: Program) -> None:
    assert summary(check(bound, engine="native")) == summary(check(bound, engine="generated"))


def numbered(bound: Program, most: int, space: StateSpace) -> list[tuple[State, int]]:
    """The states of a space with their parents, in the order of discovery."""
    Search(space, bounds=Bounds(depth=most)).run()
    return [(space.value(number), space.parent(number)) for number in range(len(space))]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("threads", [3, 1, 2])
def test_states_are_numbered_as_the_reference_finds_them_whatever_the_number_of_threads(threads: int) -> None:
    bound = program(RbpProperties, processes=2, messages=1, repairs="all")
    starts = bound.reference.initial()
    expected = numbered(bound, 7, open_space(bound, Engine.REFERENCE))
    assert numbered(bound, 7, NativeSpace(bound, starts, threads=threads)) == expected


@pytest.mark.parametrize("buffered", [store.BUFFERED, 1_500])
def test_threads_do_not_change_what_is_found_where_states_are_many(
    buffered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With small buffers a thread stops before the end of its part, and what the others did is done again."""
    monkeypatch.setattr(store, "BUFFERED", buffered)
    monkeypatch.setattr(store, "BUFFERED_BY_TWO", buffered)
    monkeypatch.setattr(store, "BUFFERED_TOGETHER", buffered)
    bound = program(TwoPhase, managers=6)
    found = []
    for threads in (1, 2, 4):
        space = NativeSpace(bound, bound.reference.initial(), threads=threads, graph=threads == 2)
        search = Search(space)
        search.run()
        kept = space.store
        found.append(
            (
                search.walk.transitions,
                kept.states.read(0, kept.row * kept.known),
                [space.parent(state) for state in range(0, kept.known, 997)],
                kept.counts(),
            )
        )
    assert (found[0][0], len(found[0][1])) == (402305, 8 * 50816)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_parent_is_the_first_state_that_leads_there_and_asking_counts_nothing(threads: int) -> None:
    """Most parents are not written down: they are found by taking steps again."""
    bound = program(RbpProperties, processes=2, messages=1, repairs="all")
    space = NativeSpace(bound, bound.reference.initial(), threads=threads)
    Search(space).run()
    before = space.store.counts(), space.store.transitions()
    transitions = transitions_of(bound)
    packed = [transitions.pack(space.value(number)) for number in range(len(space))]
    first: dict[int, int] = {}
    for number, state in enumerate(packed):
        for _, after in transitions.successors(state):
            first.setdefault(after, number)
    expected = [NO_PARENT, *(first[state] for state in packed[1:])]
    assert len(space) > 20 * space.store.every
    assert [space.parent(number) for number in range(len(space))] == expected
    space.successors(len(space) - 1)
    assert (space.store.counts(), space.store.transitions(), space.store.findings()) == (*before, [])


def outcome(bound: Program, state: State) -> tuple[Any, ...]:
    """Results of the reference in one state: the successors in order, the number of transitions and the
    broken properties; or the fact of an error.
    """
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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", RANDOM)
def test_all_steps_from_random_states_of_random_specifications_agree(seed: int) -> None:
    bound = program_of(seed)
    for state in random_states(bound, random.Random(seed), 12):
        assert native_outcome(bound, state) == outcome(bound, state)


def test_reports_about_random_specifications_agree() -> None:
    check_engine("native", programs=[program_of(seed) for seed in RANDOM], bounds=Bounds(depth=2))


@pytest.mark.sampled(3)
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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", RANDOM)
def test_words_keep_every_state(seed: int) -> None:
    bound = program_of(seed)
    packing = WordPacking(layout(bound).slots)
    space = NativeSpace(bound, random_states(bound, random.Random(seed), 12), threads=1)
    for number in range(len(space)):
        words = tuple(space.store.words(number))
        assert packing.pack(packing.unpack(words)) == words
        assert space.pack(space.value(number)) == words


@pytest.mark.parametrize("mode", [fields.DIRECT, fields.WHOLE, fields.FINGERPRINT])
@pytest.mark.parametrize("threads", [3, 1, 2])
def test_a_table_that_grows_loses_nothing_and_has_nothing_twice(
    mode: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 16 slots on, moved in parts of 8, so that runs of slots go around the end of a region often; then
    entered anew from the states.
    """
    monkeypatch.setattr(store, "FIRST_REGION", 16)
    monkeypatch.setattr(store, "MOVED", 8)
    bound = program(TwoPhase, managers=5)

    def space() -> NativeSpace:
        graph, fingerprints = mode != fields.DIRECT, mode == fields.FINGERPRINT
        return NativeSpace(
            bound,
            bound.reference.initial(),
            threads=threads,
            graph=graph,
            fingerprints=fingerprints,
            directory=tmp_path,
        )

    whole = space()
    Search(whole, bounds=Bounds(depth=6)).run()
    counts, transitions = whole.store.counts(), whole.store.transitions()
    whole.store.close()
    again = space()
    assert (whole.mode, again.mode) == (mode, mode)
    again.store.resume(1, whole.store.known, counts, transitions)
    search = Search(again)
    search.run()
    assert (len(again), search.walk.complete) == (8_832, True)
    entered = Counter(again.store.table.read(8 * slot, 8) for slot in range(again.store.slots))
    entered.pop(bytes(8))
    assert len(entered) == entered.total() == 8_832


def test_a_table_does_not_grow_where_the_disk_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing to a file of which a page cannot be had would end the process."""
    bound = program(TwoPhase, managers=5)
    space = NativeSpace(bound, bound.reference.initial(), threads=1, directory=tmp_path)
    left = SimpleNamespace(free=store.RESERVE + (1 << 20))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: left)
    space.store.room(8_000)
    with pytest.raises(store.Full, match="is full: 65 MiB are free"):
        space.store.room(100_000)
