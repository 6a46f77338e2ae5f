"""The backward sweep finds exactly the first quiescent and the first irrecoverable states, against
reachability by networkx.
"""

from __future__ import annotations

from typing import Any

import networkx
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.model.engines.recovery import futures


class Graph:
    """The part of a space that obligations ask for."""

    def __init__(self, edges: list[list[int]]) -> None:
        self.edges = edges

    def __len__(self) -> int:
        return len(self.edges)

    def successors(self, state: int) -> tuple[bool, list[int]]:
        return not self.edges[state], self.edges[state]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[list[int]], dict[str, bytearray]]:
    """Successors of each state, and the states in which each of three obligations is true: mostly few."""
    size = draw(st.integers(1, 12))
    state = st.integers(0, size - 1)
    edges = draw(st.lists(st.lists(state, max_size=3), min_size=size, max_size=size))
    true = {name: draw(st.sets(state, max_size=max(size // 4, 1))) for name in ("A", "B", "C")}
    return edges, {
        name: bytearray(number in states for number in range(size)) for name, states in true.items()
    }


@settings(max_examples=300)
@given(graphs())
def test_first_states_agree_with_reachability(drawn: tuple[list[list[int]], dict[str, bytearray]]) -> None:
    edges, truths = drawn
    space: Any = Graph(edges)
    found = futures(space, len(edges), truths, complete=True)
    graph = networkx.DiGraph([(state, after) for state, leads in enumerate(edges) for after in leads])
    graph.add_nodes_from(range(len(edges)))
    for name, good in truths.items():
        recoverable = {
            state
            for state in graph
            if good[state] or any(good[after] for after in networkx.descendants(graph, state))
        }
        assert found[name].irrecoverable == next(
            (state for state in range(len(edges)) if state not in recoverable), None
        )
        assert found[name].quiescent == next(
            (state for state in range(len(edges)) if not edges[state] and not good[state]), None
        )


def test_an_incomplete_search_knows_quiescence_only() -> None:
    space: Any = Graph([[1], [], [], [2]])
    found = futures(space, 2, {"A": bytearray(4)}, complete=False)
    assert found["A"].quiescent == 1
    assert found["A"].irrecoverable is None
