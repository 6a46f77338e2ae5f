"""All engines say the same of a specification whose steps err: what was shown before the error counts, and
the rest is unknown.
"""

from __future__ import annotations

from typing import Annotated

import pytest

import antiphon
from antiphon.model.engines.choice import Engine
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import (
    Between,
    Spec,
    action,
    environment,
    invariant,
    obligation,
    program,
    require,
    step_invariant,
    witness,
)


class Lift(Spec):
    """Goes up, and one step too far."""

    at: Annotated[int, Between(0, 3)] = 0
    floor: Annotated[int, Between(0, 6)] = 0

    @action
    def up(self) -> None:
        """One more."""
        self.at += 1
        self.floor = self.at

    def is_out(self) -> bool:
        """True in no state."""
        return self.at > 3

    @invariant
    def Low(self) -> bool:
        """Broken in the last state that there is."""
        return self.at < 3

    @invariant
    def In(self) -> bool:
        """True in every state within the bounds."""
        return not self.is_out()

    @step_invariant
    def Falls(self, before: Lift) -> bool:
        """Step invariant that the first step breaks."""
        return self.floor <= before.floor

    @obligation
    def Out(self) -> bool:
        """Obligation to which only the failing step could lead."""
        return self.is_out()

    @witness
    def Top(self) -> bool:
        """Height three, which is reached."""
        return self.at == 3


class Late(Spec):
    """A fault errs early; what other runs show comes later."""

    at: Annotated[int, Between(0, 6)] = 0
    floor: Annotated[int, Between(0, 6)] = 0

    @action
    def up(self) -> None:
        """One more."""
        require(self.at < 6)
        self.at += 1

    @environment
    def sink(self) -> None:
        """Below what there is."""
        require(self.at == 2)
        self.floor -= 1

    @invariant
    def Low(self) -> bool:
        """Height below five: broken after five steps."""
        return self.at < 5

    @invariant
    def Lower(self) -> bool:
        """Broken after three: by a step from where the error is."""
        return self.at < 3

    @obligation
    def Five(self) -> bool:
        """False at the end."""
        return self.at == 5

    @witness
    def Top(self) -> bool:
        """Height six: reached after six steps."""
        return self.at == 6


@pytest.mark.parametrize("spec", [Lift, Late])
def test_all_engines_say_the_same_of_a_specification_that_errs(spec: type[Spec]) -> None:
    names = [item.name for item in program(spec).module.predicates]
    names += [item.name for item in program(spec).module.step_invariants] + ["deadlock"]
    said = {
        engine: {
            verdict.property: verdict.outcome
            for verdict in antiphon.check(spec, engine=engine, properties=names, **bound).verdicts
        }
        for engine, bound in {
            **{item.value: {} for item in Engine},
            "z3": {"max_depth": 8},
        }.items()
    }  # type: ignore[call-overload]
    assert all(found == said["auto"] for found in said.values())
    assert said["auto"]["specification"] is Outcome.UNKNOWN
    assert said["auto"]["deadlock"] is Outcome.UNKNOWN


def test_what_was_found_before_the_error_counts() -> None:
    report = antiphon.check(Late, engine="z3", max_depth=8)
    assert report["Lower"].outcome is Outcome.VIOLATED
    assert report["Low"].outcome is Outcome.UNKNOWN
    assert report["Low"].trace is None
    assert report["Top"].outcome is Outcome.UNKNOWN


def test_one_property_that_is_violated_is_asked_for_errors_before_it() -> None:
    report = antiphon.check(Late, engine="z3", max_depth=8, properties=["Low"])
    assert report["Low"].outcome is Outcome.UNKNOWN
    assert antiphon.check(Late, properties=["Low"])["Low"].outcome is Outcome.UNKNOWN


def test_an_obligation_whose_way_on_errs_beyond_the_bound_is_unknown() -> None:
    report = antiphon.check(Lift, engine="z3", max_depth=1, properties=["Out"])
    assert report["Out"].outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("engine", ["generated", "native", "reference"])
def test_walks_that_run_into_an_error_say_so_with_the_way_to_it(engine: str) -> None:
    report = antiphon.simulate(Lift, walks=5, steps=10, engine=engine, seed=1)
    error = report["specification"]
    assert error.outcome is Outcome.UNKNOWN
    assert "leaves its domain" in error.reason
    assert error.trace is not None
    assert len(error.trace) == 3
    assert report["In"].outcome is Outcome.UNKNOWN
