"""Graphs by their edges, and where a fair lasso begins on them, found by trying every set of states."""

from __future__ import annotations

import itertools

import networkx

from antiphon.model.explore.liveness.lasso import Graph

Edge = tuple[int, int, int]
"""From, to, kind."""


def graph_of(
    size: int, starts: int, edges: list[Edge], weak: int, strong: int, expanded: int | None = None
) -> Graph:
    """The graph with these edges; states that no start reaches are left out, as a walk does, and the others
    numbered level by level.
    """
    order, depths, found = list(range(starts)), dict.fromkeys(range(starts), 0), {}
    for state in order:
        for one, other, _ in edges:
            if one == state and other not in depths:
                depths[other] = depths[state] + 1
                order.append(other)
    assert order[-1] < size
    number = {state: position for position, state in enumerate(order)}
    graph = Graph(initial=starts, weak=weak, strong=strong)
    for state in order:
        graph.depths.append(depths[state])
    for state in order[: len(order) if expanded is None else expanded]:
        mask = 0
        for one, other, kind in edges:
            if one == state:
                if number[other] not in found and number[other] >= starts:
                    found[number[other]] = number[one], len(graph.targets)
                graph.targets.append(number[other])
                graph.kinds.append(kind)
                mask |= 1 << kind if kind >= 0 else 0
        graph.possible.append(mask)
        graph.offsets.append(len(graph.targets))
    for position in range(len(order)):
        origin, parent = found.get(position, (-1, -1))
        graph.origin.append(origin)
        graph.parent.append(parent)
    return graph


def is_fair(graph: Graph, states: set[int], taken: int) -> bool:
    """Whether a run that visits just these states for ever, taking these kinds, is fair."""
    always = ever = graph.possible[next(iter(states))]
    for state in states:
        always, ever = always & graph.possible[state], ever | graph.possible[state]
    return not graph.weak & always & ~taken and not graph.strong & ever & ~taken


def within(graph: Graph, states: set[int]) -> networkx.MultiDiGraph:
    made = networkx.MultiDiGraph()
    made.add_nodes_from(states)
    for state in states:
        made.add_edges_from(
            (state, graph.targets[edge], edge) for edge in graph.edges(state) if graph.targets[edge] in states
        )
    return made


def fair_sets(graph: Graph) -> list[set[int]]:
    """Every set of states that a fair run can visit for ever and nothing else: the oracle, which tries them
    all.
    """
    found = []
    for count in range(1, len(graph) + 1):
        for chosen in itertools.combinations(range(len(graph)), count):
            part = within(graph, set(chosen))
            taken = 0
            for _, _, edge in part.edges(keys=True):
                taken |= 1 << graph.kinds[edge] if graph.kinds[edge] >= 0 else 0
            if networkx.is_strongly_connected(part) and is_fair(graph, set(chosen), taken):
                found.append(set(chosen))
    return found


def shortest_stem(graph: Graph, premise: bytearray | None, goal: bytearray) -> int | None:
    """The oracle for stems: over pairs (state, whether the premise was met with no goal since)."""
    ends = {
        state for states in fair_sets(graph) if not any(goal[state] for state in states) for state in states
    }
    start = [(state, False) for state in range(graph.initial)]
    if premise is None:
        start = [(state, True) for state in range(graph.initial) if not goal[state]]
    seen, front, length = set(start), start, 0
    while front:
        after = []
        for state, owed in front:
            owes = [owed]
            if premise is not None and premise[state] and not goal[state]:
                owes.append(True)
            if True in owes and state in ends:
                return length
            for edge, now in itertools.product(graph.edges(state), owes):
                then = graph.targets[edge], now
                if now and goal[then[0]]:
                    continue
                if then not in seen:
                    seen.add(then)
                    after.append(then)
        front, length = after, length + 1
    return None
