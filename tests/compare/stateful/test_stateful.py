"""Hypothesis machines find planted faults, shrink them nearly to the shortest, repeat by seed."""

import contextlib
import random
from functools import cache
from pathlib import Path

import hypothesis
import pytest

from antiphon.conformance.compare.bindings import binding_of, bound_protocol
from antiphon.conformance.compare.bindings.rbp_faults import SIZE_FAULTS
from antiphon.conformance.compare.lockstep import Comparison, Differs, lockstep
from antiphon.conformance.compare.replay import on_implementation
from antiphon.conformance.compare.stateful import Tally, run_stateful, shorten, state_machine
from antiphon.model.export import load, save
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Disabled, Machine, State, Step

TWO = {"processes": 2, "messages": 1}


@cache
def larger() -> Machine:
    """Three processes and three messages, compiled once, and only where it is asked for."""
    return Comparison(binding_of("rbp", **bound_protocol("rbp").random)).machine


FAULTS = [
    "accepts-early",
    "accepts-old-tokens",
    "delivers-without-body",
    "drops-late-bodies",
    "keeps-token",
    "numbers-from-highest",
]


@pytest.mark.deep
def test_a_correct_implementation_agrees_in_all_runs() -> None:
    report = run_stateful(binding_of("rbp", processes=3, messages=2), runs=20, steps=40, seed_number=1)
    assert report.outcome is Outcome.HOLDS
    assert report.runs == 20
    assert 200 < report.steps <= 20 * 40


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=(pytest.mark.deep,) * (number % 2)) for number, fault in enumerate(FAULTS)],
)
def test_a_planted_fault_shrinks_to_at_most_two_steps_above_breadth_first(fault: str) -> None:
    shortest = lockstep(binding_of("rbp", fault=fault, **TWO)).difference
    report = run_stateful(binding_of("rbp", fault=fault, **TWO), runs=300, seed_number=0)
    assert report.outcome is Outcome.VIOLATED
    assert shortest is not None
    assert report.difference is not None
    assert len(shortest.trace) <= len(report.difference.trace) <= len(shortest.trace) + 2


@pytest.mark.deep
@pytest.mark.parametrize("fault", SIZE_FAULTS)
def test_what_needs_several_messages_is_found_by_default(fault: str) -> None:
    """Three processes and three messages, which no walk completes."""
    bound = bound_protocol("rbp")
    report = run_stateful(bound.bind(fault=fault, **bound.random), larger(), seed_number=0, shrinks=0)
    assert report.outcome is Outcome.VIOLATED


def test_a_seed_gives_the_same_run_again() -> None:
    first, second, other = (
        run_stateful(binding_of("rbp", fault="keeps-token", **TWO), seed_number=seed) for seed in (3, 3, 4)
    )
    assert first.difference is not None
    assert second.difference is not None
    assert (first.runs, first.steps, first.difference.trace.steps) == (
        second.runs,
        second.steps,
        second.difference.trace.steps,
    )
    assert (first.runs, first.steps) != (other.runs, other.steps)
    assert first.seed == 3


def test_a_difference_is_saved_and_shown_again_from_its_file(tmp_path: Path) -> None:
    binding = binding_of("rbp", fault="forgets-resent-data", **TWO)
    difference = run_stateful(binding, seed_number=0).difference
    assert difference is not None
    save(difference.trace, tmp_path / "found.itf.json")
    again = load(tmp_path / "found.itf.json")
    assert again.steps == difference.trace.steps
    assert on_implementation(again, binding).outcome is Outcome.VIOLATED
    assert on_implementation(again).outcome is Outcome.HOLDS


def random_failure(comparison: Comparison, seed: int) -> tuple[State, list[Step]]:
    """A random run that ends where the two sides differ, as long as it happens to be."""
    generator = random.Random(seed)
    start = comparison.machine.initial()[0]
    for _ in range(200):
        state, steps = start, list[Step]()
        while enabled := list(comparison.machine.enabled(state)):
            steps.append(generator.choice(enabled))
            state = comparison.machine.apply(state, steps[-1]).state
        if comparison.run(start, steps) is not None:
            return start, steps
    raise AssertionError("no random run fails")


def test_what_is_shortened_cannot_lose_a_step_or_two() -> None:
    comparison = Comparison(binding_of("rbp", fault="drops-late-bodies", **TWO))
    start, steps = random_failure(comparison, 5)
    found = comparison.run(start, steps)
    assert found is not None
    short = shorten(comparison, start, found)
    kept = short.trace.steps
    assert len(kept) < len(steps)
    for first in range(len(kept)):
        for second in range(first, len(kept)):
            left = [step for position, step in enumerate(kept) if position not in (first, second)]
            again = None
            with contextlib.suppress(Disabled):
                again = comparison.run(start, left)
            assert again is None


def test_the_machine_has_one_rule_an_action() -> None:
    machine = state_machine(Comparison(binding_of("rbp", **TWO)), Tally())
    rules = {name.removeprefix("step_") for name in vars(machine) if name.startswith("step_")}
    actions = {
        method.name for method in binding_of("rbp").program.declaration.marked("action", "environment")
    }
    assert rules == actions


def test_shrinking_ends_after_the_runs_it_was_given() -> None:
    report = run_stateful(binding_of("rbp", fault="keeps-token", **TWO), seed_number=0, shrinks=5)
    assert report.difference is not None
    assert 0 < report.runs <= 100


MACHINE = state_machine(Comparison(binding_of("rbp", **TWO)), Tally())


class TestUnderPytest(MACHINE.TestCase):
    """The generated machine is an ordinary test case, here with a quarter of the usual examples."""

    settings = hypothesis.settings(max_examples=hypothesis.settings().max_examples // 4)


def test_differs_tells_both_sides() -> None:
    assert (
        str(Differs("variable holding", (True,), (False,)))
        == "variable holding: specification (True); implementation (False)"
    )
