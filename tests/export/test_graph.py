"""The state graph that is written is the one that is walked; what nobody could read is refused."""

from __future__ import annotations

import io
import re

import networkx
import pytest

import antiphon
from antiphon.model.explore import check
from antiphon.model.export import dot, graphml
from antiphon.spec.examples.chang_roberts import ChangRoberts
from antiphon.spec.examples.die_hard import DieHard
from antiphon.spec.examples.ewd840 import EWD840
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Spec, SpecError, program


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", [DieHard, TwoPhase, ChangRoberts])
def test_the_graph_has_all_states_and_all_steps(spec: type[Spec]) -> None:
    bound = program(spec)
    graph, explored = antiphon.state_graph(bound), check(bound, properties=()).exploration
    assert (len(graph), graph.number_of_edges()) == (explored.states, explored.transitions)
    assert sum(data["initial"] for _, data in graph.nodes(data=True)) == len(bound.reference.initial())


def test_the_shortest_way_to_a_broken_state_is_the_counterexample() -> None:
    graph = antiphon.state_graph(program(DieHard))
    broken = [node for node, data in graph.nodes(data=True) if data["broken"] == "NotSolved"]
    assert min(networkx.shortest_path_length(graph, 0, node) for node in broken) == 6
    path = networkx.shortest_path(graph, 0, broken[0])
    assert graph.nodes[path[-1]]["label"].startswith("big = 4\n")
    assert graph.nodes[path[-1]]["variable.big"] == "4"


def test_a_map_has_its_keys_in_a_node() -> None:
    graph = antiphon.state_graph(program(EWD840, nodes=2))
    assert graph.nodes[0]["variable.active"] == "{n0: False, n1: False}"
    assert graph.nodes[0]["label"].splitlines()[:2] == ["active[n0] = False", "active[n1] = False"]


def test_graphml_is_read_back_as_the_same_graph() -> None:
    bound = program(EWD840, nodes=2)
    graph = antiphon.state_graph(bound)
    found = networkx.read_graphml(io.BytesIO(graphml(graph).encode()), node_type=int, force_multigraph=True)
    assert dict(found.nodes(data=True)) == dict(graph.nodes(data=True))
    assert sorted((a, b, data["label"], data["fault"]) for a, b, data in found.edges(data=True)) == sorted(
        (a, b, data["label"], data["fault"]) for a, b, data in graph.edges(data=True)
    )


def test_dot_has_a_line_a_state_and_a_line_a_step() -> None:
    text = dot(antiphon.state_graph(DieHard))
    assert len(re.findall(r"^  \d+ \[label=\"big = \d\\lsmall = \d\\l\"", text, flags=re.MULTILINE)) == 16
    assert len(re.findall(r"^  \d+ -> \d+ \[label=\"\w+\(\)\"\];$", text, flags=re.MULTILINE)) == 96
    assert text.count("color=red") == 2  # four gallons in the big jug, and the small one empty or full
    assert "style=dashed" in dot(antiphon.state_graph(program(EWD840, nodes=2)))


def test_a_graph_that_nobody_could_read_is_refused() -> None:
    with pytest.raises(SpecError, match="TwoPhase has more than 100 states: too many to be drawn"):
        antiphon.state_graph(TwoPhase, max_states=100)
