"""The core of Totem's single ring: the token goes round, and who holds it numbers and multicasts.

Rules of this file:
1. No clock, socket, randomness or thread: `now` comes in, messages and deliveries go out as data.
2. One public action is one atomic step, and a step never waits. `settle` takes the two internal steps,
   `multicast` and `pass_token`, until neither is possible, and hands over what was delivered.
3. What a step multicasts the process itself has at once; only the copies for others become outputs.
4. Whoever calls `receive` has checked the message's ranges (`messages.flaw`). What no correct member says is
   counted in `violations` and changes nothing.
5. What is kept is bounded: `pending_max` own messages that wait for the token, `unstable_max` numbers of own
   messages that are not known to be stable, and early updates, of which all members together cannot have
   more on their way than `unstable_max` each. All members have the same `unstable_max`.
6. An update is kept until it is delivered, and no longer: the queues below lose nothing.

| paper                                                            | here                             |
|------------------------------------------------------------------|----------------------------------|
| `On receipt of the token`                                        | `receive`, `token`               |
| `LTM multicasts more than one message, subject to the            | `multicast`, at most `visit_max` |
|  constraints imposed by the flow control mechanism`              | times a visit                    |
| `it increments the seq field of the token and sets the sequence  | `multicast`, `Update.number`     |
|  number of the message to this value`                            |                                  |
| `transmits the token with its own message delivery information`  | `pass_token`, `Token.told[me]`   |
| `The total ordering is achieved by using a single sequence of    | `_take_in`: number after number  |
|  message sequence numbers`                                       |                                  |
| `the stability of messages is determined by using the message    | `stable`, the least of `told`    |
|  delivery information in the token`                              |                                  |
| `If LTM has no messages to multicast, it immediately passes      | `pass_token`, PASS_IDLE          |
|  the token without waiting for a new update arrival`             |                                  |

Repairs: none.

What is decided here, because the paragraph is silent or has no network to spare. Flow control: `visit_max`
messages a visit, and `unstable_max` own ones that others may lack, so that nobody's numbers crowd out
another's. The token rests for `rest_ms` where there is nothing to multicast after a rotation in which nobody
had something; it goes on as soon as there is. Retransmission, and what happens to a ring that loses a member
or its token, the paragraph leaves out, and so does this core: it needs reliable queues.

Source: J. Kim and C. Kim 1997, section 5, the paragraph on Totem (Amir, Moser, Melliar-Smith, Agarwal,
Ciarfella 1995).
"""

from __future__ import annotations

from collections import Counter, deque
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
from antiphon.impl.protocols.totem.messages import Message, Token, TotemViolation, Update
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["DEFAULTS", "PENDING_MAX", "VISIT_MAX", "Core", "Settings", "Snapshot", "Timer"]

VISIT_MAX = 16
"""Default largest number of messages that a holder multicasts in one visit of the token."""

PENDING_MAX = 32
"""Default largest number of own messages that wait for the token."""


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a core; the maxima are the same at all members."""

    visit_max: int = VISIT_MAX
    """Largest number of messages that a holder multicasts in one visit of the token."""
    unstable_max: int = 2 * VISIT_MAX
    """Largest number of own messages that others may lack."""
    pending_max: int = PENDING_MAX
    """Largest number of own messages that wait for the token."""
    rest_ms: float = 5.0
    """Milliseconds that the token rests at a member that has nothing to send."""


DEFAULTS = Settings()
"""The default settings."""


class Timer(StrEnum):
    """Timer of the ring: the end of the token's rest."""

    PASS_IDLE = "pass_idle"
    """Timer that passes an idle token after a rest (`when no LTM has a message to multicast, the token
    continues to circulate`).
    """


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    token: Token | None
    visit: int
    told: tuple[int, ...]
    last_id: int
    waiting: tuple[tuple[int, bytes], ...]
    own: tuple[int, ...]
    early: tuple[Update, ...]
    status: int
    ids: tuple[int, ...]
    stable: int
    timers: tuple[tuple[Timer, float, int], ...]
    outputs: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]


