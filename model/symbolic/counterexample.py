"""Execution, by the reference, of the runs that Z3 finds: the reference must confirm what they show.

The steps of a run are those whose selectors are true in Z3's model.

It is a failure of this engine (`InternalError`) if the reference refuses a run, or if the run does not show
what Z3 claims.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from antiphon.model.symbolic.initial_states import InitialStates
from antiphon.model.symbolic.solver import Solver
from antiphon.model.symbolic.targets import ERRORS, Target, breaking, errors
from antiphon.model.symbolic.unroll import Unrolling
from antiphon.model.trace import ReplayError, Trace, replay
from antiphon.model.verdict import InternalError, PropertyKind
from antiphon.spec.lang import Program, SpecError, State, Step

MOST_STATES = 10_000
"""Largest number of states among which the reference looks for a way back to where an obligation is true."""

MOST_SECONDS = 5.0
"""Seconds for which the reference looks for a way back that Z3 has shown not to exist."""


def decode(target: Target, unrolling: Unrolling, start: InitialStates, now: int) -> Trace:
    """Return the run of the solver's model up to `now`, which shows `target`, as the reference executes it.

    Raises:
        InternalError: the reference does not execute it, or sees no violation.
    """
    solver = unrolling.solver
    last: list[Step] = []
    error = ""
    if target == ERRORS:
        error = next(what for what, literal in errors(unrolling, now) if solver.value(literal))
    if target.is_about_a_step():
        breaks = breaking(target.property, unrolling, now)
        last = [next(instance.step for instance, literal in breaks if solver.value(literal))]
    return confirm(target, run_of(unrolling, start, now, target.property, last), error)


def run_of(
    unrolling: Unrolling, start: InitialStates, now: int, shows: str, further: Sequence[Step] = ()
) -> Trace:
    """Return the run of the solver's model up to `now`, and `further` steps, as the reference executes them.

    Raises:
        InternalError: the reference does not execute them.
    """
    program = unrolling.template.program
    first = next(state for state, selector in start.states if unrolling.solver.value(selector))
    steps = [*(instance.step for instance in unrolling.taken(now)), *further]
    try:
        return replay(program, first, steps, shows=shows)
    except (ReplayError, SpecError) as error:
        said = f"the reference does not run what Z3 found for {shows}: {error}"
        raise InternalError(f"{program.name}: {said}") from error


def confirm(target: Target, trace: Trace, error: str = "") -> Trace:
    """Return `trace` with one sentence about its last state, once the reference has confirmed there what
    `target` says.

    Raises:
        InternalError: the reference does not confirm it.
    """
    program, last = trace.program, trace.states[-1]
    match target.kind:
        case PropertyKind.INVARIANT:
            seen = not program.reference.holds(last, target.property)
            said = f"{target.property} is false in the last state"
        case PropertyKind.WITNESS:
            seen = program.reference.holds(last, target.property)
            said = f"{target.property} is true in the last state"
        case PropertyKind.OBLIGATION:
            seen = recovers(program, last, target.property, MOST_SECONDS) is not True
            lost = "no fault-free path leads to where it is true"
            quiet = lost if _progress(program, last) else "nothing but faults can happen"
            said = f"{target.property} is false in the last state, and {quiet}"
        case PropertyKind.DEADLOCK:
            seen, said = not _progress(program, last), "nothing but faults can happen in the last state"
        case PropertyKind.SERVICE | PropertyKind.STEP:
            refused = trace.transitions[-1].refused
            refusals = [refusal for refusal in refused if refusal.property == target.property]
            seen, said = bool(refusals), "; ".join(map(str, refusals))
        case _:
            seen, said = _fails(program, last), f"in the last state the text cannot be executed: {error}"
    if not seen:
        found = f"Z3 found a run of {len(trace)} steps for {target.property}"
        raise InternalError(f"{program.name}: {found}, but the reference does not see it")
    return replace(trace, why=said)


def recovers(program: Program, state: State, obligation: str, seconds: float | None = None) -> bool | None:
    """Return True if the reference finds a fault-free path from `state` to where the obligation is true.

    None when it meets more than `MOST_STATES` states, or `seconds` are over.
    """
    begun = time.perf_counter()
    faults = {action.name for action in program.module.actions if action.fault}
    seen, pending = {state}, [state]
    for here in pending:
        if program.reference.holds(here, obligation):
            return True
        if len(seen) > MOST_STATES or (seconds is not None and time.perf_counter() - begun > seconds):
            return None
        for step in program.reference.enabled(here):
            if step.action not in faults and (after := program.reference.apply(here, step).state) not in seen:
                seen.add(after)
                pending.append(after)
    return False


def _progress(program: Program, state: State) -> bool:
    """Return True if a step that is no fault is enabled."""
    faults = {action.name for action in program.module.actions if action.fault}
    return any(step.action not in faults for step in program.reference.enabled(state))


def _fails(program: Program, state: State) -> bool:
    """Return True if the reference runs into an error of the specification in this state."""
    try:
        list(program.reference.enabled(state))
        for predicate in program.module.predicates:
            program.reference.holds(state, predicate.name)
    except SpecError:
        return True
    return False


def states_of(solver: Solver, unrolling: Unrolling) -> Sequence[tuple[int | bool, ...]]:
    """Return the states of the solver's model, one number for each slot."""
    cells = unrolling.template.cells
    return [cells.leaves(solver.value, moment.literals) for moment in unrolling.times]
