"""The core of JavaGroups' TOTAL, repaired: members ask the sequencer, which numbers messages for all.

Rules of this file:
1. No clock, socket, randomness or thread: `now` comes in, messages and deliveries go out as data.
2. One public action is one atomic step, and a step never waits. A message is passed up in the step in which
   it can be, so `settle` only hands over what was passed up.
3. "broadcasts it to the group" includes the sequencer, whose own copy is applied inside the step.
4. Whoever calls `receive` has checked the message's ranges (`messages.flaw`). What no correct member says is
   counted in `violations` and changes nothing.
5. What is kept is bounded. A member's messages, from the first that was not passed up, are at most
   `pending_max`. The sequencer keeps at most SENT_MAX messages that somebody has not acknowledged; a request
   beyond is as good as lost, and asked again. So no number is more than SENT_MAX ahead of what anybody has
   passed up.
6. A message makes a process send one message to all, and one to the sequencer or to one member.

| document                                  | here                                                 |
|-------------------------------------------|------------------------------------------------------|
| next expected sequence id                 | `_next_expected`                                     |
| queue of messages ordered by sequence id  | `_queue`, by sequence id                             |
| next sequence id to assign                | `_next_to_assign`; 0: not the sequencer              |
| what TOTAL_RESEND is answered with        | `_sent`, until all have acknowledged it              |
| first listed member                       | process 0: the first view stays                      |
| retransmission thread                     | the timer ASK                                        |

Repairs, by section. Members: a member asks again until its own message was passed up (REQUEST_AGAIN).
Sequencer: a message is numbered once, by its identifier (`_numbered`: of each source the highest number up to
which all are, and those beyond). Future Improvements: of the two remedies for a lost suffix the second, "the
sequencer handled retransmission (perhaps using positive acknowledgements)" (SEND_SUFFIX), with
TOTAL_CUM_SEQ_ACK for each TOTAL_BCAST; so it is also known what need not be kept.

Requests are numbered as they come. So with one own message at a time, which is what is done if nothing else
is said, a member's messages keep their order; with more, one may overtake another.

Source: Cornell, "JavaGroups TOTAL", sections Members, Sequencer, Retransmission, Future Improvements.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from antiphon.impl import tracing
from antiphon.impl.errors import Busy, GroupFailed, Violation
from antiphon.impl.protocols.base import TimedCore
from antiphon.impl.protocols.core import (
    NATURAL_MAX,
    Delivery,
    Identifier,
    Send,
    Wait,
    payload_copy,
    standing,
)
from antiphon.impl.protocols.deadlines import Deadlines
from antiphon.impl.protocols.total.messages import Bcast, CumAck, Message, Request, Resend, TotalViolation
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["DEFAULTS", "PENDING_MAX", "SENT_MAX", "Core", "Settings", "Snapshot", "Timer"]

PENDING_MAX = 32
"""Largest number of own messages that wait to be passed up."""

SENT_MAX = 128
"""Number of messages that the sequencer keeps for those that have not acknowledged them."""

SEQUENCER = 0
"""Place of the sequencer: the first listed member."""


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a core. The waiting times are in milliseconds."""

    request_ms: float = 50.0
    """First waiting time of the timer request_again."""
    resend_ms: float = 20.0
    """First waiting time of the timer ask."""
    suffix_ms: float = 50.0
    """First waiting time of the timer send_suffix."""
    backoff_max: int = 8
    """Largest multiple of the first waiting time; each expiry doubles it up to there; 1: no back-off."""
    pending_max: int = 1
    """Largest number of own messages that wait to be passed up."""


DEFAULTS = Settings()
"""The default settings."""


