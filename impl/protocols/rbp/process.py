"""The core of RBP, figures 16 and 25 repaired: the holder of a token that goes round numbers a message.

Figure 16 delivers what is ordered, and keeps everything. Figure 25 adds stability: the token goes round also
without a message, so that all know who has what, and what all have is forgotten. Who passes the token with
number k has every message up to k. The token names one member after the other, so whoever knows the numbers
up to ts knows that r members have every message up to ts - r + 1, and all n have those up to ts - n + 1. A
message is delivered when `resilience` members have it.

Lines are those of figure 16; those of figure 25 follow after a semicolon.

Rules of this file:
1. No clock, socket, randomness or thread: `now` comes in, messages and deliveries go out as data.
2. One public action is one atomic step, and a step never waits. The waits of the figures are states:
   `pending`, `arriving`, `holding`, `passed`.
3. "send to all" includes the sender: its own copy is applied inside the step; only the copies for others
   become outputs.
4. Whoever calls `receive` has checked the message's ranges (`messages.flaw`). What no correct member says (a
   second message under one number, say) is counted in `violations` and changes nothing.
5. Nothing far ahead is kept. The numbers from this process's next turn on do not exist before it gives that
   one, and a source names a message when its last one has a number: so there are fewer numbers ahead than
   members, and of each source so many identifiers and one more. This bounds what any sequence of messages can
   make a process keep beside the messages that were numbered. With stability it keeps of these the numbers of
   two turns of the token at most, with their bodies.
6. A message makes a process send at most one message to all and NUMBERS_ASKED_MAX to one.

| paper                                      | here                                     |
|--------------------------------------------|------------------------------------------|
| recvQ_p, seqQ_p; stableQ_p                 | received, numbers; stable                |
| ts_p                                       | last_number                              |
| lastdelivered_p, message id_p              | last_delivered, message_id               |
| wait of line 15; 16                        | pending                                  |
| waits of lines 36 and 44; 38 and 48        | arriving                                 |
| wait of line 45; 51                        | holding                                  |
| waits of line 49; 55 and 62                | passed                                   |
| timeout of line 51 of figure 25            | the timers pass_on and pass_null         |
| failure(q), ActivityFailure                | `waits`: what should come, and from whom |
| TL_p of figure 25                          | the group, which keeps its members       |

Repairs, by line: 13; 14 the identifier is made once, before the loop; 15, 36, 49; 55, 62 the loops end when
the number, or a higher one, is known, from whatever message; 18-23; 20-24 a late body is stored although
numbered; 25-40; 25-44 `ts` moves at every process with each number; 29, 31, 35, 43; 31, 33, 37, 47 a request
goes to the process that gave the number which shows the loss, since it has everything up to it; 36; 48 the
wait is for all numbers and bodies up to, not exactly, that number; 37-39; 42-43 an old token is answered and
not taken again; 53; 66, 69 what is sent again has a shape that is received; 61; 74-82 NULL is passed over.

Of figure 16 alone: 18-23 the token holder answers an old message; 20 "token holder" is the state, not the
ring's constant; 61 delivery waits for the body.

Of figure 25 alone: 7 the successor of the last process is the first; 11 the first ACK goes to all; 20 and 26
what was collected stays known, and is not taken in again; 32 and 45 NULL has no body; 61 carries what line 54
does; 75 up to ts - n + 1, as the text has it. Lines 45-63 follow the `if` of lines 35-44, with the loop of
lines 36-38, as in figure 16. Nobody answers an old message (lines 21-22, where no process is its own
successor): the token goes on, and the next ACK shows the source that it missed one. Nobody calls Reformation
(lines 39-40, 49-50, 56-57, 63-64, 70-71): who waits says for whom, and a group that gets no further fails.

Source: Barchet-Estefanel 2002, section 3.1.3, figure 16, and section 3.2, figure 25.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, TypedDict

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
from antiphon.impl.protocols.flush import KEPT_BYTES, KEPT_BYTES_MAX, Body, Report, merged_with_kept
from antiphon.impl.protocols.flush import Numbered as Reported
from antiphon.impl.protocols.rbp.messages import (
    NUMBERS_ASKED_MAX,
    Ack,
    Data,
    Gone,
    Message,
    Numbered,
    RbpViolation,
    Request,
    RequestNumbers,
)
from antiphon.impl.protocols.rbp.queues import Queues
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["FIGURE_16", "FIGURE_25", "Core", "Observation", "Settings", "Snapshot", "Timer"]

EXTERNAL_AHEAD = 256
"""Number of numbers beyond its last one that an external process keeps; it asks for further ones later."""

FRESH_MS = 1_000.0
"""Milliseconds, from its question on, for which an external process relies on an answer about how far the
ring is.
"""


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a core. The waiting times are in milliseconds.

    Raises:
        ValueError: `resilience` is not 1 and `stability` is off. Then nobody knows what the others have, for
            which a delivery would wait.
    """

    resilience: int = 1
    """Number of members that have a message when it is delivered: 1, as soon as it is ordered; 0, all."""
    stability: bool = False
    """Switch: the token goes round also without a message, and messages that all members have are
    forgotten.
    """
    resend_ms: float = 50.0
    """First waiting time of the timer resend."""
    token_ms: float = 50.0
    """First waiting time of the timer resend_token."""
    request_ms: float = 20.0
    """First waiting time of the timers repeat_request and ask_how_far."""
    hurry_ms: float = 1.0
    """Time for which a holder without a message keeps the token while some message waits for delivery (with
    stability).
    """
    silence_ms: float = 40.0
    """Time for which a holder without a message keeps the token otherwise (with stability); less than
    `token_ms`, or the token seems to be lost until then.
    """
    backoff_max: int = 8
    """Largest multiple of the first waiting time; each expiry doubles it up to there; 1: no back-off."""
    kept_bytes: int = KEPT_BYTES_MAX
    """Number of bytes that a process keeps, of messages that all have, for later external processes (section
    4.4.3).
    """

    def __post_init__(self) -> None:
        """Check that some member can know who has a message, if deliveries wait for that."""
        if not self.stability and self.resilience != 1:
            told = f"resilience {self.resilience}: without stability a message is delivered"
            raise ValueError(f"{told} as soon as it is ordered")


