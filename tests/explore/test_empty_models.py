"""Models in which no step is possible: no property holds, and every engine gives the reason."""

from __future__ import annotations

from typing import Annotated

import pytest

import antiphon
from antiphon.spec.lang import (
    Between,
    Spec,
    action,
    always_eventually,
    invariant,
    obligation,
    require,
    witness,
)

NO_STEP = "the model is empty: no step is possible"


class Still(Spec):
    """A specification without actions."""

    count: Annotated[int, Between(0, 5)] = 0

    @invariant
    def small(self) -> bool:
        """At most three."""
        return self.count <= 3

    @invariant
    def positive(self) -> bool:
        """At least one."""
        return self.count >= 1

    @obligation
    def done(self) -> bool:
        """The count ends at zero."""
        return self.count == 0

    @witness
    def nothing(self) -> bool:
        """The count is zero in some state."""
        return self.count == 0


class Stuck(Still):
    """The only action waits for what never comes."""

    @action
    def up(self) -> None:
        """Count what was counted already."""
        require(self.count > 0)
        self.count += 1


class Lonely(Stuck):
    """The same with a liveness property."""

    again = always_eventually("nothing")


@pytest.mark.parametrize("spec", [Still, Stuck])
@pytest.mark.parametrize("engine", ["reference", "generated", "native", "z3"])
def test_what_no_step_could_break_does_not_hold(spec: type[Spec], engine: str) -> None:
    report = antiphon.check(spec, engine=engine, max_depth=3 if engine == "z3" else None)
    told = {verdict.property: (verdict.outcome, verdict.reason) for verdict in report.verdicts}
    assert told["small"] == ("unknown", NO_STEP)
    assert told["positive"][0] == "violated"
    assert told["nothing"][0] == "holds"
    assert told["done"] == ("unknown", NO_STEP)


def test_what_no_step_could_break_is_not_proved() -> None:
    report = antiphon.check(Stuck, prove=True, properties=["small"])
    assert (report.outcome, report["small"].reason) == ("unknown", NO_STEP)


def test_what_no_step_could_break_does_not_hold_for_ever() -> None:
    assert antiphon.check(Lonely, properties=["again"])["again"].reason == NO_STEP
