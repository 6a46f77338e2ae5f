"""Planted faults in an implementation of Pinwheel, each a core with one mistake.

`antiphon lockstep pinwheel --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from typing import Any

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.pinwheel import Core
from antiphon.impl.protocols.pinwheel.messages import Ack, Msg


class AcknowledgesEarly(Core):
    """Planted fault in Pinwheel, forgotten guard: the holder acknowledges before it has all acknowledged
    updates. Correct: it waits for them.
    """

    @property
    def _has_all(self) -> bool:
        """Return True, as if no acknowledged update were missing."""
        return True


class BelievesTheLast(Core):
    """Planted fault in Pinwheel, overtaking: a late, lower hgsn replaces a higher one. Correct: the maximum
    stays.
    """

    def _hear(self, process: int, status: int) -> None:
        """Set the hgsn of a process to the received one, even if that is lower."""
        self._heard[process] = status


class DropsEarlyAcks(Core):
    """Planted fault in Pinwheel, forgotten case: an ACK that arrives before one with a lower gsn is dropped.
    Correct: it is buffered.
    """

    def _receive_ack(self, sender: int, message: Any) -> None:
        """Take an ACK only if its gsn is the next one; drop any other."""
        if message.number == self._acknowledged + 1:
            super()._receive_ack(sender, message)


class ForgetsItself(Core):
    """Planted fault in Pinwheel, forgotten update: R_i[i] changes only with numbers that process i assigns.
    Correct: with each delivery.
    """

    def _advance(self) -> None:
        """Advance deliveries without raising this process's own hgsn."""
        heard = list(self._heard)
        super()._advance()
        self._heard = heard


class ForgetsTheGiver(Core):
    """Planted fault in Pinwheel, forgotten rule: an ACK does not update its sender's hgsn.
    Correct: it does.
    """

    def _learn(self, giver: int, message: Ack) -> None:
        """Learn an ACK without raising the hgsn of its sender."""
        heard = list(self._heard)
        super()._learn(giver, message)
        self._heard = heard


class KeepsTheToken(Core):
    """Planted fault in Pinwheel, forgotten update: a holder that has assigned its last number keeps the
    token. Correct: it passes it.
    """

    def _learn(self, giver: int, message: Ack) -> None:
        """Learn the ACK, but stay holder when it is this process's own."""
        super()._learn(giver, message)
        if giver == self.me:
            self._holder = self.me


class PassesAtOnce(Core):
    """Planted fault in Pinwheel, confusion with CM: every ACK passes the token. Correct: only the holder's
    last one does.
    """

    def _ack(self, number: int, identifier: Identifier) -> Ack:
        """Make an ACK that passes the token, even if more updates wait for numbers."""
        return Ack(number, identifier, True)


class PassesNever(Core):
    """Planted fault in Pinwheel, off by one: the last ACK of a holder does not pass the token. Correct: it
    does.
    """

    def _ack(self, number: int, identifier: Identifier) -> Ack:
        """Make an ACK that keeps the token, even if no more updates wait for numbers."""
        return Ack(number, identifier, False)


class RemovesAtMost(Core):
    """Planted fault in Pinwheel, wrong bound: messages that one process has delivered are removed. Correct:
    that all have delivered.
    """

    def _stable(self) -> int:
        """Return the largest hgsn of any process instead of the smallest."""
        return max(self._heard)


class RemovesNothing(Core):
    """Planted fault in Pinwheel, forgotten update: stable messages stay in the buffer. Correct: they are
    removed.
    """

    def _collect(self) -> None:
        """Remove nothing from the buffer."""


class SaysNothing(Core):
    """Planted fault in Pinwheel, forgotten piggyback: a MSG says that its source has delivered nothing.
    Correct: it has the source's hgsn.
    """

    def _msg(self, identifier: Identifier, payload: bytes) -> Msg:
        """Make a MSG whose hgsn is 0."""
        return Msg(identifier, payload, 0)


class SendsOne(Core):
    """Planted fault in Pinwheel, confusion with CM: a process has one outstanding update. Correct: as many as
    its window.
    """

    @property
    def busy(self) -> bool:
        """Return True if one own update is outstanding."""
        return self._obtained[self.me] > self._numbered[self.me]


class TellsWhatItHas(Core):
    """Planted fault in Pinwheel, wrong number: a MSG says which ACKs its source has received. Correct: which
    it has delivered.
    """

    def _msg(self, identifier: Identifier, payload: bytes) -> Msg:
        """Make a MSG whose hgsn is the last gsn that its source has received, not the last that it has
        delivered.
        """
        return Msg(identifier, payload, self._acknowledged)


FAULTS: dict[str, type[Core]] = {
    "acknowledges-early": AcknowledgesEarly,
    "believes-the-last": BelievesTheLast,
    "drops-early-acks": DropsEarlyAcks,
    "forgets-itself": ForgetsItself,
    "forgets-the-giver": ForgetsTheGiver,
    "keeps-the-token": KeepsTheToken,
    "passes-at-once": PassesAtOnce,
    "passes-never": PassesNever,
    "removes-at-most": RemovesAtMost,
    "removes-nothing": RemovesNothing,
    "says-nothing": SaysNothing,
    "sends-one": SendsOne,
    "tells-what-it-has": TellsWhatItHas,
}
"""Faulty cores by name."""
