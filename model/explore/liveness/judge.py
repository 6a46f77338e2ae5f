"""Judge of liveness: a property is violated with a fair lasso that CPython has run and found fair, holds when
the whole graph has none, or is unknown.

1. The graph is walked without any reduction. If a bound ends the walk, undecided properties are unknown; a
   lasso among the states that have all their steps is a run of the specification whatever lies beyond, so it
   is looked for and counts: a part of the time is left for that.
2. A lasso is executed by the reference, which must come back to the state where the cycle begins. The
   reference also confirms that premise and goal are as claimed and that the cycle is fair. A difference is
   our failure (`InternalError`), never a verdict.
3. A run that is fair only because a spent budget disables a step that would have to happen decides nothing.
4. Several values of a property's parameters are several questions; the shortest counterexample of any of them
   is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial

from antiphon.model.bounds import INTERRUPTED, UNBOUNDED, Bounds, Enough, Progress, Violated, Violation
from antiphon.model.engines.choice import Engine, engine_named
from antiphon.model.explore.liveness.confirmation import fault_of
from antiphon.model.explore.liveness.fairness import Changes, Fairness, fair_on
from antiphon.model.explore.liveness.lasso import Graph, Lasso, find_lasso
from antiphon.model.explore.liveness.patterns import pattern_of
from antiphon.model.explore.liveness.questions import Question
from antiphon.model.explore.liveness.unfold import unfolded
from antiphon.model.explore.liveness.walk import FairGraph
from antiphon.model.limits import leaving, only_time
from antiphon.model.notation import compact
from antiphon.model.trace import ReplayError, Trace, replay
from antiphon.model.verdict import (
    NO_STATE,
    NO_STEP,
    Evidence,
    Exploration,
    InternalError,
    Outcome,
    PropertyKind,
    Provenance,
    Report,
    Verdict,
)
from antiphon.spec.lang import Program, SpecError, ir, types

WALKING = 0.7
"""Share of the time for the walk; the rest is for the search for lassos."""

UNMADE = Graph()
"""Marker of a graph that was not asked for yet."""


def judge(
    program: Program,
    questions: Iterable[Question],
    *,
    fairness: Fairness | Changes | None = None,
    bounds: Bounds = UNBOUNDED,
    progress: Callable[[Progress], None] | None = None,
    violated: Violated | None = None,
    engine: Engine | str = Engine.GENERATED,
    symmetry: bool = False,
) -> Report:
    """Judge whether each of the questions' properties holds on every fair run of `program`.

    Args:
        program: the specification with its constants.
        questions: the values of `declared(program)`, or results of `question(program, ...)`.
        fairness: the assumption: None for the marks of the actions, changes of these marks, or a `Fairness`.
        bounds: where to stop.
        progress: called now and then with how far the walk is.
        violated: called with each violated property as soon as it is found.
        engine: "reference" (CPython executes the text), or any other (generated Python).
        symmetry: whether one state stands for all that differ in the names of interchangeable members.

    Raises:
        SpecError: `fairness` names what does not exist, there is no such engine, or with symmetry a promise
            or a property is about each member by itself.
        InternalError: the reference refuses a lasso that was found: our failure, not the specification's.
    """
    engine = engine_named(engine)
    assumed = fairness if isinstance(fairness, Fairness) else fair_on(program, fairness)
    questions = tuple(questions)
    if symmetry:
        refuse_members(program, assumed, questions)
    walking = leaving(bounds, WALKING)
    graph = FairGraph(program, assumed, engine=engine, bounds=walking, progress=progress, symmetric=symmetry)
    court = _Court(graph, bounds)
    verdicts = []
    for question in questions:
        verdicts.append(court.verdict(question))
        if violated is not None and verdicts[-1].outcome is Outcome.VIOLATED:
            violated(Violation(question.name, len(verdicts[-1].trace or ()), len(graph)))
    stopped = graph.walk.stopped
    notes = (f"the walk for liveness is not complete: {stopped}",) if stopped is not None else ()
    return Report(program, tuple(verdicts), _exploration(graph), (f"fairness: {assumed}", *notes))


def refuse_members(program: Program, fairness: Fairness, questions: Sequence[Question]) -> None:
    """Refuse promises and properties that distinguish the members of a symmetric set, since they are about
    each member by itself.

    All other text treats members alike, and so does fairness to all of them together. Without a question
    nothing is refused.

    Raises:
        SpecError: there is such a promise or property.
    """
    instead = "no symmetry, or a promise and a property of all members together"
    for promise in fairness.promises if questions else ():
        for part in promise.parts:
            for item in fairness.actions[part.action]:
                if item.name in part.per and _has_members(program.domain(item.type)):
                    raise SpecError(
                        f"symmetry cannot decide what depends on fairness per {item.name} ({promise.name}): "
                        "it tells members apart",
                        instead=instead,
                    )
    for question in questions:
        for item in question.liveness.parameters:
            if _has_members(program.domain(item.type)):
                raise SpecError(
                    f"symmetry cannot decide {question.name}: it is asked of each {item.name} by itself",
                    instead=instead,
                )


def _has_members(domain: types.Domain) -> bool:
    of = domain.type
    return (isinstance(of, types.IndexType) and of.symmetric) or any(map(_has_members, domain.parts))


def _exploration(graph: FairGraph) -> Exploration:
    fired, walk = graph.space.coverage(), graph.walk
    return Exploration(
        states=len(graph),
        transitions=walk.transitions,
        depth=max(graph.graph.depths, default=0),
        complete=walk.complete,
        seconds=walk.seconds,
        fired=tuple((action, count) for action, count in fired.items() if count),
        never_fired=tuple(action for action, count in fired.items() if not count),
        stopped=walk.stopped.reason if walk.stopped is not None else None,
    )


class _Court:
    """Judge of questions on one graph."""

    def __init__(self, graph: FairGraph, bounds: Bounds) -> None:
        self.graph, self.bounds = graph, bounds
        self._without_budgets: Graph | None = UNMADE
        program, count = graph.program, f"{len(graph):,} states"
        count += " up to the names of members" if graph.symmetric else ""
        extent = f"all {count}" if graph.walk.complete else f"{count}, not all"
        self.evidence = Evidence.explored(program, extent)
        self.provenance = Provenance.of(program, f"explicit, lassos, {graph.space.transitions.name}")

    def verdict(self, question: Question) -> Verdict:
        """Return the verdict on one property."""
        graph, walk = self.graph, self.graph.walk
        if graph.failure is not None:
            return self._say(question, Outcome.UNKNOWN, f"not decided: {graph.failure}")
        if not len(graph):
            return self._say(question, Outcome.UNKNOWN, NO_STATE)
        try:
            with nullcontext() if walk.complete else only_time(self.bounds):
                shortest = self._shortest(question, graph.graph)
                if shortest is not None and (unspent := self._unspent()) is not None:
                    strict, shortest = shortest, self._shortest(question, unspent)
                    if shortest is None:
                        return self._say(question, Outcome.UNKNOWN, self._short_of_budget(question, *strict))
        except SpecError as error:
            return self._say(question, Outcome.UNKNOWN, f"not decided: {error}")
        except KeyboardInterrupt:
            return self._say(question, Outcome.UNKNOWN, f"not decided: {INTERRUPTED}")
        except Enough as enough:
            return self._say(question, Outcome.UNKNOWN, f"not decided: {enough}")
        if shortest is not None:
            trace = self._trace(question, *shortest)
            return self._say(question, Outcome.VIOLATED, trace.why, trace)
        if not walk.complete:
            return self._say(question, Outcome.UNKNOWN, f"not decided: {walk.stopped}")
        if not question.instances:
            return self._say(question, Outcome.UNKNOWN, "there is no value that the property could be about")
        if not walk.transitions:
            return self._say(question, Outcome.UNKNOWN, NO_STEP)
        return self._say(question, Outcome.HOLDS, "")

    def _say(self, question: Question, outcome: Outcome, reason: str, trace: Trace | None = None) -> Verdict:
        return Verdict(
            question.name, PropertyKind.LIVENESS, outcome, self.evidence, self.provenance, reason, trace
        )

    def _unspent(self) -> Graph | None:
        """Return the graph as if no budget were spent, made when it is first needed; None if no budget
        matters.
        """
        if self._without_budgets is UNMADE:
            self._without_budgets = self.graph.unspent()
        return self._without_budgets

    def _short_of_budget(self, question: Question, lasso: Lasso, instance: tuple[object, ...]) -> str:
        """Return the reason why a property is not decided: each run that breaks it is fair only because a
        budget is spent.
        """
        why = _why(question, instance, len(lasso.stem), len(lasso.cycle))
        held = self.graph.held((lasso.knot, *(self.graph.graph.targets[edge] for edge in lasso.cycle)))
        if held is None:
            return f"not decided: {why}; that is fair only because a budget is spent"
        return f"not decided: {why}; only a spent budget keeps {held[0]} from happening ({held[1]})"

    def _shortest(self, question: Question, graph: Graph) -> tuple[Lasso, tuple[object, ...]] | None:
        """Return the lasso with the shortest stem, and among those the shortest cycle, over all values of the
        parameters; None if there is none.
        """
        best: tuple[Lasso, tuple[object, ...]] | None = None
        for instance in question.instances:
            values = question.values(instance)
            pattern = pattern_of(question.liveness, partial(self.graph.truths, values=values))
            lasso = find_lasso(graph, pattern)
            if lasso is not None and (best is None or _size(lasso) < _size(best[0])):
                best = lasso, instance
        return best

    def _trace(self, question: Question, lasso: Lasso, instance: tuple[object, ...]) -> Trace:
        """Return the lasso as a trace, after the reference has executed it and confirmed it."""
        graph, engine = self.graph, self.provenance.engine
        start, steps, loop = unfolded(graph, lasso)
        why = _why(question, instance, loop, len(steps) - loop)
        try:
            trace = replay(graph.program, start, steps, shows=question.name, why=why, loop=loop)
        except (ReplayError, SpecError) as error:
            raise InternalError(
                f"{engine}: the lasso for {question.name} does not replay: {error}"
            ) from error
        fault = fault_of(trace, question.liveness, question.values(instance), graph.fairness)
        if fault:
            raise InternalError(
                f"{engine}: the lasso for {question.name} is none, says the reference: {fault}"
            )
        return trace


def _size(lasso: Lasso) -> tuple[int, int]:
    return len(lasso.stem), len(lasso.cycle)


def _why(question: Question, instance: tuple[object, ...], before: int, count: int) -> str:
    liveness = question.liveness
    about = ", ".join(
        f"{item.name}={compact(value)}" for item, value in zip(liveness.parameters, instance, strict=True)
    )
    told = f" ({about})" if about else ""
    after = f"after {before} step{'' if before == 1 else 's'}"
    if count:
        rest = f"a fair cycle of {count} step{'' if count == 1 else 's'} is taken for ever"
    else:
        rest = "the run may end, since nothing that is fair can happen"
    assumed = "".join(f"{_held(formula)}, and yet " for formula in liveness.assuming)
    return f"{assumed}{_broken(liveness)}{told}: {after} {rest}"


def _held(formula: ir.Temporal) -> str:
    """Return a description of a run on which a formula is true."""
    goal, premise = _word(formula.goal), _word(formula.premise)
    return {
        ir.LivenessKind.INITIALLY: f"{goal} is true at first",
        ir.LivenessKind.ALWAYS: f"{goal} is always true",
        ir.LivenessKind.EVENTUALLY: f"{goal} comes about",
        ir.LivenessKind.ALWAYS_EVENTUALLY: f"{goal} is true again and again",
        ir.LivenessKind.EVENTUALLY_ALWAYS: f"{goal} stays true in the end",
        ir.LivenessKind.LEADS_TO: f"{premise} is always followed by {goal}",
    }[formula.kind]


def _broken(formula: ir.Temporal) -> str:
    """Return a description of a run that breaks a formula."""
    goal, premise = _word(formula.goal), _word(formula.premise)
    return {
        ir.LivenessKind.INITIALLY: f"{goal} is false at first",
        ir.LivenessKind.ALWAYS: f"{goal} becomes false",
        ir.LivenessKind.EVENTUALLY: f"{goal} does not come about",
        ir.LivenessKind.ALWAYS_EVENTUALLY: f"{goal} is not true again",
        ir.LivenessKind.EVENTUALLY_ALWAYS: f"{goal} is false again and again",
        ir.LivenessKind.LEADS_TO: f"{premise} holds and {goal} does not come about",
    }[formula.kind]


def _word(expression: ir.Expression | None) -> str:
    return expression.function if isinstance(expression, ir.Call) else ""