FIGURE_16 = Settings()
"""RBP without failures."""

FIGURE_25 = Settings(resilience=0, stability=True)
"""RBP with stability: a message is delivered when all have it."""


class Timer(StrEnum):
    """Timers: the loops of the figures that wait, and the timeout of figure 25.

    The figures say what is sent again and until when, not how often; `antiphon.impl.protocols.deadlines`
    decides that.
    """

    RESEND = "resend"
    """Timer of lines 12-15; 13-16: it repeats the own message until that has a number."""
    RESEND_TOKEN = "resend_token"
    """Timer of lines 47-49; 53-55 and 60-62: it repeats the own ACK until a higher number is known."""
    REPEAT_REQUEST = "repeat_request"
    """Timer of lines 34-36 and 42-44; 36-38 and 46-48: it repeats requests until nothing is missing."""
    ASK_HOW_FAR = "ask_how_far"
    """Timer of no figure: an external process asks how far the ring is."""
    PASS_ON = "pass_on"
    """Timer of line 51 of figure 25: it passes the token without a message, while some message waits for its
    delivery.
    """
    PASS_NULL = "pass_null"
    """Timer of line 51 of figure 25: it passes the token without a message, when all were delivered."""


class Observation(TypedDict):
    """Copy of every state variable as plain data: integers, booleans, tuples and dictionaries."""

    received: dict[tuple[int, int], bytes]
    """Bodies, in order of reception."""
    waiting: tuple[tuple[int, int], ...]
    """Messages of `received` without a number, in order of reception."""
    numbers: dict[int, tuple[int, int] | None]
    stable: dict[int, tuple[int, int] | None]
    numbered: tuple[int, ...]
    """Number of messages of each source that have a number in 1..last_number; they are its first ones."""
    last_number: int
    last_delivered: int
    message_id: int
    pending: tuple[int, int] | None
    arriving: int | None
    holding: bool
    passed: int | None


