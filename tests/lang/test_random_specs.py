"""Random specifications are specifications: the front end reads them, CPython runs them, and together they
use the whole language.
"""

from __future__ import annotations

import random

import pytest
from tests.lang.random_specs import ABSTRACT, program_of, random_states, random_steps

from antiphon.spec.lang import Disabled, SpecError, ir
from antiphon.spec.lang.dump import dump
from antiphon.spec.lang.walk import nodes

SEEDS = range(60)


def all_kinds() -> set[str]:
    """Every node kind of the intermediate form, with one entry for each operator of those that have some."""
    kinds = {
        item.__name__
        for item in vars(ir).values()
        if isinstance(item, type) and issubclass(item, ir.Node) and item not in ABSTRACT
    }
    for family in (
        ir.Comparison,
        ir.Operation,
        ir.SetOperation,
        ir.Quantifier,
        ir.Reduction,
        ir.PredicateKind,
        ir.LivenessKind,
    ):
        kinds |= {f"{family.__name__}.{member.name}" for member in family}
    return kinds


def kinds_in(module: ir.Module) -> set[str]:
    """The node kinds and operators that occur in a module."""
    found = set()
    for node in nodes(tuple(vars(module).values())):
        operators = [getattr(node, name, None) for name in ("operator", "quantifier", "reduction", "kind")]
        found |= {
            type(node).__name__,
            *(f"{type(one).__name__}.{one.name}" for one in operators if one is not None),
        }
    return found


@pytest.mark.deep
def test_the_random_specifications_hold_every_node_kind() -> None:
    modules = [program_of(seed).module for seed in SEEDS]
    assert sorted(all_kinds().difference(*map(kinds_in, modules))) == []
    assert len({dump(module) for module in modules}) == len(SEEDS)


def test_random_steps_succeed_are_refused_and_fail() -> None:
    outcomes = {"ok": 0, "disabled": 0, "wrong": 0, "unlocated": 0}
    for seed in range(10):
        bound, rng = program_of(seed), random.Random(seed)
        for state in random_states(bound, rng, 4):
            for step in random_steps(bound, state, rng, 6):
                try:
                    after = bound.reference.apply(state, step).state
                    assert all(
                        domain.contains(value)
                        for domain, value in zip(bound.domains.values(), after, strict=True)
                    )
                    outcomes["ok"] += 1
                except Disabled:
                    outcomes["disabled"] += 1
                except SpecError as error:
                    outcomes["wrong"] += error.at is not None and error.at.line > 0
                    outcomes["unlocated"] += error.at is None
    assert outcomes.pop("unlocated") == 0
    assert min(outcomes.values()) > 10
