"""Small specifications on which an engine easily goes wrong: an error on the way, or beside a violation, no
initial state, several, an action that never fires.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, Spec, action, expect, initial, invariant, require, witness


class CountsTooFar(Spec):
    """Leaves the domain of its counter on the step after the last: a bug of the specification, and a witness
    before it.
    """

    top: Const[int] = 3
    count: Annotated[int, Between(0, "top")] = 0
    other: bool = False

    @action
    def step(self) -> None:
        """Count, whatever the domain says."""
        self.count += 1

    @action
    def turn(self) -> None:
        """Do something harmless."""
        self.other = not self.other

    @invariant
    def small(self) -> bool:
        """True wherever the specification can be executed."""
        return self.count <= self.top

    @witness
    def two(self) -> bool:
        """Reached before the error."""
        return self.count == 2


class FailsBeside(CountsTooFar):
    """In the state in which one step leaves a domain, the step before it and the one behind it break
    something, and another leads to a state that is wrong.
    """

    wrong: bool = False

    @action
    def ask_first(self) -> None:
        """Stands first where CPython enumerates what a state can do."""
        require(self.count == self.top)
        expect(self.other, "AsksWhenTurned")

    @action
    def step(self) -> None:
        """As before, between the two."""
        expect(self.count < self.top, "StaysWithin")
        super().step()

    @action
    def turn(self) -> None:
        """Not at the top."""
        expect(self.count < self.top, "TurnsBelow")
        super().turn()

    @action
    def go_wrong(self) -> None:
        """At the top alone."""
        require(self.count == self.top)
        self.wrong = True

    @invariant
    def NeverWrong(self) -> bool:
        """False one step behind the state with the error."""
        return not self.wrong


class NeverBegins(Spec):
    """Has no initial state, so that whatever is said of its states says nothing."""

    size: Const[int] = 2
    value: Annotated[int, Between(0, "size")] = 0

    @initial
    def begin(self) -> None:
        """Ask for what is not so."""
        require(self.value > 0)

    @action
    def go(self) -> None:
        """Leave a state that nobody was in."""
        self.value = 1

    @invariant
    def fine(self) -> bool:
        """True in every state of the domain."""
        return self.value >= 0

    @witness
    def some(self) -> bool:
        """True in every state of the domain, too."""
        return self.value >= 0


class BeginsOften(Spec):
    """Has several initial states, an action that never fires, and a witness that is never reached."""

    size: Const[int] = 3
    value: Annotated[int, Between(0, "size")] = 0

    @initial
    def begin(self, start: Annotated[int, Between(0, "size")]) -> None:
        """Begin anywhere but at one."""
        require(start != 1)
        self.value = start

    @action
    def halve(self) -> None:
        """Come down by half."""
        require(self.value > 1)
        self.value = self.value // 2

    @action
    def grow(self) -> None:
        """Want what the domain does not have."""
        require(self.value > self.size)

    @witness
    def beyond(self) -> bool:
        """Never reached."""
        return self.value > self.size
