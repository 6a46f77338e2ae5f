"""The ground form means what CPython does: the same enabled steps, next states, events, broken properties and
errors.

On every transition of small specifications, and on random steps of random specifications in random states.
"""

from __future__ import annotations

import random

import pytest
from tests.ground.differ import disagreements, instances, walk, whole_graph
from tests.ground.small_specs import Broken, Counters, Logs
from tests.lang.random_specs import program_of, random_states, random_steps

from antiphon.model.ground import ground, ground_predicate, layout, step
from antiphon.model.ground.form import Bits, Number, Sort
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, SpecError, program
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked

WHOLE_GRAPHS = {
    "two phase": (program(TwoPhase), 288),
    "counters": (program(Counters), 106),
    "counters, repaired, last": (program(Counters, strict=True, last=True), 88),
    "broken": (program(Broken), 648),
    "logs": (program(Logs), 225),
    "short logs": (program(Logs, length=1, entries=3), 16),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", WHOLE_GRAPHS)
def test_every_transition_of_the_state_graph_agrees(name: str) -> None:
    bound, states = WHOLE_GRAPHS[name]
    found = list(disagreements(bound, cases := list(whole_graph(bound))))
    assert found == []
    assert len(cases) == states


PROTOCOLS = {
    "figure 2": program(Figure2Checked),
    "figure 16": program(RbpChecked),
    "figure 16, repaired": program(RbpChecked, repairs="all"),
    "figure 16, other readings": program(RbpChecked, nesting="printed", waiting="blocking"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("bound", PROTOCOLS.values(), ids=PROTOCOLS)
def test_protocols_agree_along_random_walks(bound: Program) -> None:
    rng = random.Random(1)
    every = list(instances(bound))
    cases = [(state, rng.sample(every, min(12, len(every))) + taken) for state, taken in walk(bound, rng, 8)]
    assert list(disagreements(bound, cases)) == []


@pytest.mark.sampled(21)
@pytest.mark.parametrize("seed", range(40))
def test_random_specifications_agree(seed: int) -> None:
    bound, rng = program_of(seed), random.Random(seed)
    cases = [(state, list(random_steps(bound, state, rng, 6))) for state in random_states(bound, rng, 5)]
    assert list(disagreements(bound, cases)) == []


def test_a_step_for_given_arguments_has_no_inputs_and_is_smaller() -> None:
    bound = program(RbpChecked, repairs="all")
    general = ground(bound, "broadcast")
    given = ground(
        bound,
        "broadcast",
        tuple(bound.domain(parameter.type).value(0) for parameter in bound.module.actions[1].parameters),
    )
    assert [item.name for item in general.inputs] == ["p", "m"]
    assert given.inputs == ()
    assert len(given.updates) < len(general.updates)
    assert any(guard.text.startswith("m.index ==") for guard in given.guards)


def test_what_is_not_there_is_refused() -> None:
    bound = program(TwoPhase)
    with pytest.raises(SpecError, match=r"TwoPhase has no action 'comit'; its actions are .*commit"):
        ground(bound, "comit")
    with pytest.raises(SpecError, match="TwoPhase has no predicate 'consistency'; known: consistent"):
        ground_predicate(bound, "consistency")
    with pytest.raises(SpecError, match="prepare takes 1 arguments, not 0"):
        ground(bound, "prepare", ())
    with pytest.raises(SpecError, match="leaves the domain of the parameter"):
        ground(bound, "prepare", (3,))


def _fullest(sort: Sort) -> int:
    """The least number, and every element of a set."""
    return (1 << sort.width) - 1 if isinstance(sort, Bits) else sort.low if isinstance(sort, Number) else 0


def test_inputs_that_are_no_value_enable_nothing() -> None:
    bound = program(Counters)
    give_up = ground(bound, "give_up")
    assert [item.name for item in give_up.inputs] == ["note.desk", "note.ticket.person", "note.ticket.number"]
    deliver = ground(program(RbpChecked), "deliver")
    names = [item.name for item in deliver.inputs]
    absent = names.index("item.identifier.present")
    full = tuple(_fullest(slot.sort) for slot in layout(program(RbpChecked)).slots)
    least = [int("number" in item.name) for item in deliver.inputs]
    assert step(deliver, full, least).slots is not None
    odd = [*least[: absent + 1], 1, *least[absent + 2 :]]
    assert step(deliver, full, odd).slots is None
