"""Philosophers share forks without starving: they keep dirty forks and hand them over clean (Chandy, Misra,
1984).

Source: J. Hemphill, the PlusCal algorithm DiningPhilosophers of the public TLA+ examples; with 5 philosophers
67 reachable states.

Philosopher p sits between fork p, on the left, and fork p + 1, on the right. Whether anybody ever eats
depends on who has which fork at first. As in the module, the first philosopher has two forks, the second
none, and everybody else the left one. With `alike` everybody has the left one. A turn of a philosopher's loop
that changes nothing is a step of the module, and no step of this specification, since it would hide a
deadlock.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Spec,
    action,
    always_eventually,
    everywhere,
    initial,
    invariant,
    require,
    witness,
)

Distance = Annotated[int, Between(-1, 1)]


class Philosopher(Index, size="philosophers", ordered=True):
    """Philosopher, by the place at the table; also the fork to the left of that place."""


class Place(Enum):
    """Place in a philosopher's program."""

    LOOP = "loop"
    EAT = "eat"
    THINK = "think"


class DiningPhilosophers(Spec):
    """Philosophers at a table: their hunger and the forks between them."""

    philosophers: Const[int] = 5
    alike: Const[bool] = False

    holder: Map[Philosopher, Philosopher] = everywhere(Philosopher(0))
    clean: Map[Philosopher, bool] = everywhere(False)
    hungry: Map[Philosopher, bool] = everywhere(True)
    place: Map[Philosopher, Place] = everywhere(Place.LOOP)

    def beside(self, p: Philosopher, distance: Distance) -> Philosopher:
        """Return the neighbour of p on the left (-1) or on the right (1). As forks have the numbers of
        philosophers, p's right neighbour also stands for the fork on p's right.
        """
        return Philosopher((p.index + distance) % self.philosophers)

    def must_hand_over(self, p: Philosopher, fork: Philosopher) -> bool:
        """Return True if p has the fork, and the fork is dirty."""
        return self.holder[fork] == p and not self.clean[fork]

    def can_eat(self, p: Philosopher) -> bool:
        """Return True if p has both forks, and both are clean."""
        right = self.beside(p, 1)
        return self.holder[p] == p and self.holder[right] == p and self.clean[p] and self.clean[right]

    def is_sated(self, p: Philosopher) -> bool:
        """Return True if p is not hungry."""
        return not self.hungry[p]

    @initial
    def set_the_table(self) -> None:
        """Begin with dirty forks: philosopher 0 has forks 0 and 1, philosopher 1 none, and everybody else, or
        everybody with `alike`, the left fork.
        """
        for fork in self.each(Philosopher):
            self.holder[fork] = fork
        if not self.alike and self.philosophers > 1:
            self.holder[Philosopher(1 % self.philosophers)] = Philosopher(0)

    @action(fairness="weak", per="p")
    def loop(self, p: Philosopher) -> None:
        """Hand over one dirty fork of p, the left one first; and let p go to think if it is not hungry, or to
        eat if it can.
        """
        right = self.beside(p, 1)
        require(self.place[p] is Place.LOOP)
        require(
            self.must_hand_over(p, p)
            or self.must_hand_over(p, right)
            or not self.hungry[p]
            or self.can_eat(p)
        )
        if not self.hungry[p]:
            self.place[p] = Place.THINK
        elif self.can_eat(p):
            self.place[p] = Place.EAT
        if self.must_hand_over(p, p):
            self.holder[p] = self.beside(p, -1)
            self.clean[p] = True
        elif self.must_hand_over(p, right):
            self.holder[right] = right
            self.clean[right] = True

    @action(fairness="weak", per="p")
    def eat(self, p: Philosopher) -> None:
        """Let p eat, which makes both forks dirty."""
        require(self.place[p] is Place.EAT)
        self.hungry[p] = False
        self.clean[p] = False
        self.clean[self.beside(p, 1)] = False
        self.place[p] = Place.LOOP

    @action(fairness="weak", per="p")
    def think(self, p: Philosopher) -> None:
        """Let p think, which makes p hungry."""
        require(self.place[p] is Place.THINK)
        self.hungry[p] = True
        self.place[p] = Place.LOOP

    @invariant
    def ExclusiveAccess(self) -> bool:
        """Invariant: philosophers who share a fork do not eat at the same time."""
        return not any(
            p != q
            and (q == self.beside(p, 1) or p == self.beside(q, 1))
            and self.place[p] is Place.EAT
            and self.place[q] is Place.EAT
            for p in self.each(Philosopher)
            for q in self.each(Philosopher)
        )

    NobodyStarves = always_eventually("is_sated")

    @witness
    def SomebodyEats(self) -> bool:
        """Witness: some philosopher eats."""
        return any(self.place[p] is Place.EAT for p in self.each(Philosopher))
