"""Confirmation of a lasso by CPython alone: formulas and fairness are evaluated state by state, without
automaton or engine.

This file knows nothing of graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from antiphon.model.explore.liveness.fairness import Fairness, Kind, Values, fair_on
from antiphon.model.explore.liveness.questions import Question, declared
from antiphon.model.ground.budgets import budget_blocked_steps
from antiphon.model.trace import Trace
from antiphon.spec.lang import State, Step, Transition, ir


def fault_of(trace: Trace, liveness: ir.LivenessProperty, values: Values, fairness: Fairness) -> str:
    """Return the reason why the trace is not a fair counterexample of the property under these values of its
    parameters; empty when it is one.
    """
    if trace.loop is None:
        return "it has no cycle"
    if trace.states[trace.loop] != trace.states[-1]:
        return "its last state is not the one in which its cycle begins"
    untrue = [formula for formula in liveness.assuming if not is_true(trace, formula, values)]
    if untrue:
        return f"what is assumed ({untrue[0].kind.value}) is not true of it"
    if is_true(trace, liveness, values):
        return "the property is true of it"
    missing = sorted(map(str, unfair(trace, fairness)))
    return f"it is not fair to {', '.join(missing)}" if missing else ""


def is_true(trace: Trace, formula: ir.Temporal, values: Values) -> bool:
    """Return True if a formula, without its assumptions, is true of the infinite run of the trace, which
    repeats the trace's cycle for ever.
    """
    assert trace.loop is not None
    goal = _truths(trace, formula.goal, values)
    for_ever = goal[trace.loop :]
    match formula.kind:
        case ir.LivenessKind.INITIALLY:
            return goal[0]
        case ir.LivenessKind.ALWAYS:
            return all(goal)
        case ir.LivenessKind.EVENTUALLY:
            return any(goal)
        case ir.LivenessKind.ALWAYS_EVENTUALLY:
            return any(for_ever)
        case ir.LivenessKind.EVENTUALLY_ALWAYS:
            return all(for_ever)
        case ir.LivenessKind.LEADS_TO:
            assert formula.premise is not None
            premise = _truths(trace, formula.premise, values)
            return any(for_ever) or all(any(goal[number:]) for number, met in enumerate(premise) if met)


def _truths(trace: Trace, expression: ir.Expression, values: Values) -> list[bool]:
    """Return, for each state of the trace, whether an expression, a call of a method of the specification, is
    true in it.
    """
    call = cast("ir.Call", expression)
    arguments = [values[cast("ir.Name", item).name][1] for item in call.arguments]
    evaluate = trace.program.reference.evaluate
    return [bool(evaluate(state, call.function, *arguments)) for state in trace.states]


def unfair(trace: Trace, fairness: Fairness) -> Iterator[Kind]:
    """Yield the kinds of steps to which the cycle of the trace is not fair. A step that changes nothing
    counts as neither possible nor taken; a step that only a spent budget disables counts as possible.
    """
    assert trace.loop is not None
    program = trace.program

    def kinds_of(state: State, step: Step) -> Iterator[Kind]:
        for kind, condition in fairness.kinds(step):
            if condition is None or condition.holds(program, state):
                yield kind

    def kinds(state: State, transition: Transition) -> Iterator[Kind]:
        return kinds_of(state, transition.step) if transition.state != state else iter(())

    possible = [
        {kind for transition in program.reference.successors(state) for kind in kinds(state, transition)}
        | {kind for step, _ in budget_blocked_steps(program, state) for kind in kinds_of(state, step)}
        for state in trace.states[trace.loop :]
    ]
    steps = zip(trace.states[trace.loop : -1], trace.transitions[trace.loop :], strict=True)
    taken = {kind for state, transition in steps for kind in kinds(state, transition)}
    for kind in set().union(*possible) - taken:
        if fairness.is_strong(kind) or all(kind in here for here in possible):
            yield kind


def shows_lasso(trace: Trace, question: Question | None = None, fairness: Fairness | None = None) -> bool:
    """Return True if the trace is a fair lasso on which the property that it names fails, for some value of
    its parameters.
    """
    asked = question or declared(trace.program).get(trace.shows)
    if asked is None:
        return False
    assumed = fairness or fair_on(trace.program)
    return any(
        not fault_of(trace, asked.liveness, asked.values(instance), assumed) for instance in asked.instances
    )
