"""The core of RBP without failures, figure 16 repaired: the holder of a moving token numbers a message.

Rules of this file:
1. No clock, socket, randomness or thread: `now` comes in, messages and deliveries go out as data.
2. One public action is one atomic step, and a step never waits. The waits of the figure (lines 15, 36, 44, 45
   and 49) are states: `pending`, `arriving`, `holding`, `passed`.
3. "send to all" includes the sender: its own copy is applied inside the step; only the copies for others
   become outputs.
4. Whoever calls `receive` has checked the message's ranges (`messages.flaw`). What no correct member says (a
   second message under one number, say) is counted in `violations` and changes nothing.
5. Nothing far ahead is kept. The numbers from this process's next turn on do not exist before it gives that
   one, and a source names a message when its last one has a number: so there are fewer numbers ahead than
   members, and of each source so many identifiers and one more. This bounds what any sequence of messages can
   make a process keep beside the messages that were numbered.
6. A message makes a process send at most one message to all and NUMBERS_ASKED_MAX to one.

| figure 16                              | here                  |
|----------------------------------------|-----------------------|
| recvQ_p, seqQ_p                        | received, numbers     |
| ts_p                                   | last_number           |
| lastdelivered_p, message_id_p          | last_delivered, message_id |
| waits of lines 15; 36 and 44; 45; 49   | pending; arriving; holding; passed |

Repairs, by line: 13 the identifier is made once, before the loop; 15, 36, 49 the loops end when the number is
known, from whatever message; 18-23 a late body is stored although numbered, and the token holder answers an
old message; 20 "token holder" is the state, not the ring's constant; 25-40 `ts` moves at every process with
each number; 29, 31, 35 and 43 a request goes to the process that gave the number which shows the loss, since
it has everything up to it; 36 the wait is for at least, not exactly, that number; 37-39 an old token is
answered and not taken again; 53 the answer carries B; 61 delivery waits for the body and skips the NULL
message.

Source: Barchet-Estefanel 2002, section 3.1.3, figure 16.
"""

from __future__ import annotations

from collections import Counter

from antiphon.impl import tracing
from antiphon.impl.errors import Busy, GroupFailed
from antiphon.impl.protocols.base import TimedCore
from antiphon.impl.protocols.core import NATURAL_MAX, Delivery, Identifier, Wait, payload_copy, standing
from antiphon.impl.protocols.deadlines import Deadlines
from antiphon.impl.protocols.rbp.messages import (
    NUMBERS_ASKED_MAX,
    Ack,
    Data,
    Message,
    Numbered,
    Request,
    RequestNumbers,
)
from antiphon.impl.protocols.rbp.queues import Queues
from antiphon.impl.protocols.rbp.state import Observation, Snapshot
from antiphon.impl.protocols.rbp.timers import Timer
from antiphon.impl.protocols.rbp.violations import RbpViolation
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["Core", "Observation", "Snapshot", "Timer"]


