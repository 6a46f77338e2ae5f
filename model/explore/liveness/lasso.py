"""Search for a lasso: a shortest way into a fair cycle, such that the run is accepted by the automaton of the
runs that break a liveness property.

1. Where the pattern has one mode, or waits and then has one, the search is among states of the graph. Else it
   is among pairs of a state and a mode, which are a graph themselves.
2. A cycle is fair when each weakly fair kind of steps is impossible in one of its states or taken by a step,
   and each strongly fair kind is taken, or possible nowhere (Emerson and Lei 1987; a Streett condition). A
   condition that the pattern must meet again and again becomes a weakly fair kind that no step has, possible
   wherever the condition is not met. Steps that change nothing are not in the graph, so a run may stay for
   ever where nothing fair is possible: a cycle of length 0.
3. A strongly connected part has a fair cycle through all its states, but for kinds that it takes nowhere. If
   a weakly fair one of them is possible in every state, the part has no fair cycle. If a strongly fair one is
   possible in some states, these are left out, and the rest is taken apart again.

This file knows numbers of states and kinds only: no program, no packing, no verdict.
"""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from antiphon.model.explore.liveness.patterns import Pattern, Truth
from antiphon.spec.lang.watch import working

UNSEEN = -2
SOURCE = -1


@dataclass
class Graph:
    """Graph of all steps between numbered states, initial states first, then level by level; each step one
    edge, without those that change nothing.

    The edges of state s are numbered from `offsets[s]` to `offsets[s + 1] - 1`; only `expanded` states have
    theirs. `masks[kinds[e]]` is the mask of the kinds that the edge is of, `possible[s]` that of all edges
    from s; `weak` and `strong` are the masks of fair kinds. `origin` and `parent` are the state and the edge
    by which a state was found (NO_EDGE for an initial one); `depths` its distance from an initial state.
    `turns` says whether there are edges from a state to itself.
    """

    initial: int = 0
    offsets: array[int] = field(default_factory=lambda: array("Q", [0]))
    targets: array[int] = field(default_factory=lambda: array("I"))
    kinds: array[int] = field(default_factory=lambda: array("I"))
    masks: list[int] = field(default_factory=lambda: [0])
    possible: list[int] = field(default_factory=list)
    origin: array[int] = field(default_factory=lambda: array("q"))
    parent: array[int] = field(default_factory=lambda: array("q"))
    depths: array[int] = field(default_factory=lambda: array("I"))
    weak: int = 0
    strong: int = 0
    turns: bool = False

    def __len__(self) -> int:
        return len(self.depths)

    @property
    def expanded(self) -> int:
        """Return the number of states, from the first on, whose edges are known."""
        return len(self.offsets) - 1

    @property
    def fair(self) -> int:
        """Return the mask of all fair kinds."""
        return self.weak | self.strong

    def edges(self, state: int) -> range:
        """Return the numbers of the edges that leave a state."""
        return range(self.offsets[state], self.offsets[state + 1])

    def source(self, edge: int) -> int:
        """Return the state that an edge leaves."""
        low, high = 0, self.expanded
        while high - low > 1:
            middle = (low + high) // 2
            if self.offsets[middle] <= edge:
                low = middle
            else:
                high = middle
        return low

    def way_to(self, state: int) -> list[int]:
        """Return the edges of a shortest way from an initial state to this state."""
        found = []
        while self.origin[state] >= 0:
            found.append(self.parent[state])
            state = self.origin[state]
        return found[::-1]


@dataclass(frozen=True)
class Lasso:
    """Lasso as edges: from the initial state `start` along `stem` to the state `knot`, then round `cycle` for
    ever (empty: the run stays at the knot).
    """

    start: int
    stem: tuple[int, ...]
    knot: int
    cycle: tuple[int, ...]


def find_lasso(graph: Graph, pattern: Pattern) -> Lasso | None:
    """Return a fair lasso among the expanded states that the pattern accepts, with a shortest stem; None when
    there is none.
    """
    last = len(pattern.moves) - 1
    if last == 0 or (last == 1 and pattern.waits):
        required = [truths[last] for truths in pattern.recurring]
        first = dict(pattern.begin)[last]
        ((_, rest),) = pattern.moves[last]
        return _lasso(_requiring(graph, required), first, rest, anywhere=last == 1)
    product = _Product(graph, pattern)
    found = _lasso(product.graph, None, None, anywhere=False)
    if found is None:
        return None
    stem, cycle = (tuple(product.edges[edge] for edge in edges) for edges in (found.stem, found.cycle))
    return Lasso(product.states[found.start], stem, product.states[found.knot], cycle)


