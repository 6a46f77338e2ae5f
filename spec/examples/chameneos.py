"""Creatures that meet in pairs take the colour that neither has: a game of concurrency.

Sources: C. Kaiser, J.-F. Pradat-Peyre, "Chameneos, a concurrency game for Java, Ada and others", 2003; M.
Ryndzionek, the TLA+ module Chameneos of the public TLA+ examples, with 34,534 reachable states for 4
creatures and 4 meetings.

Creatures are alike, but the module counts every arrangement of them, and so does a search without symmetry.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Set,
    Spec,
    action,
    everywhere,
    initial,
    invariant,
    require,
    witness,
)

Meetings = Annotated[int, Between(0, "meetings")]
"""Number of meetings."""


class Creature(Index, size="creatures", symmetric=True):
    """Creature of the game, a chameneos."""


class Color(Enum):
    """Colour of a creature; a creature that comes after the last meeting fades."""

    BLUE = "blue"
    RED = "red"
    YELLOW = "yellow"
    FADED = "faded"


class Chameneos(Spec):
    """The creatures and their meeting place, which holds at most one creature that waits for another."""

    creatures: Const[int] = 4
    meetings: Const[int] = 4

    color: Map[Creature, Color] = everywhere(Color.YELLOW)
    met: Map[Creature, Meetings] = everywhere(0)
    waiting: Creature | None = None
    held: Meetings = 0

    def complement(self, a: Color, b: Color) -> Color:
        """Return the colour that both creatures have after a meeting of colours a and b."""
        return a if a == b else next(c for c in self.each(Color) if c != a and c != b)

    @initial
    def paint(self, blue: Set[Creature], red: Set[Creature]) -> None:
        """Give each creature any of the three colours."""
        require(all(not (c in blue and c in red) for c in self.each(Creature)))
        for c in self.each(Creature):
            self.color[c] = Color.BLUE if c in blue else Color.RED if c in red else Color.YELLOW

    @action
    def enter(self, c: Creature) -> None:
        """Enter the empty meeting place as creature c, if another meeting may still be held."""
        require(self.color[c] is not Color.FADED and self.waiting is None and self.held < self.meetings)
        self.waiting = c

    @action
    def fade(self, c: Creature) -> None:
        """Fade as creature c, if all meetings are over."""
        require(self.color[c] is not Color.FADED and self.waiting is None and self.held == self.meetings)
        self.color[c] = Color.FADED

    @action
    def meet(self, c: Creature) -> None:
        """Let c meet the creature that waits: both take the third colour if their colours differ, and both
        leave.
        """
        other = self.waiting
        require(self.color[c] is not Color.FADED and other is not None and other != c)
        if other is not None:
            color = self.complement(self.color[c], self.color[other])
            self.color[c] = color
            self.color[other] = color
            self.met[c] += 1
            self.met[other] += 1
            self.waiting = None
            self.held += 1

    @invariant
    def SumMet(self) -> bool:
        """Invariant: after the last meeting the creatures' counts of their meetings sum to twice the number
        of meetings.
        """
        return self.held < self.meetings or sum(self.met[c] for c in self.each(Creature)) == 2 * self.meetings

    @witness
    def AllFaded(self) -> bool:
        """Witness: every creature has faded, so that the game is over."""
        return all(self.color[c] is Color.FADED for c in self.each(Creature))
