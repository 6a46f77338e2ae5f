"""Footprints include all changes of a step; independent steps commute; sleep sets change no result."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.lang.random_specs import program_of, random_states

from antiphon.model.bounds import Bounds
from antiphon.model.engines import Engine, open_space, transitions_of
from antiphon.model.engines.native import NativeSpace
from antiphon.model.engines.native.compiler.enumeration import plan_actions
from antiphon.model.engines.native.compiler.independence import footprints, independent
from antiphon.model.engines.native.driver import sleep, store
from antiphon.model.explore.search import Search
from antiphon.model.ground import flatten, ground, layout
from antiphon.model.ground.codes import Codes
from antiphon.model.ground.evaluate import step
from antiphon.model.ground.words import WordPacking
from antiphon.programs import specification
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, SpecError, State, Step, program


def named(name: str, **constants: int) -> Program:
    return program(specification(name), repairs="all", **constants)


MODELS = [
    program(TwoPhase, managers=3),
    named("figure-2"),
    named("rbp", processes=2, messages=1),
    named("moving-sequencer", processes=2, messages=1),
]


def code_of(bound: Program, step: Step) -> int:
    codes = Codes.of(bound)
    methods = list(bound.declaration.marked("action", "environment"))
    [number] = [number for number, method in enumerate(methods) if method.name == step.action]
    ranks = (
        bound.domain(parameter.type).rank(value)
        for parameter, value in zip(methods[number].parameters, step.arguments, strict=True)
    )
    return codes.code(number, ranks)


def outcomes(bound: Program, state: State) -> dict[int, State]:
    """The successor by each step that is enabled; none where the specification has an error."""
    try:
        return {code_of(bound, item.step): item.state for item in bound.reference.successors(state)}
    except SpecError:
        return {}


def states_of(bound: Program) -> Iterator[State]:
    space = open_space(bound, Engine.GENERATED)
    Search(space, bounds=Bounds(states=2_000)).run()
    source = random.Random(1)
    yield from (space.value(source.randrange(len(space))) for _ in range(20))


def see(bound: Program, states: Iterator[State]) -> int:
    """Holds footprints and independence against what steps do in these states; how many pairs were taken."""
    packing = WordPacking(layout(bound).slots)
    masks = footprints(plan_actions(bound), packing, Codes.of(bound).count)
    free = independent(masks)
    pairs = 0
    for state in states:
        after = outcomes(bound, state)
        words = words_of(bound, packing, state)
        for code, following in after.items():
            changed = words ^ words_of(bound, packing, following)
            assert not np.any(changed & ~masks[code, 1])
        for one, other in itertools.combinations(after, 2):
            if free[one, other]:
                first, second = outcomes(bound, after[one]), outcomes(bound, after[other])
                if first and second:
                    assert first[other] == second[one]
                    pairs += 1
    return pairs


def words_of(bound: Program, packing: WordPacking, state: State) -> npt.NDArray[np.uint64]:
    return np.array(packing.pack(flatten(bound, state)), dtype=np.uint64)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("bound", MODELS, ids=lambda bound: bound.name)
def test_independent_steps_lead_to_the_same_state_in_both_orders(bound: Program) -> None:
    assert see(bound, states_of(bound)) > 10


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", [16, 38, 52, 65])
def test_independent_steps_of_random_specifications_do(seed: int) -> None:
    """In most random states nothing is enabled without an error; in these there are such pairs."""
    bound = program_of(seed)
    assert see(bound, random_states(bound, random.Random(seed), 30)) > 50


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(12))
def test_leaves_outside_its_footprint_change_nothing_of_a_step(seed: int) -> None:
    """Each of them is taken from another state."""
    bound = program_of(seed)
    source = random.Random(seed)
    packing, codes = WordPacking(layout(bound).slots), Codes.of(bound)
    masks = footprints(plan_actions(bound), packing, codes.count)
    methods = list(bound.declaration.marked("action", "environment"))
    states = [flatten(bound, state) for state in random_states(bound, source, 12)]
    for code in source.sample(range(codes.count), min(codes.count, 40)):
        method = methods[codes.action(code)]
        ranks = zip(method.parameters, codes.ranks(code), strict=True)
        arguments = tuple(bound.domain(parameter.type).value(rank) for parameter, rank in ranks)
        made = ground(bound, method.name, arguments)
        touched = [
            any(
                int(masks[code, kind, word]) & place.mask(word)
                for kind in (0, 1)
                for word in range(place.word, place.word + place.words)
                if word < packing.words
            )
            for place in packing.places
        ]
        for one, other in itertools.pairwise(states):
            mixed = [mine if seen else its for mine, its, seen in zip(one, other, touched, strict=True)]
            before, after = step(made, one), step(made, mixed)
            assert (before.wrong is None, before.slots is None) == (after.wrong is None, after.slots is None)
            assert [item.property for item in before.breaks] == [item.property for item in after.breaks]
            for slot, seen in enumerate(touched):
                if before.slots is not None and after.slots is not None:
                    assert after.slots[slot] == (before.slots[slot] if seen else mixed[slot])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "bound",
    [program(TwoPhase, managers=5), named("rbp", processes=2, messages=1, losses=1)],
    ids=lambda bound: bound.name,
)
def test_sleep_changes_neither_states_nor_their_numbers_nor_what_is_counted(
    bound: Program, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps get their bits early, and again often; then none is independent of any, so that none sleeps."""
    monkeypatch.setattr(sleep, "COMPARED", 40)
    monkeypatch.setattr(sleep, "COMPARED_AGAIN", 2)
    monkeypatch.setattr(store, "FEW", 16)
    slept, taken = searched(bound, threads)
    monkeypatch.setattr(sleep, "independent", lambda masks: np.zeros((len(masks),) * 2, dtype=np.bool_))
    awake, all_taken = searched(bound, threads)
    assert slept == awake
    assert all_taken == awake[-1]
    assert taken < 0.8 * all_taken


def searched(bound: Program, threads: int) -> tuple[tuple[Any, ...], int]:
    """The states by number, parents, actions, transitions; and how many steps were taken."""
    space = NativeSpace(bound, bound.reference.initial(), threads=threads)
    Search(space).run()
    words = b"".join(part.tobytes() for part in space.store.rows(0, len(space)))
    parents = [space.parent(number) for number in range(0, len(space), 97)]
    return (words, parents, space.coverage(), space.store.transitions()), sum(space.store.counts())


def test_only_successors_that_a_search_asks_for_are_left_out() -> None:
    bound = program(TwoPhase, managers=4)
    space = NativeSpace(bound, bound.reference.initial(), threads=1)
    Search(space).run()
    transitions = transitions_of(bound)
    numbers = {transitions.pack(space.value(number)): number for number in range(len(space))}
    for number in range(0, len(space), 50):
        packed = transitions.pack(space.value(number))
        after = {numbers[state] for _, state in transitions.successors(packed)} - {number}
        assert set(space.successors(number)[1]) == after
