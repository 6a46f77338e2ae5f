"""A verdict about a part of the behaviour says so in its first line, and in what it rests on."""

from __future__ import annotations

from antiphon.conformance.report.words import constants
from antiphon.model.explore import check
from antiphon.spec.lang import Spec, action, constraint, invariant, program, require, restriction


class Door(Spec):
    """A door and a lamp above it."""

    is_open: bool = False
    is_lit: bool = False

    @action
    def light(self) -> None:
        """Light the lamp in the evening."""
        require(not self.is_lit)
        self.is_lit = True

    @action
    def open(self) -> None:
        """Open the closed door."""
        require(not self.is_open)
        self.is_open = True

    @invariant
    def Closed(self) -> bool:
        """True of those runs alone in which nobody opens it."""
        return not self.is_open


@restriction("nobody comes")
class Quiet(Door):
    """The door is left alone."""

    @constraint("open")
    def is_wanted(self) -> bool:
        """Helper that is always false."""
        return False


class Watched(Door, restrictions=(Quiet,)):
    """The door and what it may be restricted to."""


def test_a_restricted_verdict_says_so() -> None:
    quiet = program(Watched, quiet=True)
    assert constants(quiet) == "restricted: quiet; under the constraint is_wanted"
    (verdict,) = check(quiet, properties=["Closed"]).verdicts
    assert verdict.outcome == "holds"
    assert verdict.evidence.bound.endswith("all 2 states, restricted: quiet")


def test_an_unrestricted_one_does_not() -> None:
    whole = program(Watched)
    assert constants(whole) == ""
    (verdict,) = check(whole, properties=["Closed"]).verdicts
    assert verdict.outcome == "violated"
    assert "restricted" not in verdict.evidence.bound
