"""Check of a refinement: all transitions are walked, breadth first, and each must be a step of the abstract
machine, or none.

1. A transition that leaves the mapped state alone and emits nothing that the abstract machine knows is a
   stutter.
2. Every other one is explained by steps of the machine (`explain.py`); explanations are cached by mapped
   state before, mapped state after and events, of which there are few.
3. The walk is breadth first, so the first transition that fails is one with a shortest way to it. It is
   replayed on the reference to be shown.
4. If no state maps to one in which the machine's witnesses are true, nothing was refined: that is unknown,
   never a pass.

This file knows no protocol and no abstract machine.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from antiphon.model.bounds import FIRST_VIOLATION, UNBOUNDED, Bounds, Enough, Progress, Stop, StopReason
from antiphon.model.engines.choice import Engine, engine_named, transitions_by
from antiphon.model.engines.interface import Transitions
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.explore.checking import check
from antiphon.model.explore.explorer import Explorer, Visitor
from antiphon.model.limits import under_limits
from antiphon.model.refinement.explain import PROPERTY, Explained, Explainer
from antiphon.model.refinement.mapping import Mapper
from antiphon.model.trace import Trace, replay
from antiphon.model.verdict import (
    Evidence,
    Exploration,
    InternalError,
    Outcome,
    PropertyKind,
    Provenance,
    Report,
    Verdict,
    unfinished,
)
from antiphon.spec.lang import Program, SpecError, State
from antiphon.spec.refinement import Refinement


def check_refinement(
    program: Program,
    refinement: Refinement,
    *,
    bounds: Bounds = UNBOUNDED,
    engine: Engine | str = Engine.GENERATED,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Check on all transitions of `program` that they are steps of the abstract machine, or stutters, through
    the refinement's mapping.

    Args:
        program: the protocol with its constants, a program of `refinement.concrete`.
        refinement: the mapping.
        bounds: where to stop.
        engine: "reference" lets CPython execute the protocol, "native" explores the monitor that the
            refinement states; any other name stands for generated code.
        progress: called now and then with how far the walk is.

    Returns:
        A report with one verdict, `Refinement`: holds, violated with the shortest trace to a transition that
        is no step, or unknown (a bound, an error of the specification, a machine that never does what its
        witnesses ask for). With "native" it has verdicts on the monitor's own properties instead.

    Raises:
        SpecError: the mapping lacks a helper or a monitor, or the program is of another specification.
    """
    concrete, abstract = refinement.bind(program)
    engine = engine_named(engine)
    if engine is Engine.NATIVE:
        return check(refinement.monitored(program), bounds=bounds, engine=engine, progress=progress)
    with under_limits(bounds, progress) as limits:
        try:
            found = _Refines(refinement, transitions_by(concrete, engine), abstract)
        except Enough as enough:
            kinds = {PROPERTY: PropertyKind.REFINEMENT}
            return unfinished(concrete, kinds, enough.stop, limits.elapsed(), engine.value)
        found.look(bounds, progress)
        report = _report(found, engine)
        return replace(report, exploration=replace(report.exploration, seconds=limits.elapsed()))


