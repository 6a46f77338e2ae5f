"""Philosophers share forks without starving: they keep dirty forks and hand them over clean (Chandy, Misra,
1984).

Source: J. Hemphill, the PlusCal algorithm DiningPhilosophers of the public TLA+ examples; with 5 philosophers
67 reachable states.

Philosopher p sits between fork p, on the left, and fork p + 1, on the right. What decides whether anybody
ever eats is who has which fork at first: as in the module the lower neighbour of each fork (so the first
philosopher has two and the last none), or, with `alike`, everybody the left one. A turn of a philosopher's
loop that changes nothing is a step of the module; here it is none, since it would hide a deadlock.
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
    """The philosophers, their hunger and the forks between them."""

    philosophers: Const[int] = 5
    alike: Const[bool] = False

    holder: Map[Philosopher, Philosopher] = everywhere(Philosopher(0))
    clean: Map[Philosopher, bool] = everywhere(False)
    hungry: Map[Philosopher, bool] = everywhere(True)
    place: Map[Philosopher, Place] = everywhere(Place.LOOP)

    def beside(self, p: Philosopher, distance: Distance) -> Philosopher:
        """The neighbour on the left (-1) or on the right (1); with it the fork on the right."""
        return Philosopher((p.index + distance) % self.philosophers)

    def must_hand_over(self, p: Philosopher, fork: Philosopher) -> bool:
        """P has the fork, and it is dirty."""
        return self.holder[fork] == p and not self.clean[fork]

    def can_eat(self, p: Philosopher) -> bool:
        """P has both forks, and they are clean."""
        right = self.beside(p, 1)
        return self.holder[p] == p and self.holder[right] == p and self.clean[p] and self.clean[right]

    def is_sated(self, p: Philosopher) -> bool:
        """P is not hungry."""
        return not self.hungry[p]

    @initial
    def set_the_table(self) -> None:
        """All forks are dirty; each lies with its lower neighbour, or with the philosopher on its right."""
        for fork in self.each(Philosopher):
            self.holder[fork] = fork
        if not self.alike and self.philosophers > 1:
            self.holder[Philosopher(1 % self.philosophers)] = Philosopher(0)

    @action(fairness="weak", per="p")
    def loop(self, p: Philosopher) -> None:
        """Hand over one dirty fork, the left one first; then see what to do next."""
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
        """Eating makes both forks dirty."""
        require(self.place[p] is Place.EAT)
        self.hungry[p] = False
        self.clean[p] = False
        self.clean[self.beside(p, 1)] = False
        self.place[p] = Place.LOOP

    @action(fairness="weak", per="p")
    def think(self, p: Philosopher) -> None:
        """Thinking makes hungry."""
        require(self.place[p] is Place.THINK)
        self.hungry[p] = True
        self.place[p] = Place.LOOP

    @invariant
    def ExclusiveAccess(self) -> bool:
        """Philosophers who share a fork do not eat at the same time."""
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
        """Some philosopher eats."""
        return any(self.place[p] is Place.EAT for p in self.each(Philosopher))
