"""A state may have more bits than Python writes decimal digits for."""

from __future__ import annotations

from typing import Annotated

import pytest

import antiphon
from antiphon.spec.lang import Between, Set, Spec, action, invariant, record, require

Number = Annotated[int, Between(0, 119)]


@record
class Pair:
    """Two numbers: there are 14,400 pairs, and as many bits for a set of them."""

    a: Number
    b: Number


class Pairs(Spec):
    """Three pairs, one after the other, each with one of two numbers."""

    pairs: Set[Pair] = Set()
    count: Number = 0

    @action
    def put(self, a: Number) -> None:
        """Add the next pair."""
        require((a == 0 or a == 119) and self.count < 3)
        self.pairs |= {Pair(a, self.count)}
        self.count += 1

    @invariant
    def at_most_two(self) -> bool:
        """At most two pairs."""
        return len(self.pairs) <= 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["generated", "native", "reference"])
def test_a_set_of_records_with_many_values_is_explored(engine: str) -> None:
    report = antiphon.check(Pairs, engine=engine)
    assert report.exploration.states == 15
    assert report["at_most_two"].reason == "false after 3 steps"
