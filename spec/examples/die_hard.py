"""Two jugs of five and three gallons measure four: the solution is the counterexample to `NotSolved`.

Source: L. Lamport, the TLA+ module DieHard of the public TLA+ examples. With the jugs of the film there are
16 reachable states.

The jugs have no marks, so that the heroes fill a jug, empty it, or pour until one is empty or the other full.
As in the module, each of these is always possible, also when it changes nothing.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, Spec, action, invariant


class DieHard(Spec):
    """Puzzle of two jugs and a faucet; amounts are in gallons."""

    big_jug: Const[int] = 5
    small_jug: Const[int] = 3
    goal: Const[int] = 4

    big: Annotated[int, Between(0, "big_jug")] = 0
    small: Annotated[int, Between(0, "small_jug")] = 0

    @action
    def fill_small_jug(self) -> None:
        """Fill the small jug from the faucet."""
        self.small = self.small_jug

    @action
    def fill_big_jug(self) -> None:
        """Fill the big jug from the faucet."""
        self.big = self.big_jug

    @action
    def empty_small_jug(self) -> None:
        """Empty the small jug onto the ground."""
        self.small = 0

    @action
    def empty_big_jug(self) -> None:
        """Empty the big jug onto the ground."""
        self.big = 0

    @action
    def small_to_big(self) -> None:
        """Pour until the small jug is empty or the big one full."""
        poured = min(self.small, self.big_jug - self.big)
        self.big += poured
        self.small -= poured

    @action
    def big_to_small(self) -> None:
        """Pour until the big jug is empty or the small one full."""
        poured = min(self.big, self.small_jug - self.small)
        self.small += poured
        self.big -= poured

    @invariant
    def NotSolved(self) -> bool:
        """Property that the heroes have not measured four gallons; it is meant to be violated, since its
        counterexample is the solution.
        """
        return self.big != self.goal
