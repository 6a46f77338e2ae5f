"""Random walks are reproducible, judge everything they meet, and claim no more than they saw."""

import itertools
import threading
import time
from typing import Annotated

import pytest

from antiphon.model.bounds import Bounds
from antiphon.model.simulate import simulate, walk
from antiphon.model.simulate.walk import TOGETHER
from antiphon.model.verdict import EvidenceKind, Outcome, Report
from antiphon.spec.examples.nbacg_guer01 import NbacgGuer01
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import (
    Between,
    Program,
    Spec,
    action,
    environment,
    invariant,
    obligation,
    program,
    require,
    witness,
)
from antiphon.spec.lang.errors import ArgumentError
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
        """Require the impossible."""
        require(self.height > 10)

    @invariant
    def Low(self) -> bool:
        """Below four."""
        return self.height < 4

    @invariant
    def InRange(self) -> bool:
        """Height of at most ten."""
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
    untaken = f"not every walk was taken: {bounds.reached(2, 0.0)}"
    assert report.notes == (untaken,)
    assert (report["InRange"].outcome, report["InRange"].reason) == (Outcome.UNKNOWN, untaken)


@pytest.mark.parametrize("engine", ["generated", "native"])
def test_without_a_number_as_many_walks_are_taken_as_the_time_permits(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what they do not break holds: nobody asked for more. The clock goes on with each look at it."""
    ticks = itertools.count(0.0, 0.02)
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    report = simulate(
        program(Climber), seed=1, walks=None, steps=20, engine=engine, bounds=Bounds(seconds=2.0), threads=2
    )
    assert report.exploration.states - report.exploration.transitions > 20
    assert report["InRange"].outcome is Outcome.HOLDS
    assert report.notes == ()
    with pytest.raises(ArgumentError, match="one of them ends the walks"):
        simulate(program(Climber), seed=1, walks=None)


def test_a_bound_of_the_depth_shortens_each_walk() -> None:
    assert (
        simulate(program(Climber), seed=1, walks=20, steps=20, bounds=Bounds(depth=3)).exploration.depth == 3
    )


def test_the_shortest_violation_of_all_walks_is_kept_and_replays() -> None:
    trace = simulate(program(Climber), seed=1, walks=50, steps=20)["Low"].trace
    assert trace is not None
    assert [step.action for step in trace.steps] == ["leap", "leap"]


def test_a_seed_gives_the_same_walks_and_another_seed_others() -> None:
    bound = program(RbpChecked, repairs="all", processes=2, messages=1)
    first, same, other = (
        simulate(bound, seed=seed, walks=5, steps=40).exploration.transitions for seed in (3, 3, 4)
    )
    assert first == same != other


def seen(report: Report) -> tuple[object, ...]:
    """Everything that a report says but how long it took."""
    verdicts = [
        (
            verdict.property,
            verdict.outcome,
            verdict.reason,
            [] if verdict.trace is None else [verdict.trace.states, verdict.trace.steps],
        )
        for verdict in report.verdicts
    ]
    explored = report.exploration
    return verdicts, explored.states, explored.transitions, explored.depth, explored.never_fired


WALKED = [
    program(Climber),
    program(TwoPhase),
    program(RbpChecked, processes=2, messages=1),
    program(RbpChecked, repairs="all", processes=2, messages=1, losses=1),
    program(NbacgGuer01),
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("bound", WALKED, ids=lambda bound: f"{bound.name}")
@pytest.mark.parametrize("swarm", [False, True])
def test_every_engine_takes_the_same_walks(bound: Program, swarm: bool) -> None:
    """Outcomes, reasons, traces and counts; with one thread and with three."""

    def walked(engine: str, threads: int | None = None) -> tuple[object, ...]:
        return seen(simulate(bound, seed=7, walks=40, steps=25, engine=engine, swarm=swarm, threads=threads))

    assert walked("native", 1) == walked("native", 3) == walked("generated") == walked("reference")


def test_threads_share_many_walks_and_find_the_same() -> None:
    bound = program(RbpChecked, processes=2, messages=1)
    first, second = (
        simulate(bound, seed=3, walks=2000, steps=30, engine="native", threads=threads) for threads in (1, 2)
    )
    assert seen(first) == seen(second)
    assert first["Integrity"].outcome is Outcome.VIOLATED
    assert first.exploration.states == first.exploration.transitions + 2000


class AtOnce(threading.Thread):
    """A thread that is over before the next begins."""

    def start(self) -> None:
        self.run()

    def join(self, timeout: float | None = None) -> None:
        """Return at once."""


@pytest.mark.parametrize("blocks", [4, 8, 16])
def test_the_order_in_which_threads_take_walks_changes_nothing(
    blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread takes the later half before the other begins: of equally short runs the first is told."""
    bound = program(RbpChecked, processes=2, messages=1)
    walks = blocks * TOGETHER
    alone = simulate(bound, seed=3, walks=walks, steps=30, engine="native", threads=1)
    early, late = ([range(k * TOGETHER, (k + 1) * TOGETHER) for k in half] for half in (
        range(blocks // 2), range(blocks // 2, blocks)
    ))  # fmt: skip
    handed = iter([*late, range(0), *early])
    monkeypatch.setattr(walk._Watch, "next", lambda _watch: next(handed, range(0)))
    monkeypatch.setattr(walk.threading, "Thread", AtOnce)
    assert seen(simulate(bound, seed=3, walks=walks, steps=30, engine="native", threads=2)) == seen(alone)


class Planted(Spec):
    """Fault that shows only if one of two others never happens: a walk with both on hardly ever finds it."""

    noise: Annotated[int, Between(0, 20)] = 0
    signal: Annotated[int, Between(0, 20)] = 0

    @environment
    def disturb(self) -> None:
        """Spoil everything."""
        require(self.noise < 20)
        self.noise += 1

    @environment
    def prepare(self) -> None:
        """Prepare: needed twenty times."""
        require(self.signal < 20 and self.noise == 0)
        self.signal += 1

    @action
    def rest(self) -> None:
        """Rest, which is never possible."""
        require(self.noise > 0 and self.signal < 0)

    @invariant
    def Safe(self) -> bool:
        """Planted: twenty signals and no noise."""
        return self.signal < 20


@pytest.mark.parametrize("engine", ["reference", "generated", "native"])
def test_a_swarm_finds_what_walks_of_one_kind_miss(engine: str) -> None:
    alike = simulate(program(Planted), seed=1, walks=200, steps=30, engine=engine)
    swarm = simulate(program(Planted), seed=1, walks=200, steps=30, engine=engine, swarm=True)
    assert alike["Safe"].outcome is Outcome.HOLDS
    assert swarm["Safe"].outcome is Outcome.VIOLATED
    assert [step.action for step in swarm["Safe"].trace.steps] == ["prepare"] * 20


class Wrong(Spec):
    """Leaves its domain in the end."""

    count: Annotated[int, Between(0, 3)] = 0

    @action
    def add(self) -> None:
        """One more, once too often."""
        self.count += 1


@pytest.mark.parametrize("engine", ["reference", "generated", "native"])
def test_a_wrong_specification_is_told_by_whichever_engine(engine: str) -> None:
    error = simulate(program(Wrong), seed=1, walks=3, steps=9, engine=engine)["specification"]
    assert error.outcome is Outcome.UNKNOWN
    assert error.reason.endswith("leaves its domain, the integers 0 to 3")


class WrongIfTaken(Spec):
    """One step in a hundred leads out of the domain."""

    count: Annotated[int, Between(0, 3)] = 0

    @action
    def stay(self, k: Annotated[int, Between(1, 99)]) -> None:
        """Stay, without a change."""
        require(k > self.count)

    @action
    def leave(self) -> None:
        """Out of the domain."""
        self.count += 4

    @invariant
    def Nothing(self) -> bool:
        """Count of zero."""
        return self.count == 0


@pytest.mark.parametrize("engine", ["reference", "generated", "native"])
def test_a_walk_to_errors_ends_where_one_is_possible(engine: str) -> None:
    """The walk ends even if it would take another step."""
    report = simulate(program(WrongIfTaken), seed=1, walks=2, steps=2, to_errors=True, engine=engine)
    assert (report["Nothing"].outcome, report.exploration.transitions) == (Outcome.UNKNOWN, 0)


class WrongAtTheTop(Climber):
    """A climber that may go further at the top, out of the domain."""

    @action
    def beyond(self) -> None:
        """Climb over the top."""
        require(self.height == 10)
        self.height += 1


def test_walks_to_errors_are_judged_as_far_as_they_go() -> None:
    """All walks end at the top, and nothing is said to hold; every engine sees the same."""
    engines = ("reference", "generated", "native")
    reports = [
        simulate(program(WrongAtTheTop), seed=1, walks=20, steps=20, to_errors=True, engine=engine)
        for engine in engines
    ]
    outcomes = {verdict.property: verdict.outcome for verdict in reports[0].verdicts}
    assert outcomes == {
        "Low": Outcome.VIOLATED, "InRange": Outcome.UNKNOWN, "AtTop": Outcome.UNKNOWN,
        "AtHome": Outcome.UNKNOWN, "Five": Outcome.HOLDS, "Nowhere": Outcome.UNKNOWN,
    }  # fmt: skip
    assert reports[0]["InRange"].reason == "20 walks ran into an error of the specification"
    assert len({tuple(map(str, report.verdicts)) for report in reports}) == 1
    assert len({report.exploration.transitions for report in reports}) == 1


def test_many_steps_are_taken_by_machine_code() -> None:
    told: list[tuple[int, int]] = []
    report = simulate(
        program(TwoPhase), seed=1, walks=3000, steps=40, progress=lambda *done: told.append(done)
    )
    assert told[-1] == (3000, report.exploration.transitions)
    assert len(told) == 12


def test_a_walk_does_not_depend_on_how_many_follow() -> None:
    bound = program(TwoPhase)
    found: list[list[int]] = []
    for walks in (2, 4):
        steps: list[int] = []
        simulate(
            bound, seed=5, walks=walks, steps=10, progress=lambda _, done, steps=steps: steps.append(done)
        )
        found.append(steps)
    assert found[1][:2] == found[0]


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
    """Properties that a walk misses for lack of timer rounds alone are unknown, as in `check`."""
    bounded = program(RbpChecked, repairs="all", processes=2, messages=1, losses=1)
    report = simulate(bounded, seed=5, walks=30, steps=40)
    assert report["Validity"].outcome is Outcome.UNKNOWN
    assert "only a spent budget keeps" in report["Validity"].reason
    assert report["Validity"].trace is None