def _lasso(graph: Graph, first: Truth, rest: Truth, *, anywhere: bool) -> Lasso | None:
    """Return a fair lasso that begins with a state of `first`, an initial one or, with `anywhere`, any on the
    way, and goes on by states of `rest`; None if there is none.
    """
    part = _Part(graph, first, rest, anywhere=anywhere)
    home: dict[int, list[int]] = {}
    for component in fair_components(graph, part.order, part.inside):
        home.update(dict.fromkeys(component, component))
    nearest = next((state for state in part.order if state in home), None)
    if nearest is None:
        return None
    level = (
        state for state in part.order if state in home and part.distance[state] == part.distance[nearest]
    )
    knot = next((state for state in level if not graph.possible[state] & graph.fair), nearest)
    stem = part.stem(knot)
    start = graph.source(stem[0]) if stem else knot
    cycle = fair_cycle(graph, knot, set(home[knot])) if graph.possible[knot] & graph.fair else []
    return Lasso(start, tuple(stem), knot, tuple(cycle))


def _free_kind(graph: Graph) -> int:
    """Return the mask of a kind that no edge and no state has."""
    return 1 << max(mask.bit_length() for mask in (*graph.masks, graph.weak, graph.strong))


def _requiring(graph: Graph, required: Sequence[Truth]) -> Graph:
    """Return the graph with conditions such that a fair cycle meets each of the `required` sets of states."""
    for truth in required:
        if truth is not None:
            bit = _free_kind(graph)
            possible = [mask if met else mask | bit for mask, met in zip(graph.possible, truth, strict=False)]
            graph = dataclasses.replace(
                graph, possible=possible, weak=graph.weak | bit, masks=[*graph.masks, bit]
            )
    return graph


class _Product:
    """Product of the graph and an automaton: the pairs of a state and a mode that a run may reach, as a
    graph.

    Attributes:
        graph: the pairs and their edges.
        states: for each pair its state.
        edges: for each edge the edge in the graph of states.
    """

    def __init__(self, graph: Graph, pattern: Pattern) -> None:
        self.graph = Graph(weak=graph.weak, strong=graph.strong, masks=list(graph.masks), turns=graph.turns)
        self.states, self.edges = array("I"), array("Q")
        self._modes = array("I")
        self._numbers: dict[tuple[int, int], int] = {}
        required = [self._new_kind() for _ in pattern.recurring]
        for state in range(min(graph.initial, graph.expanded)):
            for mode, truth in pattern.begin:
                if truth is None or truth[state]:
                    self._number(state, mode)
        self.graph.initial = len(self.graph)
        number = 0
        while number < len(self.graph):
            self._expand(graph, pattern, number)
            state, mode = self.states[number], self._modes[number]
            missed = sum(
                bit
                for bit, truths in zip(required, pattern.recurring, strict=True)
                if not _is_true(truths[mode], state)
            )
            self.graph.possible.append(graph.possible[state] | missed)
            number += 1

    def _new_kind(self) -> int:
        bit = _free_kind(self.graph)
        self.graph.masks.append(bit)
        self.graph.weak |= bit
        return bit

    def _number(self, state: int, mode: int, origin: int = -1) -> int:
        """Return the number of a pair; a new pair is recorded as found by the next edge, from `origin`."""
        made = self.graph
        number = self._numbers.setdefault((state, mode), len(made))
        if number == len(made):
            self.states.append(state)
            self._modes.append(mode)
            made.origin.append(origin)
            made.parent.append(len(made.targets) if origin >= 0 else -1)
            made.depths.append(made.depths[origin] + 1 if origin >= 0 else 0)
        return number

    def _expand(self, graph: Graph, pattern: Pattern, number: int) -> None:
        made = self.graph
        for edge in graph.edges(self.states[number]):
            target = graph.targets[edge]
            if target < graph.expanded:
                for mode, truth in pattern.moves[self._modes[number]]:
                    if truth is None or truth[target]:
                        found = self._number(target, mode, number)
                        made.targets.append(found)
                        made.kinds.append(graph.kinds[edge])
                        self.edges.append(edge)
        made.offsets.append(len(made.targets))


def _is_true(truth: Truth, state: int) -> bool:
    return truth is None or (len(truth) > 0 and bool(truth[state]))


class _Part:
    """Part of the graph for runs that begin with a state of `first` and go on by states of `rest`: `order`
    lists the states by distance from the beginning of a run, `inside` marks them.
    """

    def __init__(self, graph: Graph, first: Truth, rest: Truth, *, anywhere: bool) -> None:
        self.graph = graph
        self.inside = bytearray(len(graph))
        self.order: list[int] = []
        self.distance = array("I", bytes(4 * len(graph)))
        self._from = array("q", [UNSEEN]) * len(graph)
        sources: dict[int, list[int]] = {}
        for state in range(graph.expanded if anywhere else min(graph.initial, graph.expanded)):
            if first is None or first[state]:
                sources.setdefault(graph.depths[state], []).append(state)
        good = bytearray(b"\1" * len(graph)) if rest is None else rest
        front: list[int] = []
        level = min(sources, default=0)
        last = max(sources, default=-1)
        while front or level <= last:
            after: list[int] = []
            for state in sources.get(level, ()):
                if self._from[state] == UNSEEN:
                    self._from[state] = SOURCE
            for state in (*front, *sources.get(level, ())):
                if not self.inside[state]:
                    self._enter(state, level, after, good)
            front, level = after, level + 1

    def _enter(self, state: int, level: int, after: list[int], good: Sequence[int]) -> None:
        working(f"judging liveness, {len(self.order):,} states")
        graph = self.graph
        self.inside[state] = 1
        self.order.append(state)
        self.distance[state] = level
        for edge in graph.edges(state):
            target = graph.targets[edge]
            if (
                target < graph.expanded
                and not self.inside[target]
                and self._from[target] == UNSEEN
                and good[target]
            ):
                self._from[target] = edge
                after.append(target)

    def stem(self, state: int) -> list[int]:
        """Return a shortest way from an initial state to `state`, as edges: to a source of the part by any
        states, and from there by states of the part.
        """
        found: list[int] = []
        while (edge := self._from[state]) != SOURCE:
            found.append(edge)
            state = self.graph.source(edge)
        return self.graph.way_to(state) + found[::-1]


