"""The graph of a program for liveness has all steps between all states, each with its kind; or as far as a bound lets.

Every step of every state is kept, faults too: fairness is about steps, and no reduction of the search keeps them all. That is why liveness
walks the graph by itself, one step after the other, and takes nothing from a search that leaves some out.

This file knows nothing of promises.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from antiphon.model.bounds import INTERRUPTED, WRONG_SPECIFICATION, Bounds, Progress, Stop, no_memory
from antiphon.model.engines.choice import Engine, transitions_by
from antiphon.model.engines.interface import Transitions
from antiphon.model.explore.liveness.fairness import Fairness
from antiphon.model.explore.liveness.lasso import NO_KIND, Graph
from antiphon.spec.lang import Program, SpecError, State, Step

LOOK = 1024
"""After so many states the bounds are looked at, and progress is told."""


class Walk:
    """The graph of a program and what it is about.

    After `run`: `graph`; `packed`, the states by number; `numbers`, which step each edge is (by its number in `edges`); `stopped`, why it is not
    complete, or None; `error`, the error of the specification that ended it, if one did.
    """

    def __init__(
        self, program: Program, fairness: Fairness, *, engine: Engine, bounds: Bounds, progress: Callable[[Progress], None] | None = None
    ) -> None:
        self.program, self.fairness, self.bounds, self._progress = program, fairness, bounds, progress
        self.edges: Transitions = transitions_by(program, engine)
        self.graph = Graph()
        self.packed: list[int] = []
        self.numbers: list[int] = []
        self.stopped: Stop | None = None
        self.error: SpecError | None = None
        self.transitions = 0
        self.seconds = 0.0
        self._known: dict[int, int] = {}
        self._kinds: dict[object, int] = {}
        self._kind_of: list[int] = []
        self._seen: set[int] = set()

    def run(self) -> None:
        """Walk until all states are seen, a bound is hit, the specification has an error, or the user interrupts."""
        began = time.monotonic()
        try:
            for state in self.program.reference.initial():
                self._find(self.edges.pack(state), -1, -1, 0)
            self.graph.starts = len(self.packed)
            self._walk(began)
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
        except MemoryError as error:
            self.stopped = no_memory(error)
        except SpecError as error:
            self.error, self.stopped = error, WRONG_SPECIFICATION
        self.seconds = time.monotonic() - began

    @property
    def complete(self) -> bool:
        """Whether every reachable state is there with all its steps."""
        return self.stopped is None

    def fired(self) -> dict[str, int]:
        """For each action with how many argument tuples it was possible somewhere."""
        counts = {method.name: 0 for method in self.program.declaration.marked("action", "environment")}
        for number in self._seen:
            counts[self.edges.step(number).action] += 1
        return counts

    def state(self, number: int) -> State:
        """The state of this number."""
        return self.edges.unpack(self.packed[number])

    def step(self, edge: int) -> Step:
        """The step of an edge."""
        return self.edges.step(self.numbers[edge])

    def _walk(self, began: float) -> None:
        graph, known, seen = self.graph, self._known, self._seen
        offsets, targets, kinds, numbers = graph.offsets, graph.targets, graph.kinds, self.numbers
        state = 0
        while state < len(self.packed):
            if state % LOOK == 0:
                self.stopped = self._bound_reached(state, time.monotonic() - began)
            self.stopped = self.stopped or self.bounds.too_deep(graph.depths[state])
            if self.stopped is not None:
                return
            here, depth = self.packed[state], graph.depths[state] + 1
            possible = 0
            out = self.edges.successors(here)
            self.transitions += len(out)
            for number, after in out:
                seen.add(number)
                if after == here:
                    continue
                kind = self._kind_of[number] if number < len(self._kind_of) else self._learn(number)
                target = known.get(after)
                if target is None:
                    target = self._find(after, state, len(targets), depth)
                targets.append(target)
                kinds.append(kind)
                numbers.append(number)
                if kind >= 0:
                    possible |= 1 << kind
            graph.possible.append(possible)
            offsets.append(len(targets))
            state += 1

    def _find(self, packed: int, origin: int, edge: int, depth: int) -> int:
        graph = self.graph
        number = self._known.setdefault(packed, len(self.packed))
        if number == len(self.packed):
            self.packed.append(packed)
            graph.origin.append(origin)
            graph.parent.append(edge)
            graph.depths.append(depth)
        return number

    def _learn(self, number: int) -> int:
        """The kind of a step; all steps up to this one are new."""
        while len(self._kind_of) <= number:
            what = self.fairness.kind(self.edges.step(len(self._kind_of)))
            if what is None:
                self._kind_of.append(NO_KIND)
                continue
            kind = self._kinds.setdefault(what, len(self._kinds))
            if self.fairness.is_strong(what):
                self.graph.strong |= 1 << kind
            else:
                self.graph.weak |= 1 << kind
            self._kind_of.append(kind)
        return self._kind_of[number]

    def _bound_reached(self, state: int, seconds: float) -> Stop | None:
        if self._progress is not None:
            self._progress(Progress(len(self.packed), self.transitions, self.graph.depths[state], len(self.packed) - state, seconds))
        return self.bounds.reached(len(self.packed), seconds)