class Core(TimedCore[Message, Timer]):
    """Core of Totem's ring at process `me`; `antiphon.impl.protocols.core` tells a shell how to use it."""

    def __init__(
        self, me: int, members: int, settings: Settings = DEFAULTS, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Begin with the token at process 0, and no number given.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: a maximum or `rest_ms` is not positive.
        """
        super().__init__(me, members, tracer)
        for name in ("visit_max", "unstable_max", "pending_max"):
            limit = getattr(settings, name)
            if limit < 1:
                raise ValueError(f"{name} is {limit}; a member that may send nothing orders nothing")
        self._visit_max, self._unstable_max = settings.visit_max, settings.unstable_max
        self._pending_max = settings.pending_max
        self._token = Token(0, (0,) * members) if me == 0 else None
        self._visit = 0
        self._told = (0,) * members
        self._last_id = 0
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._own: list[int] = []
        self._early: dict[int, Update] = {}
        self._status = 0
        self._ids = [0] * members
        self._stable = 0
        self._deadlines = Deadlines({Timer.PASS_IDLE: settings.rest_ms}, 1)

    def start(self, now: float) -> None:
        """Take part in the ring; the process that has the token lets it rest first."""
        self._now = now
        self._watch()

    # The token --------------------------------------------------------------------------------------------

    @property
    def holding(self) -> bool:
        """Return True if this process has the token."""
        return self._token is not None

    @property
    def stable(self) -> int:
        """Return the number up to which all members had delivered everything when this process last had the
        token.
        """
        return self._stable

    @property
    def busy(self) -> bool:
        """Return True if the largest number of own messages waits for the token."""
        return len(self._waiting) >= self._pending_max

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Put the message into the queue (`a LTM defers multicasting updates until it has hold of the
        token`).

        Raises:
            Busy: too many own messages wait for the token.
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        payload = payload_copy(payload)
        if NATURAL_MAX in (self._last_id, self._status, 0 if self._token is None else self._token.seq):
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")
        if self.busy:
            raise Busy(f"{len(self._waiting)} wait for the token; broadcast again when `busy` is false")
        self._now = now
        self._last_id += 1
        identifier = Identifier(self.me, self._last_id)
        self._waiting.append((self._last_id, payload))
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        self._watch()
        return identifier

    def multicast(self, now: float) -> bool:
        """Multicast the first waiting message (`it increments the seq field of the token`); return False if
        none may go.
        """
        self._now = now
        token = self._token
        if token is None or not self._may_multicast(token):
            return False
        name, payload = self._waiting.popleft()
        update = Update(token.seq + 1, Identifier(self.me, name), payload)
        self._token = Token(update.number, token.told)
        self._visit += 1
        self._own.append(update.number)
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, "multicast", update.identifier, update.number))
        for process in self._others:
            self._outputs.append(Send(process, update))
        self._take_in(update)
        self._watch()
        return True

    def pass_token(self, now: float) -> bool:
        """Pass the token (`transmits the token`), unless there is more to multicast, or it may rest; return
        False if it stays.
        """
        self._now = now
        token = self._token
        if token is None or self._may_multicast(token) or self._may_rest(token):
            return False
        self._transmit(token, "pass_token")
        return True

    def _may_multicast(self, token: Token) -> bool:
        """Return True if a message waits and the limits of this visit allow it (`subject to the constraints
        imposed by the flow control mechanism`).
        """
        if not self._waiting or self._visit >= self._visit_max or token.seq == NATURAL_MAX:
            return False
        least = self._least(token)
        return sum(1 for number in self._own if number > least) < self._unstable_max

    def _may_rest(self, token: Token) -> bool:
        """Return True if the token may rest: no message waits here, none did since the last visit, and all
        have delivered everything.
        """
        return not self._waiting and min(token.told) == token.seq

    def _least(self, token: Token) -> int:
        """Return the number up to which all have delivered everything, by the token and by this process's own
        deliveries.
        """
        return min(min(token.told[process] for process in self._others), self._status)

    def _transmit(self, token: Token, step: str) -> None:
        """Send the token to the next member of the ring `with its own message delivery information`."""
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, step))
        self._stable = self._least(token)
        self._own = [number for number in self._own if number > self._stable]
        self._told = (*token.told[: self.me], self._status, *token.told[self.me + 1 :])
        self._token, self._visit = None, 0
        self._outputs.append(Send((self.me + 1) % self.members, Token(token.seq, self._told)))
        self._watch()

    # Receiving --------------------------------------------------------------------------------------------

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle one message of another member."""
        self._now = now
        if isinstance(message, Token):
            wrong = self._impossible_token(sender, message)
            if wrong is None:
                self._token = message
        else:
            wrong = self._impossible_update(sender, message)
            if wrong is None:
                self._take_in(message)
        if wrong is not None:
            self._violated(wrong, sender, message)
        self._watch()

    def _take_in(self, update: Update) -> None:
        """Store an update, and deliver all updates before the first missing number (`a single sequence of
        message sequence numbers`).
        """
        if update.number <= self._status:
            return
        self._early[update.number] = update
        while (following := self._early.pop(self._status + 1, None)) is not None:
            source, name = following.identifier
            self._status, self._ids[source] = following.number, name
            self._deliveries.append(Delivery(source, name, following.number, following.payload))
            if self._tracer.recording:
                told = tracing.Deliver(self.me, following.identifier, following.number, following.payload)
                self._tracer.record(told)

    # What cannot be ---------------------------------------------------------------------------------------

    def _impossible_token(self, sender: int, token: Token) -> TotemViolation | None:
        """Return the violation if no correct member passes this token now, else None."""
        if sender != (self.me - 1) % self.members:
            return TotemViolation.NOT_THE_RING
        if self._token is not None:
            return TotemViolation.SECOND_TOKEN
        forgets = any(now < before for now, before in zip(token.told, self._told, strict=True))
        own = token.told[self.me] != self._told[self.me]
        if forgets or own or token.seq < max(self._early, default=self._status):
            return TotemViolation.TOKEN_BACK
        ahead = token.seq > self._status + self.members * self._unstable_max
        return TotemViolation.NUMBER_AHEAD if ahead else None

    def _impossible_update(self, sender: int, update: Update) -> TotemViolation | None:
        """Return the violation if no correct member multicasts this update now, else None."""
        (source, name), number = update.identifier, update.number
        if source != sender:
            return TotemViolation.FOREIGN_UPDATE
        if number <= self._status:
            return None
        if number > self._status + self.members * self._unstable_max:
            return TotemViolation.NUMBER_AHEAD
        if self._token is not None and number > self._token.seq:
            return TotemViolation.NEVER_GIVEN
        early = self._early.get(number, update)
        if early != update:
            return TotemViolation.TWO_UPDATES
        other = any(kept.identifier == update.identifier for kept in self._early.values())
        if name <= self._ids[source] or (other and number not in self._early):
            return TotemViolation.TWO_NUMBERS
        return None

    # Time -------------------------------------------------------------------------------------------------

    def settle(self, now: float) -> list[Delivery]:
        """Multicast messages and pass the token as long as either is possible; return, once, the deliveries
        in order.
        """
        while self.multicast(now) or self.pass_token(now):
            pass
        return self.deliveries()

    def expire(self, timer: Timer, now: float) -> bool:
        """Run the action of `timer`, whatever its deadline; return False if the timer does not run."""
        self._now = now
        token = self._token
        if token is None or not self._may_rest(token):
            return False
        self._transmit(token, timer.value)
        return True

    def _watch(self) -> None:
        """Let the timer run exactly while the token rests here."""
        if self._token is not None and self._may_rest(self._token):
            self._deadlines.start(Timer.PASS_IDLE, self._now)
        else:
            self._deadlines.stop(Timer.PASS_IDLE)

    # Looking at a core from outside -----------------------------------------------------------------------

    def __repr__(self) -> str:
        told = f"delivered to {self._status}, at all to {self._stable}, {len(self._waiting)} own wait"
        holds = ", holds the token" if self.holding else ""
        return f"<totem: {told}, {len(self._early)} early{holds}; {standing(self)}>"

    @property
    def progress(self) -> int:
        """Measure of progress: messages broadcast, multicast, delivered, and known to be stable."""
        return 2 * self._last_id - len(self._waiting) + self._status + self._stable + sum(self._told)

    def waits(self) -> tuple[Wait, ...]:
        """Return what this process waits for: the token, if it has messages to send; and, if a number is
        missing, that number from each member that has sent no later one.
        """
        waits = []
        if self._waiting and self._token is None:
            name, _ = self._waiting[0]
            waits.append(Wait(f"the token for message {self.me}:{name}", (self.me - 1) % self.members))
        if self._early:
            later = {update.identifier.source for update in self._early.values()}
            missing = f"number {self._status + 1}"
            waits += [Wait(missing, process) for process in self._others if process not in later]
        return tuple(waits)

    def snapshot(self) -> Snapshot:
        """Return the whole state; deadlines are relative to the latest `now` that the core was given."""
        return Snapshot(
            self._token,
            self._visit,
            self._told,
            self._last_id,
            tuple(self._waiting),
            tuple(self._own),
            tuple(self._early[number] for number in sorted(self._early)),
            self._status,
            tuple(self._ids),
            self._stable,
            self._deadlines.relative(self._now),
            tuple(self._outputs),
            tuple(self._deliveries),
            tuple(sorted(self._violations.items())),
        )

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Set the state to a snapshot, as if that had been taken at `now`; parameters and tracer stay."""
        self._now = now
        self._token, self._visit, self._told = snapshot.token, snapshot.visit, snapshot.told
        self._last_id, self._waiting = snapshot.last_id, deque(snapshot.waiting)
        self._own = list(snapshot.own)
        self._early = {update.number: update for update in snapshot.early}
        self._status, self._ids, self._stable = snapshot.status, list(snapshot.ids), snapshot.stable
        self._deadlines.resume(snapshot.timers, now)
        self._outputs, self._deliveries = list(snapshot.outputs), list(snapshot.deliveries)
        self._violations = Counter(dict(snapshot.violations))
