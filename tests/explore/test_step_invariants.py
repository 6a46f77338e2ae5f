"""A step invariant is broken by the nearest step that makes it false, in every engine, and by no step that
changes nothing of what it reads.
"""

from __future__ import annotations

from typing import Annotated, Self

import pytest

from antiphon.model.engines.choice import StorageOptions
from antiphon.model.explore import check
from antiphon.model.export import tla
from antiphon.model.symbolic import check_bounded, prove
from antiphon.model.verdict import EvidenceKind, Outcome, PropertyKind
from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Spec,
    SpecError,
    action,
    emit,
    environment,
    everywhere,
    expect,
    on,
    present,
    program,
    record,
    require,
    step_invariant,
)
from antiphon.spec.lang.dump import dump

ENGINES = ("reference", "generated", "native")


class Seat(Index, size="seats", symmetric=True):
    """A seat."""


Hour = Annotated[int, Between(0, "hours - 1")]


class Clock(Spec):
    """A clock, a lamp that may be switched at any time, and seats that are taken."""

    hours: Const[int] = 4
    seats: Const[int] = 2
    jumps: Const[bool] = False
    moves: Const[bool] = False

    hour: Hour = 0
    lamp: bool = False
    taken: Map[Seat, bool] = everywhere(False)

    @action
    def tick(self) -> None:
        """An hour is over; with `jumps` the hour after noon is left out."""
        if self.jumps and self.hour == self.hours // 2:
            self.hour = (self.hour + 2) % self.hours
            return
        self.hour = (self.hour + 1) % self.hours

    @environment
    def switch(self) -> None:
        """The lamp is switched, at any hour."""
        self.lamp = not self.lamp

    @action
    def sit(self, s: Seat) -> None:
        """A seat is taken; with `moves` everybody else gets up."""
        require(not self.taken[s])
        if self.moves:
            self.taken = everywhere(False)
        self.taken[s] = True

    @action
    def wait(self) -> None:
        """A step that changes nothing."""

    def sitting(self) -> int:
        """Number of taken seats."""
        return sum(1 for s in self.each(Seat) if self.taken[s])

    def is_taken(self, s: Seat) -> bool:
        """Return True if a seat is taken."""
        return self.taken[s]

    @step_invariant
    def counts_up(self, before: Self) -> bool:
        """Whenever the hour changes, it is the next one."""
        return self.hour == (before.hour + 1) % self.hours

    @step_invariant
    def keeps_seats(self, before: Self) -> bool:
        """Guests stay seated, and one sits down at a time."""
        return self.sitting() == before.sitting() + 1 and all(
            self.taken[s] or not before.is_taken(s) for s in self.each(Seat)
        )

    @step_invariant
    def one_thing(self, before: Self) -> bool:
        """The lamp is not switched while the hour changes."""
        return self.lamp == before.lamp or self.hour == before.hour


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_invariant_is_broken_by_the_nearest_step(engine: str) -> None:
    good = check(program(Clock), engine=engine)
    assert [verdict.kind for verdict in good.verdicts] == [PropertyKind.STEP] * 3
    assert {verdict.outcome for verdict in good.verdicts} == {Outcome.HOLDS}
    wrong = check(program(Clock, jumps=True, moves=True), engine=engine)
    assert [verdict.outcome.value for verdict in wrong.verdicts] == ["violated", "violated", "holds"]
    late, moved = wrong["counts_up"].trace, wrong["keeps_seats"].trace
    assert late is not None
    assert moved is not None
    assert [step.action for step in late.steps] == ["tick", "tick", "tick"]
    assert [step.action for step in moved.steps] == ["sit", "sit"]
    assert wrong["counts_up"].reason.startswith("counts_up: self.counts_up(before) is false (")
    assert (good.exploration.states, wrong.exploration.states) == (32, 18)


def test_symmetry_the_cone_and_a_single_property_change_no_verdict() -> None:
    bound = program(Clock, jumps=True, moves=True, seats=3)
    for storage in (
        StorageOptions(symmetry=True),
        StorageOptions(cone=True),
        StorageOptions(fingerprints=True),
    ):
        report = check(bound, engine="native", storage=storage)
        assert [verdict.outcome.value for verdict in report.verdicts] == ["violated", "violated", "holds"]
        assert [len(verdict.trace or ()) for verdict in report.verdicts] == [3, 2, 0]
    alone = check(bound, properties=["one_thing"], engine="native", storage=StorageOptions(cone=True))
    assert alone.exploration.states < check(bound).exploration.states
    assert alone["one_thing"].outcome is Outcome.HOLDS


