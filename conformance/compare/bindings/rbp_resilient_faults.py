"""Plausible mistakes in an implementation of figure 25, each a core with one thing wrong.

`antiphon lockstep rbp-resilient --fault NAME` shows the shortest trace. All were written down before anything
was run against them. "As printed" is what the figure says and a repair of the specification changes.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import NATURAL_MAX, Identifier, Send
from antiphon.impl.protocols.rbp.messages import Ack, Data, Message, Numbered, Request, RequestNumbers
from antiphon.impl.protocols.rbp_resilient import Core, Timer


class AcceptsEarly(Core):
    """As printed (line 48): the token waits for its own message's body, not for those before it."""

    def accept(self, now: float) -> bool:
        """Take the token when what it names is here."""
        number = self._arriving
        if (
            number is not None
            and self._queues.last_number >= number
            and self._queues.body(number) is not None
        ):
            self._queues.missing, missing = {}, self._queues.missing
            done = super().accept(now)
            self._queues.missing = missing
            self._watch()
            return done
        return super().accept(now)


class AcceptsOldTokens(Core):
    """As printed (line 44): a token that was accepted before is taken again."""

    def _receive_ack(self, sender: int, message: Ack) -> None:
        old = message.next_holder == self.me and self._queues.highest > message.number
        super()._receive_ack(sender, message)
        if old:
            self._arriving = message.number


class AnswersFromLastTurn(Core):
    """Forgotten case (line 68): of the numbers that are asked for only those of the last turn are told."""

    def _receive_request_numbers(self, sender: int, message: RequestNumbers) -> None:
        first = max(message.first, self._queues.highest - self.members + 1)
        super()._receive_request_numbers(sender, RequestNumbers(first, max(first, message.last)))


class AsksTheSuccessor(Core):
    """Wrong process (lines 37, 47): what is missing is asked of the next process of the ring."""

    def _ask(self, number: int, request: Request | RequestNumbers) -> None:
        del number
        self._to(self.successor, request)


class CollectsEarly(Core):
    """Off by one (line 75): a message is stable when all but one process have it."""

    def _collectable(self, number: int) -> bool:
        self.members -= 1
        early = super()._collectable(number)
        self.members += 1
        return early


class CollectsLate(Core):
    """As printed (line 75): `<`, so that what all have is kept for one more number."""

    def _collectable(self, number: int) -> bool:
        return number < self._queues.last_number - self.members + 1 and super()._collectable(number)


class DropsLateBodies(Core):
    """As printed (lines 20-24): a body that comes after its number is not stored."""

    def _receive_data(self, sender: int, message: Data) -> None:
        if message.identifier not in self._queues.number_of:
            super()._receive_data(sender, message)


class ForgetsCollected(Core):
    """As printed (line 20): a message that was collected is taken for a new one when it comes again."""

    def _receive_data(self, sender: int, message: Data) -> None:
        queues, source = self._queues, message.identifier.source
        if queues.is_collected(message.identifier):
            queues.store(message.identifier, message.payload)
            queues.numbered[source] = message.identifier.id - 1
        else:
            super()._receive_data(sender, message)


class ForgetsSilence(Core):
    """Forgotten timeout (line 51): a holder with nothing to number keeps the token when all was delivered."""

    def _passes_silently(self) -> Timer | None:
        timer = super()._passes_silently()
        return None if timer is Timer.PASS_NULL else timer


class KeepsNull(Core):
    """As printed (line 74): NULL has no body, and never becomes stable."""

    def _collectable(self, number: int) -> bool:
        return self._queues.numbers.get(number) is not None and super()._collectable(number)


class KeepsToken(Core):
    """Forgotten update (line 61): a process that numbered a message still holds the token."""

    def sequence(self, now: float) -> bool:
        """Number, and keep the token."""
        done = super().sequence(now)
        self._holding = self._holding or done
        self._watch()
        return done


class LearnsCollected(Core):
    """As printed (line 26): a number that was collected is put among the numbers again."""

    def _learn(self, sender: int, message: Ack | Numbered) -> bool:
        number, queues = message.number, self._queues
        if number <= queues.last_number and number not in queues.numbers:
            queues.numbers[number] = message.identifier
        return super()._learn(sender, message)


class NumbersAgain(Core):
    """Wrong variable (lines 54, 61): the next number follows the highest by a turn."""

    def _pass_token(self, identifier: Identifier | None, number: int) -> None:
        turn = self._queues.highest + self.members
        super()._pass_token(identifier, min(number if number == 1 else turn, NATURAL_MAX))


class NumbersNewest(Core):
    """Wrong end of the queue (line 59): of several messages without a number the last one gets the next."""

    def sequence(self, now: float) -> bool:
        """Put the last one first."""
        waiting = self._queues.waiting()
        if self._holding and len(waiting) > 1:
            self._queues._candidates.clear()
            self._queues._candidates.extend(reversed(waiting))
        done = super().sequence(now)
        self._queues._candidates.clear()
        self._queues._candidates.extend(name for name in waiting if not self._queues.is_numbered(name))
        return done


class RenamesResentData(Core):
    """As printed (line 14): a message that is sent again gets a new identifier."""

    def _resend(self) -> bool:
        done = super()._resend()
        if done and self._pending is not None:
            renamed = self._pending._replace(id=self._pending.id + 1)
            self._outputs = [Send(send.to, _renamed(send.message, renamed)) for send in self._outputs]
        return done


class StopsAtAnyAck(Core):
    """As printed (lines 55, 62): any ACK of the successor ends the retransmission of the token."""

    def _receive_ack(self, sender: int, message: Ack) -> None:
        super()._receive_ack(sender, message)
        if sender == self.successor:
            self._passed = None


class WaitsToAsk(Core):
    """Forgotten lines 31 and 33: what an ACK shows to be missing is asked for by the timer alone."""

    def _ask_for_body(self, sender: int, message: Ack | Numbered) -> None:
        """Ask later."""


def _renamed(message: Message, name: Identifier) -> Message:
    return Data(name, message.payload) if isinstance(message, Data) else message


FAULTS: dict[str, type[Core]] = {
    "accepts-early": AcceptsEarly,
    "accepts-old-tokens": AcceptsOldTokens,
    "answers-from-last-turn": AnswersFromLastTurn,
    "asks-the-successor": AsksTheSuccessor,
    "collects-early": CollectsEarly,
    "collects-late": CollectsLate,
    "drops-late-bodies": DropsLateBodies,
    "forgets-collected": ForgetsCollected,
    "forgets-silence": ForgetsSilence,
    "keeps-null": KeepsNull,
    "keeps-token": KeepsToken,
    "learns-collected": LearnsCollected,
    "numbers-again": NumbersAgain,
    "numbers-newest": NumbersNewest,
    "renames-resent-data": RenamesResentData,
    "stops-at-any-ack": StopsAtAnyAck,
    "waits-to-ask": WaitsToAsk,
}
"""The cores that differ in a step, by name."""
