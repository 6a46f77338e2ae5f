"""Every transition is a step of the abstract machine, or none: all are walked, breadth first, and each change is explained.

1. A transition that leaves the mapped state alone and emits nothing that the abstract machine knows is a stutter.
2. Every other one is explained by steps of the machine (`explain.py`); explanations are remembered by mapped state before, mapped state after
   and events, of which there are few.
3. The walk is breadth first, so the first transition that fails is one with a shortest way to it. It is replayed on the reference to be shown.
4. Where no state is mapped to one in which the machine's witnesses are true, nothing was refined: that is unknown, never a pass.

This file knows no protocol and no abstract machine.
"""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable
from typing import Any

from antiphon.model.bounds import INTERRUPTED, UNBOUNDED, Bounds, Progress, Stop, StopReason
from antiphon.model.engines.choice import Engine, engine_named, transitions_by
from antiphon.model.engines.interface import Transitions
from antiphon.model.refinement.explain import PROPERTY, Explained, Explainer
from antiphon.model.refinement.mapping import Mapper
from antiphon.model.trace import Trace, replay
from antiphon.model.verdict import Evidence, EvidenceKind, Exploration, InternalError, Outcome, PropertyKind, Provenance, Report, Verdict
from antiphon.spec.lang import Program, SpecError, State
from antiphon.spec.refinement import Refinement

NO_PARENT = 0xFFFFFFFF
BLOCK = 2_048
"""States between two looks at the bounds."""