def fair_components(graph: Graph, states: Sequence[int], inside: bytearray) -> Iterator[list[int]]:
    """Yield the largest sets of these states such that a fair cycle goes through all states of the set; a set
    of one state may be a cycle of length 0.
    """
    region = array("I", bytes(4 * len(graph)))
    for state in states:
        region[state] = 1 if inside[state] else 0
    names = 1
    todo = [(1, list(states))]
    while todo:
        name, part = todo.pop()
        for component in components(graph, part, region, name):
            working("judging liveness, the cycles")
            names += 1
            for state in component:
                region[state] = names
            always, ever, taken = _summary(graph, component, region, names)
            if graph.weak & always & ~taken:
                continue
            starved = graph.strong & ever & ~taken
            if not starved:
                yield component
                continue
            rest = [state for state in component if not graph.possible[state] & starved]
            if rest:
                names += 1
                for state in rest:
                    region[state] = names
                todo.append((names, rest))


def _summary(graph: Graph, component: Sequence[int], region: array[int], name: int) -> tuple[int, int, int]:
    """Return three masks of kinds: those possible in all states of a component, those possible in some, and
    those taken by an edge within it.
    """
    always, ever, taken = -1, 0, 0
    for state in component:
        always &= graph.possible[state]
        ever |= graph.possible[state]
        if len(component) > 1 or graph.turns:
            for edge in graph.edges(state):
                if region[graph.targets[edge]] == name:
                    taken |= graph.masks[graph.kinds[edge]]
    return always, ever, taken


def components(graph: Graph, states: Sequence[int], region: array[int], name: int) -> Iterator[list[int]]:
    """Yield the strongly connected components among those states whose region is `name` (Tarjan 1972, without
    recursion).

    The caller may change the region of a component's states after receiving the component.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    for root in states:
        if root in index or region[root] != name:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        calls = [(root, iter(graph.edges(root)))]
        while calls:
            state, edges = calls[-1]
            for edge in edges:
                target = graph.targets[edge]
                if region[target] != name:
                    continue
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    calls.append((target, iter(graph.edges(target))))
                    break
                if target in low:
                    low[state] = min(low[state], index[target])
            else:
                calls.pop()
                if calls and low[state] < low[calls[-1][0]]:
                    low[calls[-1][0]] = low[state]
                if low[state] == index[state]:
                    component: list[int] = []
                    while not component or component[-1] != state:
                        component.append(stack.pop())
                        del low[component[-1]]
                    yield component


def fair_cycle(graph: Graph, knot: int, component: set[int]) -> list[int]:
    """Return a short fair cycle from the knot through states of its component, as edges: each time to the
    nearest requirement that is still missing, and then back.
    """
    walk: list[int] = []
    at = knot
    always = ever = graph.possible[knot]
    taken = 0
    while True:
        missing = (graph.weak & always & ~taken) | (graph.strong & ever & ~taken)
        if not missing and walk and at == knot:
            return walk
        for edge in _nearest(graph, at, component, missing, knot):
            walk.append(edge)
            at = graph.targets[edge]
            always &= graph.possible[at]
            ever |= graph.possible[at]
            taken |= graph.masks[graph.kinds[edge]]


def _nearest(graph: Graph, at: int, component: set[int], missing: int, home: int) -> list[int]:
    """Return the shortest way from `at`, of at least one step, that takes a missing kind or ends where a
    missing weakly fair kind is impossible; if no kind is missing, the way to `home`.
    """
    came: dict[int, int] = {}
    front = [at]
    while front:
        after = []
        for state in front:
            for edge in graph.edges(state):
                target = graph.targets[edge]
                if target not in component:
                    continue
                taken = graph.masks[graph.kinds[edge]]
                useful = missing & (taken | graph.weak & ~graph.possible[target])
                if useful or (not missing and target == home):
                    return _walked(graph, came, at, state, edge)
                if target not in came and target != at:
                    came[target] = edge
                    after.append(target)
        front = after
    raise AssertionError("a fair component has a way to everything that is missing")


def _walked(graph: Graph, came: dict[int, int], at: int, state: int, last: int) -> list[int]:
    found = [last]
    while state != at:
        found.append(came[state])
        state = graph.source(came[state])
    return found[::-1]
