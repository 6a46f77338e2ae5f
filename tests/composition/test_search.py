"""The smallest stack: two searches that share nothing but the table agree, and the graph search agrees with
trying every stack.
"""

from __future__ import annotations

import itertools
import random

import pytest

from antiphon.model.composition import property_graph, smallest_by_z3, smallest_on_graph
from antiphon.model.verdict import Outcome
from antiphon.spec.composition import LAYERS, Layer, Property, judge

P1 = frozenset({Property.P1})


def names(stacks: tuple[tuple[Layer, ...], ...]) -> list[str]:
    return [":".join(layer.name for layer in stack) for stack in stacks]


def test_total_order_takes_five_layers_over_a_network_that_only_tries() -> None:
    found = smallest_on_graph([Property.P6], P1)
    assert found.outcome is Outcome.HOLDS
    assert names(found.stacks) == ["TOTAL:MBRSHIP:NAK:NFRAG:COM", "TOTAL:MBRSHIP:FRAG:NAK:COM"]


def test_what_no_layer_provides_is_not_found() -> None:
    found = smallest_on_graph([Property.P6, Property.P2], P1)
    assert (found.outcome, found.stacks) == (Outcome.VIOLATED, ())
    assert "no layer can bring P2" in found.reason
    assert smallest_by_z3([Property.P2], P1, depth=4).outcome is Outcome.UNKNOWN


def test_what_holds_already_takes_no_layer() -> None:
    assert smallest_on_graph([Property.P1], P1).stacks == smallest_by_z3([Property.P1], P1).stacks == ((),)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("wanted", [("P6",), ("P9", "P12"), ("P6", "P14"), ("P5",), ("P16",), ("P7", "P6")])
def test_graph_and_z3_find_the_same_stacks(wanted: tuple[str, ...]) -> None:
    goal = [Property[name] for name in wanted]
    graph, z3 = smallest_on_graph(goal, P1), smallest_by_z3(goal, P1)
    assert graph.stacks == z3.stacks != ()
    assert all(
        judge(stack, P1).well_formed and set(goal) <= judge(stack, P1).properties for stack in graph.stacks
    )


def random_table(seed: int) -> tuple[Layer, ...]:
    """Six layers over six properties."""
    generator = random.Random(seed)
    few = list(Property)[:6]

    def some(count: int) -> frozenset[Property]:
        return frozenset(generator.sample(few, count))

    return tuple(
        Layer(f"L{number}", some(generator.choice((0, 1, 1, 2))), some(1), some(4), "made")
        for number in range(6)
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_on_made_tables_both_searches_find_what_trying_all_stacks_finds(seed: int) -> None:
    layers = random_table(seed)
    goal, given = frozenset(list(Property)[3:5]), frozenset({Property.P1})
    tried: set[tuple[Layer, ...]] = set()
    for size in range(5):
        judged = ((stack, judge(stack, given)) for stack in itertools.product(layers, repeat=size))
        tried = {
            stack for stack, judgement in judged if judgement.well_formed and goal <= judgement.properties
        }
        if tried:
            break
    graph, z3 = smallest_on_graph(goal, given, layers), smallest_by_z3(goal, given, layers, depth=4)
    if tried:
        assert set(graph.stacks) == set(z3.stacks) == tried
    else:
        assert z3.outcome is Outcome.UNKNOWN
        assert graph.size is None or graph.size > 4


def test_the_graph_holds_every_set_that_a_stack_can_have() -> None:
    graph = property_graph(P1)
    reached = {
        judge(stack, P1).properties
        for stack in itertools.product(LAYERS, repeat=3)
        if judge(stack, P1).well_formed
    }
    assert reached <= set(graph)
    assert graph.number_of_nodes() == 43
