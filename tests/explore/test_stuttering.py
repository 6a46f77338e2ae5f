"""Programs that differ in nothing but steps that change nothing are told from others."""

from __future__ import annotations

from typing import Annotated

from antiphon.model.bounds import Bounds
from antiphon.model.explore.stuttering import differs_by_stuttering
from antiphon.spec.lang import Between, Program, Spec, action, program, require


class Climbing(Spec):
    """Upwards, step by step."""

    height: Annotated[int, Between(0, 3)] = 0

    @action
    def climb(self) -> None:
        """One step."""
        require(self.height < 3)
        self.height += 1


class Resting(Climbing):
    """The same, with a rest."""

    @action
    def rest(self) -> None:
        """Rest, without a change."""
        require(self.height == 2)
        self.height = 2


class Jumping(Climbing):
    """The same states, and another step."""

    @action
    def jump(self) -> None:
        """Two at once."""
        require(self.height == 0)
        self.height = 2


class Halfway(Climbing):
    """A climb whose states lack some of the other."""

    @action
    def climb(self) -> None:
        """Climb, but not to the top."""
        require(self.height < 2)
        self.height += 1


def test_only_steps_that_change_nothing_are_no_difference() -> None:
    several: dict[type[Spec], Program] = {
        spec: program(spec) for spec in (Climbing, Resting, Jumping, Halfway)
    }
    same = {
        (one.__name__, other.__name__)
        for one in several
        for other in several
        if one is not other and differs_by_stuttering(several[one], several[other], Bounds(states=10))
    }
    assert same == {("Climbing", "Resting"), ("Resting", "Climbing")}


def test_what_is_not_seen_to_the_end_is_not_said_to_be_the_same() -> None:
    assert not differs_by_stuttering(program(Climbing), program(Climbing), Bounds(states=2))
