"""Domains too large to enumerate are refused by every engine at once, with their size and place."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

import antiphon
from antiphon.model.ground import binders
from antiphon.model.ground.sizes import bits_of
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Map,
    Seq,
    Set,
    Spec,
    SpecError,
    action,
    everywhere,
    invariant,
    program,
    record,
    require,
)

Huge = Annotated[int, Between(0, 10**9)]
Some = Annotated[int, Between(1, "most")]


@record
class Pair:
    """Two numbers."""

    left: Some
    right: Some


class Base(Spec):
    """A number that grows."""

    most: Const[int] = 3
    number: Annotated[int, Between(0, 3)] = 0
    pairs: Set[Pair] = Set()

    @action
    def grow(self) -> None:
        """Count up by one."""
        require(self.number < 3)
        self.number += 1

    @invariant
    def Small(self) -> bool:
        """Number of at most three: true in every state."""
        return self.number <= 3


class Asking(Base):
    @action
    def jump(self, n: Huge) -> None:
        """To a number of a thousand million."""
        require(n == self.number + 1 and n < 3)
        self.number = n


class Ranging(Base):
    def is_any(self, k: Some) -> bool:
        """Look N up in a huge domain, as another helper asks."""
        return any(n == k for n in self.each(Huge))

    @invariant
    def Asked(self) -> bool:
        """True if a helper is."""
        return self.is_any(2)


class Nested(Base):
    @action
    def pair(self) -> None:
        """Make every pair."""
        self.pairs = {Pair(a, b) for a in self.each(Some) for b in self.each(Some) if self.is_third(a, b)}

    def is_third(self, a: Some, b: Some) -> bool:
        """There is one between."""
        return any(a < c < b for c in self.each(Some))


class Within(Base):
    @action
    def remove(self, p: Annotated[Pair, In("pairs")], q: Annotated[Pair, In("pairs")]) -> None:
        """Remove two of the pairs."""
        require(p != q)
        self.pairs -= {p, q}


ENGINES: list[dict[str, Any]] = [
    {"engine": "auto"}, {"engine": "reference"}, {"engine": "native"}, {"engine": "z3", "max_depth": 3},
]  # fmt: skip


@pytest.mark.parametrize("how", ENGINES, ids=lambda how: str(how["engine"]))
def test_a_parameter_of_a_thousand_million_values_is_refused(how: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as refused:
        antiphon.check(Asking, **how)
    assert refused.value.reason == (
        "jump has 1,000,000,001 different arguments, more than the 1,000,000 that are gone through: "
        "n has 1,000,000,001 values"
    )
    assert refused.value.at is not None
    assert refused.value.at.file.endswith("test_sizes.py")
    assert "In(" in (refused.value.instead or "")


@pytest.mark.parametrize("how", ENGINES, ids=lambda how: str(how["engine"]))
def test_a_range_of_a_thousand_million_values_is_refused_where_it_stands(how: dict[str, Any]) -> None:
    with pytest.raises(
        SpecError, match=r"Asked has 1,000,000,001 rounds.*n has 1,000,000,001 values"
    ) as refused:
        antiphon.check(Ranging, **how)
    line = Ranging.is_any.__code__.co_firstlineno + 2
    assert refused.value.at is not None
    assert refused.value.at.line == line


def test_ranges_within_ranges_and_within_helpers_are_multiplied() -> None:
    assert antiphon.check(Nested).outcome == "holds"
    with pytest.raises(
        SpecError, match=r"pair has 8,000,000 rounds.*a has 200 values, b has 200 values, c has 200"
    ):
        antiphon.check(antiphon.program(Nested, most=200))


def test_what_ranges_over_the_elements_of_a_set_is_as_many_as_there_are() -> None:
    assert antiphon.check(antiphon.program(Within, most=100)).outcome == "holds"


class Joined(Base):
    """A set made of pairs of the elements of a set, each of which may hold a hundred."""

    @action
    def join(self) -> None:
        """Join pairs, as relations are composed."""
        self.pairs = {Pair(p.left, q.right) for p in self.pairs for q in self.pairs if p.right == q.left}


def test_ranges_over_sets_are_refused_where_they_are_unrolled(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython goes through what is there; whoever unrolls goes through what may be there."""
    joined = antiphon.program(Joined, most=10)
    assert antiphon.check(joined, engine="reference").outcome == "holds"
    monkeypatch.setattr(binders, "MOST", 1_000)
    hows: list[dict[str, Any]] = [
        {"engine": "generated"},
        {"engine": "native"},
        {"engine": "z3", "max_depth": 2},
    ]
    for how in hows:
        with pytest.raises(
            SpecError, match=r"more than 1,000 rounds are unrolled.* of q, which has 100 possible"
        ):
            antiphon.check(joined, **how)


def test_sizes_are_known_without_being_written() -> None:
    class Large(Spec):
        """Types with more values than there is paper."""

        sets: Set[Pair] = Set()
        most: Const[int] = 10**6
        maps: Map[bool, Set[Pair]] = everywhere(Set())
        words: Annotated[Seq[Some], AtMost(3)] = ()
        perhaps: Pair | None = None

    domains = program(Large, most=4).domains
    assert bits_of(domains["sets"]) == 16
    assert bits_of(domains["maps"]) == 32
    assert 2 ** bits_of(domains["perhaps"]) == pytest.approx(17)
    assert 2 ** bits_of(domains["words"]) >= domains["words"].cardinality
    assert bits_of(program(Large).domains["maps"]) > 10**11
