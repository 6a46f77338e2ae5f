"""The backward sweep finds exactly the first quiescent and the first irrecoverable states, against reachability by networkx."""

from __future__ import annotations

import random
from typing import Any

import networkx
import pytest

from antiphon.model.engines.recovery import futures


class Graph:
    """The part of a space that obligations ask for."""

    def __init__(self, edges: list[list[int]]) -> None:
        self.edges = edges

    def __len__(self) -> int:
        return len(self.edges)

    def successors(self, state: int) -> tuple[bool, list[int]]:
        return not self.edges[state], self.edges[state]


def random_graph(chance: random.Random) -> list[list[int]]:
    size = chance.randrange(1, 30)
    return [[chance.randrange(size) for _ in range(chance.randrange(4))] for _ in range(size)]


@pytest.mark.parametrize("seed", range(300))
def test_first_states_agree_with_reachability(seed: int) -> None:
    chance = random.Random(seed)
    edges = random_graph(chance)
    size = len(edges)
    truths = {name: bytearray(chance.random() < chance.choice((0.05, 0.3)) for _ in range(size)) for name in ("A", "B", "C")}
    space: Any = Graph(edges)
    found = futures(space, size, truths, complete=True)
    graph = networkx.DiGraph([(state, after) for state in range(size) for after in edges[state]])
    graph.add_nodes_from(range(size))
    for name, good in truths.items():
        recoverable = {state for state in range(size) if good[state] or any(good[after] for after in networkx.descendants(graph, state))}
        assert found[name].irrecoverable == next((state for state in range(size) if state not in recoverable), None)
        assert found[name].quiescent == next((state for state in range(size) if not edges[state] and not good[state]), None)


def test_an_incomplete_search_knows_quiescence_only() -> None:
    space: Any = Graph([[1], [], [], [2]])
    found = futures(space, 2, {"A": bytearray(4)}, complete=False)
    assert found["A"].quiescent == 1
    assert found["A"].irrecoverable is None
