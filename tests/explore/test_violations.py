"""A search tells of each violated property when it finds it, once, and goes on."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

import antiphon
from antiphon.model.bounds import Violation
from antiphon.spec.lang import (
    Between,
    Spec,
    action,
    always_eventually,
    emit,
    expect,
    invariant,
    obligation,
    on,
    record,
    require,
    witness,
)

Number = Annotated[int, Between(0, 50)]


@record
class Passed:
    """A number was passed."""

    number: Number


class Counting(Spec):
    """To fifty, in ones and twos."""

    number: Number = 0

    @action(fairness="weak")
    def one(self) -> None:
        """Count on by one, and report it."""
        require(self.number < 50)
        self.number += 1
        emit(Passed(self.number))

    @on(Passed)
    def judge(self, event: Passed) -> None:
        """Five is not to be passed."""
        expect(event.number != 5, "NeverFive")

    @invariant
    def BelowThree(self) -> bool:
        """False from three on."""
        return self.number < 3

    @invariant
    def BelowForty(self) -> bool:
        """False from forty on."""
        return self.number < 40

    @witness
    def AtSeven(self) -> bool:
        """Number seven: no violation."""
        return self.number == 7

    @obligation
    def EndsAtNine(self) -> bool:
        """Obligation that fails: the count ends at fifty."""
        return self.number == 9

    def is_small(self) -> bool:
        """In the beginning only."""
        return self.number < 2

    comes_back = always_eventually("is_small")


SAFETY = [("BelowThree", 3), ("NeverFive", 5), ("BelowForty", 40)]


@pytest.mark.parametrize("engine", ["reference", "generated", "auto", "native"])
def test_what_is_found_is_told_in_order_once_and_while_the_search_goes_on(engine: Any) -> None:
    told: list[Violation] = []
    report = antiphon.check(Counting, engine=engine, violated=told.append)
    assert [(item.property, item.depth) for item in told] == [*SAFETY, ("EndsAtNine", 10), ("comes_back", 50)]
    assert [item.states for item in told[:3]] == [4, 6, 41]
    assert [report[name].outcome.value for name, _ in SAFETY] == ["violated"] * 3
    assert str(told[0]) == "BelowThree is violated after 3 steps, among 4 states so far"


def test_what_a_small_search_found_is_not_told_again_by_the_large_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antiphon.model.explore.checking.SMALL", 10)
    told: list[Violation] = []
    report = antiphon.check(Counting, properties=["BelowThree", "BelowForty"], violated=told.append)
    assert "native" in report["BelowThree"].provenance.engine
    assert [(item.property, item.depth) for item in told] == [("BelowThree", 3), ("BelowForty", 40)]


def test_z3_tells_of_what_it_finds_before_it_goes_deeper() -> None:
    told: list[Any] = []
    names = ["BelowThree", "NeverFive", "BelowForty", "AtSeven"]
    antiphon.check(
        Counting, engine="z3", max_depth=6, properties=names, violated=told.append, progress=told.append
    )
    kinds = [
        f"{item.property} after {item.depth}" if isinstance(item, Violation) else item.depth for item in told
    ]
    assert kinds[:7] == [0, 1, 2, "BelowThree after 3", 3, "NeverFive after 5", 4]


def test_walks_tell_of_each_property_when_one_first_shows_it() -> None:
    told: list[Violation] = []
    antiphon.simulate(Counting, walks=3, steps=45, violated=told.append)
    assert [(item.property, item.depth) for item in told] == SAFETY