class Core(TimedCore[Message, Timer]):
    """Process `me` of the ring 0..members-1; `antiphon.impl.protocols.core` tells a shell how to use it."""

    def __init__(
        self,
        me: int,
        members: int,
        *,
        resend_ms: float = 50.0,
        token_ms: float = 50.0,
        request_ms: float = 20.0,
        backoff_max: int = 8,
        tracer: Tracer = NULL_TRACER,
    ) -> None:
        """Lines 1-7: all empty.

        The three intervals are the first waiting times, in milliseconds, of resend, resend_token and
        repeat_request; each expiry doubles the next one up to `backoff_max` times the first (1: no back-off).

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: an interval or the back-off is not positive.
        """
        super().__init__(me, members, tracer)
        self.successor = (me + 1) % members
        self._queues = Queues()
        self._last_delivered = 0
        self._message_id = 0
        self._pending: Identifier | None = None
        self._arriving: int | None = None
        self._holding = False
        self._passed: int | None = None
        self._deadlines = Deadlines(
            {
                Timer.RESEND: resend_ms,
                Timer.RESEND_TOKEN: token_ms,
                Timer.REPEAT_REQUEST: request_ms,
            },
            backoff_max,
        )

    def start(self, now: float) -> None:
        """Lines 8-9: process 0 (the figure's p1) numbers the NULL message 1 and passes the token."""
        self._now = now
        if self.me == 0:
            self._pass_token(None, 1)

    # The application's side.

    @property
    def busy(self) -> bool:
        """Whether the own last broadcast still waits for its number, so that `broadcast` would be refused."""
        return self._pending is not None

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Lines 11-14: name the message once and send it to all.

        Raises:
            Busy: the previous broadcast has no number yet (line 15).
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        payload = payload_copy(payload)
        self._require_number_left()
        if self._pending is not None:
            raise Busy(f"{tuple(self._pending)} has no number yet; broadcast again when `busy` is false")
        self._now = now
        self._message_id += 1
        identifier = Identifier(self.me, self._message_id)
        self._queues.store(identifier, payload)
        self._pending = identifier
        self._deadlines.start(Timer.RESEND, now)
        self._to_others(Data(identifier, payload))
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        return identifier

    @property
    def deliverable(self) -> bool:
        """Whether `deliver` would do something, be it only to skip the NULL message."""
        number = self._last_delivered + 1
        if number not in self._queues.numbers:
            return False
        identifier = self._queues.numbers[number]
        return identifier is None or identifier in self._queues.received

    def deliver(self) -> Delivery | None:
        """Lines 60-63: the message with the next number, once its body is here.

        None when there is nothing to deliver, and also when the NULL message was skipped: `deliverable` tells
        which.
        """
        if not self.deliverable:
            return None
        self._last_delivered += 1
        number = self._last_delivered
        identifier = self._queues.numbers[number]
        if identifier is None:
            return None
        payload = self._queues.received[identifier]
        if self._tracer.recording:
            self._tracer.record(tracing.Deliver(self.me, identifier, number, payload))
        return Delivery(identifier.source, identifier.id, number, payload)

    def __repr__(self) -> str:
        holds = ", holds the token" if self._holding else ""
        told = f"last number {self._queues.last_number}, delivered to {self._last_delivered}{holds}"
        return f"<rbp: {told}; {standing(self)}>"

    # The ring's side: one method a message.

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle one message of another member: exactly one of the five receive actions."""
        match message:
            case Data():
                self.receive_data(sender, message, now)
            case Ack():
                self.receive_ack(sender, message, now)
            case Numbered():
                self.receive_numbered(sender, message, now)
            case Request():
                self.receive_request(sender, message, now)
            case RequestNumbers():
                self.receive_request_numbers(sender, message, now)

    def receive_data(self, sender: int, message: Data, now: float) -> None:
        """Lines 18-23: keep the body; the token holder tells the source of an old message its number.

        Line 21 answers q, from whom (m, B) came. By the text before the figure only the source repeats an old
        message, so the answer is for the source, also when this copy came from a process that was asked for
        the body.
        """
        self._now = now
        queues, identifier = self._queues, message.identifier
        if identifier not in queues.received:
            if identifier not in queues.number_of:
                kind = self._impossible(identifier, queues.last_number + self._ahead() + 1)
                if kind is not None:
                    self._violated(kind, sender, message)
                    return
            queues.store(identifier, message.payload)
            self._watch(now)
        elif queues.received[identifier] != message.payload:
            self._violated(RbpViolation.TWO_PAYLOADS, sender, message)
            return
        if self._holding and identifier in queues.number_of and identifier.source != self.me:
            self._to(identifier.source, Numbered(identifier, queues.number_of[identifier]))

    def receive_ack(self, sender: int, message: Ack, now: float) -> None:
        """Lines 25-44: learn the number, ask for what is missing, and take the token if it is new and ours.

        An old token (lines 38-39) is one that this process has accepted already. Its sender gets the next
        numbers, of which it knows none.
        """
        self._now = now
        number = message.number
        if sender != self._sequencer(number) or message.next_holder != self._sequencer(number + 1):
            self._violated(RbpViolation.OUT_OF_TURN, sender, message)
            return
        if not self._learn(sender, message):
            return
        queues = self._queues
        if message.next_holder == self.me:
            if self._holding or queues.highest > number:
                for known in queues.known_numbers(number + 1, number + NUMBERS_ASKED_MAX):
                    self._to(sender, Numbered(queues.numbers[known], known))
                return
            self._arriving = number
        if queues.last_number < number:
            self._to(sender, self._missing_numbers(number))
        if message.identifier is not None and message.identifier not in queues.received:
            self._to(sender, Request(message.identifier))

    def receive_numbered(self, sender: int, message: Numbered, now: float) -> None:
        """Learn a number told again; the figure sends it (lines 21 and 57) and lacks this handler.

        Who has got all the numbers that it asked for, and misses more, asks for the next ones.
        """
        self._now = now
        queues = self._queues
        before = queues.last_number
        self._learn(sender, message)
        if before // NUMBERS_ASKED_MAX < queues.last_number // NUMBERS_ASKED_MAX and queues.gap:
            self._ask(queues.highest, self._missing_numbers(queues.highest))

    def receive_request(self, sender: int, message: Request, now: float) -> None:
        """Lines 51-53: send the body, with its identifier, to who asks."""
        self._now = now
        payload = self._queues.received.get(message.identifier)
        if payload is not None:
            self._to(sender, Data(message.identifier, payload))

    def receive_request_numbers(self, sender: int, message: RequestNumbers, now: float) -> None:
        """Lines 55-57: send every known number of the range, both ends included, to who asks."""
        self._now = now
        for number in self._queues.known_numbers(message.first, message.last):
            self._to(sender, Numbered(self._queues.numbers[number], number))

    # The token.

    def accept(self, now: float) -> bool:
        """Lines 36 and 44: take the arriving token once all up to its number, bodies too, is here."""
        self._now = now
        if self._arriving is None or not self._queues.complete_to(self._arriving):
            return False
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, "accept", number=self._arriving))
        self._arriving = None
        self._holding = True
        return True

    def sequence(self, now: float) -> bool:
        """Lines 45-48: the holder numbers the first message without a number, and passes the token."""
        self._now = now
        if not self._holding or self._queues.last_number == NATURAL_MAX:
            return False
        identifier = self._queues.first_unnumbered()
        if identifier is None:
            return False
        self._holding = False
        self._pass_token(identifier, self._queues.last_number + 1)
        return True

    def settle(self, now: float) -> list[Delivery]:
        """Accept, sequence and deliver until none of them does anything; the deliveries in their order."""
        while self.accept(now) or self.sequence(now):
            pass
        deliveries = []
        while self.deliverable:
            delivery = self.deliver()
            if delivery is not None:
                deliveries.append(delivery)
        return deliveries

    # Time.

    def expire(self, timer: Timer, now: float) -> bool:
        """Send again what `timer` waits for, whatever its deadline; False if it waits for nothing.

        Raises:
            GroupFailed: it is a message for which no number is left.
        """
        self._now = now
        match timer:
            case Timer.RESEND:
                done = self._resend()
            case Timer.RESEND_TOKEN:
                done = self._resend_token()
            case Timer.REPEAT_REQUEST:
                done = self._repeat_request()
        if done:
            self._deadlines.put_off(timer, now)
            if self._tracer.recording:
                self._tracer.record(tracing.Step(self.me, timer.value))
        return done

    # Looking at a core from outside.

    @property
    def progress(self) -> int:
        """How many numbers and bodies there are."""
        return len(self._queues.numbers) + len(self._queues.received)

    def waits(self) -> tuple[Wait, ...]:
        """The first missing number, the missing bodies, and the number of the first message that has none."""
        queues = self._queues
        waits = []
        if queues.gap:
            waits.append(Wait(f"number {queues.last_number + 1}", self._sequencer(queues.highest)))
        for name in queues.missing_bodies():
            waits.append(
                Wait(f"the body of message {name.source}:{name.id}", self._sequencer(queues.highest))
            )
        first = queues.first_unnumbered()
        if first is not None and not self._holding:
            what = f"a number after {queues.highest} for message {first.source}:{first.id}"
            sequencer = self._sequencer(queues.highest + 1)
            if sequencer == self.me:
                what, sequencer = f"the token of number {queues.highest}", self._sequencer(queues.highest)
            waits.append(Wait(what, sequencer))
        return tuple(waits)

    def observe(self) -> Observation:
        """A copy of every state variable."""
        return Observation(
            received=tuple((_pair(name), body) for name, body in self._queues.received.items()),
            numbers={
                number: None if name is None else _pair(name)
                for number, name in sorted(self._queues.numbers.items())
            },
            last_number=self._queues.last_number,
            last_delivered=self._last_delivered,
            message_id=self._message_id,
            pending=None if self._pending is None else _pair(self._pending),
            arriving=self._arriving,
            holding=self._holding,
            passed=self._passed,
        )

    def snapshot(self) -> Snapshot:
        """The whole state; deadlines are relative to the latest `now` that the core was given."""
        return Snapshot(
            tuple(self._queues.received.items()),
            tuple(sorted(self._queues.numbers.items())),
            self._last_delivered,
            self._message_id,
            self._pending,
            self._arriving,
            self._holding,
            self._passed,
            self._deadlines.relative(self._now),
            tuple(self._outputs),
            tuple(sorted(self._violations.items())),
        )

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Become what `snapshot` was taken of, as if that had been at `now`; parameters and tracer stay."""
        self._now = now
        self._queues = Queues.of(snapshot.received, snapshot.numbers)
        self._last_delivered = snapshot.last_delivered
        self._message_id = snapshot.message_id
        self._pending = snapshot.pending
        self._arriving = snapshot.arriving
        self._holding = snapshot.holding
        self._passed = snapshot.passed
        self._deadlines.resume(snapshot.timers, now)
        self._outputs = list(snapshot.outputs)
        self._violations = Counter(dict(snapshot.violations))

    # Helpers.

    def _sequencer(self, number: int) -> int:
        """Who gives this number: members give one each in turn, process 0 the first."""
        return (number - 1) % self.members

    def _ask(self, number: int, request: Request | RequestNumbers) -> None:
        """Send a request to who gave `number`."""
        sequencer = self._sequencer(number)
        if sequencer != self.me:
            self._to(sequencer, request)

    def _learn(self, sender: int, message: Ack | Numbered) -> bool:
        """Line 26: put the assignment among the numbers, once; False when it cannot be true."""
        identifier, number = message.identifier, message.number
        if self._queues.knows(identifier, number):
            return True
        kind = self._queues.conflict(identifier, number)
        beyond = number - self._queues.last_number - self._ahead()
        if kind is None and beyond > 0:
            kind = RbpViolation.SECOND_TOKEN if beyond == 1 else RbpViolation.NUMBER_AHEAD
        if kind is None and identifier is not None:
            kind = self._impossible(identifier, number)
        if kind is not None:
            self._violated(kind, sender, message)
            return False
        self._record(identifier, number)
        return True

    def _record(self, identifier: Identifier | None, number: int) -> None:
        """Add a true assignment, and end the waits that end with it (lines 15 and 49)."""
        self._queues.record(identifier, number)
        if identifier is not None and identifier == self._pending:
            self._pending = None
            self._deadlines.stop(Timer.RESEND)
        if self._passed is not None:  # who passed the token knew all numbers up to its own: this one is later
            self._passed = None
            self._deadlines.stop(Timer.RESEND_TOKEN)
        self._watch(self._now)

    def _pass_token(self, identifier: Identifier | None, number: int) -> None:
        """Lines 9 and 48: one ACK to all, the own copy at once."""
        self._record(identifier, number)
        self._passed = number
        self._deadlines.start(Timer.RESEND_TOKEN, self._now)
        self._to_others(Ack(identifier, number, self.successor))
        if self._tracer.recording and identifier is not None:
            self._tracer.record(tracing.Step(self.me, "sequence", identifier, number))

    def _require_number_left(self) -> None:
        if self._queues.highest == NATURAL_MAX:
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")

    def _ahead(self) -> int:
        """How many numbers after `last_number` there may be: those before this process's next turn."""
        return (self.me - self._queues.last_number) % self.members

    def _impossible(self, identifier: Identifier, number: int) -> RbpViolation | None:
        """Why there can be no such message without a number, or with this one; None if there can.

        A source gives its messages their identifiers one by one, the next when the last has a number.
        """
        queues, source = self._queues, identifier.source
        if source == self.me and identifier.id > self._message_id:
            return RbpViolation.NEVER_BROADCAST
        if not 1 <= identifier.id - queues.numbered[source] <= number - queues.last_number:
            return RbpViolation.IDENTIFIER_AHEAD
        return None

    def _missing_numbers(self, last: int) -> RequestNumbers:
        """Line 29: the question for what is missing up to the number `last`, or for the first part of it.

        The parts end at multiples of NUMBERS_ASKED_MAX, so that each is asked for once.
        """
        first = self._queues.last_number + 1
        end = -(-first // NUMBERS_ASKED_MAX) * NUMBERS_ASKED_MAX
        return RequestNumbers(first, min(end, last))

    def _resend(self) -> bool:
        """Lines 12-15."""
        if self._pending is None:
            return False
        self._require_number_left()
        self._to_others(Data(self._pending, self._queues.received[self._pending]))
        return True

    def _resend_token(self) -> bool:
        """Lines 47-49."""
        if self._passed is None:
            return False
        self._to_others(Ack(self._queues.numbers[self._passed], self._passed, self.successor))
        return True

    def _repeat_request(self) -> bool:
        """Lines 34-36 and 42-44, at every process that misses something."""
        queues = self._queues
        if not queues.incomplete:
            return False
        if queues.gap:
            self._ask(queues.highest, self._missing_numbers(queues.highest))
        for identifier in queues.missing_bodies():
            self._ask(queues.highest, Request(identifier))
        return True

    def _watch(self, now: float) -> None:
        if self._queues.incomplete:
            self._deadlines.start(Timer.REPEAT_REQUEST, now)
        else:
            self._deadlines.stop(Timer.REPEAT_REQUEST)


def _pair(identifier: Identifier) -> tuple[int, int]:
    return (identifier.source, identifier.id)
