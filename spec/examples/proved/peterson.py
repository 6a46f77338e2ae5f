"""Peterson's lock for two processes, and any number of such locks.

Source: G. Peterson, "Myths about the mutual exclusion problem", Information Processing Letters 12(3), 1981;
problem `peterson` of mypyvy.

Each lock has two sides, and one process at each side. A process raises its flag, gives way to the other side,
and waits until the flag of the other side is down or the other side has given way to it.
"""

from __future__ import annotations

from enum import Enum

from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    Spec,
    action,
    everywhere,
    initial,
    invariant,
    require,
    witness,
)


class Lock(Index, size="locks", symmetric=True):
    """Lock for two processes."""


class Side(Enum):
    """Side of a lock: a process is at each."""

    LEFT = "left"
    RIGHT = "right"


class At(Enum):
    """Place of a process in its program."""

    OUTSIDE = "outside"
    RAISING = "raising"
    YIELDING = "yielding"
    WAITING = "waiting"
    INSIDE = "inside"
    LEAVING = "leaving"


class Peterson(Spec):
    """Locks of Peterson, each for two processes."""

    locks: Const[int] = 1

    at: Map[Lock, Map[Side, At]] = everywhere(everywhere(At.OUTSIDE))
    flags: Map[Lock, Map[Side, bool]] = everywhere(everywhere(False))
    turn: Map[Lock, Side] = everywhere(Side.LEFT)

    @initial
    def begin(self, turn: Map[Lock, Side]) -> None:
        """Begin with the turn of each lock at either side."""
        self.turn = turn

    @action
    def want(self, lock: Lock, side: Side) -> None:
        """Want the lock."""
        require(self.at[lock][side] == At.OUTSIDE)
        self.at[lock][side] = At.RAISING

    @action
    def raise_flag(self, lock: Lock, side: Side) -> None:
        """Raise the flag of the side."""
        require(self.at[lock][side] == At.RAISING)
        self.at[lock][side] = At.YIELDING
        self.flags[lock][side] = True

    @action
    def give_way(self, lock: Lock, side: Side, other: Side) -> None:
        """Give the turn to the other side."""
        require(side != other and self.at[lock][side] == At.YIELDING)
        self.at[lock][side] = At.WAITING
        self.turn[lock] = other

    @action
    def enter(self, lock: Lock, side: Side, other: Side) -> None:
        """Enter the critical section: the flag of the other side is down, or it has given way."""
        require(side != other and self.at[lock][side] == At.WAITING)
        require(not self.flags[lock][other] or self.turn[lock] == side)
        self.at[lock][side] = At.INSIDE

    @action
    def leave(self, lock: Lock, side: Side) -> None:
        """Leave the critical section."""
        require(self.at[lock][side] == At.INSIDE)
        self.at[lock][side] = At.LEAVING

    @action
    def lower_flag(self, lock: Lock, side: Side) -> None:
        """Lower the flag of the side."""
        require(self.at[lock][side] == At.LEAVING)
        self.at[lock][side] = At.OUTSIDE
        self.flags[lock][side] = False

    @invariant
    def MutualExclusion(self) -> bool:
        """Invariant: of each lock at most one process is in the critical section."""
        return all(
            not (self.at[lock][Side.LEFT] == At.INSIDE and self.at[lock][Side.RIGHT] == At.INSIDE)
            for lock in self.each(Lock)
        )

    @witness
    def both_want_it(self) -> bool:
        """Witness: a process is in the critical section while the other one waits."""
        return any(
            self.at[lock][Side.LEFT] == At.INSIDE and self.at[lock][Side.RIGHT] == At.WAITING
            for lock in self.each(Lock)
        )


class PetersonProof(Peterson):
    """Invariants of the proof: the flag is up where the lock is wanted, and who has the turn comes first."""

    @invariant
    def FlagIsUp(self) -> bool:
        """Invariant: from the moment at which a process has raised its flag until it lowers it, it is up."""
        return all(
            self.at[lock][side] in (At.OUTSIDE, At.RAISING) or self.flags[lock][side]
            for lock in self.each(Lock)
            for side in self.each(Side)
        )

    @invariant
    def TheOtherWaits(self) -> bool:
        """Invariant: a process that has the turn while it waits, is inside or leaves has it from the other
        process, which still waits.
        """
        return all(
            side == other
            or self.turn[lock] != side
            or self.at[lock][side] not in (At.WAITING, At.INSIDE, At.LEAVING)
            or self.at[lock][other] == At.WAITING
            for lock in self.each(Lock)
            for side in self.each(Side)
            for other in self.each(Side)
        )