def check_refinement(
    program: Program,
    refinement: Refinement,
    *,
    bounds: Bounds = UNBOUNDED,
    engine: Engine | str = Engine.GENERATED,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Checks on all transitions of `program` that they are steps of the abstract machine, or stutters, through the refinement's mapping.

    Args:
        program: the protocol with its constants, a program of `refinement.concrete`.
        refinement: the mapping.
        bounds: where to stop.
        engine: "reference" lets CPython execute the protocol; any other name stands for generated code.
        progress: called now and then with how far the walk is.

    Returns:
        A report with one verdict, `Refinement`: holds, violated with the shortest trace to a transition that is no step, or unknown (a bound, an
        error of the specification, a machine that never does what its witnesses ask for).

    Raises:
        SpecError: the mapping lacks a helper, or the program is of another specification.
    """
    concrete, abstract = refinement.bind(program)
    engine = engine_named(engine)
    return _Walk(refinement, transitions_by(concrete, engine), abstract, engine.value).run(bounds, progress)


class _Found(Exception):
    """A transition that is no step: the number of its state, the number of the protocol's step, and why."""

    def __init__(self, state: int, step: int, why: str) -> None:
        self.state, self.step, self.why = state, step, why


class _Walk:
    """A walk under way: states in the order of discovery, each with its parent and the number of its mapped state."""

    def __init__(self, refinement: Refinement, edges: Transitions, abstract: Program, engine: str) -> None:
        self.edges, self.abstract, self.engine = edges, abstract, engine
        self.mapper, self.explainer = Mapper(edges, abstract), Explainer(refinement, abstract)
        self.states: list[int] = []
        self.numbers: dict[int, int] = {}
        self.parents, self.via, self.mapped = array("I"), array("I"), array("I")
        self.images: dict[State, int] = {}
        self.explained: dict[tuple[int, int, tuple[Any, ...]], Explained] = {}
        self.taken: Counter[tuple[str, ...]] = Counter()
        self.transitions = self.depth = 0

    def run(self, bounds: Bounds, progress: Callable[[Progress], None] | None) -> Report:
        """Until every transition is explained, one cannot be, or a bound is hit."""
        began = time.monotonic()
        stopped: Stop | None = None
        trace, why, done = None, "", 0
        try:
            why = self._begin()
            level = len(self.states)
            while not why and done < len(self.states) and stopped is None:
                if done == level:
                    level, self.depth = len(self.states), self.depth + 1
                stopped = bounds.too_deep(self.depth)
                if stopped is not None:
                    break
                last = min(done + BLOCK, level)
                for number in range(done, last):
                    self._expand(number)
                done = last
                if progress is not None:
                    progress(Progress(len(self.states), self.transitions, self.depth, len(self.states) - done, time.monotonic() - began))
                stopped = bounds.reached(len(self.states), time.monotonic() - began) if done < len(self.states) else None
        except _Found as found:
            trace, why = self._trace(found), found.why
        except SpecError as error:
            stopped = Stop(StopReason.ERROR, str(error))
        except KeyboardInterrupt:
            stopped = INTERRUPTED
        complete = stopped is None and not why
        reason = stopped.reason if stopped is not None else None
        explored = Exploration(
            len(self.states), self.transitions, self.depth, complete, time.monotonic() - began, stopped=reason
        )
        return Report(self.edges.program, (self._verdict(explored, stopped, trace, why),), explored, self._notes(stopped))

    # The walk ----------------------------------------------------------------------------------------------------------------------------

    def _begin(self) -> str:
        """The initial states; why one of them is none of the abstract machine, or nothing."""
        for state in self.edges.program.reference.initial():
            packed = self.edges.pack(state)
            why = self.explainer.begins(self.mapper.state(packed))
            if why:
                return why
            self._add(packed, NO_PARENT, 0)
        return ""

    def _add(self, packed: int, parent: int, via: int) -> int:
        """The number of a state, kept with its mapped state if it is new."""
        known = self.numbers.get(packed)
        if known is None:
            known = self.numbers[packed] = len(self.states)
            self.states.append(packed)
            self.parents.append(parent)
            self.via.append(via)
            self.mapped.append(self.images.setdefault(self.mapper.state(packed), len(self.images)))
        return known

    def _expand(self, number: int) -> None:
        packed, image = self.states[number], self.mapped[number]
        for step, successor in self.edges.successors(packed):
            after = self._add(successor, number, step)
            self.transitions += 1
            events = self.explainer.shared(self.edges.events(packed, step))
            if image != self.mapped[after] or events:
                explained = self._look_up(image, self.mapped[after], events)
                if explained.why:
                    raise _Found(number, step, explained.why)
                self.taken[tuple(dict.fromkeys(item.action for item in explained.steps))] += 1

    def _look_up(self, before: int, after: int, events: tuple[Any, ...]) -> Explained:
        found = self.explained.get((before, after, events))
        if found is None:
            images = list(self.images)
            found = self.explained[before, after, events] = self.explainer.explain(images[before], images[after], events)
        return found

    # What is said about it ---------------------------------------------------------------------------------------------------------------

    def _trace(self, found: _Found) -> Trace:
        """The shortest way to the transition that fails, and the transition, replayed on the reference."""
        steps = [self.edges.step(found.step)]
        number = found.state
        while self.parents[number] != NO_PARENT:
            steps.append(self.edges.step(self.via[number]))
            number = self.parents[number]
        start = self.edges.unpack(self.states[number])
        trace = replay(self.edges.program, start, steps[::-1], shows=PROPERTY, why=found.why)
        if self.edges.pack(trace.states[-2]) != self.states[found.state]:
            raise InternalError(f"{self.engine}: the trace for {PROPERTY} passes through other states than the reference")
        return trace

    def _verdict(self, explored: Exploration, stopped: Stop | None, trace: Trace | None, why: str) -> Verdict:
        extent = f"all {explored.states:,} states" if explored.complete else f"{explored.states:,} states to depth {explored.depth}, not all"
        shown = ", ".join(f"{name}={value}" for name, value in self.edges.program.constants.items() if value is not False)
        evidence = Evidence(EvidenceKind.BOUNDED, f"{shown}; {extent}")
        provenance = Provenance.of(self.edges.program, self.engine)
        unreached = [] if why or stopped else self._unreached()
        outcome = Outcome.VIOLATED if why else Outcome.UNKNOWN if stopped or unreached else Outcome.HOLDS
        reason = why or (f"not decided: {stopped}" if stopped else "")
        if unreached:
            reason = f"nothing was refined: no state is mapped to one in which {', '.join(unreached)} is true"
        return Verdict(PROPERTY, PropertyKind.REFINEMENT, outcome, evidence, provenance, reason, trace)

    def _unreached(self) -> list[str]:
        """The witnesses of the abstract machine that are true in no mapped state."""
        reference = self.abstract.reference
        names = [method.mark.name for method in self.abstract.declaration.marked("witness") if method.mark]
        return [name for name in names if not any(reference.holds(image, name) for image in self.images)]

    def _notes(self, stopped: Stop | None) -> tuple[str, ...]:
        explained = ", ".join(f"{' + '.join(actions)} {count:,}" for actions, count in sorted(self.taken.items()))
        stutters = self.transitions - sum(self.taken.values())
        told = f"{self.abstract.name}: {len(self.images):,} of its states; transitions: {explained or 'none is a step'}, stutters {stutters:,}"
        return (told, f"the walk is not complete: {stopped}") if stopped else (told,)

