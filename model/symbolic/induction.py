"""k-induction: a proof of safety for runs of every length.

No run of k steps breaks a property, and k states in a row in which it holds have no bad successor.

1. The base case is a bounded check of all runs of at most `depth` steps; what it refutes is violated.
2. The step case begins in any state of the domains, reachable or not. No state of it occurs twice, since a
   shortest run to a bad state repeats none.
3. Properties strengthen one another: all that the base case found true are assumed together of the first k
   states, and those that break in the state after are dropped, until the rest stands (C. Flanagan, K. R. M.
   Leino, "Houdini", 2001). What is left is inductive as one conjunction. A verdict names the properties that
     its proof uses.
4. That the specification has no error is proved in the same way, and every proof needs it: a run that ends in
   an error shows nothing.
5. k grows from 1 to `depth`. An unproved property is unknown, with its last counterexample to induction:
   k good states and a bad one, executed by the reference. Either its first state is unreachable, and the
   property wants strengthening, or the property is false.

This file knows nothing of the formulas of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from antiphon.model.bounds import INTERRUPTED, Bounds, Enough, Stop, Violated
from antiphon.model.ground import unflatten
from antiphon.model.limits import under_limits
from antiphon.model.properties import kinds_of
from antiphon.model.symbolic.bounded import check_bounded, under_constants
from antiphon.model.symbolic.circuit import Circuit
from antiphon.model.symbolic.clock import Clock, stop_of
from antiphon.model.symbolic.counterexample import confirm, states_of
from antiphon.model.symbolic.domains import assume_state
from antiphon.model.symbolic.search import Progress
from antiphon.model.symbolic.solver import Answer, Solver
from antiphon.model.symbolic.steps import Template
from antiphon.model.symbolic.targets import ERRORS, Target, breaking, errors, shown
from antiphon.model.symbolic.translate import TooWide
from antiphon.model.symbolic.unroll import Unrolling
from antiphon.model.trace import Trace
from antiphon.model.verdict import (
    BROKEN_BY_STEPS,
    Evidence,
    EvidenceKind,
    InternalError,
    Outcome,
    PropertyKind,
    Report,
    Verdict,
)
from antiphon.spec.lang import Disabled, Program, SpecError, State, Step, Transition
from antiphon.spec.lang.errors import ArgumentError
from antiphon.spec.lang.hints import known_names

PROVABLE = (PropertyKind.INVARIANT, *BROKEN_BY_STEPS)
"""Kinds of properties that can be proved: those that a state or a step can break."""


def prove(
    program: Program,
    *,
    depth: int = 1,
    properties: Iterable[str] | None = None,
    max_seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    violated: Violated | None = None,
) -> Report:
    """Prove invariants and properties of steps by k-induction, for these constants and runs of every length.

    Args:
        program: the specification with its constants.
        depth: the greatest k that is tried, at least 1; runs of at most so many steps are searched.
        properties: names of invariants and of properties of steps; None means all of them. Those that are not
            asked for strengthen the others all the same.
        max_seconds: give up after so many seconds; what is not proved then is unknown.
        progress: called after each depth of the base case, and after each k.
        violated: called with each violated property as soon as it is found.

    Returns:
        A verdict a property: holds with evidence `proved`, k and what the proof leans on; violated with a
        shortest run of at most `depth` steps; or unknown, with the counterexample to induction as a trace
        that begins in any state of the domains.

    Raises:
        ArgumentError: `depth` is less than 1.
        SpecError: a name is no invariant and no property of steps; the message lists those.
        InternalError: Z3's counterexample is not what the reference does (our failure).
    """
    if depth < 1:
        raise ArgumentError(f"depth {depth}: induction needs at least one state to begin with")
    kinds = kinds_of(program)
    candidates = [Target(name, kind) for name, kind in kinds.items() if kind in PROVABLE]
    names = [target.property for target in candidates]
    asked = names if properties is None else list(dict.fromkeys(properties))
    for name in asked:
        if name not in names:
            kind = "invariant or property of steps"
            raise SpecError(f"{program.name} has no {kind} {name!r} to prove; {known_names(name, names)}")
    with under_limits(Bounds(seconds=max_seconds)):
        clock = Clock(max_seconds)
        base = check_bounded(
            program,
            depth=depth,
            properties=names,
            max_seconds=max_seconds,
            progress=progress,
            violated=violated,
        )
        true = {verdict.property for verdict in base.verdicts if verdict.outcome is Outcome.HOLDS}
        proof = _Proof(
            program, [*(target for target in candidates if target.property in true), ERRORS], clock
        )
        if true & set(asked):
            proof.run(depth, progress)
    verdicts = tuple(
        proof.judged(verdict) if verdict.property in true else verdict
        for verdict in base.verdicts
        if verdict.property in asked or verdict.kind is PropertyKind.SPECIFICATION
    )
    notes = [proof.stopped.note] if proof.stopped else []
    others = [name for name, kind in kinds.items() if kind not in PROVABLE]
    if properties is None and others:
        notes.append(f"not asked, since no single state or step breaks them: {', '.join(others)}")
    stop = proof.stopped.reason if proof.stopped else base.exploration.stopped
    explored = replace(base.exploration, seconds=clock.elapsed(), stopped=stop)
    return replace(base, verdicts=verdicts, exploration=explored, notes=(*base.notes, *notes))


def counterexample_to_induction(
    program: Program, property: str, *, without: Iterable[str] = (), max_seconds: float | None = None
) -> Trace | None:
    """Return a step that breaks a property, from a state in which all properties hold that a proof may
    assume.

    Args:
        program: the specification with its constants.
        property: an invariant, a property of steps, or the name of errors of the specification.
        without: properties that are not assumed.
        max_seconds: give up after so many seconds.

    Returns:
        A trace of one step (of two, where the second breaks a property of steps) that begins in any state of
        the domains; None when there is none, or the time was not enough.

    Raises:
        InternalError: Z3's step is not one of the reference (our failure).
    """
    left_out = set(without)
    kinds = kinds_of(program)
    candidates = [
        Target(name, kind) for name, kind in kinds.items() if kind in PROVABLE and name not in left_out
    ]
    target = next((item for item in (*candidates, ERRORS) if item.property == property), None)
    if target is None:
        return None
    with under_limits(Bounds(seconds=max_seconds)):
        clock = Clock()
        clock.most = None if max_seconds is None else clock.elapsed() + max_seconds
        return _Proof(program, [*candidates, ERRORS], clock).first_step(target)


@dataclass(frozen=True)
class _Proved:
    """Record of a proved target: the least k by which it is inductive, and the targets that the proof
    assumes.
    """

    k: int
    given: frozenset[Target]


class _Proof:
    """Induction step for a group of targets that are false in all runs of at most `depth` steps.

    Attributes:
        proved: the targets that hold for runs of every length.
        failed: the last counterexample to induction of each of the others.
        stopped: why the attempt ended early, if it did.
    """

    def __init__(self, program: Program, candidates: list[Target], clock: Clock) -> None:
        self.program, self.candidates, self.clock = program, candidates, clock
        self.proved: dict[Target, _Proved] = {}
        self.failed: dict[Target, Trace] = {}
        self.stopped: Stop | None = None

    def run(self, depth: int, progress: Callable[[Progress], None] | None = None) -> None:
        """Raise k up to `depth`, until everything is proved or the time is over."""
        try:
            self._begin()
            for k in range(1, depth + 1):
                self._grow()
                if not self._drop_and_prove(k):
                    return
                left = tuple(target.property for target in self.candidates if target not in self.proved)
                if progress is not None:
                    progress(Progress(k, self.clock.elapsed(), self._solver.clauses, left))
                if not left:
                    return
        except (TooWide, Enough) as limit:
            self.stopped = stop_of(limit)
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED

    def first_step(self, target: Target) -> Trace | None:
        """Return a counterexample to induction of a target by one step, or None. All candidates are assumed
        of its first state, and invariants also of the second if the target is about the step that leaves it.
        """
        try:
            self._begin()
            self._grow()
            if target.is_about_a_step():
                for item in self.candidates:
                    if item.kind is PropertyKind.INVARIANT:
                        self._solver.clause((-shown(item, self._unrolling, 1),))
            bad = shown(target, self._unrolling, 1)
            answer = self._ask([bad], self.candidates)
        except (TooWide, Enough):
            return None
        return self._counterexample(target, 1) if answer is Answer.SATISFIABLE else None

    def _begin(self) -> None:
        circuit = Circuit()
        template, self._solver = Template(self.program, circuit, self.clock), Solver(circuit)
        assume_state(self.program, template.cells, template.variables, self._solver)
        self._unrolling = Unrolling(template, self._solver, template.variables, simple=True)
        self._assumed = {target: circuit.variable() for target in self.candidates}

    def _grow(self) -> None:
        """Add one more step: the state that was last becomes one in which targets are assumed."""
        last = len(self._unrolling.times) - 1
        for target, assumed in self._assumed.items():
            self._solver.clause((-assumed, -shown(target, self._unrolling, last)))
        self._unrolling.grow()

    def _drop_and_prove(self, k: int) -> bool:
        """Drop the targets that break after k states in which all remaining ones hold, and prove the rest.
        One target is dropped after the other, and proofs are repeated if a target that they used is dropped.

        False when Z3 gave up.
        """
        alive = [target for target in self.candidates if target not in self.proved]
        bad = {target: shown(target, self._unrolling, k) for target in alive}
        leaning: dict[Target, frozenset[Target]] = {}
        while pending := [
            item for item in alive if item not in leaning or not leaning[item] <= {*alive, *self.proved}
        ]:
            target = pending[0]
            answer = self._ask([bad[target]], [*self.proved, *alive])
            if answer is Answer.UNKNOWN:
                return False
            if answer is Answer.UNSATISFIABLE:
                core = self._solver.core()
                leaning[target] = frozenset(
                    item for item in (*self.proved, *alive) if self._assumed[item] in core and item != target
                )
            else:
                broken = [item for item in alive if self._solver.value(bad[item])]
                self.failed |= {item: self._counterexample(item, k) for item in broken}
                alive = [item for item in alive if item not in broken]
        for target in alive:
            is_alone = self._ask([bad[target]], [target]) is Answer.UNSATISFIABLE
            self.proved[target] = _Proved(k, frozenset() if is_alone else leaning[target])
        return True

    def _ask(self, bad: list[int], given: Iterable[Target]) -> Answer:
        """Ask the solver whether one of the literals `bad` can be true after a run of different states in
        which the targets `given` hold.
        """
        question = self._solver.circuit.variable()
        self._solver.clause((-question, *bad))
        assumed = [self._assumed[target] for target in given]
        while True:
            answer = self._solver.check((question, *assumed), seconds=self.clock.left())
            if answer is Answer.UNKNOWN:
                k = len(self._unrolling.times) - 1
                self.stopped = self.clock.why(self._solver.reason, f" at k = {k}")
            if answer is not Answer.SATISFIABLE or not self._unrolling.forbid_returns():
                return answer

    def judged(self, base: Verdict) -> Verdict:
        """Return the verdict about a property that no run of the base case breaks."""
        target = Target(base.property, base.kind)
        missing = next((item for item in (target, ERRORS) if item not in self.proved), None)
        if missing is None:
            bound = under_constants(self.program, f"runs of every length, by {self._method(target)}")
            return replace(base, evidence=Evidence(EvidenceKind.PROVED, bound))
        trace = self.failed.get(missing)
        but = "proved but for this, that the specification has no error"
        said = "not proved" if missing == target else but
        why = trace.why if trace is not None else str(self.stopped)
        return replace(base, outcome=Outcome.UNKNOWN, reason=f"{said}: {why}", trace=trace)

    def _method(self, target: Target) -> str:
        """Return the method in words, `2-induction with Inv`: the largest k of the targets that the proof
        uses, and their names.
        """
        needed, pending = {target}, [target]
        for item in pending:
            fresh = self.proved[item].given - needed
            needed |= fresh
            pending.extend(fresh)
        k = max(self.proved[item].k for item in needed)
        names = [item.property for item in self.candidates if item in needed - {target, ERRORS}]
        return f"{k}-induction" + (f" with {', '.join(names)}" if names else "")

    # The counterexample to induction, as the reference executes it ----------------------------------------

    def _counterexample(self, target: Target, k: int) -> Trace:
        """Return the run of the solver's model, from any state of the domains to one that shows `target`."""
        unrolling, solver, program = self._unrolling, self._solver, self.program
        states = [unflatten(program, leaves) for leaves in states_of(solver, unrolling)]
        steps = [instance.step for instance in unrolling.taken(k)]
        transitions: list[Transition] = []
        for before, after, step in zip(states, states[1:], steps, strict=False):
            transitions.append(_apply(program, before, step))
            if transitions[-1].state != after:
                raise _differ(program, f"{step} in {before}")
        if target.is_about_a_step():
            breaks = breaking(target.property, unrolling, k)
            last = next(instance.step for instance, literal in breaks if solver.value(literal))
            transitions.append(_apply(program, states[-1], last))
        if target.kind is PropertyKind.INVARIANT:
            for state in states[:-1]:
                if not program.reference.holds(state, target.property):
                    raise _differ(program, f"{target.property} in {state}")
        wrong = errors(unrolling, k) if target == ERRORS else []
        error = next((what for what, literal in wrong if solver.value(literal)), "")
        trace = Trace(program, states[0], tuple(transitions), target.property, initial=False)
        said = confirm(target, trace, error).why
        why = f"counterexample to {k}-induction, {said}; whether its first state can be reached is not known"
        return replace(trace, why=why)


def _apply(program: Program, state: State, step: Step) -> Transition:
    try:
        return program.reference.apply(state, step)
    except (Disabled, SpecError) as error:
        raise _differ(program, f"{step} in {state}: {error}") from error


def _differ(program: Program, about: str) -> InternalError:
    return InternalError(f"{program.name}: Z3 and the reference differ about {about}")
