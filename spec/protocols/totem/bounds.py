"""Bounds of Totem's exploration: the token goes on for ever, so its passes are counted and limited."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, Map, action, constraint, everywhere, invariant, restriction
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Number
from antiphon.spec.protocols.totem.algorithm import Totem
from antiphon.spec.services import Message, Process


class TotemCounted(Totem):
    """Totem for `visits` passes of the token; `sent_at[k]` is how many passes there were when number k was
    given.
    """

    visits: Const[int] = 8

    passes: Annotated[int, Between(0, "visits")] = 0
    sent_at: Map[Number, Annotated[int, Between(0, "visits")]] = everywhere(0)

    @constraint("pass_token")
    def has_visits_left(self) -> bool:
        """Return True if the token has moved fewer than `visits` times."""
        return self.passes < self.visits

    @action
    def multicast(self, p: Process, m: Message) -> None:
        """Multicast as Totem does, and record how often the token had been passed."""
        super().multicast(p, m)
        self.sent_at[self.assigned] = self.passes

    @action(fairness="weak")
    def pass_token(self, p: Process) -> None:
        """Pass the token as Totem does, and count it."""
        super().pass_token(p)
        self.passes += 1


@restriction("what was multicast arrives, and is delivered, before the token moves")
class Instant(TotemCounted):
    """Restriction: multicasts arrive and are delivered before the token moves, as in the runs of the
    footnote.
    """

    @constraint("pass_token")
    def has_delivered_all(self) -> bool:
        """Bound: every process has delivered everything that was multicast."""
        return all(self.status[q] == self.assigned for q in self.each(Process))

    @invariant
    def StableInTwoRotations(self) -> bool:
        """Invariant of the footnote: an update is known to be stable everywhere after two rotations of the
        token.
        """
        return all(
            k > self.assigned
            or self.passes < self.sent_at[k] + 2 * self.processes
            or all(self.seen[p] >= k for p in self.each(Process))
            for k in self.each(Number)
        )


class TotemBounded(TotemCounted, restrictions=(Instant,)):
    """Totem with a limited number of passes of the token, and with the restriction `Instant` to choose."""
