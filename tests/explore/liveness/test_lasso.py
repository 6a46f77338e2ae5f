"""On random graphs: a fair lasso is found exactly where an oracle that tries every set of states finds one,
its stem is shortest, and it is one.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.explore.liveness.oracle import formulas_of, graph_of, is_fair, is_true, shortest_stem, told

from antiphon.model.explore.liveness.lasso import Graph, Lasso, find_lasso
from antiphon.model.explore.liveness.patterns import pattern_of
from antiphon.spec.lang import ir

MASKS = [0, 1, 2, 4, 8, 3, 5]
"""Edges of no kind, of one, of two."""
ONE_KIND = [0, 1]
TWO_KINDS = [1, 2]
STATES = 7
Kind = ir.LivenessKind


def named(name: str) -> ir.Name:
    return ir.Name(type=ir.BOOL, name=name)


def formula(kind: Kind, goal: str, premise: str) -> ir.Temporal:
    return ir.Temporal(kind=kind, goal=named(goal), premise=named(premise) if kind is Kind.LEADS_TO else None)


def claim(last: ir.Temporal, *assuming: ir.Temporal) -> ir.LivenessProperty:
    return ir.LivenessProperty(
        name="claim", kind=last.kind, goal=last.goal, premise=last.premise, assuming=assuming
    )


EVENTUALLY = claim(formula(Kind.EVENTUALLY, "goal", ""))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A small graph with some kinds of steps weakly fair and some strongly."""
    size = draw(st.integers(1, STATES))
    state = st.integers(0, size - 1)
    pairs = st.tuples(state, state, st.integers(0, len(MASKS) - 1))
    edges = draw(st.lists(pairs, max_size=3 * size))
    fair = draw(st.integers(0, 15))
    strong = fair & draw(st.integers(0, 15))
    return graph_of(size, draw(st.integers(1, min(size, 2))), edges, fair & ~strong, strong, MASKS)


Sets = dict[str, set[int]]
sets = st.fixed_dictionaries({name: st.sets(st.integers(0, STATES - 1)) for name in "pqrs"})
conclusions = st.builds(formula, st.sampled_from([kind for kind in Kind if kind is not Kind.INITIALLY]),
                        st.just("p"), st.just("q"))  # fmt: skip
assumptions = st.lists(st.builds(formula, st.sampled_from(Kind), st.just("r"), st.just("s")), max_size=2)


def check_is_one(graph: Graph, lasso: Lasso, liveness: ir.LivenessProperty, where: Sets) -> None:
    """The edges follow one another, and the run is fair and breaks the property."""
    states, at = [lasso.start], lasso.start
    for edge in (*lasso.stem, *lasso.cycle):
        assert edge in graph.edges(at)
        at = graph.targets[edge]
        states.append(at)
    assert lasso.start < graph.initial
    assert states[len(lasso.stem)] == lasso.knot == at
    taken = 0
    for edge in lasso.cycle:
        taken |= graph.masks[graph.kinds[edge]]
    loop = set(states[len(lasso.stem) :])
    assert is_fair(graph, loop, taken)

    def truths(expression: ir.Expression) -> bytearray:
        assert isinstance(expression, ir.Name)
        return bytearray(state in where[expression.name] for state in range(len(graph)))

    true = []
    for part in formulas_of(liveness):
        memory = None
        for state in states:
            memory = told(part, memory, state, truths)
        assert memory is not None
        true.append(is_true(part, memory, loop, truths))
    assert true == [True] * len(liveness.assuming) + [False]


@settings(max_examples=150)
@given(graphs(), sets, conclusions, assumptions)
def test_a_lasso_is_found_where_the_oracle_finds_one_and_is_shortest(
    graph: Graph, where: Sets, last: ir.Temporal, assuming: list[ir.Temporal]
) -> None:
    liveness = claim(last, *assuming)

    def truths(expression: ir.Expression) -> bytearray:
        assert isinstance(expression, ir.Name)
        return bytearray(state in where[expression.name] for state in range(len(graph)))

    lasso = find_lasso(graph, pattern_of(liveness, truths))
    expected = shortest_stem(graph, liveness, truths)
    assert (lasso is None) == (expected is None)
    if lasso is not None:
        assert len(lasso.stem) == expected
        check_is_one(graph, lasso, liveness, where)


def first_lasso(graph: Graph, *goals: int) -> Lasso | None:
    """A fair run that never comes to the goals."""
    goal = bytearray(state in goals for state in range(len(graph)))
    return find_lasso(graph, pattern_of(EVENTUALLY, lambda _: goal))


def test_states_without_their_edges_are_no_end_of_a_run() -> None:
    """0 -> 1 -> 2, of which a bound let only state 0 be expanded: 1 looks like a deadlock and is none."""
    edges = [(0, 1, 1), (1, 2, 1)]
    cut = graph_of(3, 1, edges, weak=1, strong=0, masks=ONE_KIND, expanded=1)
    assert first_lasso(cut) is None
    again = claim(formula(Kind.LEADS_TO, "p", "q"), formula(Kind.LEADS_TO, "p", "q"))
    assert find_lasso(cut, pattern_of(again, lambda _: bytearray(3))) is None
    whole = first_lasso(graph_of(3, 1, edges, weak=1, strong=0, masks=ONE_KIND))
    assert whole is not None
    assert (whole.knot, whole.cycle) == (2, ())


def test_a_strongly_fair_kind_is_taken_and_a_weakly_fair_one_may_pause() -> None:
    """0 <-> 1, and from 1 the kind 0 leads to the goal 2: weak fairness lets the run go round, strong
    fairness does not.
    """
    edges = [(0, 1, 1), (1, 0, 1), (1, 2, 0)]
    weak = first_lasso(graph_of(3, 1, edges, weak=0b11, strong=0, masks=TWO_KINDS), 2)
    assert weak is not None
    assert len(weak.cycle) == 2
    assert first_lasso(graph_of(3, 1, edges, weak=0b10, strong=0b01, masks=TWO_KINDS), 2) is None


def test_a_long_ring_does_not_exhaust_the_stack() -> None:
    size = 30_000
    ring = [(state, (state + 1) % size, 1) for state in range(size)]
    graph = Graph(initial=1, weak=1, masks=ONE_KIND)
    for one, other, kind in ring:
        graph.targets.append(other)
        graph.kinds.append(kind)
        graph.possible.append(1)
        graph.offsets.append(len(graph.targets))
        graph.depths.append(one)
        graph.origin.append(one - 1)
        graph.parent.append(one - 1)
    lasso = first_lasso(graph)
    assert lasso is not None
    assert (lasso.stem, len(lasso.cycle)) == ((), size)
