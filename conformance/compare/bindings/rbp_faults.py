"""Plausible mistakes in an implementation of the ring, each a core with one thing wrong.

Those of `FAULTS` differ from figure 16 in one step, and those of `RESILIENT_FAULTS` from figure 25: `antiphon
lockstep rbp --fault NAME` shows the shortest trace, and so does it of `rbp-resilient`. Those of `SIZE_FAULTS`
need several messages: `antiphon stateful rbp --fault NAME` finds them. Those of `TIME_FAULTS` show only after
seconds or minutes: `check_times` finds them on simulated clocks. All were written down before anything was
run against them. "As printed" is what a figure says and a repair of its specification changes. Lines of
figure 25 follow after a semicolon.
"""

from __future__ import annotations

import time

from msgspec.structs import replace

from antiphon.impl import tracing
from antiphon.impl.protocols.core import NATURAL_MAX, Delivery, Identifier, Send
from antiphon.impl.protocols.rbp import FIGURE_16, Core, Settings, Timer
from antiphon.impl.protocols.rbp.messages import Ack, Data, Message, Numbered, Request, RequestNumbers
from antiphon.impl.protocols.rbp.queues import Queues
from antiphon.impl.tracing import NULL_TRACER, Tracer


class AcceptsEarly(Core):
    """Forgotten guard (lines 36, 44): the token is accepted although numbers or bodies are missing."""

    def accept(self, now: float) -> bool:
        """Accept whatever arrives."""
        self._now = now
        if self._arriving is None:
            return False
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, "accept", number=self._arriving))
        self._arriving, self._holding = None, True
        return True


class AcceptsOldTokens(Core):
    """Wrong comparison (line 38; as printed, 44): a token that was accepted before is taken again."""

    def _receive_ack(self, sender: int, message: Ack) -> None:
        old = message.next_holder == self.me and self._queues.highest > message.number
        super()._receive_ack(sender, message)
        if old:
            self._arriving = message.number


class AnswersOneLess(Core):
    """Off by one (line 56): the last number asked for is left out, as figure 12 has it."""

    def _receive_request_numbers(self, sender: int, message: RequestNumbers) -> None:
        for number in self._queues.known_numbers(message.first, message.last - 1):
            self._to(sender, Numbered(self._queues.numbers[number], number))


class DeliversWithoutBody(Core):
    """Forgotten guard (line 61): the number alone makes a message count as delivered."""

    @property
    def deliverable(self) -> bool:
        """Return True if the next number is known."""
        return self._last_delivered + 1 in self._queues.numbers

    def deliver(self) -> Delivery | None:
        """Skip a message that is not there."""
        if Core.deliverable.fget(self):  # type: ignore[attr-defined]
            return super().deliver()
        if self.deliverable:
            self._last_delivered += 1
        return None


class ForgetsResentData(Core):
    """Lost retransmission (lines 12-15): the timer of a broadcast sends nothing."""

    def expire(self, timer: Timer, now: float) -> bool:
        """Expire without sending."""
        done = super().expire(timer, now)
        if timer is Timer.RESEND:
            self._outputs.clear()
        return done


class KeepsToken(Core):
    """Forgotten update (line 48; 61): a process that numbered a message still holds the token."""

    def sequence(self, now: float) -> bool:
        """Number, and keep the token."""
        done = super().sequence(now)
        self._holding = self._holding or done
        self._watch()
        return done


class NumbersFromHighest(Core):
    """Wrong variable (line 48): the next number follows the highest known number plus one."""

    def sequence(self, now: float) -> bool:
        """Leave a number out."""
        self._now = now
        identifier = self._queues.first_unnumbered()
        if not self._holding or identifier is None:
            return False
        self._holding = False
        self._pass_token(identifier, self._queues.highest + 2)
        self._watch()
        return True


