"""On small specifications under random fairness the verdict is that of an oracle, which walks with CPython
and tries every set of states.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.explore.liveness.oracle import expected
from tests.explore.liveness.specs import FairRoom, LastOne, Lock, LossyChannel, Relay, Room, Table

from antiphon.model.explore import liveness
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program

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


@pytest.mark.sampled(44)
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