def test_z3_finds_the_step_and_proves_that_there_is_none() -> None:
    found = check_bounded(program(Clock, jumps=True, moves=True), depth=4)
    assert [verdict.outcome.value for verdict in found.verdicts[:3]] == ["violated", "violated", "holds"]
    assert [len(verdict.trace or ()) for verdict in found.verdicts[:2]] == [3, 2]
    proved = prove(program(Clock))
    assert {(verdict.outcome, verdict.evidence.kind) for verdict in proved.verdicts} == {
        (Outcome.HOLDS, EvidenceKind.PROVED)
    }


def test_it_is_exported_as_a_property_of_steps_that_tlc_has_judged() -> None:
    """TLC finds 32 states, and the verdicts above."""
    module = tla(program(Clock))
    assert "\ncounts_up == [][(hour' = ((hour + 1) % hours))]_<<hour>>\n" in module.text
    assert "is_taken(s, taken)" in module.text
    assert "_<<hour, lamp>>\n" in module.text
    assert "\nPROPERTY counts_up\nPROPERTY keeps_seats\nPROPERTY one_thing\n" in module.configuration


class Hatch(Spec):
    """Specification whose step invariant reads a value that may be absent."""

    inside: Seat | None = None
    seats: Const[int] = 1
    opened: bool = False

    @action
    def go(self, s: Seat) -> None:
        """Go in or out."""
        self.inside = None if self.inside == s else s

    @action
    def open(self) -> None:
        """Open, once."""
        require(not self.opened)
        self.opened = True

    @step_invariant
    def same(self, before: Self) -> bool:
        """The guest who was inside stays."""
        return before.inside is None or self.inside == before.inside

    @step_invariant
    def was_there(self, before: Self) -> bool:
        """The guest inside was there before, and existed."""
        return present(before.inside) == self.inside


@pytest.mark.parametrize("engine", ENGINES)
def test_what_cannot_be_evaluated_is_an_error_of_the_specification(engine: str) -> None:
    report = check(program(Hatch), engine=engine)
    assert report.verdicts[0].kind is PropertyKind.SPECIFICATION
    assert "present(None)" in report.verdicts[0].reason


# What is refused --------------------------------------------------------------------------------------------


@record
class Rang:
    """Event of a bell."""


class NoParameter(Clock):
    @step_invariant
    def again(self) -> bool:
        """A step invariant that lacks the step."""
        return self.hour > 0


class Nothing(Clock):
    @step_invariant
    def again(self, before: Self) -> bool:
        """A step invariant that reads no variable."""
        return self.hours > 0


class Called(Clock):
    def both(self) -> bool:
        """A predicate that calls a step invariant, which is no helper."""
        return self.counts_up(self)


class WholeState(Clock):
    @step_invariant
    def again(self, before: Self) -> bool:
        """States are not compared."""
        return self == before


class Twice(Clock):
    @on(Rang)
    def hear(self, event: Rang) -> None:
        """A service says the same word."""
        expect(self.lamp, "counts_up")

    @action
    def ring(self) -> None:
        """Ring the bell."""
        emit(Rang())


class Unknown(Clock):
    @step_invariant
    def again(self, before: Self) -> bool:
        """A name that is not there."""
        return self.hour == before.our  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (NoParameter, "NoParameter.again is true of a step, and takes what was before it"),
        (Nothing, "again reads no variable, so no step is asked"),
        (Called, "counts_up is marked, and not called"),
        (WholeState, "self is the specification, not a value"),
        (Twice, "counts_up is a step invariant and a property that a service names"),
        (Unknown, "Unknown has no 'our'; did you mean 'hour'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_its_line(spec: type[Spec], words: str) -> None:
    with pytest.raises(SpecError, match=words) as caught:
        program(spec).module  # noqa: B018 - reading is what is tested
    assert caught.value.at is not None
    assert caught.value.instead


def test_the_form_says_what_was_before() -> None:
    text = dump(program(Clock).module)
    assert "\nstep invariant counts_up()\n" in text
    assert "(before (read hour))" in text
    assert "(before (call is_taken [s]))" in text
    assert "\nproperties counts_up keeps_seats one_thing\n" in text
