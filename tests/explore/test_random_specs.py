"""On random specifications that use the whole language the generated engine does what CPython does, errors of
the specification included.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.lang.random_specs import program_of, random_states

from antiphon.conformance.compare.suites import check_engine
from antiphon.model.bounds import Bounds
from antiphon.model.engines import compiled_machine
from antiphon.model.engines.python.machine import CompiledMachine
from antiphon.spec.lang import SpecError, State, Transition

SEEDS = range(30)


def transitions(machine: Any, state: State) -> list[Transition] | str:
    """All transitions out of a state, or the error of the specification."""
    try:
        return list(machine.successors(state))
    except SpecError as error:
        return str(error)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("seed", SEEDS)
def test_all_steps_from_random_states_agree(seed: int) -> None:
    bound = program_of(seed)
    machine = compiled_machine(bound)
    assert isinstance(machine, CompiledMachine)
    for state in random_states(bound, random.Random(seed), 12):
        assert transitions(machine, state) == transitions(bound.reference, state)


@pytest.mark.deep
def test_reports_to_a_depth_agree() -> None:
    check_engine("generated", programs=[program_of(seed) for seed in SEEDS], bounds=Bounds(depth=2))
