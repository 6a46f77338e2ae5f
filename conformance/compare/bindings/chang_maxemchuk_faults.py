"""Planted faults in the implementation of CM, each a core with one plausible mistake.

`antiphon lockstep chang-maxemchuk --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from typing import Any

from antiphon.impl.protocols.chang_maxemchuk import Core
from antiphon.impl.protocols.chang_maxemchuk.messages import Ack


class AcknowledgesEarly(Core):
    """Planted fault in CM, forgotten guard: the holder acknowledges before it has all acknowledged updates.
    Correct code waits for them.
    """

    @property
    def _has_all(self) -> bool:
        """Return True, as if no acknowledged update were missing."""
        return True


class DropsEarlyAcks(Core):
    """Planted fault in CM, forgotten case: an ACK that arrives before one with a lower gsn is dropped.
    Correct code keeps it.
    """

    def _receive_ack(self, sender: int, message: Any) -> None:
        """Take an ACK only if its gsn is the next one; drop any other."""
        if message.number == self._acknowledged + 1:
            super()._receive_ack(sender, message)


class ForgetsWhatWaits(Core):
    """Planted fault in CM, `if` for `while`: a waiting ACK is not taken when the one before it comes. Correct
    code takes all that are next.
    """

    def _receive_ack(self, sender: int, message: Any) -> None:
        """Take the ACK with the next gsn, and leave waiting ACKs where they are."""
        waiting, self._early = self._early, {}
        super()._receive_ack(sender, message)
        self._early.update(waiting)


class KeepsTheToken(Core):
    """Planted fault in CM, forgotten update: a process that has given a number still holds the token. Correct
    code has passed it on.
    """

    @property
    def holding(self) -> bool:
        """Return True also if this process assigned the last number."""
        last = (self._acknowledged - 1) % self.members
        return super().holding or (self._acknowledged > 0 and last == self.me)


class TurnsBack(Core):
    """Planted fault in CM, wrong direction: the token goes to the previous process of the cycle. Correct code
    passes it to the next.
    """

    def _giver(self) -> int:
        """Return the previous process of the cycle as the one that assigns the next gsn."""
        return -self._acknowledged % self.members


class PrefersTheFirst(Core):
    """Planted fault in CM, unfair choice: the holder acknowledges updates of the first process first. Correct
    code prefers its own, and then the next process in the cycle.
    """

    def acknowledge(self, now: float) -> bool:
        """Acknowledge an update, beginning the choice with process 0."""
        cycle, self._cycle = self._cycle, tuple(range(self.members))
        done = super().acknowledge(now)
        self._cycle = cycle
        return done


class DeliversUnnumbered(Core):
    """Planted fault in CM, forgotten guard: the holder delivers an update as it acknowledges it. Correct code
    delivers in the order of gsns.
    """

    def _learn(self, giver: int, message: Any) -> None:
        """Learn an ACK, and count an update that this process numbered itself as delivered."""
        super()._learn(giver, message)
        if giver == self.me:
            self._status = self._acknowledged


class DeliversWhenStable(Core):
    """Planted fault in CM, wrong number: an update is delivered only when all have it. Correct code delivers
    it when it has its gsn.
    """

    @property
    def deliverable(self) -> bool:
        """Return True only if all processes have the next update, which takes another round."""
        return self._status < self._stable() and super().deliverable


class RemovesEarly(Core):
    """Planted fault in CM, off by one: an update is removed after n - 2 subsequent ACKs. Correct code waits
    for n - 1.
    """

    def _stable(self) -> int:
        """Return the gsn of the last stable update, one too large."""
        return super()._stable() + 1


class RemovesNothing(Core):
    """Planted fault in CM, forgotten update: stable updates stay in the buffer. Correct code removes them."""

    def _collect(self) -> None:
        """Remove nothing from the buffer."""


class SendsTwo(Core):
    """Planted fault in CM, wrong bound: a process has two outstanding updates. Correct code allows one."""

    @property
    def busy(self) -> bool:
        """Return True only if more than `window` updates are outstanding: one more than allowed."""
        return self._obtained[self.me] - self._numbered[self.me] > self.window


class ForgetsTheLast(Core):
    """Planted fault in CM, off by one: the last process gets no ACK. Correct code multicasts it to all."""

    def _to_others(self, message: Any) -> None:
        """Send to the others, and drop the copy for the last one."""
        super()._to_others(message)
        if isinstance(message, Ack):
            self._outputs = [send for send in self._outputs if send.to != self._others[-1]]


class NamesItself(Core):
    """Planted fault in CM, wrong identifier: an ACK names the holder as the source of the update. Correct
    code names the sender.
    """

    def _to_others(self, message: Any) -> None:
        """Send to the others an ACK that names this process as the source of the update."""
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
"""Faulty cores by name."""
