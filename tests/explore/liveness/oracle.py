"""Oracle for fair lassos that tries every set of states: on graphs by their edges, and on those of
specifications, which CPython walks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import networkx

from antiphon.model.explore.liveness import Fairness, Question
from antiphon.model.explore.liveness.lasso import Graph
from antiphon.spec.lang import Program, ir

Edge = tuple[int, int, int]
"""From, to, and the position of a mask of kinds."""


def graph_of(
    size: int,
    starts: int,
    edges: list[Edge],
    weak: int,
    strong: int,
    masks: list[int],
    expanded: int | None = None,
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
    turns = any(one == other for one, other, _ in edges)
    graph = Graph(initial=starts, weak=weak, strong=strong, masks=masks, turns=turns)
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
                mask |= graph.masks[kind]
        graph.possible.append(mask)
        graph.offsets.append(len(graph.targets))
    for position in range(len(order)):
        origin, parent = found.get(position, (-1, -1))
        graph.origin.append(origin)
        graph.parent.append(parent)
    return graph


def is_fair(graph: Graph, states: set[int], taken: int) -> bool:
    """Return True if a run that visits just these states for ever, taking these kinds, is fair."""
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
                taken |= graph.masks[graph.kinds[edge]]
            if networkx.is_strongly_connected(part) and is_fair(graph, set(chosen), taken):
                found.append(set(chosen))
    return found


Truths = Callable[[ir.Expression], Sequence[int]]


def formulas_of(liveness: ir.LivenessProperty) -> tuple[ir.Temporal, ...]:
    """Assumed formulas, then the conclusion."""
    return (*liveness.assuming, liveness)


def told(formula: ir.Temporal, so_far: bool | None, state: int, truths: Truths) -> bool:
    """Memory of the past states that decides a formula, by its kind: truth in the first state, in any, in
    all, or a goal that is owed.
    """
    goal = bool(truths(formula.goal)[state])
    match formula.kind:
        case ir.LivenessKind.INITIALLY:
            return goal if so_far is None else so_far
        case ir.LivenessKind.EVENTUALLY:
            return goal or bool(so_far)
        case ir.LivenessKind.ALWAYS:
            return goal and so_far is not False
        case ir.LivenessKind.LEADS_TO:
            assert formula.premise is not None
            return not goal and (bool(so_far) or bool(truths(formula.premise)[state]))
    return False


def is_true(formula: ir.Temporal, so_far: bool, for_ever: set[int], truths: Truths) -> bool:
    """True if a formula is true of a run that goes on through just these states for ever, all of them."""
    goals = [bool(truths(formula.goal)[state]) for state in for_ever]
    match formula.kind:
        case ir.LivenessKind.INITIALLY:
            return so_far
        case ir.LivenessKind.EVENTUALLY:
            return so_far or any(goals)
        case ir.LivenessKind.ALWAYS:
            return so_far and all(goals)
        case ir.LivenessKind.ALWAYS_EVENTUALLY:
            return any(goals)
        case ir.LivenessKind.EVENTUALLY_ALWAYS:
            return all(goals)
    assert formula.premise is not None
    owed = so_far or any(truths(formula.premise)[state] for state in for_ever)
    return any(goals) or not owed


def shortest_stem(graph: Graph, liveness: ir.LivenessProperty, truths: Truths) -> int | None:
    """The oracle: the fewest steps to where a fair run that breaks the property may go round for ever, or
    None. It walks states with what one must remember, and tries every set of states as the ones that are
    visited for ever. What is to happen once on the run has happened before it goes round.
    """
    formulas = formulas_of(liveness)
    ends = fair_sets(graph)

    def breaks(memory: tuple[bool, ...], for_ever: set[int]) -> bool:
        *assumed, concluded = (
            is_true(formula, so_far, for_ever, truths)
            for formula, so_far in zip(formulas, memory, strict=True)
        )
        return all(assumed) and not concluded and all(map(has_happened, formulas, memory))

    def has_happened(formula: ir.Temporal, so_far: bool) -> bool:
        if formula is not liveness:
            return formula.kind is not ir.LivenessKind.EVENTUALLY or so_far
        if formula.kind is ir.LivenessKind.LEADS_TO:
            return so_far
        return formula.kind is not ir.LivenessKind.ALWAYS or not so_far

    front = [
        (state, tuple(told(formula, None, state, truths) for formula in formulas))
        for state in range(graph.initial)
    ]
    seen, length = set(front), 0
    while front:
        if any(state in end and breaks(memory, end) for state, memory in front for end in ends):
            return length
        after = []
        for state, memory in front:
            for edge in graph.edges(state):
                target = graph.targets[edge]
                then = (
                    target,
                    tuple(
                        told(formula, so_far, target, truths)
                        for formula, so_far in zip(formulas, memory, strict=True)
                    ),
                )
                if then not in seen:
                    seen.add(then)
                    after.append(then)
        front, length = after, length + 1
    return None


def walked(bound: Program, fairness: Fairness) -> tuple[list[Any], Graph]:
    """All states and steps by CPython alone; steps that change nothing are left out."""
    machine = bound.reference
    states = list(machine.initial())
    starts = len(states)
    numbers = {state: number for number, state in enumerate(states)}
    kinds: dict[Any, int] = {}
    masks = {0: 0}
    edges: list[Edge] = []
    for state in states:
        for transition in machine.successors(state):
            if transition.state not in numbers:
                numbers[transition.state] = len(states)
                states.append(transition.state)
            mask = 0
            for kind, condition in fairness.kinds(transition.step):
                if condition is None or condition.holds(bound, state):
                    mask |= 1 << kinds.setdefault(kind, len(kinds))
            if transition.state != state:
                edges.append((numbers[state], numbers[transition.state], masks.setdefault(mask, len(masks))))
    strong = sum(1 << kind for what, kind in kinds.items() if fairness.is_strong(what))
    weak = sum(1 << kind for what, kind in kinds.items() if not fairness.is_strong(what))
    return states, graph_of(len(states), starts, edges, weak, strong, list(masks))


def expected(bound: Program, question: Question, fairness: Fairness) -> int | None:
    """The length of the shortest stem of a fair lasso, for any values of the parameters; None when there is
    no lasso.
    """
    states, graph = walked(bound, fairness)
    stems = []
    for instance in question.instances:
        known: dict[str, bytearray] = {}

        def truths(
            expression: ir.Expression,
            instance: tuple[Any, ...] = instance,
            known: dict[str, bytearray] = known,
        ) -> bytearray:
            assert isinstance(expression, ir.Call)
            name, arguments = expression.function, instance[: len(expression.arguments)]
            if name not in known:
                known[name] = bytearray(bound.reference.evaluate(state, name, *arguments) for state in states)
            return known[name]

        stems.append(shortest_stem(graph, question.liveness, truths))
    return min((stem for stem in stems if stem is not None), default=None)
