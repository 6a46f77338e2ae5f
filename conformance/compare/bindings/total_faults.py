"""Planted faults in an implementation of TOTAL, each a core with one mistake.

`antiphon lockstep total --fault NAME` shows the shortest trace to where it differs from the specification.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.total import Core, Message, Timer
from antiphon.impl.protocols.total.messages import Bcast, CumAck, Resend


class NumbersAgain(Core):
    """Planted fault in TOTAL (as printed, Sequencer): each request gets a new id, also a repeated one.
    Correct: a repeated request gets the same id.
    """

    def _assign(self, identifier: Identifier, payload: bytes) -> None:
        """Assign a new id, even if the message has one."""
        self._numbered[identifier.source] = (identifier.id - 1, frozenset())
        super()._assign(identifier, payload)


class AsksOnce(Core):
    """Planted fault in TOTAL (as printed, Members): a request is sent once. Correct: it is sent until it is
    answered.
    """

    def _waits_for(self, timer: Timer) -> bool:
        """Return False for the timer that repeats a request."""
        return timer is not Timer.REQUEST_AGAIN and super()._waits_for(timer)


class ForgetsTheSuffix(Core):
    """Planted fault in TOTAL (as printed, Retransmission): nobody requests messages lost at the end of the
    sequence. Correct: the sequencer sends them again.
    """

    def _waits_for(self, timer: Timer) -> bool:
        """Return False for the timer that waits for acknowledgements."""
        return timer is not Timer.SEND_SUFFIX and super()._waits_for(timer)


class AsksForOne(Core):
    """Planted fault in TOTAL (Retransmission), forgotten loop: only the first id of a gap is requested.
    Correct: all are.
    """

    def expire(self, timer: Timer, now: float) -> bool:
        """Request the first missing id alone."""
        done = super().expire(timer, now)
        if timer is Timer.ASK:
            del self._outputs[1:]
        return done


class PassesOne(Core):
    """Planted fault in TOTAL (Members), `if` for `while`: messages behind a closed gap stay queued. Correct:
    they are passed up.
    """

    def _take_in(self, message: Bcast) -> None:
        """Pass up the message itself."""
        behind = {number: kept for number, kept in self._queue.items() if number > message.number}
        self._queue = {number: kept for number, kept in self._queue.items() if number <= message.number}
        super()._take_in(message)
        self._queue.update(behind)


class AcknowledgesHighest(Core):
    """Planted fault in TOTAL (TOTAL_CUM_SEQ_ACK), wrong variable: the highest received id is acknowledged,
    over a gap. Correct: the highest before a gap.
    """

    def _acknowledge(self) -> None:
        """Acknowledge the highest id in the queue, although ids before it are missing."""
        self._to(0, CumAck(max(self._queue, default=self._next_expected - 1)))


class KeepsTheLowest(Core):
    """Planted fault in TOTAL (keeping), wrong bound: a message is deleted when the first other member
    acknowledged it. Correct: when all did.
    """

    def _free(self) -> None:
        """Delete the messages that any member has acknowledged."""
        everywhere = max(self._acknowledged)
        self._sent = {number: kept for number, kept in self._sent.items() if number > everywhere}


class AcknowledgesNews(Core):
    """Planted fault in TOTAL (TOTAL_CUM_SEQ_ACK), forgotten case: a repeated message is not acknowledged
    again. Correct: it is.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Drop a message that was received before."""
        if not isinstance(message, Bcast) or message.number >= self._next_expected:
            super().receive(sender, message, now)


class BelievesTheLast(Core):
    """Planted fault in TOTAL (TOTAL_CUM_SEQ_ACK), overtaking: a late acknowledgement replaces a higher one.
    Correct: the maximum stays.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Replace the acknowledged id by the received one."""
        if isinstance(message, CumAck):
            self._acknowledged[sender] = min(self._acknowledged[sender], message.number)
        super().receive(sender, message, now)


class SendsSuffixToAll(Core):
    """Planted fault in TOTAL (send_suffix), wrong receivers: messages that one member lacks are sent again to
    all. Correct: to that member.
    """

    def expire(self, timer: Timer, now: float) -> bool:
        """Send the suffix to all members."""
        if timer is not Timer.SEND_SUFFIX:
            return super().expire(timer, now)
        known, self._acknowledged = self._acknowledged, [0] * self.members
        done = super().expire(timer, now)
        self._acknowledged = known
        return done


class AsksForWhatItHas(Core):
    """Planted fault in TOTAL (Retransmission), off by one: the lowest id in the queue is requested too.
    Correct: those below it.
    """

    def expire(self, timer: Timer, now: float) -> bool:
        """Request the missing ids, and the one after them."""
        done = super().expire(timer, now)
        if timer is Timer.ASK:
            self._to(0, Resend(min(self._queue)))
        return done


class AcknowledgesInTurn(Core):
    """Planted fault in TOTAL (TOTAL_CUM_SEQ_ACK), forgotten case: a message behind a gap is not acknowledged.
    Correct: the id before the gap is, for each message.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle a message, and take back the acknowledgement of one that is queued."""
        super().receive(sender, message, now)
        if isinstance(message, Bcast) and message.number in self._queue:
            self._outputs = [send for send in self._outputs if not isinstance(send.message, CumAck)]


class AnswersWithAll(Core):
    """Planted fault in TOTAL (TOTAL_RESEND), work done again: a request for one message is answered with all
    that are kept. Correct: with that message.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Answer a request for a message with every message."""
        super().receive(sender, message, now)
        if isinstance(message, Resend):
            for number, kept in self._sent.items():
                if number != message.number:
                    self._to(sender, kept)


class KeepsNothing(Core):
    """Planted fault in TOTAL (Sequencer), forgotten update: what was broadcast is not kept. Correct: until
    all have acknowledged it.
    """

    def _assign(self, identifier: Identifier, payload: bytes) -> None:
        """Assign an id, and forget the message."""
        super()._assign(identifier, payload)
        self._sent = {}


class KeepsAll(Core):
    """Planted fault in TOTAL (keeping), forgotten deletion: what all have acknowledged stays. Correct: it is
    deleted.
    """

    def _free(self) -> None:
        """Keep everything."""


FAULTS: dict[str, type[Core]] = {
    "acknowledges-highest": AcknowledgesHighest,
    "acknowledges-in-turn": AcknowledgesInTurn,
    "acknowledges-news": AcknowledgesNews,
    "answers-with-all": AnswersWithAll,
    "asks-for-one": AsksForOne,
    "asks-for-what-it-has": AsksForWhatItHas,
    "asks-once": AsksOnce,
    "believes-the-last": BelievesTheLast,
    "forgets-the-suffix": ForgetsTheSuffix,
    "keeps-all": KeepsAll,
    "keeps-nothing": KeepsNothing,
    "keeps-the-lowest": KeepsTheLowest,
    "numbers-again": NumbersAgain,
    "passes-one": PassesOne,
    "sends-suffix-to-all": SendsSuffixToAll,
}
"""Faulty cores by name."""
