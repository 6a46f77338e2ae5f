"""Planted faults in implementations of the ring, each a core with one mistake.

| table | differs from | found by |
|--------------------|-----------------|----------------------------------------|
| `FAULTS` | figure 16 | `antiphon lockstep rbp --fault NAME` |
| `RESILIENT_FAULTS` | figure 25 | `antiphon lockstep rbp-resilient --fault NAME` |
| `SIZE_FAULTS` | figure 16, with several messages | `antiphon stateful rbp --fault NAME` |
| `TIME_FAULTS` | stated times, after a while | `check_times`, on simulated clocks |

All were written before any check was run against them. "As printed" marks the behaviour of a figure that a
repair of its specification changes. Lines of figure 25 follow after a semicolon.
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
    """Planted fault in RBP (lines 36, 44), forgotten guard: the token is accepted although numbers or bodies
    are missing. Correct: it waits for them.
    """

    def accept(self, now: float) -> bool:
        """Accept every token that arrives."""
        self._now = now
        if self._arriving is None:
            return False
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, "accept", number=self._arriving))
        self._arriving, self._holding = None, True
        return True


class AcceptsOldTokens(Core):
    """Planted fault in RBP (line 38; as printed, 44), wrong comparison: a token that was accepted before is
    accepted again. Correct: it is ignored.
    """

    def _receive_ack(self, sender: int, message: Ack) -> None:
        old = message.next_holder == self.me and self._queues.highest > message.number
        super()._receive_ack(sender, message)
        if old:
            self._arriving = message.number


class AnswersOneLess(Core):
    """Planted fault in RBP (line 56), off by one: the last requested number is not answered, as in figure 12.
    Correct: it is.
    """

    def _receive_request_numbers(self, sender: int, message: RequestNumbers) -> None:
        for number in self._queues.known_numbers(message.first, message.last - 1):
            self._to(sender, Numbered(self._queues.numbers[number], number))


class DeliversWithoutBody(Core):
    """Planted fault in RBP (line 61), forgotten guard: a message counts as delivered with its number alone.
    Correct: its body is needed.
    """

    @property
    def deliverable(self) -> bool:
        """Return True if the next number is known."""
        return self._last_delivered + 1 in self._queues.numbers

    def deliver(self) -> Delivery | None:
        """Deliver, and skip a message whose body is missing."""
        if Core.deliverable.fget(self):  # type: ignore[attr-defined]
            return super().deliver()
        if self.deliverable:
            self._last_delivered += 1
        return None


class ForgetsResentData(Core):
    """Planted fault in RBP (lines 12-15), lost retransmission: the timer of a broadcast sends nothing.
    Correct: it sends the message again.
    """

    def expire(self, timer: Timer, now: float) -> bool:
        """Let the timer of a broadcast expire without sending the message."""
        done = super().expire(timer, now)
        if timer is Timer.RESEND:
            self._outputs.clear()
        return done


class KeepsToken(Core):
    """Planted fault in RBP (line 48; 61), forgotten update: a process that numbered a message still holds the
    token. Correct: it does not.
    """

    def sequence(self, now: float) -> bool:
        """Assign a number, and keep the token."""
        done = super().sequence(now)
        self._holding = self._holding or done
        self._watch()
        return done


class NumbersFromHighest(Core):
    """Planted fault in RBP (line 48), wrong variable: the next number is the highest known number plus two.
    Correct: plus one.
    """

    def sequence(self, now: float) -> bool:
        """Assign a number after leaving one out."""
        self._now = now
        identifier = self._queues.first_unnumbered()
        if not self._holding or identifier is None:
            return False
        self._holding = False
        self._pass_token(identifier, self._queues.highest + 2)
        self._watch()
        return True


class RenamesResentData(Core):
    """Planted fault in RBP (line 13), the paper's own mistake: a message that is sent again gets a new
    identifier. Correct: it has the old one.
    """

    def expire(self, timer: Timer, now: float) -> bool:
        """Send a broadcast again under the next identifier."""
        done = super().expire(timer, now)
        if done and timer is Timer.RESEND and self._pending is not None:
            self._message_id += 1
            renamed = self._pending._replace(id=self._message_id)
            payload = self._queues.received[self._pending]
            self._outputs = [Send(send.to, Data(renamed, payload)) for send in self._outputs]
        return done


class DropsLateBodies(Core):
    """Planted fault in RBP (line 22; as printed, 20-24), misread branch: a body that arrives after its number
    is not stored. Correct: it is.
    """

    def _receive_data(self, sender: int, message: Data) -> None:
        if message.identifier not in self._queues.number_of:
            super()._receive_data(sender, message)


class StopsAtAnyNumber(Core):
    """Planted fault in RBP (line 49), wrong condition: any number that is heard ends the retransmission of
    the token. Correct: only the successor's does.
    """

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
    """Planted fault in RBP (line 46), wrong end of the queue: the newest message without a number is numbered
    next. Correct: the oldest is.
    """

    def sequence(self, now: float) -> bool:
        """Put the newest message first, and assign the number."""
        waiting = [name for name in self._queues._candidates if name not in self._queues.number_of]
        if self._holding and waiting:
            self._queues._candidates.remove(waiting[-1])
            self._queues._candidates.appendleft(waiting[-1])
        return super().sequence(now)


class AnswersFirst(Core):
    """Planted fault in RBP (lines 56-57), forgotten loop: only the first requested number is answered.
    Correct: all are.
    """

    def _receive_request_numbers(self, sender: int, message: RequestNumbers) -> None:
        super()._receive_request_numbers(sender, RequestNumbers(message.first, message.first))


class _OneStepQueues(Queues):
    def record(self, identifier: Identifier | None, number: int) -> None:
        before = self.last_number
        super().record(identifier, number)
        self._beyond.update(range(before + 2, self.last_number + 1))
        self.last_number = min(self.last_number, before + 1)


class MovesOneNumber(Core):
    """Planted fault in RBP (lines 36, 40), `if` for `while`: a number that fills a gap does not move the
    numbers beyond the gap. Correct: it does.
    """

    def __init__(
        self, me: int, members: int, settings: Settings = FIGURE_16, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Use queues that move one number at a time."""
        super().__init__(me, members, settings, tracer=tracer)
        self._queues = _OneStepQueues(members)