class Timer(StrEnum):
    """Timers: the retransmission thread, and two repairs that repeat messages."""

    REQUEST_AGAIN = "request_again"
    """Timer that requests again the first own message that was not passed up."""
    ASK = "ask"
    """Timer of the retransmission thread: `a resend request is sent to the sequencer` for each number below
    the lowest in the queue.
    """
    SEND_SUFFIX = "send_suffix"
    """Timer of the sequencer, which `handled retransmission`: it repeats what some member has not
    acknowledged.
    """


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    last_id: int
    pending: tuple[tuple[int, bytes], ...]
    next_expected: int
    queue: tuple[Bcast, ...]
    next_to_assign: int
    sent: tuple[Bcast, ...]
    numbered: tuple[tuple[int, tuple[int, ...]], ...]
    acknowledged: tuple[int, ...]
    timers: tuple[tuple[Timer, float, int], ...]
    outputs: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]


class Core(TimedCore[Message, Timer]):
    """Core of TOTAL at process `me`; `antiphon.impl.protocols.core` tells a shell how to use it."""

    def __init__(
        self, me: int, members: int, settings: Settings = DEFAULTS, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Begin with the first view, in which all expect sequence id 1 from process 0.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: an interval or the back-off is not positive, or `pending_max` not in 1..PENDING_MAX.
        """
        super().__init__(me, members, tracer)
        self._pending_max = settings.pending_max
        if not 1 <= self._pending_max <= PENDING_MAX:
            told = f"pending_max is {self._pending_max}"
            raise ValueError(f"{told}; it is at least 1 and at most {PENDING_MAX}")
        self._last_id = 0
        self._pending: dict[int, bytes] = {}
        self._next_expected = 1
        self._queue: dict[int, Bcast] = {}
        self._next_to_assign = 1 if me == SEQUENCER else 0
        self._sent: dict[int, Bcast] = {}
        self._numbered: list[tuple[int, frozenset[int]]] = [(0, frozenset())] * members
        self._acknowledged = [0] * members
        self._deadlines = Deadlines(
            {
                Timer.REQUEST_AGAIN: settings.request_ms,
                Timer.ASK: settings.resend_ms,
                Timer.SEND_SUFFIX: settings.suffix_ms,
            },
            settings.backoff_max,
        )

    # Members ----------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Return True if the largest number of own messages waits to be passed up, or the sequencer has no
        room for another one.
        """
        first = next(iter(self._pending), self._last_id + 1)
        return self._last_id + 1 - first >= self._pending_max or len(self._sent) >= SENT_MAX

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Send the message to the sequencer; the sequencer numbers its own at once.

        Raises:
            Busy: too many own messages wait to be passed up, or others to be acknowledged.
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        payload = payload_copy(payload)
        if NATURAL_MAX in (self._last_id, self._next_to_assign, self._next_expected):
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")
        if self.busy:
            told = f"{len(self._pending)} own messages wait, {len(self._sent)} messages are not acknowledged"
            raise Busy(f"{told}; broadcast again when `busy` is false")
        self._now = now
        self._last_id += 1
        identifier = Identifier(self.me, self._last_id)
        self._pending[self._last_id] = payload
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        self._request(identifier, payload)
        self._watch()
        return identifier

    def _request(self, identifier: Identifier, payload: bytes) -> None:
        """Send a TOTAL_REQUEST to the sequencer; the sequencer numbers its own message instead."""
        if self.me == SEQUENCER:
            self._assign(identifier, payload)
        else:
            self._to(SEQUENCER, Request(identifier, payload))

    def _take_in(self, message: Bcast) -> None:
        """Receive a broadcast: pass up messages as long as the next expected id is here, and queue any other.
        Discard one with a lower id, and one that is queued already.
        """
        if message.number >= self._next_expected and message.number not in self._queue:
            self._queue[message.number] = message
            while (following := self._queue.pop(self._next_expected, None)) is not None:
                self._pass_up(following)

    def _pass_up(self, message: Bcast) -> None:
        """Pass up the message with the next expected id: `The next expected sequence id is also incremented
        by one`.
        """
        (source, name), number = message.identifier, message.number
        self._next_expected = number + 1
        self._deadlines.stop(Timer.ASK)
        if source == self.me:
            if name == next(iter(self._pending)):
                self._deadlines.stop(Timer.REQUEST_AGAIN)
            del self._pending[name]
        self._deliveries.append(Delivery(source, name, number, message.payload))
        if self._tracer.recording:
            self._tracer.record(tracing.Deliver(self.me, message.identifier, number, message.payload))

    # Sequencer --------------------------------------------------------------------------------------------

    def _assign(self, identifier: Identifier, payload: bytes) -> None:
        """Assign an id to a message, unless it has one, and broadcast it: `it assigns a sequence id to the
        message and broadcasts it`.
        """
        source, name = identifier
        upto, beyond = self._numbered[source]
        if name <= upto or name in beyond:
            return
        beyond |= {name}
        while upto + 1 in beyond:
            upto += 1
            beyond -= {upto}
        self._numbered[source] = (upto, beyond)
        message = Bcast(self._next_to_assign, identifier, payload)
        self._next_to_assign += 1
        self._sent[message.number] = message
        for process in self._others:
            self._to(process, message)
        self._take_in(message)

    def _acknowledge(self) -> None:
        """Send a TOTAL_CUM_SEQ_ACK for `all messages in the current view up to the specified sequence id`."""
        self._to(SEQUENCER, CumAck(self._next_expected - 1))

    def _free(self) -> None:
        """Delete the messages that all have acknowledged."""
        everywhere = min(self._acknowledged[process] for process in self._others)
        while self._sent and (first := next(iter(self._sent))) <= everywhere:
            del self._sent[first]

    # Receiving --------------------------------------------------------------------------------------------

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle one message of another member."""
        self._now = now
        wrong = self._impossible(sender, message)
        if wrong is not None:
            self._violated(wrong, sender, message)
            return
        match message:
            case Bcast():
                self._take_in(message)
                self._acknowledge()
            case Request(identifier=identifier, payload=payload):
                if len(self._sent) < SENT_MAX and self._next_to_assign < NATURAL_MAX:
                    self._assign(identifier, payload)
            case Resend(number=number):
                if number in self._sent:
                    self._to(sender, self._sent[number])
            case CumAck(number=number):
                if number > self._acknowledged[sender]:
                    self._acknowledged[sender] = number
                    self._deadlines.stop(Timer.SEND_SUFFIX)
                self._free()
        self._watch()

    def _impossible(self, sender: int, message: Message) -> TotalViolation | None:
        """Return the violation if no correct member sends this message now, else None."""
        if isinstance(message, Bcast):
            return self._unassignable(sender, message)
        if self.me != SEQUENCER:
            return TotalViolation.MISDIRECTED
        if not isinstance(message, Request):
            given = message.number < self._next_to_assign
            return None if given else TotalViolation.NEVER_ASSIGNED
        if message.identifier.source != sender:
            return TotalViolation.FOREIGN_REQUEST
        ahead = message.identifier.id - self._numbered[sender][0]
        return TotalViolation.IDENTIFIER_AHEAD if ahead > PENDING_MAX else None

    def _unassignable(self, sender: int, message: Bcast) -> TotalViolation | None:
        """Return the violation if the sequencer cannot have given this id to this message, else None."""
        source, name = message.identifier
        if sender != SEQUENCER:
            return TotalViolation.NOT_SEQUENCER
        if message.number >= self._next_expected + SENT_MAX:
            return TotalViolation.NUMBER_AHEAD
        if message.number < self._next_expected:
            return None
        queued = self._queue.get(message.number, message)
        if queued.identifier != message.identifier:
            return TotalViolation.TWO_MESSAGES
        if source == self.me and name not in self._pending:
            return TotalViolation.NEVER_BROADCAST
        own = self._pending[name] if source == self.me else message.payload
        return None if own == message.payload == queued.payload else TotalViolation.TWO_PAYLOADS

    # Retransmission ---------------------------------------------------------------------------------------

    def expire(self, timer: Timer, now: float) -> bool:
        """Run the action of `timer`, whatever its deadline; return False if the timer does not run."""
        self._now = now
        if not self._waits_for(timer):
            return False
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, timer.value))
        match timer:
            case Timer.REQUEST_AGAIN:
                first = next(iter(self._pending))
                self._request(Identifier(self.me, first), self._pending[first])
            case Timer.ASK:
                for number in range(self._next_expected, min(self._queue)):
                    self._to(SEQUENCER, Resend(number))
            case Timer.SEND_SUFFIX:
                for number, message in self._sent.items():
                    for process in self._others:
                        if self._acknowledged[process] < number:
                            self._to(process, message)
        self._deadlines.put_off(timer, now)
        return True

    def _waits_for(self, timer: Timer) -> bool:
        match timer:
            case Timer.REQUEST_AGAIN:
                return bool(self._pending)
            case Timer.ASK:
                return bool(self._queue)
            case Timer.SEND_SUFFIX:
                return bool(self._sent)

    def _watch(self) -> None:
        """Start and stop the timers, so that exactly those run whose event is awaited."""
        for timer in Timer:
            if self._waits_for(timer):
                self._deadlines.start(timer, self._now)
            else:
                self._deadlines.stop(timer)

    # Looking at a core from outside -------------------------------------------------------------------------

    def __repr__(self) -> str:
        told = f"delivered to {self._next_expected - 1}, {len(self._pending)} own without a number"
        assigns = f", assigns {self._next_to_assign} next" if self.me == SEQUENCER else ""
        return f"<total: {told}, keeps {len(self._sent)}{assigns}; {standing(self)}>"

    @property
    def progress(self) -> int:
        """Measure of progress: messages sent, numbered, passed up and acknowledged."""
        return self._last_id + self._next_to_assign + self._next_expected + sum(self._acknowledged)

    def waits(self) -> tuple[Wait, ...]:
        """Return the next number, the first own message, and the missing acknowledgements."""
        waits = []
        if self._queue:
            waits.append(Wait(f"number {self._next_expected}", SEQUENCER))
        if self._pending:
            waits.append(Wait(f"a number for message {self.me}:{next(iter(self._pending))}", SEQUENCER))
        if self._sent:
            last = self._next_to_assign - 1
            late = [process for process in self._others if self._acknowledged[process] < last]
            waits += [Wait(f"acknowledgement of number {last}", process) for process in late]
        return tuple(waits)

    def snapshot(self) -> Snapshot:
        """Return the whole state; deadlines are relative to the latest `now` that the core was given."""
        return Snapshot(
            self._last_id,
            tuple(sorted(self._pending.items())),
            self._next_expected,
            tuple(self._queue[number] for number in sorted(self._queue)),
            self._next_to_assign,
            tuple(self._sent.values()),
            tuple((upto, tuple(sorted(beyond))) for upto, beyond in self._numbered),
            tuple(self._acknowledged),
            self._deadlines.relative(self._now),
            tuple(self._outputs),
            tuple(self._deliveries),
            tuple(sorted(self._violations.items())),
        )

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Set the state to a snapshot, as if that had been taken at `now`; parameters and tracer stay."""
        self._now = now
        self._last_id, self._pending = snapshot.last_id, dict(snapshot.pending)
        self._next_expected, self._next_to_assign = snapshot.next_expected, snapshot.next_to_assign
        self._queue = {message.number: message for message in snapshot.queue}
        self._sent = {message.number: message for message in snapshot.sent}
        self._numbered = [(upto, frozenset(beyond)) for upto, beyond in snapshot.numbered]
        self._acknowledged = list(snapshot.acknowledged)
        self._deadlines.resume(snapshot.timers, now)
        self._outputs, self._deliveries = list(snapshot.outputs), list(snapshot.deliveries)
        self._violations = Counter(dict(snapshot.violations))
