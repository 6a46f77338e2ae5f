"""Plausible mistakes in an implementation of TOTAL, each a core with one thing wrong.

`antiphon lockstep total --fault NAME` shows the shortest trace to where it differs from the specification.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.total import Core, Message, Timer
from antiphon.impl.protocols.total.messages import Bcast, CumAck


class NumbersAgain(Core):
    """As printed (Sequencer): each request gets an id, though it was asked before for the same message."""

    def _assign(self, identifier: Identifier, payload: bytes) -> None:
        """Forget what has one."""
        self._numbered[identifier.source] = (identifier.id - 1, frozenset())
        super()._assign(identifier, payload)


class AsksOnce(Core):
    """As printed (Members): a request is sent once."""

    def _waits_for(self, timer: Timer) -> bool:
        """Not for the own message."""
        return timer is not Timer.REQUEST_AGAIN and super()._waits_for(timer)


class ForgetsTheSuffix(Core):
    """As printed (Retransmission): what was lost at the end is asked for by nobody."""

    def _waits_for(self, timer: Timer) -> bool:
        """Not for acknowledgements."""
        return timer is not Timer.SEND_SUFFIX and super()._waits_for(timer)


class AsksForOne(Core):
    """Forgotten loop (Retransmission): of a gap only the first id is asked for."""

    def expire(self, timer: Timer, now: float) -> bool:
        """Ask once."""
        done = super().expire(timer, now)
        if timer is Timer.ASK:
            del self._outputs[1:]
        return done


class PassesOne(Core):
    """`if` for `while` (Members): what was queued behind a gap stays there when it closes."""

    def _take_in(self, message: Bcast) -> None:
        """Pass up the message itself."""
        behind = {number: kept for number, kept in self._queue.items() if number > message.number}
        self._queue = {number: kept for number, kept in self._queue.items() if number <= message.number}
        super()._take_in(message)
        self._queue.update(behind)


class AcknowledgesHighest(Core):
    """Wrong variable (TOTAL_CUM_SEQ_ACK): the highest id that came is acknowledged, over a gap."""

    def _acknowledge(self) -> None:
        """Acknowledge what is queued."""
        self._to(0, CumAck(max(self._queue, default=self._next_expected - 1)))


class KeepsTheLowest(Core):
    """Wrong bound (keeping): what the first of the others has acknowledged is forgotten."""

    def _free(self) -> None:
        """Take the most for the least."""
        everywhere = max(self._acknowledged)
        self._sent = {number: kept for number, kept in self._sent.items() if number > everywhere}


class AcknowledgesNews(Core):
    """Forgotten case (TOTAL_CUM_SEQ_ACK): a message that came twice is acknowledged once."""

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Drop what is old."""
        if not isinstance(message, Bcast) or message.number >= self._next_expected:
            super().receive(sender, message, now)


class BelievesTheLast(Core):
    """Overtaken (TOTAL_CUM_SEQ_ACK): an acknowledgement that comes late takes a later one back."""

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Set it."""
        if isinstance(message, CumAck):
            self._acknowledged[sender] = min(self._acknowledged[sender], message.number)
        super().receive(sender, message, now)


class SendsSuffixToAll(Core):
    """Wrong receivers (send_suffix): what one has not acknowledged is sent again to all."""

    def expire(self, timer: Timer, now: float) -> bool:
        """Send it to everybody."""
        if timer is not Timer.SEND_SUFFIX:
            return super().expire(timer, now)
        known, self._acknowledged = self._acknowledged, [0] * self.members
        done = super().expire(timer, now)
        self._acknowledged = known
        return done


FAULTS: dict[str, type[Core]] = {
    "acknowledges-highest": AcknowledgesHighest,
    "acknowledges-news": AcknowledgesNews,
    "asks-for-one": AsksForOne,
    "asks-once": AsksOnce,
    "believes-the-last": BelievesTheLast,
    "forgets-the-suffix": ForgetsTheSuffix,
    "keeps-the-lowest": KeepsTheLowest,
    "numbers-again": NumbersAgain,
    "passes-one": PassesOne,
    "sends-suffix-to-all": SendsSuffixToAll,
}
"""The cores that differ in a step, by name."""