SIZE_FAULTS: dict[str, type[Core]] = {
    "answers-first": AnswersFirst,
    "moves-one-number": MovesOneNumber,
    "numbers-newest": NumbersNewest,
}
"""Faulty cores that differ when there are several messages, by name."""


class LosesIdleToken(Core):
    """Planted fault in RBP, loss by time: a token that was held for five seconds without a message is lost.
    Correct: it stays.
    """

    _since: float | None = None

    def settle(self, now: float) -> list[Delivery]:
        """Drop a token that was held for five seconds."""
        if not self._holding:
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since > 5_000.0:
            self._holding = False
        return super().settle(now)


class GivesUpBroadcast(Core):
    """Planted fault in RBP, bounded retries: a message is sent again twenty times at most. Correct: until it
    has a number.
    """

    _rounds = 0

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Broadcast, and reset the count of retries."""
        self._rounds = 0
        return super().broadcast(payload, now)

    def expire(self, timer: Timer, now: float) -> bool:
        """Let the timer expire without sending after twenty rounds."""
        if timer is Timer.RESEND:
            self._rounds += 1
            if self._rounds > 20:
                self._deadlines.stop(timer)
                return False
        return super().expire(timer, now)


class BacksOffWithoutBound(Core):
    """Planted fault in RBP, forgotten bound: every expiry doubles the waiting time without bound. Correct:
    there is a largest waiting time.
    """

    def __init__(
        self, me: int, members: int, settings: Settings = FIGURE_16, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Set no largest waiting time."""
        super().__init__(me, members, replace(settings, backoff_max=2**40), tracer=tracer)


class TakesOldTime(Core):
    """Planted fault in RBP, stale time: timers that a message starts count from the last tick or broadcast.
    Correct: from its arrival.
    """

    _latest = 0.0

    def tick(self, now: float) -> None:
        """Record the time, and run the timers."""
        self._latest = now
        super().tick(now)

    def settle(self, now: float) -> list[Delivery]:
        """Start timers at the recorded time."""
        return super().settle(min(self._latest, now))


class ReadsWallClock(Core):
    """Planted fault in RBP, wrong clock: timers that a message starts count by the machine's wall clock.
    Correct: by the time that is passed in.
    """

    def settle(self, now: float) -> list[Delivery]:
        """Start timers at the wall clock's time."""
        return super().settle(now + time.time() * 1_000.0)


class SwallowsSecondTimer(Core):
    """Planted fault in RBP, early return: of several timers that are due only the first runs. Correct: all
    run.
    """

    def tick(self, now: float) -> None:
        """Run the first due timer, and postpone the others."""
        self._now = now
        for position, timer in enumerate(self._deadlines.due(now)):
            if position == 0:
                self.expire(timer, now)
            else:
                self._deadlines.put_off(timer, now)


class MakesUpForLostTime(Core):
    """Planted fault in RBP, catching up: a timer expires once for every interval since it was due. Correct:
    it expires once.
    """

    def tick(self, now: float) -> None:
        """Let timers expire repeatedly, up to a thousand times."""
        deadline = self.next_deadline()
        super().tick(now)
        if deadline is not None:
            for _ in range(min(int((now - deadline) / 50.0), 1_000)):
                for timer in Timer:
                    self.expire(timer, now)


class WaitsToSequence(Core):
    """Planted fault in RBP, batching: a holder waits ten milliseconds for more messages before it assigns a
    number. Correct: it assigns it at once.
    """

    _since: float | None = None

    def sequence(self, now: float) -> bool:
        """Assign a number after the waiting time."""
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
"""Faulty cores that differ after a while, by name."""


