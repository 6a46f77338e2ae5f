"""Only what matters to a question is kept: the same answers, at the same length, from fewer states or smaller
ones; what is left out is said.
"""

from __future__ import annotations

from typing import Annotated

import pytest

from antiphon.model.engines import StorageOptions
from antiphon.model.engines.native.compiler.reduction import WHOLE, Reduction
from antiphon.model.explore import check
from antiphon.model.ground import layout
from antiphon.model.ground.words import WordPacking
from antiphon.model.properties import kinds_of
from antiphon.model.trace import replay
from antiphon.model.verdict import Report
from antiphon.spec.examples.dining_philosophers import DiningPhilosophers
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import (
    Between,
    Const,
    Program,
    Spec,
    SpecError,
    action,
    invariant,
    program,
    require,
    witness,
)
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerChecked
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked

SMALL = {"processes": 2, "messages": 1}
PROGRAMS = [
    program(Figure2Checked, **SMALL),
    program(Figure2Checked, repairs="all", **SMALL),
    program(MovingSequencerChecked, **SMALL),
    program(RbpChecked, **SMALL),
    program(RbpChecked, repairs="all", **SMALL),
    program(TwoPhase, managers=3),
    program(DiningPhilosophers),
]

CONE = StorageOptions(cone=True)


def told(report: Report) -> list[tuple[object, ...]]:
    return [
        (item.property, item.outcome, item.trace and len(item.trace))
        for item in report.verdicts
        if item.kind != "liveness"
    ]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("bound", PROGRAMS, ids=lambda bound: bound.name)
def test_the_answers_are_those_of_the_full_search(bound: Program) -> None:
    names = [*(name for name, kind in kinds_of(bound).items() if kind != "liveness"), "deadlock"]
    full = check(bound, properties=names)
    answers = {item.property: item for item in full.verdicts}
    for some in (names[part::3] for part in range(3)):
        reduced = check(bound, properties=some, storage=CONE)
        assert reduced.exploration.states <= full.exploration.states
        for verdict in reduced.verdicts:
            expected = answers[verdict.property]
            assert (verdict.outcome, verdict.trace and len(verdict.trace)) == (
                expected.outcome,
                expected.trace and len(expected.trace),
            )
            if verdict.trace is not None:
                assert replay(bound, verdict.trace.start, verdict.trace.steps).states == verdict.trace.states


def test_fewer_states_are_told_apart_when_less_matters() -> None:
    bound = program(Figure2Checked, repairs="all")
    full = check(bound, properties=["Integrity", "BroadcastOnce"])
    one = check(bound, properties=["Integrity"], storage=CONE)
    assert (full.exploration.states, one.exploration.states) == (20_595, 2_571)
    [note] = one.notes
    assert note.startswith("left out, for they do not matter to what is asked: ")


class Counting(Spec):
    """`seen` is written and never read; `turns` decides what can happen; `doubled` could leave its bounds,
    which must be found in any case.
    """

    most: Const[int] = 5
    turns: Annotated[int, Between(0, 5)] = 0
    doubled: Annotated[int, Between(0, 9)] = 0
    seen: bool = False

    @action
    def turn(self) -> None:
        require(self.turns < self.most)
        self.turns += 1
        self.doubled += 2
        self.seen = self.doubled > 4

    @invariant
    def Small(self) -> bool:
        return self.doubled < 7

    @witness
    def Late(self) -> bool:
        return self.turns == 5


def test_errors_of_the_specification_matter_to_every_question() -> None:
    bound = program(Counting)
    assert (
        check(bound, properties=["Small"], storage=CONE).notes[-1]
        == "left out, for they do not matter to what is asked: seen"
    )
    assert (
        check(bound, properties=["Late"], storage=CONE).notes[-1]
        == "left out, for they do not matter to what is asked: seen"
    )
    [error, _] = check(bound, properties=["Late"], storage=CONE).verdicts
    assert (error.kind, error.outcome.value) == ("specification", "unknown")
    assert told(check(bound, properties=["Small", "Late"], storage=CONE)) == told(
        check(bound, properties=["Small", "Late"])
    )


def test_states_take_less_room() -> None:
    bound = program(RbpChecked, repairs="all")
    slots = layout(bound).slots
    whole, cone = (
        WordPacking(slots, reduction.stored_slots(bound))
        for reduction in (WHOLE, Reduction(asked=frozenset({"UniqueNumbers"})))
    )
    assert cone.bits < whole.bits
    assert whole.bits == WordPacking(slots).bits


def test_it_goes_with_symmetry_and_with_fingerprints() -> None:
    bound = program(TwoPhase, managers=4)
    names = [name for name, kind in kinds_of(bound).items() if kind in ("invariant", "witness")]
    expected = told(check(bound, properties=names))
    both = check(bound, properties=names, storage=StorageOptions(cone=True, symmetry=True))
    assert told(both) == expected
    assert (
        told(check(bound, properties=names, storage=StorageOptions(cone=True, fingerprints=True))) == expected
    )


def test_other_engines_refuse() -> None:
    with pytest.raises(SpecError, match="knows neither fingerprints, reductions nor a directory"):
        check(program(TwoPhase, managers=2), storage=CONE, engine="reference")
