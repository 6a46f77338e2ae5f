"""A mistranslation of any node kind is caught: the differential test finds a step on which the wrong grounder
and CPython differ.
"""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import Any

import pytest
from tests.ground.differ import disagreements, whole_graph
from tests.ground.mutants import (
    DEFINITIONS,
    EXPRESSIONS,
    PARTS,
    STATEMENTS,
    Mutation,
    plant,
    plant_in_definition,
)
from tests.ground.small_specs import Broken, Counters
from tests.lang.random_specs import ABSTRACT, program_of, random_states, random_steps

from antiphon.model.ground import expressions, statements
from antiphon.spec.lang import Program, State, Step, ir, program

SEEDS = range(60)
HANDLED = (*EXPRESSIONS, *STATEMENTS)


@cache
def cases(number: int) -> tuple[Program, list[tuple[State, list[Step]]]]:
    """States and steps of a random specification, or (numbers below 0) every ninth state of a small one."""
    if number < 0:
        bound = program((Counters, Broken)[number + 2])
        return bound, [
            (state, list(steps)) for state, steps in itertools.islice(whole_graph(bound), 0, 200, 9)
        ]
    bound, rng = program_of(number), random.Random(number)
    return bound, [
        (state, list(random_steps(bound, state, rng, 6))) for state in random_states(bound, rng, 3)
    ]


def caught() -> str | None:
    """The first disagreement on random specifications, or that the grounder stops; None when there is none:
    then the mistake would go unnoticed.
    """
    for number in (*SEEDS[:10], -1, -2, *SEEDS[10:]):
        bound, steps = cases(number)
        try:
            for found in itertools.islice(disagreements(bound, steps), 1):
                return found
        except (LookupError, RuntimeError, TypeError, ValueError) as error:
            return f"the grounder stops: {error!r}"
    return None


@pytest.mark.sampled(33)
@pytest.mark.parametrize(
    ("kind", "what", "mutation"), HANDLED, ids=[f"{kind.__name__}: {what}" for kind, what, _ in HANDLED]
)
def test_a_mistranslated_node_is_caught(
    monkeypatch: pytest.MonkeyPatch, kind: type[ir.Node], what: str, mutation: Mutation
) -> None:
    plant(monkeypatch, kind, mutation)
    assert caught(), f"{kind.__name__}: {what}"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", DEFINITIONS, ids=lambda kind: kind.__name__)
def test_a_mistaken_definition_is_caught(monkeypatch: pytest.MonkeyPatch, kind: type[ir.Node]) -> None:
    plant_in_definition(monkeypatch, kind)
    assert caught(), kind.__name__


@pytest.mark.parametrize(("what", "owner", "name", "wrong"), PARTS, ids=[part[0] for part in PARTS])
def test_a_mistake_of_the_grounder_itself_is_caught(
    monkeypatch: pytest.MonkeyPatch, what: str, owner: Any, name: str, wrong: Any
) -> None:
    monkeypatch.setattr(owner, name, wrong)
    assert caught(), what


def test_every_node_kind_that_the_grounder_handles_has_a_mistranslation() -> None:
    kinds = {
        value
        for value in vars(ir).values()
        if isinstance(value, type) and issubclass(value, ir.Expression | ir.Statement)
    }
    concrete = kinds - set(ABSTRACT)
    assert concrete == {kind for kind, _, _ in HANDLED}
    assert concrete == set(expressions.HANDLERS) | set(statements.HANDLERS)


@pytest.mark.deep
def test_the_right_grounder_is_not_accused() -> None:
    assert caught() is None
