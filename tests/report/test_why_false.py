"""Reasons for a false predicate: conjuncts, values of generators, helpers, and the compared values."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

import pytest
from tests.lang.random_specs import program_of, random_states

from antiphon.conformance.report.why_false import why_false, why_shown
from antiphon.model.explore import check
from antiphon.spec.lang import (
    Between,
    Index,
    Map,
    Spec,
    SpecError,
    action,
    everywhere,
    invariant,
    program,
    witness,
)


class Cell(Index, size=2, ordered=True):
    """One of two."""


class Parts(Spec):
    """Predicates of every shape, all false at first."""

    level: Map[Cell, Annotated[int, Between(0, 3)]] = everywhere(0)
    open: Map[Cell, bool] = everywhere(False)

    @action
    def rise(self, c: Cell) -> None:
        """One more."""
        if self.level[c] < 3:
            self.level[c] += 1

    def is_high(self, c: Cell) -> bool:
        """At least two."""
        return self.level[c] >= 2

    def is_odd(self, c: Cell) -> bool:
        """Helper with two statements."""
        left = self.level[c] % 2
        return left == 1

    @invariant
    def conjunct(self) -> bool:
        """Predicate whose second conjunct is false."""
        return self.level[Cell(0)] == 0 and self.level[Cell(1)] > 0 and self.open[Cell(0)]

    @invariant
    def disjuncts(self) -> bool:
        """Predicate whose disjuncts are both false."""
        return self.open[Cell(0)] or self.open[Cell(1)]

    @invariant
    def for_some(self) -> bool:
        """A helper for the first value."""
        return all(self.is_high(c) for c in self.each(Cell) if c == Cell(1))

    @invariant
    def none_of(self) -> bool:
        """The pair that is."""
        return not any(
            self.level[a] == self.level[b] for a in self.each(Cell) for b in self.each(Cell) if a != b
        )

    @invariant
    def opaque(self) -> bool:
        """A helper of several statements."""
        return self.is_odd(Cell(0)) if self.level[Cell(0)] == 0 else self.open[Cell(0)]

    @witness
    def at_last(self) -> bool:
        """Predicate over all cells."""
        return any(self.open[c] for c in self.each(Cell))


EXPECTED = {
    "conjunct": ["self.level[Cell(1)] > 0 is false: self.level[Cell(1)] is 0"],
    "disjuncts": ["self.open[Cell(0)] is false", "self.open[Cell(1)] is false"],
    "for_some": ["self.level[c] >= 2 is false for c=c1: self.level[c] is 0"],
    "none_of": [
        "self.level[a] == self.level[b] is true for a=c0, b=c1: self.level[a] is 0, self.level[b] is 0"
    ],
    "opaque": ["self.is_odd(Cell(0)) is false"],
    "at_last": ["any(self.open[c] for c in self.each(Cell)) is false"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_part_that_decides_is_told_with_its_values_and_place(name: str) -> None:
    bound = program(Parts)
    failures = why_false(bound, bound.reference.initial()[0], name)
    assert [str(failure).rpartition(" (")[0] for failure in failures] == EXPECTED[name]
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    for failure in failures:
        assert failure.at.file == __file__
        assert lines[failure.at.line - 1][failure.at.column - 1 :].startswith(failure.text)


def test_a_true_predicate_has_no_such_part_and_a_trace_tells_its_own() -> None:
    bound = program(Parts)
    verdict = check(bound, properties=["conjunct"])["conjunct"]
    assert verdict.trace is not None
    assert len(why_shown(verdict.trace)) == 1
    (start,) = bound.reference.initial()
    risen = next(bound.reference.successors(start)).state
    assert why_false(bound, risen, "none_of") == ()
    with pytest.raises(SpecError, match="no predicate 'nothing'"):
        why_false(bound, start, "nothing")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(15))
def test_predicates_of_random_specifications_are_taken_apart_as_cpython_runs_them(seed: int) -> None:
    bound = program_of(seed)
    names = [item.name for item in bound.module.predicates]
    for state in random_states(bound, random.Random(seed), 6):
        for name in names:
            try:
                holds = bound.reference.holds(state, name)
            except SpecError:
                continue
            assert bool(why_false(bound, state, name)) is not holds
