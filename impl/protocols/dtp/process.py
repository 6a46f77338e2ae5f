"""The core of DTP, section 4 repaired: the holder numbers a message and passes the token to the least active.

Rules of this file:
1. No clock, socket, randomness or thread: `now` comes in, messages and deliveries go out as data.
2. One public action is one atomic step, and a step never waits.
3. `multicast` sends to the other processes; the sender keeps a copy of its own where the paper says so.
4. Whoever calls `receive` has checked the message's ranges (`messages.flaw`). What no correct member says is
   counted in `violations` and changes nothing.
5. Nothing far ahead is kept: `AHEAD` times as many numbers or identifiers as there are members. By the
   argument of section 4.2 (`BUF_i holds 2n-1 MSG and n-1 ACK messages at most`, once ACKs carry R) a correct
   member is never more than n - 1 ahead.

| paper                       | here                                                                 |
|-----------------------------|----------------------------------------------------------------------|
| LTM_1 .. LTM_n              | processes 0 .. members - 1                                           |
| S.Token_i: HOLD, TRST, EMPT | `_latest`, the latest pass: it names me; I made it; neither          |
| S.ACK_i: WAIT               | `busy`: the own last MSG is in BUF and has no gsn                    |
| N_i[k], R_i[k]              | `_expected[k]`, `_status[k]`                                         |
| BUF_i                       | `_buffer` (MSGs in the order of arrival), `_acks` (by gsn)           |
| the MSGs known to be lost   | `_missed`, by MSGs that came early; and those of ACKs in BUF         |
| the ACKs known to be lost   | those up to gsn `_sought` that are not in BUF                        |
| F                           | `resilience`                                                         |

Where the paper leaves a choice: of several least active processes the lowest gets the token, of several MSGs
in BUF the one that came first is acknowledged, and a MSG that comes early waits in BUF until what is missing
before it has come.

Repairs, by paragraph. Receiving ACK: every pass has a number, and only a new one gives the token or ends
TRST; an ACK that comes early is kept; R_i[i] becomes g when all up to g is here, bodies too. Receiving MSG: a
message that has an ACK in BUF is not acknowledged again. Update arrival: nobody passes the token to itself.
Receiving REQ: in TRST who was named last is answered, with NULL too. Removing stable messages: R never falls,
every ACK carries R of its sender, and what is stable is removed whenever R changes. Adjusting the degree of
fault tolerance: processes are counted, not different values.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 4; the paragraphs of section 4.2 are cited by their bold headings.
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
from antiphon.impl.protocols.dtp.messages import (
    Ack,
    AskMessage,
    AskNumber,
    DtpViolation,
    Message,
    Msg,
    Null,
    Pass,
)
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["AHEAD", "DEFAULTS", "Core", "Settings", "Snapshot", "Timer"]

AHEAD = 2
"""Largest lead of a number or an identifier, in multiples of the number of members: twice what the argument
of section 4.2 needs.
"""


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a core. The waiting times are in milliseconds."""

    resilience: int = 0
    """Number F of other processes that are known to have a message when it is delivered.

    0: as soon as it has its number and everything before it is here.
    """
    resend_ms: float = 50.0
    """First waiting time of the timer resend_message."""
    pass_ms: float = 50.0
    """First waiting time of the timer resend_pass."""
    request_ms: float = 20.0
    """First waiting time of the timer repeat_request."""
    silence_ms: float = 100.0
    """Time T for which a holder waits for a message before it passes the token without one."""
    backoff_max: int = 8
    """Largest multiple of the first waiting time; each expiry doubles it up to there; 1: no back-off."""


DEFAULTS = Settings()
"""The default settings."""


class Timer(StrEnum):
    """Timers of section 4.2: three timeouts and the silence."""

    RESEND_MESSAGE = "resend_message"
    """Timer for `LTM_i multicasts the same MSG at every timeout until it receives an acknowledgment`."""
    RESEND_PASS = "resend_pass"
    """Timer for `LTM_i also multicasts the same ACK message at every timeout until` the token is
    passed on.
    """
    REPEAT_REQUEST = "repeat_request"
    """Timer for `LTM_i multicasts the REQ message at every timeout until it receives the requested
    message`.
    """
    PASS_NULL = "pass_null"
    """Timer for `If no new MSG arrives in T, LTM_i multicasts ACK(i, NULL, R_i[i], m)`."""


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    latest: Pass | None
    expected: tuple[int, ...]
    status: tuple[int, ...]
    buffer: tuple[Msg, ...]
    acks: tuple[Ack, ...]
    sought: int
    missed: tuple[Identifier, ...]
    delivered: int
    timers: tuple[tuple[Timer, float, int], ...]
    outputs: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]


