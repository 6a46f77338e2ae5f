"""Small specifications on which engines easily go wrong: an error in a step, an error beside a violation, no
initial state, several initial states, an action that is never enabled.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, Spec, action, expect, initial, invariant, require, witness


class CountsTooFar(Spec):
    """Specification with a bug: its counter leaves its domain on the step after the last. A witness is
    reached before that.
    """

    top: Const[int] = 3
    count: Annotated[int, Between(0, "top")] = 0
    other: bool = False

    @action
    def step(self) -> None:
        """Count one more, even if the value leaves the domain of the counter."""
        self.count += 1

    @action
    def turn(self) -> None:
        """Take a step that is never an error."""
        self.other = not self.other

    @invariant
    def small(self) -> bool:
        """Invariant that is true in every state in which the specification can be executed without an
        error.
        """
        return self.count <= self.top

    @witness
    def two(self) -> bool:
        """Witness: the counter is two, in a state before the error."""
        return self.count == 2


class FailsBeside(CountsTooFar):
    """Specification with an error and violations in the same state: where `step` leaves its domain, the steps
    listed before and after `step` break properties, and `go_wrong` leads to a wrong state.
    """

    wrong: bool = False

    @action
    def ask_first(self) -> None:
        """Step enabled in the state of the error; CPython tries it before the step with the error."""
        require(self.count == self.top)
        expect(self.other, "AsksWhenTurned")

    @action
    def step(self) -> None:
        """Step that leaves the domain of the counter when the counter is at its top."""
        expect(self.count < self.top, "StaysWithin")
        super().step()

    @action
    def turn(self) -> None:
        """Take a step that breaks a property where the counter is at its top."""
        expect(self.count < self.top, "TurnsBelow")
        super().turn()

    @action
    def go_wrong(self) -> None:
        """Step that is enabled only when the counter is at its top."""
        require(self.count == self.top)
        self.wrong = True

    @invariant
    def NeverWrong(self) -> bool:
        """Invariant that is false one step after the state with the error."""
        return not self.wrong


class NeverBegins(Spec):
    """Specification without an initial state, so that every property holds vacuously."""

    size: Const[int] = 2
    value: Annotated[int, Between(0, "size")] = 0

    @initial
    def begin(self) -> None:
        """Require something that is false, so that no initial state exists."""
        require(self.value > 0)

    @action
    def go(self) -> None:
        """Step that is never taken, since there is no state."""
        self.value = 1

    @invariant
    def fine(self) -> bool:
        """Invariant that is true in every state of the domain."""
        return self.value >= 0

    @witness
    def some(self) -> bool:
        """Witness that would be true in every state of the domain."""
        return self.value >= 0


class BeginsOften(Spec):
    """Specification with several initial states, an action that is never enabled, and a witness that is never
    reached.
    """

    size: Const[int] = 3
    value: Annotated[int, Between(0, "size")] = 0

    @initial
    def begin(self, start: Annotated[int, Between(0, "size")]) -> None:
        """Begin at any value but one."""
        require(start != 1)
        self.value = start

    @action
    def halve(self) -> None:
        """Halve the value."""
        require(self.value > 1)
        self.value = self.value // 2

    @action
    def grow(self) -> None:
        """Require a value that the domain does not have, so that this action is never enabled."""
        require(self.value > self.size)

    @witness
    def beyond(self) -> bool:
        """Witness that is never reached."""
        return self.value > self.size