class RenamesResentData(Core):
    """The paper's own mistake (line 13): a message that is sent again gets a new identifier."""

    def expire(self, timer: Timer, now: float) -> bool:
        """Count the identifier up in every round."""
        done = super().expire(timer, now)
        if done and timer is Timer.RESEND and self._pending is not None:
            self._message_id += 1
            renamed = self._pending._replace(id=self._message_id)
            payload = self._queues.received[self._pending]
            self._outputs = [Send(send.to, Data(renamed, payload)) for send in self._outputs]
        return done


class DropsLateBodies(Core):
    """Misread branch (line 22; as printed, 20-24): a body that comes after its number is not stored."""

    def _receive_data(self, sender: int, message: Data) -> None:
        if message.identifier not in self._queues.number_of:
            super()._receive_data(sender, message)


class StopsAtAnyNumber(Core):
    """Wrong condition (line 49): hearing any number again ends the retransmission of the token."""

    def _receive_numbered(self, sender: int, message: Numbered) -> None:
        super()._receive_numbered(sender, message)
        self._passed = None


FAULTS: dict[str, type[Core]] = {
    "accepts-early": AcceptsEarly,
    "accepts-old-tokens": AcceptsOldTokens,
    "answers-one-less": AnswersOneLess,
    "delivers-without-body": DeliversWithoutBody,
    "drops-late-bodies": DropsLateBodies,
    "forgets-resent-data": ForgetsResentData,
    "keeps-token": KeepsToken,
    "numbers-from-highest": NumbersFromHighest,
    "renames-resent-data": RenamesResentData,
    "stops-at-any-number": StopsAtAnyNumber,
}
"""The cores that differ in a step, by name."""


class NumbersNewest(Core):
    """Wrong end of the queue (line 46): of several messages without a number the last one gets the next."""

    def sequence(self, now: float) -> bool:
        """Put the last one first."""
        waiting = [name for name in self._queues._candidates if name not in self._queues.number_of]
        if self._holding and waiting:
            self._queues._candidates.remove(waiting[-1])
            self._queues._candidates.appendleft(waiting[-1])
        return super().sequence(now)


class AnswersFirst(Core):
    """Forgotten loop (lines 56-57): of the numbers asked for only the first is told."""

    def _receive_request_numbers(self, sender: int, message: RequestNumbers) -> None:
        super()._receive_request_numbers(sender, RequestNumbers(message.first, message.first))


class _OneStepQueues(Queues):
    def record(self, identifier: Identifier | None, number: int) -> None:
        before = self.last_number
        super().record(identifier, number)
        self._beyond.update(range(before + 2, self.last_number + 1))
        self.last_number = min(self.last_number, before + 1)


