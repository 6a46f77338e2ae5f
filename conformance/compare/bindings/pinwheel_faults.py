"""Plausible mistakes in an implementation of Pinwheel, each a core with one thing wrong.

`antiphon lockstep pinwheel --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from typing import Any

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.pinwheel import Core
from antiphon.impl.protocols.pinwheel.messages import Ack, Msg


class AcknowledgesEarly(Core):
    """Forgotten guard: the holder acknowledges before it has all the updates already acknowledged."""

    @property
    def _has_all(self) -> bool:
        """Planted fault: nothing is ever missing."""
        return True


class BelievesTheLast(Core):
    """Overtaken: an hgsn that comes late takes a later one back."""

    def _hear(self, process: int, status: int) -> None:
        """Set it."""
        self._heard[process] = status


class DropsEarlyAcks(Core):
    """Forgotten case: an ACK that came before one with a lower gsn is not kept."""

    def _receive_ack(self, sender: int, message: Any) -> None:
        """Take the next one only."""
        if message.number == self._acknowledged + 1:
            super()._receive_ack(sender, message)


class ForgetsItself(Core):
    """Forgotten update: R_i[i] follows only the numbers that a process gives."""

    def _advance(self) -> None:
        """Count what is delivered, and nothing else."""
        heard = list(self._heard)
        super()._advance()
        self._heard = heard


class ForgetsTheGiver(Core):
    """Forgotten rule: that an ACK is its sender's hgsn is not noticed."""

    def _learn(self, giver: int, message: Ack) -> None:
        """Only where the token is."""
        heard = list(self._heard)
        super()._learn(giver, message)
        self._heard = heard


class KeepsTheToken(Core):
    """Forgotten update: a holder that has given the last number still holds the token."""

    def _learn(self, giver: int, message: Ack) -> None:
        """Learn the ACK, but stay holder when it is this process's own."""
        super()._learn(giver, message)
        if giver == self.me:
            self._holder = self.me


class PassesAtOnce(Core):
    """As CM: every ACK passes the token."""

    def _ack(self, number: int, identifier: Identifier) -> Ack:
        """Pass it."""
        return Ack(number, identifier, True)


class PassesNever(Core):
    """Off by one: the last ACK that a holder can give does not pass the token."""

    def _ack(self, number: int, identifier: Identifier) -> Ack:
        """Wait for another."""
        return Ack(number, identifier, False)


class RemovesAtMost(Core):
    """Wrong bound: what one process is known to have delivered is removed."""

    def _stable(self) -> int:
        """Take the most for the least."""
        return max(self._heard)


class RemovesNothing(Core):
    """Forgotten update: the buffer keeps what is stable."""

    def _collect(self) -> None:
        """Keep it."""


class SaysNothing(Core):
    """Forgotten piggyback: a MSG says that its source has delivered nothing."""

    def _msg(self, identifier: Identifier, payload: bytes) -> Msg:
        """Leave hgsn out."""
        return Msg(identifier, payload, 0)


class SendsOne(Core):
    """As CM: a process has one outstanding update."""

    @property
    def busy(self) -> bool:
        """With one."""
        return self._obtained[self.me] > self._numbered[self.me]


class TellsWhatItHas(Core):
    """Wrong number: a MSG says which ACKs its source has, delivered or not."""

    def _msg(self, identifier: Identifier, payload: bytes) -> Msg:
        """Take the last known gsn."""
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
"""The cores that differ in a step, by name."""
