"""Graph of a program for liveness: all steps between all states, each with its kind, as far as a bound
allows.

Every step of every state is kept, faults too: fairness is about steps, and no reduction of the search keeps
them all. So liveness walks the graph separately, and reuses no search that leaves steps out. If nothing
distinguishes the members of symmetric sets, it may be the graph of orbits, in which a step from a state to
another of its orbit is an edge too.

This file knows nothing of liveness properties.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from antiphon.model.bounds import WRONG_SPECIFICATION, Bounds, Progress
from antiphon.model.engines.choice import Engine, transitions_by
from antiphon.model.engines.interface import Transitions
from antiphon.model.engines.python.orbits import OrbitTransitions
from antiphon.model.explore.explorer import Visitor, walk
from antiphon.model.explore.liveness.fairness import Condition, Fairness, Kind, Values
from antiphon.model.explore.liveness.lasso import Graph
from antiphon.model.ground.budgets import MOST_STEPS, budget_blocked_step, budget_steps
from antiphon.spec.lang import Program, SpecError, State, Step, Transition, ir
from antiphon.spec.lang.watch import working

NONE: frozenset[int] = frozenset()


class FairGraph(Visitor):
    """Walked graph of a program, with its space and its walk.

    Attributes:
        graph: states and edges by number, each edge with the kind of its step.
        space: the states.
        walk: how far the walk came, and why not further.
        failure: the error of the specification that ended it, if one did.
        symmetric: whether a state stands for all that differ in the names of interchangeable members.
    """

    def __init__(
        self,
        program: Program,
        fairness: Fairness,
        *,
        engine: Engine,
        bounds: Bounds,
        progress: Callable[[Progress], None] | None = None,
        symmetric: bool = False,
    ) -> None:
        self.program, self.fairness, self.symmetric = program, fairness, symmetric
        self.graph = Graph()
        self._steps: list[int] = []
        self._kinds: dict[Kind, int] = {}
        self._masks = {0: 0}
        self._kinds_of: list[int] = []
        self._conditions: dict[int, list[tuple[Callable[[int], bool], int]]] = {}
        self._orbits = OrbitTransitions(transitions_by(program, engine)) if symmetric else None
        self._transitions: Transitions = self._orbits or transitions_by(program, engine)
        unread: SpecError | None = None
        initial: Sequence[State] = ()
        try:
            initial = program.reference.initial()
        except SpecError as error:
            unread = error
        self.space, self.walk = walk(self._transitions, self, bounds, progress, initial=initial)
        self.failure = unread or self.space.failure or self._decide_conditional()
        if unread is not None:
            self.walk.stopped, self.walk.complete = WRONG_SPECIFICATION, False

    def __len__(self) -> int:
        return len(self.graph)

    def truths(self, call: ir.Expression, values: Values) -> bytearray:
        """Return for each state 1 where a call of a helper or predicate is true under these values of its
        parameters, else 0.

        Raises:
            SpecError: the call cannot be evaluated in some state.
        """
        holds = self._transitions.formula(cast("ir.Call", call), values)
        return bytearray(map(holds, self.space.packed[: len(self)]))

    def state(self, number: int) -> State:
        """Return the state of this number."""
        return self.space.value(number)

    def step(self, edge: int) -> Step:
        """Return the step of an edge."""
        return self._transitions.step(self._steps[edge])

    def stands_for(self, number: int, state: State) -> bool:
        """Return True if the state with this number is `state`, or the one that represents it."""
        return self._transitions.pack(state) == self.space.packed[number]

    def is_edge(self, edge: int, state: State, transition: Transition) -> bool:
        """Return True if this edge stands for the transition from `state`, as CPython takes it: its next
        state and the kinds of its step are those of the edge.
        """
        mask = 0
        for kind, condition in self.fairness.kinds(transition.step):
            if condition is None or condition.holds(self.program, state):
                mask |= 1 << self._kinds[kind]
        kinds = self.graph.masks[self.graph.kinds[edge]]
        return mask == kinds and self.stands_for(self.graph.targets[edge], transition.state)

    def states(self, first: int, last: int) -> None:
        """Note the initial states, which are found first; all other states come with the transitions that
        find them.
        """
        if not first:
            for _ in range(last):
                self._add(-1, -1, 0)
            self.graph.initial = last

    def transitions(self, state: int, moves: Sequence[tuple[int, int]]) -> None:
        """Add to the graph the edges of the steps of a state that change something."""
        graph = self.graph
        targets, depth, possible = graph.targets, graph.depths[state] + 1, 0
        turned = self._orbits.turned if self._orbits is not None else NONE
        for number, target in moves:
            if target == state:
                if number not in turned:
                    continue
                graph.turns = True
            if target == len(graph):
                self._add(state, len(targets), depth)
            kinds = self._kinds_of[number] if number < len(self._kinds_of) else self._learn(number)
            targets.append(target)
            graph.kinds.append(kinds)
            self._steps.append(number)
            possible |= graph.masks[kinds]
        graph.possible.append(possible)
        graph.offsets.append(len(targets))

    def _add(self, origin: int, edge: int, depth: int) -> None:
        self.graph.origin.append(origin)
        self.graph.parent.append(edge)
        self.graph.depths.append(depth)

    def _learn(self, number: int) -> int:
        """Return the number of the mask of kinds that the step `number` has in every state. The kinds of all
        steps up to this one are determined first, if they are unknown.
        """
        while len(self._kinds_of) <= number:
            step, mask = len(self._kinds_of), 0
            for kind, condition in self.fairness.kinds(self._transitions.step(step)):
                if condition is None:
                    mask |= self._bit(kind)
                else:
                    holds = self._transitions.formula(condition.call, condition.values)
                    self._conditions.setdefault(step, []).append((holds, self._bit(kind)))
            self._kinds_of.append(self._numbered(mask))
        return self._kinds_of[number]

    def _decide_conditional(self) -> SpecError | None:
        """Add to each edge the fairness conditions (kinds) that its step meets in certain states only, as far
        as the state before it meets them. Return the error of a condition that cannot be evaluated, or None.
        """
        graph = self.graph
        try:
            for state in range(graph.expanded if self._conditions else 0):
                for edge in graph.edges(state):
                    mask = graph.masks[graph.kinds[edge]]
                    for holds, bit in self._conditions.get(self._steps[edge], ()):
                        if holds(self.space.packed[state]):
                            mask |= bit
                    graph.kinds[edge] = self._numbered(mask)
                    graph.possible[state] |= mask
        except SpecError as error:
            return error
        return None

    def unspent(self) -> Graph | None:
        """Return the graph in which a kind also counts as possible where only a spent budget disables its
        steps; None if no budget does.

        Where too many steps have budgets, every kind counts as possible everywhere.
        """
        graph, packed = self.graph, self.space.packed[: self.graph.expanded]
        union = functools.reduce(operator.or_, packed, 0)
        steps = budget_steps(self.program, self._transitions.packing.unpack(union))
        groups: dict[tuple[Kind, Step | None], list[Step]] = {}
        conditions: dict[Step, Condition] = {}
        for step in steps:
            for kind, condition in self.fairness.kinds(step):
                groups.setdefault((kind, None if condition is None else step), []).append(step)
                if condition is not None:
                    conditions[step] = condition
        if not groups:
            return None
        possible = list(graph.possible)
        for (kind, only), members in groups.items():
            bit = self._bit(kind)
            if len(steps) > MOST_STEPS:
                possible = [mask | bit for mask in possible]
                continue
            holds = self._transitions.budget_limited(union, frozenset(members).__contains__)
            if holds is None:
                continue
            met = None
            if only is not None:
                met = self._transitions.formula(conditions[only].call, conditions[only].values)
            for number, state in enumerate(packed):
                working("judging liveness, steps that a budget keeps back")
                if holds(state) and (met is None or met(state)):
                    possible[number] |= bit
        return dataclasses.replace(graph, possible=possible, weak=self.graph.weak, strong=self.graph.strong)

    def held(self, states: Iterable[int]) -> tuple[Step, str] | None:
        """Return a fair step that only a spent budget disables in one of these states, with the text of its
        guard; None if there is none.
        """

        def is_fair(step: Step) -> bool:
            return any(True for _ in self.fairness.kinds(step))

        found = (budget_blocked_step(self.program, self.state(state), is_fair) for state in states)
        return next((item for item in found if item is not None), None)

    def _bit(self, kind: Kind) -> int:
        bit = 1 << self._kinds.setdefault(kind, len(self._kinds))
        if self.fairness.is_strong(kind):
            self.graph.strong |= bit
        else:
            self.graph.weak |= bit
        return bit

    def _numbered(self, mask: int) -> int:
        number = self._masks.setdefault(mask, len(self._masks))
        if number == len(self.graph.masks):
            self.graph.masks.append(mask)
        return number