class _Refines(Visitor):
    """Visitor of the protocol's transitions: it records the mapped state of each state, and how each change
    of the mapped state is explained.

    `why` is not empty when a transition is no step of the machine (`failed`: its state and step), or when
    an initial state maps to no state in which the machine can be.
    """

    def __init__(self, refinement: Refinement, transitions: Transitions, abstract: Program) -> None:
        self.source, self.abstract = transitions, abstract
        self.mapper = Mapper(transitions, abstract)
        self.explainer = Explainer(refinement, transitions.program, abstract, self._hurry)
        self.mapped = array("I")
        self.images: dict[State, int] = {}
        self.explained: dict[tuple[int, int, tuple[Any, ...]], Explained] = {}
        self.taken: Counter[tuple[str, ...]] = Counter()
        self.why = ""
        self.failed: tuple[int, int] | None = None
        self.seen = 0

    def look(self, bounds: Bounds, progress: Callable[[Progress], None] | None) -> None:
        """Walk until every transition is explained, one transition cannot be explained, or a bound is hit."""
        self.space = TransitionSpace(self.source, visit=self.transitions)
        self.walk = Explorer(self.space, self, bounds, progress)
        self.walk.run()

    def states(self, first: int, last: int) -> None:
        """Check that the protocol's initial states map to initial states of the machine."""
        for number in range(last if not first else 0):
            image = self._mapped(number)
            self.why = self.explainer.begins(image)
            if self.why:
                raise Enough(FIRST_VIOLATION)

    def transitions(self, state: int, moves: Sequence[tuple[int, int]]) -> None:
        """Explain every transition that changes the mapped state, or that emits events known to the
        machine.
        """
        packed, image = self.space.packed[state], self.mapped[state]
        for step, target in moves:
            if target == len(self.mapped):
                self._mapped(target)
            self.seen += 1
            events = self.explainer.shared(self.source.events(packed, step))
            if image != self.mapped[target] or events:
                explained = self._look_up(image, self.mapped[target], events)
                if explained.why:
                    self.why, self.failed = explained.why, (state, step)
                    raise Enough(FIRST_VIOLATION)
                self.taken[tuple(dict.fromkeys(item.action for item in explained.steps))] += 1

    def _hurry(self) -> None:
        """End a search for steps when the walk's bounds are reached."""
        stop = self.walk.bound_reached()
        if stop is not None:
            raise Enough(stop)

    def _mapped(self, number: int) -> State:
        try:
            image = self.mapper.state(self.space.packed[number])
        except SpecError as error:
            raise Enough(Stop(StopReason.ERROR, str(error))) from error
        self.mapped.append(self.images.setdefault(image, len(self.images)))
        return image

    def _look_up(self, before: int, after: int, events: tuple[Any, ...]) -> Explained:
        found = self.explained.get((before, after, events))
        if found is None:
            images = list(self.images)
            found = self.explained[before, after, events] = self.explainer.explain(
                images[before], images[after], events
            )
        return found


def _report(found: _Refines, engine: Engine) -> Report:
    walk, program = found.walk, found.source.program
    stopped = None if found.why else walk.stopped
    if found.space.failure is not None:
        stopped = Stop(StopReason.ERROR, str(found.space.failure))
    reason = stopped.reason if stopped is not None else None
    explored = Exploration(
        len(found.space), found.seen, walk.depth, walk.complete, walk.seconds, stopped=reason
    )
    told = _counts_text(found)
    notes = (told,) if stopped is None else (told, f"the walk is not complete: {stopped}")
    return Report(program, (_verdict(found, explored, stopped, engine),), explored, notes)


def _verdict(found: _Refines, explored: Exploration, stopped: Stop | None, engine: Engine) -> Verdict:
    program, count = found.source.program, f"{explored.states:,} states"
    extent = f"all {count}" if explored.complete else f"{count} to depth {explored.depth}, not all"
    evidence = Evidence.explored(program, extent)
    provenance = Provenance.of(program, engine.value)
    unreached = "" if found.why or stopped else _unreached(found)
    outcome = Outcome.VIOLATED if found.why else Outcome.UNKNOWN if stopped or unreached else Outcome.HOLDS
    reason = found.why or (f"not decided: {stopped}" if stopped else "") or unreached
    trace = _trace(found, engine) if found.failed is not None else None
    return Verdict(PROPERTY, PropertyKind.REFINEMENT, outcome, evidence, provenance, reason, trace)


def _trace(found: _Refines, engine: Engine) -> Trace:
    """Return the shortest way to the transition that fails, and that transition, replayed on the
    reference.
    """
    assert found.failed is not None
    state, step = found.failed
    start, steps = found.space.way_to(state)
    steps.append(found.source.step(step))
    trace = replay(found.source.program, start, steps, shows=PROPERTY, why=found.why)
    if trace.states[-2] != found.space.value(state):
        raise InternalError(
            f"{engine.value}: the trace for {PROPERTY} passes through other states than the reference"
        )
    return trace


def _unreached(found: _Refines) -> str:
    """Return the reason why nothing was refined: a witness of the machine is true in no mapped state, or the
    machine never takes a step. Empty if something was.
    """
    reference = found.abstract.reference
    names = [method.mark.name for method in found.abstract.declaration.marked("witness") if method.mark]
    unreached = [name for name in names if not any(reference.holds(image, name) for image in found.images)]
    if unreached:
        return f"nothing was refined: no state is mapped to one in which {', '.join(unreached)} is true"
    if not found.taken:
        return "nothing was refined: every transition is a stutter"
    return ""


def _counts_text(found: _Refines) -> str:
    explained = ", ".join(
        f"{' + '.join(actions)} {count:,}" for actions, count in sorted(found.taken.items())
    )
    stutters = found.seen - sum(found.taken.values())
    states = f"{found.abstract.name}: {len(found.images):,} of its states"
    return f"{states}; transitions: {explained or 'none is a step'}, stutters {stutters:,}"
