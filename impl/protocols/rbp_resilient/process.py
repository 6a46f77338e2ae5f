"""The core of RBP with stability, figure 25 repaired: the token goes round, so that all know who has what.

Who passes the token with number k has every message up to k. The token names one member after the other, so
whoever knows the numbers up to ts knows that r members have every message up to ts - r + 1, and all n have
those up to ts - n + 1. A message is delivered when `resilience` members have it, and forgotten when all do.

Rules of this file:
1. No clock, socket, randomness or thread: `now` comes in, messages and deliveries go out as data.
2. One public action is one atomic step, and a step never waits. The waits of the figure (lines 16, 38, 48,
   51, 55 and 62) are states: `pending`, `arriving`, `holding`, `passed`.
3. "send to all" includes the sender: its own copy is applied inside the step; only the copies for others
   become outputs.
4. Whoever calls `receive` has checked the message's ranges (`messages.flaw`). What no correct member says (a
   second message under one number, say) is counted in `violations` and changes nothing.
5. Nothing far ahead is kept, as in figure 16's core, and nothing that all members have. So a process keeps
   the numbers of two turns of the token at most, with their bodies, and of each source no more messages
   without a number than there are members.
6. A message makes a process send at most NUMBERS_ASKED_MAX messages to one.

| figure 25                                  | here                                     |
|--------------------------------------------|------------------------------------------|
| recvQ_p, seqQ_p, stableQ_p                 | received, numbers, stable                |
| ts_p                                       | last_number                              |
| lastdelivered_p, message id_p              | last_delivered, message_id               |
| waits of lines 16; 38 and 48; 51; 55 and 62 | pending; arriving; holding; passed      |
| timeout of line 51                         | the timers pass_on and pass_null         |
| failure(q), ActivityFailure                | `waits`: what should come, and from whom |
| TL_p                                       | the group, which keeps its members       |

Repairs, by line: 7 the successor of the last process is the first; 11 the first ACK goes to all; 14 the
identifier is made once, before the loop; 20-24 a late body is stored although numbered; 20 and 26 what was
collected stays known, and is not taken in again; 25-44 `ts` moves at every process with each number; 31, 33,
37 and 47 a request goes to the process that gave the number which shows the loss, since it has everything up
to it; 32 and 45 NULL has no body; 42-43 an old token is answered and not taken again; 48 all bodies up to the
token's number are waited for; 55 and 62 only a higher number ends the loop; 61 carries what line 54 does; 66
and 69 what is sent again has a shape that is received; 74-82 NULL is passed over; 75 up to ts - n + 1, as the
text has it. Lines 45-63 follow the `if` of lines 35-44, with the loop of lines 36-38, as in figure 16.

Nobody answers an old message (lines 21-22, where no process is its own successor): the token goes on, and the
next ACK shows the source that it missed one. Nobody calls Reformation (lines 39-40, 49-50, 56-57, 63-64,
70-71): who waits says for whom, and a group that gets no further fails.

Source: Barchet-Estefanel 2002, section 3.2, figure 25.
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
from antiphon.impl.protocols.rbp_resilient.queues import Queues
from antiphon.impl.protocols.rbp_resilient.state import Observation, Snapshot
from antiphon.impl.protocols.rbp_resilient.timers import Timer
from antiphon.impl.protocols.rbp_resilient.violations import ResilientViolation
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["Core", "Observation", "Snapshot", "Timer"]


class Core(TimedCore[Message, Timer]):
    """Process `me` of the ring 0..members-1; `antiphon.impl.protocols.core` tells a shell how to use it."""

    def __init__(
        self,
        me: int,
        members: int,
        *,
        resilience: int = 0,
        resend_ms: float = 50.0,
        token_ms: float = 50.0,
        request_ms: float = 20.0,
        hurry_ms: float = 1.0,
        silence_ms: float = 40.0,
        backoff_max: int = 8,
        tracer: Tracer = NULL_TRACER,
    ) -> None:
        """Lines 1-9: all empty.

        A message is delivered when `resilience` members have it (1: as soon as it is ordered); 0 is the
        figure: when all have it. A holder without a message to number passes the token after `hurry_ms` while
        a message waits for its delivery, otherwise after `silence_ms`, which should be less than `token_ms`:
        until then it looks as if the token had been lost. The other intervals are the first waiting times of
        resend, resend_token and repeat_request; each expiry doubles the next one up to `backoff_max` times
        the first (1: no back-off).

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: an interval or the back-off is not positive, or there are not so many members.
        """
        super().__init__(me, members, tracer)
        if not 0 <= resilience <= members:
            raise ValueError(f"resilience {resilience}: 1 to {members} members, or 0 for all of them")
        self.resilience = resilience
        self.successor = (me + 1) % members
        self._queues = Queues(members)
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
                Timer.PASS_ON: hurry_ms,
                Timer.PASS_NULL: silence_ms,
            },
            backoff_max,
        )

    def start(self, now: float) -> None:
        """Lines 10-11: process 0 (the figure's p1) numbers the NULL message 1 and passes the token."""
        self._now = now
        if self.me == 0:
            self._pass_token(None, 1)
        self._watch()

    # The application's side.

    @property
    def busy(self) -> bool:
        """Whether the own last broadcast still waits for its number, so that `broadcast` would be refused."""
        return self._pending is not None

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Lines 12-15: name the message once and send it to all.

        Raises:
            Busy: the previous broadcast has no number yet (line 16).
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
        self._to_others(Data(identifier, payload))
        self._watch()
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        return identifier

    @property
    def deliverable(self) -> bool:
        """Whether `deliver` would do something, be it only to pass over a NULL message."""
        queues, number = self._queues, self._last_delivered + 1
        if self.resilience == 0:
            return number in queues.stable
        enough = number + self.resilience - 1 <= queues.last_number
        return enough and number in queues.numbers and queues.body(number) is not None

    def deliver(self) -> Delivery | None:
        """Lines 79-82: the message with the next number, once enough members have it.

        None when there is nothing to deliver, and also when a NULL message was passed over: `deliverable`
        tells which.
        """
        if not self.deliverable:
            return None
        self._last_delivered += 1
        number = self._last_delivered
        if self.resilience == 0:
            identifier, payload = self._queues.stable.pop(number)
        else:
            identifier, payload = self._queues.numbers[number], self._queues.body(number) or b""
        self._watch()
        if identifier is None:
            return None
        if self._tracer.recording:
            self._tracer.record(tracing.Deliver(self.me, identifier, number, payload))
        return Delivery(identifier.source, identifier.id, number, payload)

    def __repr__(self) -> str:
        queues = self._queues
        holds = ", holds the token" if self._holding else ""
        at_all = max(0, queues.last_number - self.members + 1)
        told = f"last number {queues.last_number}, delivered to {self._last_delivered}, at all to {at_all}"
        return f"<rbp-resilient: {told}, keeps {len(queues.numbers)} numbers{holds}; {standing(self)}>"

    # The ring's side: one method a message.

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle one message of another member."""
        self._now = now
        match message:
            case Data():
                self._receive_data(sender, message)
            case Ack():
                self._receive_ack(sender, message)
            case Numbered():
                self._receive_numbered(sender, message)
            case Request():
                self._receive_request(sender, message)
            case RequestNumbers():
                self._receive_request_numbers(sender, message)
        self._watch()

    def _receive_data(self, sender: int, message: Data) -> None:
        """Lines 18-24: keep the body of a message that is not here and was not collected."""
        queues, identifier = self._queues, message.identifier
        if queues.is_collected(identifier):
            return
        if identifier in queues.received:
            if queues.received[identifier] != message.payload:
                self._violated(ResilientViolation.TWO_PAYLOADS, sender, message)
            return
        if identifier not in queues.number_of:
            kind = self._impossible(identifier, queues.last_number + self._ahead() + 1)
            if kind is not None:
                self._violated(kind, sender, message)
                return
        queues.store(identifier, message.payload)

    def _receive_ack(self, sender: int, message: Ack) -> None:
        """Lines 25-47: learn the number, ask for what is missing, and take the token if it is new and ours.

        An old token (lines 42-43) is one that this process has accepted already. Its sender gets the next
        numbers, of which it knows none.
        """
        number = message.number
        if sender != self._sequencer(number) or message.next_holder != self._sequencer(number + 1):
            self._violated(ResilientViolation.OUT_OF_TURN, sender, message)
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
        self._ask_for_body(sender, message)

    def _receive_numbered(self, sender: int, message: Numbered) -> None:
        """Learn a number told again; the figure sends it (lines 43 and 69) and lacks this handler.

        Who has got all the numbers that it asked for, and misses more, asks for the next ones.
        """
        queues = self._queues
        before = queues.last_number
        if not self._learn(sender, message):
            return
        if before // NUMBERS_ASKED_MAX < queues.last_number // NUMBERS_ASKED_MAX and queues.gap:
            self._ask(queues.highest, self._missing_numbers(queues.highest))
        self._ask_for_body(sender, message)

    def _receive_request(self, sender: int, message: Request) -> None:
        """Lines 64-66: send the body, with its identifier, to who asks."""
        payload = self._queues.received.get(message.identifier)
        if payload is not None:
            self._to(sender, Data(message.identifier, payload))

    def _receive_request_numbers(self, sender: int, message: RequestNumbers) -> None:
        """Lines 67-69: send every number of the range that is here, both ends included, to who asks."""
        for number in self._queues.known_numbers(message.first, message.last):
            self._to(sender, Numbered(self._queues.numbers[number], number))

    # The token, and what it makes stable.

    def accept(self, now: float) -> bool:
        """Lines 38 and 48: take the arriving token once all up to its number, bodies too, is here."""
        self._now = now
        if self._arriving is None or not self._queues.complete_to(self._arriving):
            return False
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, "accept", number=self._arriving))
        self._arriving = None
        self._holding = True
        self._watch()
        return True

    def sequence(self, now: float) -> bool:
        """Lines 59-61: the holder numbers the first message without a number, and passes the token."""
        self._now = now
        if not self._holding or self._queues.last_number == NATURAL_MAX:
            return False
        identifier = self._queues.first_unnumbered()
        if identifier is None:
            return False
        self._pass_token(identifier, self._queues.last_number + 1)
        self._watch()
        return True

    def collect(self, number: int, now: float) -> bool:
        """Lines 74-78: forget the message with this number, which all members have.

        With `resilience` 0 it waits in `stable` for its delivery; otherwise it was delivered before.
        """
        self._now = now
        if not self._collectable(number):
            return False
        identifier, payload = self._queues.collect(number)
        if self.resilience == 0:
            self._queues.stable[number] = identifier, payload
        return True

    def settle(self, now: float) -> list[Delivery]:
        """Accept, sequence, collect and deliver until none of them does anything; the deliveries in order."""
        while self.accept(now) or self.sequence(now):
            pass
        deliveries = []
        while self.deliverable or self.collect(self._queues.first, now):
            if self.deliverable:
                delivery = self.deliver()
                if delivery is not None:
                    deliveries.append(delivery)
        return deliveries

    # Time.

    def expire(self, timer: Timer, now: float) -> bool:
        """Do what `timer` waits to do, whatever its deadline; False if it waits for nothing.

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
            case Timer.PASS_ON | Timer.PASS_NULL:
                return self._pass_null(timer)
        if done:
            self._deadlines.put_off(timer, now)
            if self._tracer.recording:
                self._tracer.record(tracing.Step(self.me, timer.value))
        return done

    # Looking at a core from outside.

    @property
    def progress(self) -> int:
        """How many numbers and bodies came; those before `first` were collected."""
        return self._queues.first - 1 + len(self._queues.numbers) + self._queues.bodies

    def waits(self) -> tuple[Wait, ...]:
        """The first missing number, the missing bodies, and while others have the token, the next number."""
        queues = self._queues
        waits = []
        if queues.gap:
            waits.append(Wait(f"number {queues.last_number + 1}", self._sequencer(queues.highest)))
        for name in queues.missing_bodies():
            waits.append(
                Wait(f"the body of message {name.source}:{name.id}", self._sequencer(queues.highest))
            )
        if not self._holding and self._arriving is None:
            what, sequencer = f"a number after {queues.highest}", self._sequencer(queues.highest + 1)
            if sequencer == self.me:
                what, sequencer = f"the token of number {queues.highest}", self._sequencer(queues.highest)
            first = queues.first_unnumbered()
            if first is not None:
                what += f" for message {first.source}:{first.id}"
            waits.append(Wait(what, sequencer))
        return tuple(waits)

    def observe(self) -> Observation:
        """A copy of every state variable."""
        queues = self._queues
        return Observation(
            received={_pair(name): body for name, body in queues.received.items()},
            waiting=tuple(_pair(name) for name in queues.waiting()),
            numbers={number: _named(name) for number, name in sorted(queues.numbers.items())},
            stable={number: _named(name) for number, (name, _) in sorted(queues.stable.items())},
            numbered=tuple(queues.numbered),
            last_number=queues.last_number,
            last_delivered=self._last_delivered,
            message_id=self._message_id,
            pending=_named(self._pending),
            arriving=self._arriving,
            holding=self._holding,
            passed=self._passed,
        )

    def snapshot(self) -> Snapshot:
        """The whole state; deadlines are relative to the latest `now` that the core was given."""
        queues = self._queues
        return Snapshot(
            tuple(sorted(queues.received.items())),
            queues.waiting(),
            tuple(sorted(queues.numbers.items())),
            tuple((number, name, body) for number, (name, body) in sorted(queues.stable.items())),
            tuple(queues.numbered),
            queues.last_number,
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
        self._queues = Queues.of(snapshot)
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

    def _ask_for_body(self, sender: int, message: Ack | Numbered) -> None:
        """Lines 32-33 and 45-47: ask who told the number for the body that is missing."""
        if message.identifier is not None and message.identifier in self._queues.missing:
            self._to(sender, Request(message.identifier))

    def _learn(self, sender: int, message: Ack | Numbered) -> bool:
        """Line 26: put the assignment among the numbers, once; False when it cannot be true."""
        identifier, number = message.identifier, message.number
        if self._queues.knows(identifier, number):
            return True
        kind = self._queues.conflict(identifier, number)
        beyond = number - self._queues.last_number - self._ahead()
        if kind is None and beyond > 0:
            kind = ResilientViolation.SECOND_TOKEN if beyond == 1 else ResilientViolation.NUMBER_AHEAD
        if kind is None and identifier is not None:
            kind = self._impossible(identifier, number)
        if kind is not None:
            self._violated(kind, sender, message)
            return False
        self._record(identifier, number)
        return True

    def _record(self, identifier: Identifier | None, number: int) -> None:
        """Add a true assignment, and end the waits that end with it (lines 16, 55 and 62)."""
        self._queues.record(identifier, number)
        if identifier is not None and identifier == self._pending:
            self._pending = None
        self._passed = None  # who passed the token knew all numbers up to its own: this one is later

    def _pass_token(self, identifier: Identifier | None, number: int) -> None:
        """Lines 11, 54 and 61: one ACK to all, the own copy at once."""
        self._holding = False
        self._record(identifier, number)
        self._passed = number
        self._to_others(Ack(identifier, number, self.successor))
        if self._tracer.recording and number > 1:
            step = "pass_null" if identifier is None else "sequence"
            self._tracer.record(tracing.Step(self.me, step, identifier, number))

    def _collectable(self, number: int) -> bool:
        """Lines 74-75: all have the message with this number, and it was delivered, if that comes first."""
        queues = self._queues
        stable = number <= queues.last_number - self.members + 1
        if not stable or number not in queues.numbers or queues.body(number) is None:
            return False
        return self.resilience == 0 or number <= self._last_delivered

    def _require_number_left(self) -> None:
        if self._queues.highest == NATURAL_MAX:
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")

    def _ahead(self) -> int:
        """How many numbers after `last_number` there may be: those before this process's next turn."""
        return (self.me - self._queues.last_number) % self.members

    def _impossible(self, identifier: Identifier, number: int) -> ResilientViolation | None:
        """Why there can be no such message without a number, or with this one; None if there can.

        A source gives its messages their identifiers one by one, the next when the last has a number.
        """
        queues, source = self._queues, identifier.source
        if source == self.me and identifier.id > self._message_id:
            return ResilientViolation.NEVER_BROADCAST
        if not 1 <= identifier.id - queues.numbered[source] <= number - queues.last_number:
            return ResilientViolation.IDENTIFIER_AHEAD
        return None

    def _missing_numbers(self, last: int) -> RequestNumbers:
        """Lines 31 and 37: the question for what is missing up to the number `last`, or for the first part.

        The parts end at multiples of NUMBERS_ASKED_MAX, so that each is asked for once.
        """
        first = self._queues.last_number + 1
        end = -(-first // NUMBERS_ASKED_MAX) * NUMBERS_ASKED_MAX
        return RequestNumbers(first, min(end, last))

    def _resend(self) -> bool:
        """Lines 13-16."""
        if self._pending is None:
            return False
        self._require_number_left()
        self._to_others(Data(self._pending, self._queues.received[self._pending]))
        return True

    def _resend_token(self) -> bool:
        """Lines 53-55 and 60-62."""
        if self._passed is None:
            return False
        self._to_others(Ack(self._queues.numbers[self._passed], self._passed, self.successor))
        return True

    def _repeat_request(self) -> bool:
        """Lines 36-38 and 46-48, at every process that misses something."""
        queues = self._queues
        if not queues.incomplete:
            return False
        if queues.gap:
            self._ask(queues.highest, self._missing_numbers(queues.highest))
        for identifier in queues.missing_bodies():
            self._ask(queues.highest, Request(identifier))
        return True

    def _passes_silently(self) -> Timer | None:
        """Line 51: the timer for which a holder without a message to number waits."""
        queues = self._queues
        if not self._holding or queues.first_unnumbered() is not None or queues.highest == NATURAL_MAX:
            return None
        return Timer.PASS_ON if queues.last_message > self._last_delivered else Timer.PASS_NULL

    def _pass_null(self, timer: Timer) -> bool:
        """Lines 51-54."""
        if self._passes_silently() is not timer:
            return False
        self._pass_token(None, self._queues.last_number + 1)
        self._watch()
        return True

    def _watch(self) -> None:
        """Run the timers of what is waited for, and no others."""
        silent = self._passes_silently()
        self._run(Timer.RESEND, self._pending is not None)
        self._run(Timer.RESEND_TOKEN, self._passed is not None)
        self._run(Timer.REPEAT_REQUEST, self._queues.incomplete)
        self._run(Timer.PASS_ON, silent is Timer.PASS_ON)
        self._run(Timer.PASS_NULL, silent is Timer.PASS_NULL)

    def _run(self, timer: Timer, wanted: bool) -> None:
        if wanted:
            self._deadlines.start(timer, self._now)
        else:
            self._deadlines.stop(timer)


def _pair(identifier: Identifier) -> tuple[int, int]:
    return (identifier.source, identifier.id)


def _named(identifier: Identifier | None) -> tuple[int, int] | None:
    return None if identifier is None else _pair(identifier)
