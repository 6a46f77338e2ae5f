"""Whether a lasso shows what it says, CPython alone is asked: premise, goal and fairness, state by state;
nothing of the engine is used.

This file knows nothing of graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from antiphon.model.explore.liveness.fairness import Fairness, fair_on
from antiphon.model.explore.liveness.questions import Question, Values, declared
from antiphon.model.explore.liveness.truth import is_true
from antiphon.model.trace import Trace
from antiphon.spec.lang import ir

Kind = tuple[str, tuple[Any, ...]]


def fault_of(trace: Trace, liveness: ir.LivenessProperty, values: Values, fairness: Fairness) -> str:
    """Why the trace is no fair counterexample of the property under these values; empty when it is one."""
    if trace.loop is None:
        return "it has no cycle"
    if trace.states[trace.loop] != trace.states[-1]:
        return "its last state is not the one in which its cycle begins"
    states, program = trace.states, trace.program
    goals = [number for number, state in enumerate(states) if is_true(program, liveness.goal, values, state)]
    first = max(goals, default=-1) + 1
    if first > trace.loop:
        return "the goal is true on the cycle"
    if liveness.kind is ir.LivenessKind.EVENTUALLY and goals:
        return "the goal is true on the way"
    if liveness.premise is not None and not any(
        is_true(program, liveness.premise, values, state) for state in states[first:]
    ):
        return "the premise is true nowhere without the goal after it"
    missing = sorted(map(str, unfair(trace, fairness)))
    return f"it is not fair to {', '.join(missing)}" if missing else ""


def unfair(trace: Trace, fairness: Fairness) -> Iterator[Kind]:
    """The kinds of steps to which the cycle of the trace is not fair. A step that changes nothing is neither
    possible nor taken.
    """
    assert trace.loop is not None
    program = trace.program
    possible: list[set[Kind]] = []
    for state in trace.states[trace.loop :]:
        kinds: set[Kind] = set()
        for transition in program.reference.successors(state):
            kind = fairness.kind(transition.step)
            if kind is not None and transition.state != state:
                kinds.add(kind)
        possible.append(kinds)
    before = trace.states[trace.loop : -1]
    moved = [
        item
        for state, item in zip(before, trace.transitions[trace.loop :], strict=True)
        if item.state != state
    ]
    taken = {fairness.kind(item.step) for item in moved}
    for kind in set().union(*possible) - taken:
        if fairness.is_strong(kind) or all(kind in kinds for kinds in possible):
            yield kind


def shows_lasso(trace: Trace, question: Question | None = None, fairness: Fairness | None = None) -> bool:
    """Whether the trace is a fair lasso on which the property that it names fails, for some value of its
    parameters.
    """
    asked = question or declared(trace.program).get(trace.shows)
    if asked is None:
        return False
    assumed = fairness or fair_on(trace.program)
    return any(
        not fault_of(trace, asked.liveness, asked.values(instance), assumed) for instance in asked.instances
    )
