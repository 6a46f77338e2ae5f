"""Counts of states in growing models: each engine counts as a walk on the reference does."""

from __future__ import annotations

from collections import Counter

import pytest

from antiphon.model.bounds import Bounds
from antiphon.model.explore import check, count
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, program
from antiphon.spec.protocols.token_broadcast.properties import Figure5Checked


def walked(bound: Program) -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
    """States where possible and steps of each action, and values of each variable, by CPython alone."""
    machine = bound.reference
    states = list(machine.initial())
    seen = set(states)
    possible, steps = Counter[str](), Counter[str]()
    for state in states:
        here = set()
        for transition in machine.successors(state):
            action = transition.step.action
            here.add(action)
            steps[action] += 1
            if transition.state not in seen:
                seen.add(transition.state)
                states.append(transition.state)
        possible.update(here)
    names = [method.name for method in bound.declaration.marked("action", "environment")]
    values = {
        name: len({state[position] for state in states}) for position, name in enumerate(bound.variables)
    }
    return {name: (possible[name], steps[name]) for name in names}, values


@pytest.mark.parametrize("engine", ["generated", "reference"])
@pytest.mark.parametrize(
    "bound",
    [program(TwoPhase, managers=2), program(Figure5Checked, processes=2, messages=1, repairs="all")],
    ids=["two-phase", "figure-5"],
)
def test_counts_are_those_of_a_walk_on_the_reference(bound: Program, engine: str) -> None:
    counts = count(bound, engine=engine)
    actions, values = walked(bound)
    assert {item.action: (item.states, item.steps) for item in counts.actions} == actions
    assert {item.variable: item.values for item in counts.variables} == values
    assert [item.values for item in counts.variables] == sorted(values.values(), reverse=True)
    report = check(bound, properties=["deadlock"])
    assert counts.complete
    assert counts.states == report.exploration.states
    assert sum(item.steps for item in counts.actions) == report.exploration.transitions
    assert counts.never == report.exploration.never_fired
    assert sum(item.found for item in counts.actions) == counts.states - len(bound.reference.initial())


def test_a_bound_ends_the_counting_with_what_there_is() -> None:
    counts = count(program(TwoPhase, managers=3), bounds=Bounds(depth=1))
    assert not counts.complete
    assert counts.states == 8
    assert count(program(TwoPhase, managers=3), bounds=Bounds(states=1)).states == 1
