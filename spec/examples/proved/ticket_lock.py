"""Lock by tickets: a thread draws a number, and enters when its number is served.

Source: O. Padon, J. Hoenicke, G. Losa, A. Podelski, M. Sagiv, S. Shoham, "Reducing liveness to safety in
first-order logic", POPL 2018; problem `ticket` of mypyvy, which proves mutual exclusion.

A thread that waits enters when its number is at most the one that is served, as in the source. Numbers end
with the constant `tickets`.
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
    everywhere,
    invariant,
    require,
    witness,
)


class Thread(Index, size="threads", symmetric=True):
    """Thread that wants the lock."""


Ticket = Annotated[int, Between(0, "tickets")]
"""A number that is drawn."""


class Place(Enum):
    """Place of a thread: outside, waiting or inside."""

    OUTSIDE = "outside"
    WAITING = "waiting"
    INSIDE = "inside"


class TicketLock(Spec):
    """Lock by tickets: the number to be drawn next, and the number that is served."""

    threads: Const[int] = 3
    tickets: Const[int] = 4

    place: Map[Thread, Place] = everywhere(Place.OUTSIDE)
    ticket: Map[Thread, Ticket] = everywhere(0)
    next: Ticket = 0
    served: Ticket = 0

    @action
    def draw(self, t: Thread) -> None:
        """Draw the next number for a thread."""
        require(self.place[t] is Place.OUTSIDE and self.next < self.tickets)
        self.ticket[t] = self.next
        self.next += 1
        self.place[t] = Place.WAITING

    @action
    def enter(self, t: Thread) -> None:
        """Enter, when it is the thread's turn."""
        require(self.place[t] is Place.WAITING and self.ticket[t] <= self.served)
        self.place[t] = Place.INSIDE

    @action
    def leave(self, t: Thread) -> None:
        """Leave the lock at a thread, and serve the next number."""
        require(self.place[t] is Place.INSIDE)
        self.served += 1
        self.place[t] = Place.OUTSIDE

    @invariant
    def MutualExclusion(self) -> bool:
        """Invariant: at most one thread is inside."""
        return all(
            t == u or not (self.place[t] is Place.INSIDE and self.place[u] is Place.INSIDE)
            for t in self.each(Thread)
            for u in self.each(Thread)
        )

    @witness
    def inside(self) -> bool:
        """Witness: some thread enters."""
        return any(self.place[t] is Place.INSIDE for t in self.each(Thread))


class TicketLockProof(TicketLock):
    """Invariants of the proof: the numbers of threads that wait or are inside."""

    @invariant
    def OwnNumber(self) -> bool:
        """Invariant: two threads that are not outside have different numbers."""
        return all(
            t == u
            or self.place[t] is Place.OUTSIDE
            or self.place[u] is Place.OUTSIDE
            or self.ticket[t] != self.ticket[u]
            for t in self.each(Thread)
            for u in self.each(Thread)
        )

    @invariant
    def DrawnBefore(self) -> bool:
        """Invariant: a thread that is not outside has a number lower than the next to be drawn."""
        return all(self.place[t] is Place.OUTSIDE or self.ticket[t] < self.next for t in self.each(Thread))

    @invariant
    def WaitingForItsTurn(self) -> bool:
        """Invariant: the number of a waiting thread was not served before, and that of a thread inside is
        served now.
        """
        return all(
            (self.place[t] is not Place.WAITING or self.served <= self.ticket[t])
            and (self.place[t] is not Place.INSIDE or self.ticket[t] == self.served)
            for t in self.each(Thread)
        )

    @invariant
    def ServedWasDrawn(self) -> bool:
        """Invariant: the number that is served is at most the one to be drawn next."""
        return self.served <= self.next