class Core(TimedCore[Message, Timer]):
    """Core of DTP at process `me`; `antiphon.impl.protocols.core` tells a shell how to use it."""

    def __init__(
        self, me: int, members: int, settings: Settings = DEFAULTS, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Begin as in section 4.1: `N_i[k] = 1 and R_i[k] = 0 for all k`, and process 0 holds the token.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: an interval or the back-off is not positive, or `resilience` is more than members - 1.
        """
        super().__init__(me, members, tracer)
        self.resilience = settings.resilience
        if not 0 <= self.resilience < members:
            raise ValueError(f"resilience {self.resilience}: a group of {members} has {members - 1} others")
        self._latest: Pass | None = None
        self._expected = [1] * members
        self._status = [0] * members
        self._buffer: dict[Identifier, Msg] = {}
        self._acks: dict[int, Ack] = {}
        self._number_of: dict[Identifier, int] = {}
        self._sought = 0
        self._missed: set[Identifier] = set()
        self._delivered = 0
        self._deadlines = Deadlines(
            {
                Timer.RESEND_MESSAGE: settings.resend_ms,
                Timer.RESEND_PASS: settings.pass_ms,
                Timer.REPEAT_REQUEST: settings.request_ms,
                Timer.PASS_NULL: settings.silence_ms,
            },
            settings.backoff_max,
        )

    def start(self, now: float) -> None:
        """Take part: process 0 begins to wait for a message."""
        self._now = now
        self._watch()

    # The state of the token and of the own message ------------------------------------------------------

    @property
    def holding(self) -> bool:
        """Return True if S.Token is HOLD: the latest pass of the token names this process, or there was none
        and this is process 0.
        """
        return self.me == 0 if self._latest is None else self._latest.next_holder == self.me

    @property
    def passed(self) -> Pass | None:
        """Return the latest pass of the token while S.Token is TRST, that is, if this process made that pass;
        else None.
        """
        latest = self._latest
        return latest if latest is not None and latest.sequencer == self.me else None

    @property
    def busy(self) -> bool:
        """Return True if S.ACK is WAIT: the last broadcast of this process has no number, so that `broadcast`
        would be refused.
        """
        last = Identifier(self.me, self._expected[self.me] - 1)
        return last in self._buffer and last not in self._number_of

    @property
    def stable(self) -> int:
        """Return the last number up to which, as this process knows, all have obtained everything:
        `min({R_i[k]})`.
        """
        return min(self._status)

    # Update arrival -------------------------------------------------------------------------------------

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Multicast `MSG(U, (i, N_i[i]), R_i[i])` to all, if S.ACK is DONE.

        Raises:
            Busy: the previous broadcast has no number yet.
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        payload = payload_copy(payload)
        if max(self._status) == NATURAL_MAX:
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")
        identifier = Identifier(self.me, self._expected[self.me])
        if self.busy:
            last = (self.me, identifier.id - 1)
            raise Busy(f"{last} has no number yet; broadcast again when `busy` is false")
        self._now = now
        self._expected[self.me] += 1
        message = self._buffer[identifier] = Msg(identifier, payload, self._status[self.me])
        self._to_others(message)
        self._watch()
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        return identifier

    def acknowledge(self, now: float) -> bool:
        """Acknowledge a message: `increments R_i[i]`, selects LTM_m, `multicasts ACK(i, U_id, R_i[i], m)`,
        delivers U; then S.Token is TRST.
        """
        self._now = now
        if not self.holding or not self._is_recovered or self._status[self.me] == NATURAL_MAX:
            return False
        identifier = next((name for name in self._buffer if name not in self._number_of), None)
        if identifier is None:
            return False
        number = self._status[self.me] + 1
        self._status[self.me] = number
        ack = Ack(self.me, identifier, number, self._least_active(), tuple(self._status))
        self._keep(ack)
        self._pass(ack)
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, "acknowledge", identifier, number))
        self._finish()
        return True

    def settle(self, now: float) -> list[Delivery]:
        """Acknowledge a message if this process has the token and a message without a number; return, once,
        the deliveries in order.
        """
        while self.acknowledge(now):
            pass
        return self.deliveries()

    # Receiving ------------------------------------------------------------------------------------------

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle one message of another member."""
        self._now = now
        match message:
            case Msg():
                self._receive_msg(sender, message)
            case Ack():
                self._receive_ack(sender, message)
            case Null():
                self._receive_null(sender, message)
            case AskMessage() | AskNumber():
                self._receive_request(sender, message)
        self._watch()

    def _receive_msg(self, sender: int, message: Msg) -> None:
        """Receive a MSG: store it, and request the messages of its source that are missing before it
        (Receiving MSG).

        Discard a MSG that arrived before; if it has a number, the holder sends that number to the source
        again.
        """
        name = message.identifier
        source, ahead = name.source, name.id - self._expected[name.source]
        if source == self.me:
            if ahead >= 0:
                self._violated(DtpViolation.NEVER_BROADCAST, sender, message)
        elif ahead > AHEAD * self.members:
            self._violated(DtpViolation.IDENTIFIER_AHEAD, sender, message)
        elif name in self._buffer and self._buffer[name].payload != message.payload:
            self._violated(DtpViolation.TWO_PAYLOADS, sender, message)
        elif ahead >= 0:
            if name not in self._buffer:
                self._put(message)
            if ahead > 0:
                before = (Identifier(source, name.id - back) for back in range(1, ahead + 1))
                self._missed.update(missing for missing in before if missing not in self._buffer)
                self._ask()
        elif self.holding and name in self._number_of:
            self._to(source, self._acks[self._number_of[name]])

    def _put(self, message: Msg) -> None:
        """Store a MSG (`puts the message in BUF_i`), and advance N_i[j] to the first number of its source j
        that is not here.
        """
        name = message.identifier
        self._buffer[name] = message
        self._missed.discard(name)
        while Identifier(name.source, self._expected[name.source]) in self._buffer:
            self._expected[name.source] += 1
        self._hear(name.source, message.status)
        self._finish()

    def _receive_ack(self, sender: int, message: Ack) -> None:
        """Receive an ACK: discard an old one; store any other, request what is missing before it, and take
        the token if it names this process (Receiving ACK).
        """
        number = message.number
        own = self._status[self.me]
        if number <= own:
            return
        kind = self._impossible(message) or self._unassignable(message)
        if kind is not None:
            self._violated(kind, sender, message)
            return
        early = number > own + 1
        self._take(message)
        self._keep(message)
        self._finish()
        if early:
            self._sought = max(self._sought, number - 1)
            self._ask()
        elif message.identifier not in self._buffer and self._status[self.me] < number:
            self._to_others(AskMessage(message.identifier, self._status[self.me]))

    def _receive_null(self, sender: int, message: Null) -> None:
        """Receive a NULL: discard an old one; a later one shows which ACKs were lost (Timeout, last
        sentences).
        """
        if message.number < self._status[self.me]:
            return
        kind = self._impossible(message)
        if kind is not None:
            self._violated(kind, sender, message)
            return
        self._take(message)
        self._finish()
        if message.number > self._status[self.me]:
            self._sought = max(self._sought, message.number)
            self._ask()

    def _receive_request(self, sender: int, message: AskMessage | AskNumber) -> None:
        """Receive a REQ: in HOLD answer it from BUF, in TRST answer the process that this one named;
        otherwise discard it (Receiving REQ).
        """
        passed = self.passed
        if not self.holding and (passed is None or passed.next_holder != sender):
            return
        found: Message | None
        if isinstance(message, AskMessage):
            found = self._buffer.get(message.identifier)
        else:
            found = self._acks.get(message.number)
        if found is not None:
            self._to(sender, found)
        self._hear(sender, message.status)
        self._finish()

    # Time -----------------------------------------------------------------------------------------------

    def expire(self, timer: Timer, now: float) -> bool:
        """Run the action of `timer`, whatever its deadline; return False if the timer does not run."""
        self._now = now
        match timer:
            case Timer.RESEND_MESSAGE:
                done = self._resend_message()
            case Timer.RESEND_PASS:
                done = self._resend_pass()
            case Timer.REPEAT_REQUEST:
                done = not self._is_recovered
                self._ask()
            case Timer.PASS_NULL:
                done = self._pass_null()
        if done and self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, timer.value))
        if done and timer is not Timer.PASS_NULL:
            self._deadlines.put_off(timer, now)
        return done

    def _resend_message(self) -> bool:
        if not self.busy:
            return False
        self._to_others(self._buffer[Identifier(self.me, self._expected[self.me] - 1)])
        return True

    def _resend_pass(self) -> bool:
        passed = self.passed
        if passed is None:
            return False
        self._to_others(passed)
        return True

    def _pass_null(self) -> bool:
        """Pass the token with a NULL: `LTM_i passes the token without ordering any message in order to bound
        the stability time`.
        """
        if not self._is_silent:
            return False
        number, nulls = (0, 0) if self._latest is None else self._latest.turn
        self._pass(Null(self.me, number, self._least_active(), nulls + 1, tuple(self._status)))
        self._watch()
        return True

    def _watch(self) -> None:
        """Start and stop the timers, so that exactly those run whose event is awaited."""
        for timer, waits in (
            (Timer.RESEND_MESSAGE, self.busy),
            (Timer.RESEND_PASS, self.passed is not None),
            (Timer.REPEAT_REQUEST, not self._is_recovered),
            (Timer.PASS_NULL, self._is_silent),
        ):
            if waits:
                self._deadlines.start(timer, self._now)
            else:
                self._deadlines.stop(timer)

    # What a pass, a status and BUF mean -----------------------------------------------------------------

    @property
    def _is_recovered(self) -> bool:
        """Return True if no loss is known: nothing is missing up to the last known number."""
        own = self._status[self.me]
        return not self._missed and self._sought <= own and max(self._acks, default=0) <= own

    @property
    def _is_silent(self) -> bool:
        """Return True if the holder has everything, and every message has its number, so that only silence
        can pass the token.
        """
        return self.holding and self._is_recovered and all(name in self._number_of for name in self._buffer)

    def _least_active(self) -> int:
        """Return the least active of the other processes, `LTM_m such that R_i[m] = min`; of several, the
        lowest.
        """
        return min(self._others, key=self._status.__getitem__)

    def _pass(self, message: Pass) -> None:
        """Multicast an ACK or a NULL that passes the token, and `set S.Token_i to TRST`."""
        self._latest = message
        self._deadlines.stop(Timer.RESEND_PASS)
        self._to_others(message)

    def _take(self, message: Pass) -> None:
        """Record a pass of the token as the latest, and raise R by what its sender knew."""
        if self._latest is None or message.turn > self._latest.turn:
            self._latest = message
            self._deadlines.stop(Timer.PASS_NULL)
        self._hear(message.sequencer, message.number)
        for process in self._others:
            self._hear(process, message.told[process])

    def _keep(self, ack: Ack) -> None:
        """Store an ACK (`puts ACK into BUF_i`)."""
        if ack.number not in self._acks:
            self._acks[ack.number] = ack
            self._number_of[ack.identifier] = ack.number

    def _hear(self, process: int, status: int) -> None:
        """Set R_i[process] to the received status, if that is higher."""
        if status > self._status[process]:
            self._status[process] = status

    def _finish(self) -> None:
        """Raise R_i[i] up to the first gap; deliver what it covers, and remove stable messages."""
        own = self._status[self.me]
        while (ack := self._acks.get(own + 1)) is not None and ack.identifier in self._buffer:
            own += 1
        self._status[self.me] = own
        while self._delivered < own and self._is_resilient(self._delivered + 1):
            self._delivered += 1
            self._deliver(self._delivered)
        stable = self.stable
        for number in [number for number in self._acks if number <= stable]:
            name = self._acks.pop(number).identifier
            del self._number_of[name]
            del self._buffer[name]
        self._watch()

    def _is_resilient(self, number: int) -> bool:
        """Return True if F other processes have obtained everything up to this number."""
        return sum(1 for status in self._status if status >= number) > self.resilience

    def _deliver(self, number: int) -> None:
        name = self._acks[number].identifier
        payload = self._buffer[name].payload
        self._deliveries.append(Delivery(name.source, name.id, number, payload))
        if self._tracer.recording:
            self._tracer.record(tracing.Deliver(self.me, name, number, payload))

    def _lost(self) -> list[Identifier | int]:
        """Return what is known to be lost, each item once: messages by their identifiers, ACKs by their
        numbers.
        """
        own = self._status[self.me]
        lost: dict[Identifier | int, None] = dict.fromkeys(sorted(self._missed))
        for number in range(own + 1, max(self._sought, max(self._acks, default=0)) + 1):
            ack = self._acks.get(number)
            if ack is None:
                lost[number] = None
            elif ack.identifier not in self._buffer:
                lost[ack.identifier] = None
        return list(lost)

    def _ask(self) -> None:
        """Request everything that is known to be lost (`constructs and multicasts REQ(i, R_i[i],
        msglst)`).
        """
        own = self._status[self.me]
        for item in self._lost():
            self._to_others(AskNumber(item, own) if isinstance(item, int) else AskMessage(item, own))

    # What cannot be -------------------------------------------------------------------------------------

    def _impossible(self, message: Pass) -> DtpViolation | None:
        """Return the violation if no correct process can have made this pass of the token, else None."""
        turn = (0, 0) if self._latest is None else self._latest.turn
        if message.number > self._status[self.me] + AHEAD * self.members:
            return DtpViolation.NUMBER_AHEAD
        if message.sequencer == self.me and message.number > self._status[self.me]:
            return DtpViolation.NEVER_PASSED
        if message.turn <= turn:
            return None
        if self.holding:
            return DtpViolation.SECOND_TOKEN
        return DtpViolation.NEVER_PASSED if message.sequencer == self.me else None

    def _unassignable(self, message: Ack) -> DtpViolation | None:
        """Return the violation if the update of this ACK cannot have its number, given what is known; else
        None.
        """
        name = message.identifier
        known = self._acks.get(message.number)
        if known is not None:
            return None if known.identifier == name else DtpViolation.TWO_IDENTIFIERS
        ahead = name.id - self._expected[name.source]
        if name in self._number_of or (ahead < 0 and name not in self._buffer):
            return DtpViolation.TWO_NUMBERS
        if name.source == self.me and ahead >= 0:
            return DtpViolation.NEVER_BROADCAST
        return DtpViolation.IDENTIFIER_AHEAD if ahead > AHEAD * self.members else None

    # Looking at a core from outside ---------------------------------------------------------------------

    def __repr__(self) -> str:
        holds = ", holds the token" if self.holding else ""
        told = f"last number {self._status[self.me]}, delivered to {self._delivered}"
        return f"<dtp: {told}, keeps {len(self._buffer)} messages{holds}; {standing(self)}>"

    @property
    def progress(self) -> int:
        """Return a measure of progress: messages numbered, obtained and heard of, and passes of the token."""
        number, nulls = (0, 0) if self._latest is None else self._latest.turn
        early = sum(name.id > self._expected[name.source] for name in self._buffer) if self._missed else 0
        obtained = 2 * (sum(self._expected) + early) + len(self._missed) + self._sought
        heard = sum(self._status) + min(self._status) + len(self._acks)
        return (number << 64) + nulls + obtained + heard

    def waits(self) -> tuple[Wait, ...]:
        """Return the messages that are known to be lost, and the missing number of the own message."""
        latest = self._latest
        holder = 0 if latest is None else latest.next_holder
        source = latest.sequencer if latest is not None and holder == self.me else holder
        waits = [
            Wait(f"number {item}" if isinstance(item, int) else f"message {item.source}:{item.id}", source)
            for item in self._lost()
        ]
        if self.busy and not self.holding:
            own = f"message {self.me}:{self._expected[self.me] - 1}"
            waits.append(Wait(f"a number after {max(self._status)} for {own}", holder))
        return tuple(waits)

    def snapshot(self) -> Snapshot:
        """Return the whole state; deadlines are relative to the latest `now` that the core was given."""
        return Snapshot(
            self._latest,
            tuple(self._expected),
            tuple(self._status),
            tuple(self._buffer.values()),
            tuple(self._acks[number] for number in sorted(self._acks)),
            self._sought,
            tuple(sorted(self._missed)),
            self._delivered,
            self._deadlines.relative(self._now),
            tuple(self._outputs),
            tuple(self._deliveries),
            tuple(sorted(self._violations.items())),
        )

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Set the state to a snapshot, as if that had been taken at `now`; parameters and tracer stay."""
        self._now = now
        self._latest = snapshot.latest
        self._expected, self._status = list(snapshot.expected), list(snapshot.status)
        self._buffer = {message.identifier: message for message in snapshot.buffer}
        self._acks = {ack.number: ack for ack in snapshot.acks}
        self._number_of = {ack.identifier: ack.number for ack in snapshot.acks}
        self._sought = snapshot.sought
        self._missed = set(snapshot.missed)
        self._delivered = snapshot.delivered
        self._deadlines.resume(snapshot.timers, now)
        self._outputs, self._deliveries = list(snapshot.outputs), list(snapshot.deliveries)
        self._violations = Counter(dict(snapshot.violations))
