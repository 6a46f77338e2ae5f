"""Random walks are reproducible, judge everything they meet, and claim no more than they saw."""

from typing import Annotated

import pytest

from antiphon.model.bounds import Bounds
from antiphon.model.simulate import simulate
from antiphon.model.verdict import EvidenceKind, Outcome
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Between, Spec, action, invariant, obligation, program, require, witness
from antiphon.spec.protocols.rbp.properties import RbpChecked


class Climber(Spec):
    """Goes up by one or two, to ten at most."""

    height: Annotated[int, Between(0, 10)] = 0

    @action
    def step(self) -> None:
        """One up."""
        require(self.height < 10)
        self.height += 1

    @action
    def leap(self) -> None:
        """Two up."""
        require(self.height < 9)
        self.height += 2

    @action
    def fly(self) -> None:
        """Never."""
        require(self.height > 10)

    @invariant
    def Low(self) -> bool:
        """Below four."""
        return self.height < 4

    @invariant
    def InRange(self) -> bool:
        """Never beyond ten."""
        return self.height <= 10

    @obligation
    def AtTop(self) -> bool:
        """Every climb ends at the top."""
        return self.height == 10

    @obligation
    def AtHome(self) -> bool:
        """Every climb ends where it began."""
        return self.height == 0

    @witness
    def Five(self) -> bool:
        """Half way."""
        return self.height == 5

    @witness
    def Nowhere(self) -> bool:
        """Is not to be reached."""
        return self.height == 10 and self.height == 0


def test_every_kind_of_property_gets_its_verdict() -> None:
    report = simulate(program(Climber), seed=1, walks=20, steps=20)
    outcomes = {verdict.property: verdict.outcome for verdict in report.verdicts}
    assert outcomes == {
        "Low": Outcome.VIOLATED, "InRange": Outcome.HOLDS, "AtTop": Outcome.HOLDS, "AtHome": Outcome.VIOLATED,
        "Five": Outcome.HOLDS,
        "Nowhere": Outcome.UNKNOWN,
    }  # fmt: skip
    assert report.exploration.never_fired == ("fly",)
    assert all(
        verdict.evidence.kind is EvidenceKind.MEASURED and "seed 1" in verdict.evidence.bound
        for verdict in report.verdicts
    )


@pytest.mark.parametrize("bounds", [Bounds(states=2), Bounds(seconds=0.0), Bounds(memory_mb=1)])
def test_a_bound_ends_the_walks_and_is_told(bounds: Bounds) -> None:
    report = simulate(program(Climber), seed=1, walks=20, steps=20, bounds=bounds)
    assert "1 walks" in report.verdicts[0].evidence.bound
    assert report.notes == (f"not every walk was taken: {bounds.reached(2, 0.0)}",)


def test_a_bound_of_the_depth_shortens_each_walk() -> None:
    assert (
        simulate(program(Climber), seed=1, walks=20, steps=20, bounds=Bounds(depth=3)).exploration.depth == 3
    )


def test_the_shortest_violation_of_all_walks_is_kept_and_replays() -> None:
    trace = simulate(program(Climber), seed=1, walks=50, steps=20)["Low"].trace
    assert trace is not None
    assert [step.action for step in trace.steps] == ["leap", "leap"]


def test_a_seed_gives_the_same_walks_and_another_seed_others() -> None:
    bound = program(TwoPhase)
    first, same, other = (
        simulate(bound, seed=seed, walks=5, steps=10).exploration.states for seed in (3, 3, 4)
    )
    assert first == same != other


def test_a_walk_does_not_depend_on_how_many_follow() -> None:
    bound = program(TwoPhase)
    seen: list[list[int]] = []
    for walks in (2, 4):
        steps: list[int] = []
        simulate(
            bound, seed=5, walks=walks, steps=10, progress=lambda _, done, steps=steps: steps.append(done)
        )
        seen.append(steps)
    assert seen[1][:2] == seen[0]


def test_an_obligation_without_a_quiet_end_is_unknown() -> None:
    assert simulate(program(Climber), seed=1, walks=3, steps=2)["AtTop"].outcome is Outcome.UNKNOWN


def test_services_are_judged_on_the_way() -> None:
    """The literal figure 16 delivers NULL: Integrity is broken within few steps."""
    verdict = simulate(program(RbpChecked, messages=1), seed=1, walks=20, steps=8)["Integrity"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert verdict.trace.transitions[-1].refused


@pytest.mark.parametrize(("walks", "steps"), [(0, 1), (1, 0)])
def test_nothing_to_walk_is_refused(walks: int, steps: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        simulate(program(TwoPhase), seed=1, walks=walks, steps=steps)


def test_where_only_a_spent_budget_keeps_a_step_from_happening_nothing_is_judged() -> None:
    """What a walk misses for lack of timer rounds alone is unknown, as `check` has it."""
    bounded = program(RbpChecked, repairs="all", processes=2, messages=1, losses=1)
    report = simulate(bounded, seed=5, walks=30, steps=40)
    assert report["Validity"].outcome is Outcome.UNKNOWN
    assert "only a spent budget keeps" in report["Validity"].reason
    assert report["Validity"].trace is None
