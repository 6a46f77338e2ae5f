"""Liveness among orbits: where nothing tells members apart, verdicts are those of the whole graph, and lassos
are runs.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.explore.liveness.specs import Lock

from antiphon.model.bounds import Bounds
from antiphon.model.engines import StorageOptions
from antiphon.model.engines.choice import Engine, transitions_by
from antiphon.model.engines.native.compiler.symmetry import exchanged_state, exchanges
from antiphon.model.engines.python.orbits import OrbitTransitions
from antiphon.model.explore import check, liveness
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.bcast_byz import BcastByz
from antiphon.spec.examples.nbacg_guer01 import NbacgGuer01
from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    Program,
    Set,
    Spec,
    SpecError,
    State,
    action,
    always,
    always_eventually,
    environment,
    eventually,
    eventually_always,
    everywhere,
    fair,
    implies,
    initial,
    leads_to,
    program,
    require,
    step_invariant,
)


class Rider(Index, size="riders", symmetric=True):
    """A rider on the carousel, who may hold the ring."""


class Horse(Index, size="horses", symmetric=True):
    """A horse on the carousel."""


class Carousel(Spec):
    """A ring goes from rider to rider, which changes nothing but names; who holds it may mark himself."""

    riders: Const[int] = 3
    horses: Const[int] = 2

    holder: Rider | None = None
    marked: Set[Rider] = Set()
    rides: Map[Rider, Horse | None] = everywhere(None)

    @initial
    def start(self, r: Rider) -> None:
        """Give the ring to some rider."""
        self.holder = r

    @action
    def pass_on(self, r: Rider) -> None:
        """The ring goes to another rider."""
        require(self.holder is not None and self.holder != r)
        self.holder = r

    @action
    def mark(self, r: Rider) -> None:
        """Mark the rider that has the ring."""
        require(self.holder == r and r not in self.marked)
        self.marked |= {r}

    @action
    def wipe(self) -> None:
        """Remove all marks."""
        require(len(self.marked) > 0)
        self.marked = Set()

    @action
    def mount(self, r: Rider, h: Horse) -> None:
        """Mount a horse that nobody rides, or change to one."""
        require(self.holder == r and all(self.rides[q] != h for q in self.each(Rider)))
        self.rides[r] = h

    @environment
    def drop(self) -> None:
        """The ring is lost."""
        require(self.holder is not None and len(self.marked) == 1)
        self.holder = None

    def holds_none(self) -> bool:
        """The ring is lost."""
        return self.holder is None

    def marked_holds(self) -> bool:
        """The holder of the ring is marked."""
        return self.holder is not None and self.holder in self.marked

    def all_marked(self) -> bool:
        """All riders are marked."""
        return len(self.marked) == self.riders

    def none_marked(self) -> bool:
        """No rider is marked."""
        return len(self.marked) == 0

    def changes(self, r: Rider) -> bool:
        """R has something new from it."""
        return r not in self.marked

    moves = fair("pass_on", "mark")
    news = fair("pass_on", fairness="strong", where="changes")

    all_in_the_end = eventually("all_marked")
    again = always_eventually("marked_holds")
    wiped = leads_to("all_marked", "none_marked")
    settled = eventually_always("none_marked")
    both = implies(always_eventually("marked_holds"), eventually("all_marked"))
    kept = implies("none_marked", implies(leads_to("all_marked", "none_marked"), always("none_marked")))
    lost = implies(eventually("all_marked"), eventually_always("holds_none"))


CASES = [
    program(Carousel, horses=1),
    program(Carousel, riders=2, horses=2),
    program(Carousel, riders=4, horses=1),
    program(NbacgGuer01, processes=2),
    program(BcastByz, processes=3, tolerated=0),
]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("seed", range(40))
def test_verdicts_among_orbits_are_those_of_all_states(seed: int) -> None:
    chance = random.Random(seed)
    bound = CASES[seed % len(CASES)]
    names = [action.name for action in bound.module.actions if not action.fault]
    names += [promise.name for promise in bound.module.fair]
    changes = {name: chance.choice(("none", "weak", "strong")) for name in names}
    engine = "reference" if seed % 7 == 0 else "generated"
    questions = list(liveness.declared(bound).values())
    whole = liveness.judge(bound, questions, fairness=changes)
    orbits = liveness.judge(bound, questions, fairness=changes, engine=engine, symmetry=True)
    assert orbits.exploration.states < whole.exploration.states
    for one, other in zip(whole.verdicts, orbits.verdicts, strict=True):
        assert (one.property, one.outcome) == (other.property, other.outcome)
        if one.trace is not None:
            assert one.trace.loop is not None
            assert other.trace is not None
            assert other.trace.loop is not None
            assert other.trace.loop >= one.trace.loop
            question = liveness.declared(bound)[one.property]
            assert liveness.shows_lasso(other.trace, question, liveness.fair_on(bound, changes))


def test_a_step_within_an_orbit_is_a_step() -> None:
    """The ring that is passed on for ever is no run that stays: fairness to the others is not kept by it."""
    bound = program(Carousel, horses=1)
    asked = [liveness.declared(bound)["again"]]
    mark = {"moves": "none", "news": "none", "pass_on": "weak"}
    turning = liveness.judge(bound, asked, fairness=mark, symmetry=True).verdicts[0]
    assert turning.outcome is Outcome.VIOLATED
    assert turning.trace is not None
    assert turning.trace.loop is not None
    cycle = turning.trace.steps[turning.trace.loop :]
    assert {step.action for step in cycle} == {"pass_on"}
    assert turning.trace.states[turning.trace.loop] == turning.trace.states[-1]


def orbit(bound: Program, state: State) -> set[State]:
    """All states that differ from this one by the names of members."""
    found, todo = {state}, [state]
    while todo:
        one = todo.pop()
        new = {exchanged_state(bound, one, exchange) for exchange in exchanges(bound)} - found
        found |= new
        todo += new
    return found


@pytest.mark.deep
@pytest.mark.parametrize("engine", [Engine.GENERATED, Engine.REFERENCE])
def test_one_state_stands_for_its_orbit(engine: Engine) -> None:
    bound = program(Carousel)
    transitions = OrbitTransitions(transitions_by(bound, engine))
    todo = list(bound.reference.initial())
    seen = set(todo)
    for state in todo:
        for after in bound.reference.successors(state):
            if after.state not in seen and len(seen) < 400:
                seen.add(after.state)
                todo.append(after.state)
    orbits = {frozenset(orbit(bound, state)) for state in seen}
    for states in orbits:
        assert len({transitions.pack(state) for state in states}) == 1
    assert len({transitions.pack(state) for state in seen}) == len(orbits) < len(seen)


def test_check_takes_symmetry_for_everything_at_once() -> None:
    bound = program(BcastByz, processes=3, tolerated=0)
    report = check(bound, engine="native", storage=StorageOptions(symmetry=True))
    plain = check(bound)
    assert [(item.property, item.outcome) for item in report.verdicts] == [
        (item.property, item.outcome) for item in plain.verdicts
    ]
    assert report["RelayLtl"].evidence.bound.endswith("up to the names of members")
    assert report["RelayLtl"].provenance.engine == "explicit, lassos, generated Python, symmetry"
    alone = check(
        bound, properties=["RelayLtl"], bounds=Bounds(states=2), storage=StorageOptions(symmetry=True)
    )
    assert alone["RelayLtl"].outcome is Outcome.UNKNOWN


class PerRider(Carousel):
    """A promise to each rider."""

    moves = fair("pass_on", per="r")


class OfEach(Carousel):
    """A property of each rider."""

    def is_marked(self, r: Rider) -> bool:
        """R is marked."""
        return r in self.marked

    everybody = eventually("is_marked")


class Counted(Carousel):
    """Only steps are asked about."""

    @step_invariant
    def one_at_a_time(self, before: Carousel) -> bool:
        """Marks are added one at a time."""
        return len(self.marked) <= len(before.marked) + 1


def test_what_tells_members_apart_is_refused_with_its_reason() -> None:
    options: Any = StorageOptions(symmetry=True)
    with pytest.raises(SpecError, match=r"fairness per r \(moves\): it tells members apart") as refused:
        check(program(PerRider), engine="native", storage=options)
    assert refused.value.instead
    with pytest.raises(SpecError, match="symmetry cannot decide everybody: it is asked of each r by itself"):
        check(program(OfEach), properties=["everybody"], storage=options)
    asked = ["settled", "both"]
    assert check(program(OfEach), properties=asked, storage=options).outcome is not Outcome.UNKNOWN
    report = check(program(Counted, horses=1), properties=["one_at_a_time"], engine="native", storage=options)
    assert report.outcome is Outcome.HOLDS
    with pytest.raises(SpecError, match="has no symmetric index set"):
        check(program(Lock), properties=["all_get_it"], storage=options)
