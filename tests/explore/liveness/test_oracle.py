"""On small specifications under random fairness the verdict is that of an oracle, which walks with CPython
and tries every set of states.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.explore.liveness.oracle import Edge, graph_of, shortest_stem
from tests.explore.liveness.specs import FairRoom, LastOne, Lock, LossyChannel, Relay, Room, Table

from antiphon.model.explore import liveness
from antiphon.model.explore.liveness import Fairness, Question
from antiphon.model.explore.liveness.lasso import Graph
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Program, ir, program

PROGRAMS = [
    program(Table, seats=2),
    program(Table, seats=2, last_differs=False),
    program(LossyChannel),
    program(Lock),
    program(Relay),
    program(Room),
    program(FairRoom),
    program(LastOne),
]


def walked(bound: Program, fairness: Fairness) -> tuple[list[Any], Graph]:
    """All states and steps by CPython alone; steps that change nothing are left out."""
    machine = bound.reference
    states = list(machine.initial())
    starts = len(states)
    numbers = {state: number for number, state in enumerate(states)}
    kinds: dict[Any, int] = {}
    masks = {0: 0}
    edges: list[Edge] = []
    for state in states:
        for transition in machine.successors(state):
            if transition.state not in numbers:
                numbers[transition.state] = len(states)
                states.append(transition.state)
            mask = 0
            for kind, condition in fairness.kinds(transition.step):
                if condition is None or condition.holds(bound, state):
                    mask |= 1 << kinds.setdefault(kind, len(kinds))
            if transition.state != state:
                edges.append((numbers[state], numbers[transition.state], masks.setdefault(mask, len(masks))))
    strong = sum(1 << kind for what, kind in kinds.items() if fairness.is_strong(what))
    weak = sum(1 << kind for what, kind in kinds.items() if not fairness.is_strong(what))
    return states, graph_of(len(states), starts, edges, weak, strong, list(masks))


def expected(bound: Program, question: Question, fairness: Fairness) -> int | None:
    """The length of the shortest stem of a fair lasso, for any values of the parameters; None when there is
    no lasso.
    """
    states, graph = walked(bound, fairness)
    stems = []
    for instance in question.instances:
        known: dict[str, bytearray] = {}

        def truths(
            expression: ir.Expression,
            instance: tuple[Any, ...] = instance,
            known: dict[str, bytearray] = known,
        ) -> bytearray:
            assert isinstance(expression, ir.Call)
            name, arguments = expression.function, instance[: len(expression.arguments)]
            if name not in known:
                known[name] = bytearray(bound.reference.evaluate(state, name, *arguments) for state in states)
            return known[name]

        stems.append(shortest_stem(graph, question.liveness, truths))
    return min((stem for stem in stems if stem is not None), default=None)


@pytest.mark.parametrize("seed", range(80))
def test_verdict_and_stem_are_those_of_the_oracle(seed: int) -> None:
    chance = random.Random(seed)
    bound = PROGRAMS[seed % len(PROGRAMS)]
    changes: dict[str, Any] = {}
    for action in bound.module.actions:
        if not action.fault:
            per = tuple(parameter.name for parameter in action.parameters if chance.random() < 0.5)
            changes[action.name] = chance.choice(("none", "weak", "weak", "strong")), per
    for promise in bound.module.fair:
        per = tuple(name for name in promise.parts[0].per if chance.random() < 0.7)
        changes[promise.name] = chance.choice(("none", "weak", "strong")), per
    fairness = liveness.fair_on(bound, changes)
    for question in liveness.declared(bound).values():
        verdict = liveness.judge(bound, [question], fairness=fairness).verdicts[0]
        stem = expected(bound, question, fairness)
        assert (verdict.outcome is Outcome.VIOLATED) is (stem is not None)
        if verdict.trace is not None:
            assert verdict.trace.loop == stem
            assert liveness.shows_lasso(verdict.trace, question, fairness)