class MovesOneNumber(Core):
    """`if` for `while` (lines 36, 40): a number that fills a gap does not bring the numbers beyond it."""

    def __init__(
        self, me: int, members: int, settings: Settings = FIGURE_16, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Keep such queues."""
        super().__init__(me, members, settings, tracer=tracer)
        self._queues = _OneStepQueues(members)


SIZE_FAULTS: dict[str, type[Core]] = {
    "answers-first": AnswersFirst,
    "moves-one-number": MovesOneNumber,
    "numbers-newest": NumbersNewest,
}
"""The cores that differ when there are several messages, by name."""


class LosesIdleToken(Core):
    """Forgotten by time: a token that was held for five seconds without a message is gone."""

    _since: float | None = None

    def settle(self, now: float) -> list[Delivery]:
        """Drop an old token."""
        if not self._holding:
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since > 5_000.0:
            self._holding = False
        return super().settle(now)


class GivesUpBroadcast(Core):
    """Impatience: a message that was sent again twenty times is not sent any more."""

    _rounds = 0

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Count anew."""
        self._rounds = 0
        return super().broadcast(payload, now)

    def expire(self, timer: Timer, now: float) -> bool:
        """Stop after twenty rounds."""
        if timer is Timer.RESEND:
            self._rounds += 1
            if self._rounds > 20:
                self._deadlines.stop(timer)
                return False
        return super().expire(timer, now)


class BacksOffWithoutBound(Core):
    """Forgotten bound: every expiry doubles the waiting time."""

    def __init__(
        self, me: int, members: int, settings: Settings = FIGURE_16, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Back off for ever."""
        super().__init__(me, members, replace(settings, backoff_max=2**40), tracer=tracer)


class TakesOldTime(Core):
    """Stale time: what a message sets off counts from the last tick or broadcast."""

    _latest = 0.0

    def tick(self, now: float) -> None:
        """Look at the clock."""
        self._latest = now
        super().tick(now)

    def settle(self, now: float) -> list[Delivery]:
        """Look at the clock of the last tick."""
        return super().settle(min(self._latest, now))


class ReadsWallClock(Core):
    """Another clock: what a message sets off counts by the machine's time."""

    def settle(self, now: float) -> list[Delivery]:
        """Look at the wrong clock."""
        return super().settle(now + time.time() * 1_000.0)


class SwallowsSecondTimer(Core):
    """Early return: of the timers that are due together only the first one does something."""

    def tick(self, now: float) -> None:
        """Put the others off."""
        self._now = now
        for position, timer in enumerate(self._deadlines.due(now)):
            if position == 0:
                self.expire(timer, now)
            else:
                self._deadlines.put_off(timer, now)


class MakesUpForLostTime(Core):
    """Catching up: a timer expires once for every interval that passed since it was due."""

    def tick(self, now: float) -> None:
        """Expire again and again, up to a thousand times."""
        deadline = self.next_deadline()
        super().tick(now)
        if deadline is not None:
            for _ in range(min(int((now - deadline) / 50.0), 1_000)):
                for timer in Timer:
                    self.expire(timer, now)


class WaitsToSequence(Core):
    """Batching: a holder waits ten milliseconds for more messages before it gives a number."""

    _since: float | None = None

    def sequence(self, now: float) -> bool:
        """Wait."""
        if not self._holding or self._queues.first_unnumbered() is None:
            return super().sequence(now)
        if self._since is None:
            self._since = now
        if now < self._since + 10.0:
            return False
        self._since = None
        return super().sequence(now)

    def next_deadline(self) -> float | None:
        """Return the time at which the waiting ends."""
        waits = [super().next_deadline(), None if self._since is None else self._since + 10.0]
        return min((deadline for deadline in waits if deadline is not None), default=None)


TIME_FAULTS: dict[str, type[Core]] = {
    "backs-off-without-bound": BacksOffWithoutBound,
    "gives-up-broadcast": GivesUpBroadcast,
    "loses-idle-token": LosesIdleToken,
    "makes-up-for-lost-time": MakesUpForLostTime,
    "reads-wall-clock": ReadsWallClock,
    "swallows-second-timer": SwallowsSecondTimer,
    "takes-old-time": TakesOldTime,
    "waits-to-sequence": WaitsToSequence,
}
"""The cores that differ after a while, by name."""


class AcceptsByOwnBody(Core):
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
        self.ring -= 1
        early = super()._collectable(number)
        self.ring += 1
        return early


class CollectsLate(Core):
    """As printed (line 75): `<`, so that what all have is kept for one more number."""

    def _collectable(self, number: int) -> bool:
        return number < self._queues.last_number - self.ring + 1 and super()._collectable(number)


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


class NumbersLastCome(Core):
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


class RenamesUncounted(Core):
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


RESILIENT_FAULTS: dict[str, type[Core]] = {
    "accepts-early": AcceptsByOwnBody,
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
    "numbers-newest": NumbersLastCome,
    "renames-resent-data": RenamesUncounted,
    "stops-at-any-ack": StopsAtAnyAck,
    "waits-to-ask": WaitsToAsk,
}
"""The cores with stability that differ in a step from figure 25, by name."""