class Snapshot(NamedTuple):
    """Whole state of a core, immutable and canonical: equal snapshots behave equally."""

    received: tuple[tuple[Identifier, bytes], ...]
    """Bodies in order of reception, as in figure 16; with stability sorted."""
    waiting: tuple[Identifier, ...]
    numbers: tuple[tuple[int, Identifier | None], ...]
    stable: tuple[tuple[int, Identifier | None, bytes], ...]
    numbered: tuple[int, ...]
    last_number: int
    last_delivered: int
    message_id: int
    pending: Identifier | None
    arriving: int | None
    holding: bool
    passed: int | None
    timers: tuple[tuple[Timer, float, int], ...]
    outputs: tuple[Send[Message], ...]
    violations: tuple[tuple[Violation, int], ...]
    kept: tuple[tuple[int, Identifier | None, bytes], ...] = ()
    external: tuple[int, int, tuple[tuple[int, int], ...]] = (0, 0, ())
    """State of an external process: the highest number that it has heard of, the member that it asks next,
    and up to which number members of the ring have deleted all.
    """
    asked: tuple[int, float] | None = None
    """Last question of an external process about how far the ring is: the number in it, and its age in
    milliseconds.
    """
    answered: float | None = None
    """Age of the last such question that was answered."""


class Core(TimedCore[Message, Timer]):
    """Core of RBP at process `me` of the ring 0..members-1; `antiphon.impl.protocols.core` tells a shell how
    to use it.
    """

    def __init__(
        self,
        me: int,
        members: int,
        settings: Settings = FIGURE_16,
        *,
        ring: int | None = None,
        tracer: Tracer = NULL_TRACER,
    ) -> None:
        """Begin with empty state (lines 1-7; 1-9). The first `ring` members have the token in turn, by
        default all of them.

        The others are external (section 4.4.3): they receive what is sent, ask for what they have missed, and
        send nothing of their own.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: an interval or the back-off is not positive, or `ring` or `resilience` is impossible.
        """
        super().__init__(me, members, tracer)
        self.ring = members if ring is None else ring
        self.resilience = settings.resilience
        self.stability = settings.stability
        if not 0 <= self.resilience <= self.ring:
            raise ValueError(f"resilience {self.resilience}: 1 to {self.ring} members, or 0 for all of them")
        if not 2 <= self.ring <= members or (self.ring < members and self.resilience != 0):
            told = f"a ring of {self.ring} of {members} members, resilience {self.resilience}"
            raise ValueError(f"{told}: external members need a ring of two that delivers what all of it have")
        self.external = me >= self.ring
        self.successor = (me + 1) % self.ring
        self._kept: dict[int, tuple[Identifier | None, bytes]] = {}
        """Stable messages that are kept while there are external members, the lowest number first."""
        self._kept_at: dict[Identifier, int] = {}
        self._kept_bytes = 0
        self._kept_bytes_max = settings.kept_bytes
        self._gone: dict[int, int] = {}
        """Number up to which each member of the ring has deleted everything, if it has said so."""
        self._heard_of = 0
        """Highest number that this external process has heard of, even if it is too far ahead to be kept."""
        self._asks = 0
        """The member of the ring that this external process asks next."""
        self._asked: tuple[int, float] | None = None
        """Last question of this external process about how far the ring is: the number in it, and its
        time.
        """
        self._answered: float | None = None
        """Time of the last such question that was answered."""
        self._queues = Queues(members)
        self._last_delivered = 0
        self._message_id = 0
        self._pending: Identifier | None = None
        self._arriving: int | None = None
        self._holding = False
        self._passed: int | None = None
        self._deadlines = Deadlines(
            {
                Timer.RESEND: settings.resend_ms,
                Timer.RESEND_TOKEN: settings.token_ms,
                Timer.REPEAT_REQUEST: settings.request_ms,
                Timer.ASK_HOW_FAR: settings.request_ms,
                Timer.PASS_ON: settings.hurry_ms,
                Timer.PASS_NULL: settings.silence_ms,
            },
            settings.backoff_max,
        )

    def start(self, now: float) -> None:
        """Start (lines 8-9; 10-11): process 0 (the figure's p1) numbers the NULL message 1 and passes the
        token.
        """
        self._now = now
        if self.me == 0:
            self._pass_token(None, 1)
        self._watch()

    # The application's side.

    @property
    def busy(self) -> bool:
        """Return True if `broadcast` would be refused: the last message of this process has no number, or the
        process is external.
        """
        return self._pending is not None or self.external

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Name the message once and send it to all (lines 11-14; 12-15).

        Raises:
            Busy: the previous broadcast has no number yet (line 15; 16).
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        payload = payload_copy(payload)
        self._require_number_left()
        if self.external:
            raise Busy("this process is external: it broadcasts when it is in the ring again")
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
        """Return True if `deliver` would deliver a message or pass over a NULL message."""
        queues, number = self._queues, self._last_delivered + 1
        if self.resilience == 0:
            return number in queues.stable
        enough = number + self.resilience - 1 <= queues.last_number
        return enough and number in queues.numbers and queues.body(number) is not None

    def deliver(self) -> Delivery | None:
        """Deliver the message with the next number, once enough members have it (lines 60-63; 79-82).

        None when there is nothing to deliver, and also when a NULL message was passed over: `deliverable`
        distinguishes the two.
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
        told = f"last number {queues.last_number}, delivered to {self._last_delivered}"
        if self.stability:
            at_all = max(0, queues.last_number - self.members + 1)
            told += f", at all to {at_all}, keeps {len(queues.numbers)} numbers"
        holds = ", holds the token" if self._holding else ""
        return f"<{'rbp-resilient' if self.stability else 'rbp'}: {told}{holds}; {standing(self)}>"

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
            case Gone():
                self._receive_gone(sender, message)
        self._watch()

    def _receive_data(self, sender: int, message: Data) -> None:
        """Receive a body: store a new one; as holder, tell the source of an old message its number (lines
        18-23; 18-24).

        Line 21 answers q, from whom (m, B) came. By the text before figure 16 only the source repeats an old
        message, so the answer is for the source, also when this copy came from a process that was asked for
        the body. With stability nobody answers.
        """
        queues, identifier = self._queues, message.identifier
        if queues.is_collected(identifier):
            return
        if identifier not in queues.received:
            if identifier not in queues.number_of:
                kind = self._impossible(identifier, queues.last_number + self._ahead() + 1)
                if kind is not None:
                    self._violated(kind, sender, message)
                    return
            queues.store(identifier, message.payload)
        elif queues.received[identifier] != message.payload:
            self._violated(RbpViolation.TWO_PAYLOADS, sender, message)
            return
        answers = self._holding and not self.stability and identifier.source != self.me
        if answers and identifier in queues.number_of:
            self._to(identifier.source, Numbered(identifier, queues.number_of[identifier]))

    def _receive_ack(self, sender: int, message: Ack) -> None:
        """Receive an ACK: learn its number, request what is missing, and take the token if the ACK is new and
        names this process (lines 25-44; 25-47).

        An old token (lines 38-39; 42-43) is one that this process has accepted already. Its sender gets the
        next numbers, of which it knows none.
        """
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
        self._ask_for_body(sender, message)

    def _receive_numbered(self, sender: int, message: Numbered) -> None:
        """Receive a number that was sent again. The figures send this message (lines 21, 57; 43, 69), and
        lack its handler.

        A process that has received all numbers that it asked for, and misses more, asks for the next ones.
        With stability it asks for the body at once (lines 45-47 of figure 25), otherwise by the timer. The
        number of its last question tells an external process that the question was answered.
        """
        queues = self._queues
        before = queues.last_number
        if self._asked is not None and message.number == self._asked[0] and sender < self.ring:
            self._answered = self._asked[1]
        if not self._learn(sender, message):
            return
        if before // NUMBERS_ASKED_MAX < queues.last_number // NUMBERS_ASKED_MAX and self._misses_numbers:
            self._ask(queues.highest, self._missing_numbers(max(queues.highest, self._heard_of)))
        if self.stability:
            self._ask_for_body(sender, message)

    def _receive_request(self, sender: int, message: Request) -> None:
        """Answer a request for a body: send the body with its identifier (lines 51-53; 64-66)."""
        payload = self._queues.received.get(message.identifier)
        if payload is None and message.identifier in self._kept_at:
            payload = self._kept[self._kept_at[message.identifier]][1]
        if payload is not None:
            self._to(sender, Data(message.identifier, payload))

    def _receive_request_numbers(self, sender: int, message: RequestNumbers) -> None:
        """Answer a request for numbers: send every number of the range that is here, first and last included
        (lines 55-57; 67-69).

        An external process also gets numbers and bodies that were collected, or the notice that they are
        gone; and first of all the highest number that is known here, since it cannot know how far the ring is
        from what has waited in its socket.
        """
        queues = self._queues
        if sender >= self.ring and message.last < queues.highest:
            self._to(sender, Numbered(queues.numbers[queues.highest], queues.highest))
        if sender >= self.ring and message.first < queues.first:
            lost = min(self._kept, default=queues.first) - 1
            if message.first <= lost:
                self._to(sender, Gone(lost))
            for number in range(message.first, message.last + 1):
                if number in self._kept:
                    name, body = self._kept[number]
                    if name is not None:
                        self._to(sender, Data(name, body))
                    self._to(sender, Numbered(name, number))
        for number in queues.known_numbers(message.first, message.last):
            self._to(sender, Numbered(queues.numbers[number], number))

    def _receive_gone(self, sender: int, message: Gone) -> None:
        """Receive the notice that the sender has deleted the messages that this external process needs next:
        "no more in the buffers" (section 4.4.3).
        """
        if self.external and sender < self.ring:
            self._gone[sender] = max(message.number, self._gone.get(sender, 0))

    @property
    def last_number(self) -> int:
        """Return the highest number up to which all numbers are or were known to this process."""
        return self._queues.last_number

    @property
    def last_delivered(self) -> int:
        """Return the highest number up to which this process has delivered or passed over every message."""
        return self._last_delivered

    @property
    def lost(self) -> bool:
        """Return True if this external process needs a message that no process of the ring stores any
        more.
        """
        needed = self._queues.last_number + 1
        return len(self._gone) >= self.ring and min(self._gone.values()) >= needed

    # The token, and what it makes stable.

    def accept(self, now: float) -> bool:
        """Accept the arrived token, once all numbers and bodies up to its own are here (lines 36, 44; 38,
        48). Return False if there is none to accept.
        """
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
        """Number, as holder, the first message without a number, and pass the token (lines 45-48; 59-61).
        Return False if that is not possible.
        """
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
        """Delete the message with this number, which all members have (lines 74-78 of figure 25).

        With `resilience` 0 it waits in `stable` for its delivery; otherwise it was delivered before.
        """
        self._now = now
        if not self._collectable(number):
            return False
        identifier, payload = self._queues.collect(number)
        if self.resilience == 0:
            self._queues.stable[number] = identifier, payload
        if self.ring < self.members and not self.external:
            self._keep(number, identifier, payload)
        return True

    def _keep(self, number: int, identifier: Identifier | None, payload: bytes) -> None:
        """Store a collected message for external processes: "keep messages while there is available space"
        (section 4.4.3). If there is no room, remove the stored messages with the lowest numbers.
        """
        self._kept[number] = identifier, payload
        if identifier is not None:
            self._kept_at[identifier] = number
        self._kept_bytes += len(payload) + KEPT_BYTES
        while self._kept_bytes > self._kept_bytes_max:
            forgotten, body = self._kept.pop(next(iter(self._kept)))
            self._kept_bytes -= len(body) + KEPT_BYTES
            if forgotten is not None:
                del self._kept_at[forgotten]

    def settle(self, now: float) -> list[Delivery]:
        """Accept, sequence, collect and deliver until none of these steps is possible; return the deliveries
        in order.
        """
        while self.accept(now) or self.sequence(now):
            pass
        deliveries = []
        while self.deliverable or self.collect(self._queues.first, now):
            if self.deliverable:
                delivery = self.deliver()
                if delivery is not None:
                    deliveries.append(delivery)
        return deliveries

    # The end of the list: figure 32.

    def report(self) -> Report:
        """Return the report of figure 32, step 1: the knowledge of this process."""
        queues = self._queues
        counts = list(queues.numbered)
        for number, name in queues.numbers.items():
            if name is not None and number <= queues.last_number:
                counts[name.source] -= 1
        return Report(
            queues.first - 1,
            tuple(counts),
            tuple(Reported(number, name) for number, name in sorted(queues.numbers.items())),
            tuple(Body(name, body) for name, body in sorted(queues.received.items())),
        )

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Return the result for all to adopt (step 3), from the reports of these members, this process among
        them.

        Messages that were kept for external processes are added, as far as those need them and there is room.
        """
        kept = ((number, *self._kept[number]) for number in reversed(self._kept))
        return merged_with_kept(reports, kept, missing=missing)

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver the stable and the agreed messages that were not delivered (steps 5 and 6).

        Return None if a message between the two is missing here: this process was external, and has missed
        it.
        """
        queues = self._queues
        bodies = queues.received | {name: body for name, body in queues.stable.values() if name is not None}
        found = queues.numbers | {number: name for number, (name, _) in queues.stable.items()}
        bodies |= {item.identifier: item.payload for item in agreed.bodies}
        found |= {item.number: item.identifier for item in agreed.numbered}
        numbers = range(self._last_delivered + 1, agreed.settled + 1)
        if any(number not in found for number in numbers):
            return None
        named = [(number, name) for number in numbers if (name := found[number]) is not None]
        if any(name not in bodies for _, name in named):
            return None
        self._last_delivered = max(self._last_delivered, agreed.settled)
        deliveries = [Delivery(name.source, name.id, number, bodies[name]) for number, name in named]
        if self._tracer.recording:
            for source, number_, number, payload in deliveries:
                self._tracer.record(tracing.Deliver(self.me, Identifier(source, number_), number, payload))
        return deliveries

    # Time.

    def expire(self, timer: Timer, now: float) -> bool:
        """Run the action of `timer`, whatever its deadline; return False if the timer does not run.

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
            case Timer.ASK_HOW_FAR:
                done = self._ask_how_far()
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
        """Return a measure of progress: the numbers and bodies that have arrived, with those removed
        since.
        """
        return self._queues.first - 1 + len(self._queues.numbers) + self._queues.bodies

    def waits(self) -> tuple[Wait, ...]:
        """Return what this process waits for: the first missing number, the missing bodies, and, while
        another process has the token, the next number.

        Without stability the next number is waited for only while a message has none.
        """
        queues = self._queues
        waits = []
        if queues.gap:
            waits.append(Wait(f"number {queues.last_number + 1}", self._sequencer(queues.highest)))
        for name in queues.missing_bodies():
            waits.append(
                Wait(f"the body of message {name.source}:{name.id}", self._sequencer(queues.highest))
            )
        first = queues.first_unnumbered()
        if not self._holding and (self._arriving is None if self.stability else first is not None):
            what, sequencer = f"a number after {queues.highest}", self._sequencer(queues.highest + 1)
            if first is not None:
                what += f" for message {first.source}:{first.id}"
            if sequencer == self.me:
                what, sequencer = f"the token of number {queues.highest}", self._sequencer(queues.highest)
            waits.append(Wait(what, sequencer))
        return tuple(waits)

    def observe(self) -> Observation:
        """Return a copy of every state variable."""
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
        """Return the whole state; deadlines are relative to the latest `now` that the core was given."""
        queues = self._queues
        return Snapshot(
            tuple(sorted(queues.received.items()) if self.stability else queues.received.items()),
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
            tuple((number, name, body) for number, (name, body) in self._kept.items()),
            (self._heard_of, self._asks, tuple(sorted(self._gone.items()))),
            None if self._asked is None else (self._asked[0], self._now - self._asked[1]),
            None if self._answered is None else self._now - self._answered,
        )

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Set the state to a snapshot, as if that had been taken at `now`; parameters and tracer stay."""
        self._now = now
        self._queues = type(self._queues).of(*snapshot[:6])
        self._last_delivered = snapshot.last_delivered
        self._message_id = snapshot.message_id
        self._pending = snapshot.pending
        self._arriving = snapshot.arriving
        self._holding = snapshot.holding
        self._passed = snapshot.passed
        self._deadlines.resume(snapshot.timers, now)
        self._outputs = list(snapshot.outputs)
        self._violations = Counter(dict(snapshot.violations))
        self._kept, self._kept_at, self._kept_bytes = {}, {}, 0
        for kept in snapshot.kept:
            self._keep(*kept)
        self._heard_of, self._asks, gone = snapshot.external
        self._gone = dict(gone)
        asked, answered = snapshot.asked, snapshot.answered
        self._asked = None if asked is None else (asked[0], now - asked[1])
        self._answered = None if answered is None else now - answered

    # Helpers.

    def _sequencer(self, number: int) -> int:
        """Return the process that assigns this number: the processes of the ring take turns, process 0
        first.
        """
        return (number - 1) % self.ring

    def _ask(self, number: int, request: Request | RequestNumbers) -> None:
        """Send a request to the process that assigned `number`."""
        if self.external:
            self._to(self._asks, request)
            return
        sequencer = self._sequencer(number)
        if sequencer != self.me:
            self._to(sequencer, request)

    def _ask_for_body(self, sender: int, message: Ack | Numbered) -> None:
        """Ask the sender of a number for the body of its message, if that is missing (lines 30-31; 32-33,
        45-47).
        """
        if message.identifier is not None and message.identifier in self._queues.missing:
            self._to(sender, Request(message.identifier))

    def _learn(self, sender: int, message: Ack | Numbered) -> bool:
        """Record the assignment of a number to a message, once (line 26). Return False if the assignment
        cannot be true.
        """
        identifier, number = message.identifier, message.number
        if self._queues.knows(identifier, number):
            return True
        kind = self._misplaced(identifier, number) or self._queues.conflict(identifier, number)
        beyond = number - self._queues.last_number - self._ahead()
        if kind is None and beyond > 0:
            if self.external:
                self._heard_of = max(self._heard_of, number)
                return False
            kind = RbpViolation.SECOND_TOKEN if beyond == 1 else RbpViolation.NUMBER_AHEAD
        if kind is None and identifier is not None:
            kind = self._impossible(identifier, number)
        if kind is not None:
            self._violated(kind, sender, message)
            return False
        self._record(identifier, number)
        return True

    def _misplaced(self, identifier: Identifier | None, number: int) -> RbpViolation | None:
        """Return the violation if a number is assigned to NULL or to a message against line 9; 11 and 54:
        number 1 is NULL's, and without stability no other number is.
        """
        if identifier is not None and number == 1:
            return RbpViolation.FIRST_NOT_NULL if self.stability else RbpViolation.MISPLACED_NULL
        if identifier is None and number != 1 and not self.stability:
            return RbpViolation.MISPLACED_NULL
        return None

    def _record(self, identifier: Identifier | None, number: int) -> None:
        """Add a true assignment, and end the waits that end with it (lines 15, 49; 16, 55, 62)."""
        self._queues.record(identifier, number)
        if identifier is not None and identifier == self._pending:
            self._pending = None
        self._passed = None  # who passed the token knew all numbers up to its own: this one is later

    def _pass_token(self, identifier: Identifier | None, number: int) -> None:
        """Pass the token with one ACK to all, and apply this process's own copy at once (lines 9, 48; 11, 54,
        61).
        """
        self._holding = False
        self._record(identifier, number)
        self._passed = number
        self._to_others(Ack(identifier, number, self.successor))
        if self._tracer.recording and number > 1:
            step = "pass_null" if identifier is None else "sequence"
            self._tracer.record(tracing.Step(self.me, step, identifier, number))

    def _collectable(self, number: int) -> bool:
        """Return True if all members have this message, and it was delivered where delivery comes first
        (lines 74-75 of figure 25).
        """
        if not self.stability:
            return False
        queues = self._queues
        stable = number <= queues.last_number - self.ring + 1
        if not stable or number not in queues.numbers or queues.body(number) is None:
            return False
        return self.resilience == 0 or number <= self._last_delivered

    def _require_number_left(self) -> None:
        if self._queues.highest == NATURAL_MAX:
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")

    def _ahead(self) -> int:
        """Return how many numbers after `last_number` can have been assigned: those before this process's own
        next turn.

        An external process has no turn; it allows as many as a process of the ring.
        """
        return EXTERNAL_AHEAD if self.external else (self.me - self._queues.last_number) % self.ring

    def _impossible(self, identifier: Identifier, number: int) -> RbpViolation | None:
        """Return the violation if a message with this identifier needs a higher number than this, else None.

        A source gives its messages consecutive identifiers, each one only when the previous message has a
        number.
        """
        queues, source = self._queues, identifier.source
        if source == self.me and identifier.id > self._message_id:
            return RbpViolation.NEVER_BROADCAST
        if not 1 <= identifier.id - queues.numbered[source] <= number - queues.last_number:
            return RbpViolation.IDENTIFIER_AHEAD
        return None

    @property
    def _misses_numbers(self) -> bool:
        """Return True if a number is missing below the highest known one, or below one that was refused as
        too far ahead.
        """
        return self._queues.gap or self._heard_of > self._queues.last_number

    @property
    def _incomplete(self) -> bool:
        """Return True if a number or a body is missing that this process can request."""
        return self._queues.incomplete or self._heard_of > self._queues.last_number

    @property
    def caught_up(self) -> bool:
        """Return True if this external process has all messages that it has heard of, and a member of the
        ring has just told it how far the ring is.

        Without the answer a process that was stopped would take the first message that waits in its socket
        for the last one.
        """
        fresh = self._answered is not None and self._now <= self._answered + FRESH_MS
        return self.external and not self._incomplete and fresh

    def _missing_numbers(self, last: int) -> RequestNumbers:
        """Return the request for the numbers missing up to `last`, or for a first part of them (lines 29; 31,
        37).

        The parts end at multiples of NUMBERS_ASKED_MAX, so that each is asked for once.
        """
        first = self._queues.last_number + 1
        end = -(-first // NUMBERS_ASKED_MAX) * NUMBERS_ASKED_MAX
        return RequestNumbers(first, min(end, last))

    def _resend(self) -> bool:
        """Send the last broadcast again, if it has no number (lines 12-15; 13-16)."""
        if self._pending is None:
            return False
        self._require_number_left()
        self._to_others(Data(self._pending, self._queues.received[self._pending]))
        return True

    def _resend_token(self) -> bool:
        """Send the ACK that passed the token again, if no answer shows its arrival (lines 47-49; 53-55 and
        60-62).
        """
        if self._passed is None:
            return False
        self._to_others(Ack(self._queues.numbers[self._passed], self._passed, self.successor))
        return True

    def _repeat_request(self) -> bool:
        """Request what is missing again (lines 34-36, 42-44; 36-38, 46-48). Every process that misses
        something does so.
        """
        queues = self._queues
        if not self._incomplete:
            return False
        if self.external:
            self._asks = (self._asks + 1) % self.ring
        if self._misses_numbers:
            self._ask(queues.highest, self._missing_numbers(max(queues.highest, self._heard_of)))
        for identifier in queues.missing_bodies():
            self._ask(queues.highest, Request(identifier))
        return True

    def _ask_how_far(self) -> bool:
        """Ask a member of the ring for the highest number, as an external process that knows some number: by
        a request for the last number that is here, which each version of the ring answers with that number.
        """
        number = self._queues.last_number
        if not self.external or not number:
            return False
        self._asks = (self._asks + 1) % self.ring
        self._asked = number, self._now
        self._ask(number, RequestNumbers(number, number))
        return True

    def _passes_silently(self) -> Timer | None:
        """Return the timer that makes a holder without a message pass the token by NULL (line 51 of figure
        25); None if the holder waits for none.
        """
        if not self._holding or not self.stability:
            return None
        queues = self._queues
        if queues.first_unnumbered() is not None or queues.highest == NATURAL_MAX:
            return None
        return Timer.PASS_ON if queues.last_message > self._last_delivered else Timer.PASS_NULL

    def _pass_null(self, timer: Timer) -> bool:
        """Number NULL, and pass the token (lines 51-54 of figure 25)."""
        if self._passes_silently() is not timer:
            return False
        self._pass_token(None, self._queues.last_number + 1)
        self._watch()
        return True

    def _watch(self) -> None:
        """Start and stop the timers, so that exactly those run whose event is awaited."""
        self._run(Timer.RESEND, self._pending is not None)
        self._run(Timer.RESEND_TOKEN, self._passed is not None)
        self._run(Timer.REPEAT_REQUEST, self._incomplete)
        self._run(Timer.ASK_HOW_FAR, self.external and self._queues.last_number > 0)
        if not self.stability:
            return
        silent = self._passes_silently()
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