class AcceptsByOwnBody(Core):
    """Planted fault in RBP (as printed, line 48): a token waits for the body of the message that it numbers.
    Correct: also for earlier bodies.
    """

    def accept(self, now: float) -> bool:
        """Accept the token when the body of its message is here."""
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
    """Planted fault in RBP (line 68), forgotten case: only requested numbers of the last turn are answered.
    Correct: all known ones are.
    """

    def _receive_request_numbers(self, sender: int, message: RequestNumbers) -> None:
        first = max(message.first, self._queues.highest - self.members + 1)
        super()._receive_request_numbers(sender, RequestNumbers(first, max(first, message.last)))


class AsksTheSuccessor(Core):
    """Planted fault in RBP (lines 37, 47), wrong process: missing messages are requested from the successor.
    Correct: from the token's sender.
    """

    def _ask(self, number: int, request: Request | RequestNumbers) -> None:
        del number
        self._to(self.successor, request)


class CollectsEarly(Core):
    """Planted fault in RBP (line 75), off by one: a message is stable when all processes but one have it.
    Correct: when all have it.
    """

    def _collectable(self, number: int) -> bool:
        self.ring -= 1
        early = super()._collectable(number)
        self.ring += 1
        return early


class CollectsLate(Core):
    """Planted fault in RBP (as printed, line 75): `<` keeps a stable message for one more number. Correct:
    `<=`.
    """

    def _collectable(self, number: int) -> bool:
        return number < self._queues.last_number - self.ring + 1 and super()._collectable(number)


class ForgetsCollected(Core):
    """Planted fault in RBP (as printed, line 20): a deleted stable message that arrives again is taken for a
    new one. Correct: it is recognised.
    """

    def _receive_data(self, sender: int, message: Data) -> None:
        queues, source = self._queues, message.identifier.source
        if queues.is_collected(message.identifier):
            queues.store(message.identifier, message.payload)
            queues.numbered[source] = message.identifier.id - 1
        else:
            super()._receive_data(sender, message)


class ForgetsSilence(Core):
    """Planted fault in RBP (line 51), forgotten timeout: a holder with all delivered and nothing to number
    keeps the token. Correct: it passes it.
    """

    def _passes_silently(self) -> Timer | None:
        timer = super()._passes_silently()
        return None if timer is Timer.PASS_NULL else timer


class KeepsNull(Core):
    """Planted fault in RBP (as printed, line 74): NULL has no body, and so never becomes stable. Correct: it
    does.
    """

    def _collectable(self, number: int) -> bool:
        return self._queues.numbers.get(number) is not None and super()._collectable(number)


class LearnsCollected(Core):
    """Planted fault in RBP (as printed, line 26): a number whose message was deleted as stable is stored
    again. Correct: it is ignored.
    """

    def _learn(self, sender: int, message: Ack | Numbered) -> bool:
        number, queues = message.number, self._queues
        if number <= queues.last_number and number not in queues.numbers:
            queues.numbers[number] = message.identifier
        return super()._learn(sender, message)


class NumbersAgain(Core):
    """Planted fault in RBP (lines 54, 61), wrong variable: the next number exceeds the highest by a whole
    turn. Correct: by one.
    """

    def _pass_token(self, identifier: Identifier | None, number: int) -> None:
        turn = self._queues.highest + self.members
        super()._pass_token(identifier, min(number if number == 1 else turn, NATURAL_MAX))


class NumbersLastCome(Core):
    """Planted fault in RBP (line 59), wrong end of the queue: the newest message without a number is numbered
    next. Correct: the oldest is.
    """

    def sequence(self, now: float) -> bool:
        """Put the newest message first, and assign the number."""
        waiting = self._queues.waiting()
        if self._holding and len(waiting) > 1:
            self._queues._candidates.clear()
            self._queues._candidates.extend(reversed(waiting))
        done = super().sequence(now)
        self._queues._candidates.clear()
        self._queues._candidates.extend(name for name in waiting if not self._queues.is_numbered(name))
        return done


class RenamesUncounted(Core):
    """Planted fault in RBP (as printed, line 14): a message that is sent again gets a new identifier.
    Correct: it has the old one.
    """

    def _resend(self) -> bool:
        done = super()._resend()
        if done and self._pending is not None:
            renamed = self._pending._replace(id=self._pending.id + 1)
            self._outputs = [Send(send.to, _renamed(send.message, renamed)) for send in self._outputs]
        return done


class StopsAtAnyAck(Core):
    """Planted fault in RBP (as printed, lines 55, 62): any ACK of the successor ends the retransmission of
    the token. Correct: only one that shows it has the token.
    """

    def _receive_ack(self, sender: int, message: Ack) -> None:
        super()._receive_ack(sender, message)
        if sender == self.successor:
            self._passed = None


class WaitsToAsk(Core):
    """Planted fault in RBP (lines 31 and 33 left out): a message that an ACK shows to be missing is requested
    by the timer alone. Correct: at once.
    """

    def _ask_for_body(self, sender: int, message: Ack | Numbered) -> None:
        """Request no body when an ACK arrives; the timer requests it later."""


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
"""Faulty cores with stability that differ in a step from figure 25, by name."""
