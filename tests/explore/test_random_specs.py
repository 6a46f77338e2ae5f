"""On random specifications that use the whole language the generated engine does what CPython does, errors of the specification included."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.lang.random_specs import program_of, random_states

from antiphon.model.bounds import Bounds
from antiphon.model.engines import compiled_machine
from antiphon.model.engines.python.machine import CompiledMachine
from antiphon.model.explore import check
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Program, SpecError, State, Transition

SEEDS = range(30)


def transitions(machine: Any, state: State) -> list[Transition] | str:
    """All transitions out of a state, or the error of the specification."""
    try:
        return list(machine.successors(state))
    except SpecError as error:
        return str(error)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_steps_from_random_states_agree(seed: int) -> None:
    bound = program_of(seed)
    machine = compiled_machine(bound)
    assert isinstance(machine, CompiledMachine)
    for state in random_states(bound, random.Random(seed), 12):
        assert transitions(machine, state) == transitions(bound.reference, state)


def verdicts(report: Report) -> dict[str, tuple[Outcome, int | None]]:
    return {verdict.property: (verdict.outcome, len(verdict.trace) if verdict.trace else None) for verdict in report.verdicts}


def explore(bound: Program, engine: str) -> tuple[Any, ...]:
    """What both engines must agree on within two steps; what stopped at an error has no counts to compare."""
    report = check(bound, engine=engine, bounds=Bounds(depth=2))
    seen = report.exploration
    failed = any(verdict.kind == "specification" for verdict in report.verdicts)
    return (failed, None, None) if failed else (failed, verdicts(report), (seen.states, seen.transitions, seen.depth, seen.fired))


@pytest.mark.parametrize("seed", SEEDS)
def test_reports_to_a_depth_agree(seed: int) -> None:
    bound = program_of(seed)
    assert explore(bound, "generated") == explore(bound, "reference")
