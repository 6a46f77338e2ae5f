"""Does an invariant hold for runs of every length? Yes, when it holds in the first k states and k steps in it never lead out of it.

The step case begins in any state of the domains, reachable or not; when Z3 finds k good states and then a bad one, that counterexample to
induction is returned with the verdict `unknown`: either the first state is unreachable, and the invariant wants strengthening, or it is not.
The counterexample is executed by the reference before it is shown. Steps that are bugs of the text have no next state; `check_bounded` looks
for those.
"""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.model.ground import unflatten
from antiphon.model.symbolic.bounded import ENGINE, check_bounded
from antiphon.model.symbolic.circuit import Circuit
from antiphon.model.symbolic.counterexample import states_of
from antiphon.model.symbolic.domains import assume_state
from antiphon.model.symbolic.solver import Answer, Solver
from antiphon.model.symbolic.steps import Template
from antiphon.model.symbolic.translate import TooWide
from antiphon.model.symbolic.unroll import Unrolling
from antiphon.model.trace import Trace
from antiphon.model.verdict import Evidence, EvidenceKind, InternalError, Outcome, Provenance, Verdict
from antiphon.spec.lang import Disabled, Program, SpecError, State, Step, Transition


def induction(
    program: Program, invariant: str, *, k: int = 1, given: Iterable[str] = (), max_seconds: float | None = None
) -> Verdict:
    """Tries to prove an invariant for runs of every length by k-induction.

    Args:
        program: the specification with its constants (the proof is for these constants).
        invariant: the name of an invariant.
        k: how many good states in a row are assumed, at least 1.
        given: invariants that are already proved and may be assumed of every state.
        max_seconds: the time for each of the two cases.

    Returns:
        holds with evidence `proved`; violated with a shortest run when one of fewer than k steps exists; otherwise unknown, with the
        counterexample to induction as a trace that begins in a state of the domains.

    Raises:
        ValueError: k is less than 1.
        SpecError: `invariant` or one of `given` is no invariant of the program; the message lists those that are.
        InternalError: Z3's counterexample is not what the reference does (our failure).
    """
    if k < 1:
        raise ValueError(f"k = {k}: induction needs at least one state")
    known = [predicate.name for predicate in program.module.predicates if predicate.kind.value == "invariant"]
    for name in (invariant, *given):
        if name not in known:
            raise SpecError(f"{program.name} has no invariant {name!r}; it has {', '.join(known) or 'none'}")
    first = check_bounded(program, depth=k - 1, properties=[invariant], max_seconds=max_seconds)[invariant]
    if first.outcome is not Outcome.HOLDS:
        return first
    try:
        answer, trace, why = _step(program, invariant, tuple(given), k, max_seconds)
    except TooWide as limit:
        answer, trace, why = Answer.UNKNOWN, None, str(limit)
    provenance = Provenance.of(program, ENGINE)
    constants = ", ".join(f"{name}={value}" for name, value in sorted(program.constants.items()) if type(value) is int)
    assuming = f", given {', '.join(given)}" if given else ""
    if answer is Answer.UNSATISFIABLE:
        bound = f"{constants}; runs of every length, by {k}-induction{assuming}"
        return Verdict(invariant, "invariant", Outcome.HOLDS, Evidence(EvidenceKind.PROVED, bound), provenance)
    bound = f"{constants}; no counterexample of fewer than {k} steps"
    return Verdict(invariant, "invariant", Outcome.UNKNOWN, Evidence(EvidenceKind.BOUNDED, bound), provenance, why, trace)


def _step(
    program: Program, invariant: str, given: tuple[str, ...], k: int, max_seconds: float | None
) -> tuple[Answer, Trace | None, str]:
    """Whether k good states and a step out of the invariant exist, and the run that shows it."""
    circuit = Circuit()
    template, solver = Template(program, circuit), Solver(circuit)
    assume_state(program, template.cells, template.variables, solver)
    unrolling = Unrolling(template, solver, template.variables)
    for _ in range(k):
        unrolling.grow()
    for time in range(k + 1):
        for name in (invariant, *given):
            if time < k or name != invariant:
                solver.require(unrolling.at(time, template.predicate(name).holds))
    answer = solver.check((-unrolling.at(k, template.predicate(invariant).holds),), seconds=max_seconds)
    if answer is Answer.SATISFIABLE:
        trace = _confirm(program, invariant, solver, unrolling, k)
        return answer, trace, trace.why
    return answer, None, f"Z3 gave up ({solver.reason})" if answer is Answer.UNKNOWN else ""


def _confirm(program: Program, invariant: str, solver: Solver, unrolling: Unrolling, k: int) -> Trace:
    """The counterexample to induction as the reference executes it."""
    states = [unflatten(program, leaves) for leaves in states_of(solver, unrolling)]
    transitions = []
    for before, after, instance in zip(states, states[1:], unrolling.taken(k), strict=False):
        transitions.append(_apply(program, before, instance.step))
        if transitions[-1].state != after:
            raise InternalError(f"{program.name}: Z3 and the reference differ about {instance.step} in {before}")
    if not _true(program, states[-2], invariant) or _true(program, states[-1], invariant):
        raise InternalError(f"{program.name}: Z3 and the reference differ about {invariant} in {states[-2]} or {states[-1]}")
    why = f"{transitions[-1].step} leads out of {invariant}; whether its first state is reachable is not known"
    return Trace(program, states[0], tuple(transitions), invariant, f"counterexample to induction: {why}")


def _apply(program: Program, state: State, step: Step) -> Transition:
    try:
        return program.reference.apply(state, step)
    except (Disabled, SpecError) as error:
        raise InternalError(f"{program.name}: the reference does not take {step} in {state}: {error}") from error


def _true(program: Program, state: State, invariant: str) -> bool:
    try:
        return program.reference.holds(state, invariant)
    except SpecError:
        return False
