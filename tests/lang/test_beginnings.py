"""Guards about the first parameters of `@initial` leave all later ones out, and leave out nothing else."""

from __future__ import annotations

import itertools
from typing import Annotated

import pytest

from antiphon.spec.lang import (
    Between,
    Map,
    Set,
    Spec,
    SpecError,
    everywhere,
    initial,
    program,
    record,
    reference,
    require,
)

Digit = Annotated[int, Between(0, 4)]
Many = Annotated[int, Between(0, 299)]


@record
class Pair:
    """Two digits."""

    left: Digit
    right: Digit


class Four(Spec):
    """Eight thousand million ways to begin, of which 45 are possible."""

    a: Many = 0
    b: Many = 0
    c: Many = 0
    d: Many = 0

    @initial
    def begin(self, a: Many, b: Many, c: Many, d: Many) -> None:
        """Begin with digits whose sums are bounded."""
        require(a < 5)
        require(b < 3 and a + b == a + b)
        require(c == a + b)
        require(d < 3)
        self.a = a
        self.b = b
        self.c = c
        self.d = d


class Loose(Four):
    @initial
    def begin(self, a: Many, b: Many, c: Many, d: Many) -> None:
        require(a + b + c + d == 3)
        self.a = a
        self.b = b
        self.c = c
        self.d = d


def test_45_ways_to_begin_of_8_thousand_million_are_found() -> None:
    found = program(Four).reference.initial()
    assert len(found) == 45
    assert found == [(a, b, a + b, d) for a in range(5) for b in range(3) for d in range(3)]


def test_too_many_ways_to_begin_are_refused_with_their_sizes_and_what_to_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reference, "MOST_STARTS", 1_000)
    with pytest.raises(SpecError) as refused:
        program(Loose).reference.initial()
    assert refused.value.reason.startswith(
        "there are more than 1,000 ways to begin (a has 300 values, b has 300"
    )
    assert refused.value.at is not None
    assert "the parameters with the tightest guards first" in (refused.value.instead or "")


class Looks(Spec):
    """Specification whose guards look at parameters that have no value yet: such a guard decides nothing."""

    first: Digit = 0
    seen: Set[Digit] = Set()
    marks: Map[Digit, bool] = everywhere(False)
    pair: Pair = Pair(0, 0)

    def is_even(self, d: Digit) -> bool:
        """A helper."""
        return d % 2 == 0

    @initial
    def begin(self, a: Digit | None, b: Digit, c: Digit, p: Pair) -> None:
        """Identity, membership, helpers, records, sets, comparison of two of them."""
        require(a is None or a > 2)
        require(b not in (c, 3))
        require(self.is_even(b) or not self.is_even(c))
        require(isinstance(p, Pair) and p.left < 2 and p != Pair(1, 1))
        require(c in {2, 3} and min(b, c) == c)
        require(any(p.right == d for d in self.each(Digit) if d < 2))
        self.first = b
        self.seen = Set({b, c})
        self.pair = p


class Alias(Spec):
    """A local may be any parameter, and `is` cannot be watched: everything is tried."""

    first: Digit = 0

    @initial
    def begin(self, a: Digit, b: Digit | None) -> None:
        """B, by another name."""
        other = b
        require(other is None)
        require(a < 2)
        self.first = a


class Absent(Spec):
    """Identity says nothing of what has no value yet."""

    first: Digit = 0

    @initial
    def begin(self, a: Digit, b: Digit | None) -> None:
        """Begin without B."""
        require(b is None)
        self.first = a


class Turned(Spec):
    """The tight guard is about the last."""

    first: Digit = 0
    last: Digit = 0

    @initial
    def begin(self, a: Digit, b: Digit) -> None:
        """Begin with two digits; no value of the last is left out too early."""
        require(b == 4 and a > b - 3)
        self.first = a
        self.last = b


class Empty(Spec):
    """Specification without a way to begin, refused before any parameter is tried."""

    allowed: bool = False
    first: Digit = 0

    @initial
    def begin(self, a: Digit, b: Digit) -> None:
        """Begin only if allowed, which is never the case."""
        require(self.allowed)
        self.first = a + b


@pytest.mark.parametrize("spec", [Looks, Alias, Absent, Turned, Empty])
def test_guards_leave_out_no_way_to_begin(spec: type[Spec], monkeypatch: pytest.MonkeyPatch) -> None:
    found = program(spec).reference.initial()
    monkeypatch.setattr(reference, "possible", lambda _, ranges, *__: itertools.product(*ranges))
    assert found == program(spec).reference.initial()
    assert bool(found) is (spec is not Empty)


def test_where_all_are_left_out_nothing_is_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "MOST_STARTS", 2)
    assert program(Empty).reference.initial() == []
