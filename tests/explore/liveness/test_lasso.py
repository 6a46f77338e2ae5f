"""On random graphs: a fair lasso is found exactly where an oracle that tries every set of states finds one,
its stem is shortest, and it is one.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.explore.liveness.oracle import graph_of, is_fair, shortest_stem

from antiphon.model.explore.liveness.lasso import Graph, Lasso, find_lasso

KINDS = 4


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A small graph with some kinds of steps weakly fair and some strongly."""
    size = draw(st.integers(1, 7))
    state = st.integers(0, size - 1)
    pairs = st.tuples(state, state, st.integers(-1, KINDS - 1)).filter(lambda edge: edge[0] != edge[1])
    edges = draw(st.lists(pairs, max_size=3 * size)) if size > 1 else []
    fair = draw(st.integers(0, (1 << KINDS) - 1))
    strong = fair & draw(st.integers(0, (1 << KINDS) - 1))
    return graph_of(size, draw(st.integers(1, min(size, 2))), edges, fair & ~strong, strong)


def check_is_bad_and_fair(graph: Graph, lasso: Lasso, premise: bytearray | None, goal: bytearray) -> None:
    states, at = [lasso.start], lasso.start
    for edge in (*lasso.stem, *lasso.cycle):
        assert edge in graph.edges(at)
        at = graph.targets[edge]
        states.append(at)
    assert lasso.start < graph.initial
    assert states[len(lasso.stem)] == lasso.knot == at
    loop = states[len(lasso.stem) :]
    last = max((number for number, state in enumerate(states) if goal[state]), default=-1)
    assert last < len(lasso.stem)
    if premise is None:
        assert last == -1
    else:
        assert any(premise[state] for state in states[last + 1 :])
    taken = 0
    for edge in lasso.cycle:
        taken |= 1 << graph.kinds[edge] if graph.kinds[edge] >= 0 else 0
    assert is_fair(graph, set(loop), taken)


@settings(max_examples=400)
@given(graphs(), st.sets(st.integers(0, 6), max_size=2), st.sets(st.integers(0, 6)))
def test_a_lasso_is_found_where_the_oracle_finds_one_and_is_shortest(
    graph: Graph, goals: set[int], premises: set[int]
) -> None:
    goal, some = (bytearray(state in states for state in range(len(graph))) for states in (goals, premises))
    for premise in (some, None, bytearray(b"\1" * len(graph))):
        lasso = find_lasso(graph, premise, goal)
        expected = shortest_stem(graph, premise, goal)
        assert (lasso is None) == (expected is None)
        if lasso is not None:
            assert len(lasso.stem) == expected
            check_is_bad_and_fair(graph, lasso, premise, goal)


def test_states_without_their_edges_are_no_end_of_a_run() -> None:
    """0 -> 1 -> 2, of which a bound let only state 0 be expanded: 1 looks like a deadlock and is none."""
    edges = [(0, 1, 0), (1, 2, 0)]
    assert find_lasso(graph_of(3, 1, edges, weak=1, strong=0, expanded=1), None, bytearray(3)) is None
    whole = find_lasso(graph_of(3, 1, edges, weak=1, strong=0), None, bytearray(3))
    assert whole is not None
    assert (whole.knot, whole.cycle) == (2, ())


def test_a_strongly_fair_kind_is_taken_and_a_weakly_fair_one_may_pause() -> None:
    """0 <-> 1, and from 1 the kind 0 leads to the goal 2: weak fairness lets the run go round, strong
    fairness does not.
    """
    edges = [(0, 1, 1), (1, 0, 1), (1, 2, 0)]
    goal = bytearray([0, 0, 1])
    weak = find_lasso(graph_of(3, 1, edges, weak=0b11, strong=0), None, goal)
    assert weak is not None
    assert len(weak.cycle) == 2
    assert find_lasso(graph_of(3, 1, edges, weak=0b10, strong=0b01), None, goal) is None


def test_a_long_ring_does_not_exhaust_the_stack() -> None:
    size = 30_000
    ring = [(state, (state + 1) % size, 0) for state in range(size)]
    graph = Graph(initial=1, weak=1)
    for one, other, kind in ring:
        graph.targets.append(other)
        graph.kinds.append(kind)
        graph.possible.append(1)
        graph.offsets.append(len(graph.targets))
        graph.depths.append(one)
        graph.origin.append(one - 1)
        graph.parent.append(one - 1)
    lasso = find_lasso(graph, None, bytearray(size))
    assert lasso is not None
    assert (lasso.stem, len(lasso.cycle)) == ((), size)
