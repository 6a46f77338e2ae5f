"""Plausible mistakes in an implementation of CM, each a core with one thing wrong.

`antiphon lockstep chang-maxemchuk --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from typing import Any

from antiphon.impl.protocols.chang_maxemchuk import Core
from antiphon.impl.protocols.chang_maxemchuk.messages import Ack


class AcknowledgesEarly(Core):
    """Forgotten guard: the holder acknowledges before it has all the updates already acknowledged."""

    @property
    def _has_all(self) -> bool:
        """Planted fault: nothing is ever missing."""
        return True


class DropsEarlyAcks(Core):
    """Forgotten case: an ACK that came before one with a lower gsn is not kept."""

    def _receive_ack(self, sender: int, message: Any) -> None:
        """Take the next one only."""
        if message.number == self._acknowledged + 1:
            super()._receive_ack(sender, message)


class ForgetsWhatWaits(Core):
    """`if` for `while`: an ACK that waited is not taken when the one before it comes."""

    def _receive_ack(self, sender: int, message: Any) -> None:
        """Take one at a time."""
        waiting, self._early = self._early, {}
        super()._receive_ack(sender, message)
        self._early.update(waiting)


class KeepsTheToken(Core):
    """Forgotten update: who has given a number still holds the token."""

    @property
    def holding(self) -> bool:
        """Also after the last one was the own."""
        last = (self._acknowledged - 1) % self.members
        return super().holding or (self._acknowledged > 0 and last == self.me)


class TurnsBack(Core):
    """Wrong direction: the token goes to the process before in the cycle."""

    def _giver(self) -> int:
        """Count down."""
        return -self._acknowledged % self.members


class PrefersTheFirst(Core):
    """Unfair choice: of several updates the holder acknowledges that of the first process."""

    def acknowledge(self, now: float) -> bool:
        """Begin with process 0."""
        cycle, self._cycle = self._cycle, tuple(range(self.members))
        done = super().acknowledge(now)
        self._cycle = cycle
        return done


class DeliversUnnumbered(Core):
    """Forgotten guard: the holder delivers an update as it acknowledges it, whatever was before."""

    def _learn(self, giver: int, message: Any) -> None:
        """The own number counts as delivered."""
        super()._learn(giver, message)
        if giver == self.me:
            self._status = self._acknowledged


class DeliversWhenStable(Core):
    """Wrong number: an update waits until all have it."""

    @property
    def deliverable(self) -> bool:
        """Look a round ahead."""
        return self._status < self._stable() and super().deliverable


class RemovesEarly(Core):
    """Off by one: what n - 2 subsequent ACKs followed is removed."""

    def _stable(self) -> int:
        """One too many."""
        return super()._stable() + 1


class RemovesNothing(Core):
    """Forgotten update: the buffer keeps what is stable."""

    def _collect(self) -> None:
        """Keep it."""


class SendsTwo(Core):
    """Wrong bound: a process has two outstanding updates."""

    @property
    def busy(self) -> bool:
        """True only when more than `window` updates are outstanding: one too many."""
        return self._obtained[self.me] - self._numbered[self.me] > self.window


class ForgetsTheLast(Core):
    """Off by one: the last process is not sent an ACK."""

    def _to_others(self, message: Any) -> None:
        """Send to the others, and drop the copy for the last one."""
        super()._to_others(message)
        if isinstance(message, Ack):
            self._outputs = [send for send in self._outputs if send.to != self._others[-1]]


class NamesItself(Core):
    """Wrong identifier: an ACK names the holder as the source of the update."""

    def _to_others(self, message: Any) -> None:
        """Take the own number."""
        if isinstance(message, Ack):
            message = Ack(message.number, message.identifier._replace(source=self.me))
        super()._to_others(message)


FAULTS: dict[str, type[Core]] = {
    "acknowledges-early": AcknowledgesEarly,
    "delivers-unnumbered": DeliversUnnumbered,
    "delivers-when-stable": DeliversWhenStable,
    "drops-early-acks": DropsEarlyAcks,
    "forgets-the-last": ForgetsTheLast,
    "forgets-what-waits": ForgetsWhatWaits,
    "keeps-the-token": KeepsTheToken,
    "names-itself": NamesItself,
    "prefers-the-first": PrefersTheFirst,
    "removes-early": RemovesEarly,
    "removes-nothing": RemovesNothing,
    "sends-two": SendsTwo,
    "turns-back": TurnsBack,
}
"""The cores that differ in a step, by name."""
