"""Common part of CM (`chang_maxemchuk`) and Pinwheel: updates come over queues, the token holder numbers
them, and all deliver by number.

Rules of this file:
1. No clock, socket, randomness or thread. Over queues nothing is sent again, so that no timer runs.
2. One public action is one atomic step, and a step never waits. `deliver` and `acknowledge` are the internal
  steps; `settle` takes these steps until none is left.
3. `multicast` sends to the other processes; the sender keeps a copy of its own where the paper says so.
4. Whoever calls `receive` has checked the message's ranges (`messages.flaw`). What no correct member says is
   counted in `violations` and changes nothing.
5. Nothing far ahead is kept: a subclass says how many numbers, and how many updates of one process without a
   number, can be ahead of what a process knows.

| paper                            | here                                                              |
|----------------------------------|-------------------------------------------------------------------|
| LTM_1 .. LTM_n                   | processes 0 .. members - 1                                        |
| U_id = (i, l)                    | `Identifier(i, l)`                                                |
| MSGs of LTM_k that came          | the first `_obtained[k]`: a queue leaves none out                 |
| those of them that have a gsn    | the first `_numbered[k]`, by the ACKs up to `_acknowledged`       |
| ACKs that came                   | all up to gsn `_acknowledged`, and `_early` beyond a gap          |
| the local buffer                 | `_buffer`, and `_names`, the U_id of each gsn                     |
| delivered up to                  | `_status`                                                         |

Where the paper leaves a choice, the holder acknowledges its own MSG first, else that of the process that is
next in the cycle, and those of one process in the order of sending; so none waits for ever.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, sections 1 to 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable
from typing import Any, NamedTuple

from antiphon.impl import tracing
from antiphon.impl.errors import Busy, GroupFailed, Violation
from antiphon.impl.protocols.base import CoreBase
from antiphon.impl.protocols.core import (
    NATURAL_MAX,
    Delivery,
    Identifier,
    Send,
    Wait,
    payload_copy,
    standing,
)
from antiphon.impl.tracing import Tracer

__all__ = ["Updates", "UpdatesSnapshot", "UpdatesViolation"]


class UpdatesViolation(Violation):
    """A message that no correct process sends; it is ignored and counted under exactly one kind.

    Ignoring a message of the first two kinds does no harm. Each of the other kinds shows that its sender has
    a different order than this process, or that a queue loses or reorders.
    """

    TOO_FAR_AHEAD = "number_or_update_that_is_too_far_ahead"
    FOREIGN_UPDATE = "update_of_another_process"
    UPDATE_LEFT_OUT = "update_that_is_not_the_next_of_its_source"
    OUT_OF_TURN = "number_or_token_of_a_process_that_did_not_hold_it"
    TWO_IDENTIFIERS = "two_identifiers_for_one_number"
    TWO_NUMBERS = "two_numbers_for_one_identifier_or_none_for_one_before_it"
    NEVER_BROADCAST = "identifier_that_its_source_never_broadcast"

    @property
    def breaks_order(self) -> bool:
        """Return True if two processes have contradictory orders, or a queue is broken."""
        return self not in {self.TOO_FAR_AHEAD, self.FOREIGN_UPDATE}


class UpdatesSnapshot(NamedTuple):
    """The whole state, immutable and canonical: equal snapshots behave equally."""

    obtained: tuple[int, ...]
    numbered: tuple[int, ...]
    acknowledged: int
    status: int
    early: tuple[tuple[int, int, Any], ...]
    names: tuple[tuple[int, Identifier], ...]
    buffer: tuple[tuple[Identifier, bytes], ...]
    own: Hashable
    outputs: tuple[Send[Any], ...]
    violations: tuple[tuple[Violation, int], ...]


class Updates(CoreBase[Any], ABC):
    """Common part of the cores of CM and Pinwheel at process `me`; `antiphon.impl.protocols.core` tells a
    shell how to use a core.
    """

    protocol: str
    """Name of the protocol in `repr`."""

    def __init__(self, me: int, members: int, window: int, tracer: Tracer) -> None:
        """Begin with nothing sent; at most `window` updates of this process are without a gsn at a time.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: `window` is not positive.
        """
        super().__init__(me, members, tracer)
        if window < 1:
            raise ValueError(f"window is {window}; a member that may send nothing orders nothing")
        self.window = window
        self._cycle = (*range(me, members), *range(me))
        self._obtained = [0] * members
        self._numbered = [0] * members
        self._acknowledged = 0
        self._status = 0
        self._early: dict[int, tuple[int, Any]] = {}
        self._names: dict[int, Identifier] = {}
        self._buffer: dict[Identifier, bytes] = {}

    # What a protocol says ---------------------------------------------------------------------------------

    @abstractmethod
    def receive(self, sender: int, message: Any, now: float) -> None:
        """Handle one message of another member."""

    @property
    @abstractmethod
    def holding(self) -> bool:
        """Return True if this process has the token, and all earlier ACKs."""

    @abstractmethod
    def _last_possible(self) -> int:
        """Return the highest gsn that can have been assigned."""

    @abstractmethod
    def _unnumbered_max(self) -> int:
        """Return the largest number of updates of one process that can be stored here without a gsn."""

    @abstractmethod
    def _stable(self) -> int:
        """Return the highest gsn up to which all processes have all updates."""

    @abstractmethod
    def _giver(self) -> int:
        """Return the process that assigns the next gsn, or has assigned it."""

    @abstractmethod
    def _msg(self, identifier: Identifier, payload: bytes) -> Any:
        """Make the message MSG(U, U_id) for an update."""

    @abstractmethod
    def _ack(self, number: int, identifier: Identifier) -> Any:
        """Make the message ACK(t, U_id, g) for an update."""

    # Broadcasting -----------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Return True if the largest number of own updates has no gsn, so that `broadcast` would be
        refused.
        """
        return self._obtained[self.me] - self._numbered[self.me] >= self.window

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Multicast an update (`it multicasts the message MSG(U, U_id)`).

        Raises:
            Busy: as many own updates as may be have no number yet.
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        del now
        payload = payload_copy(payload)
        if NATURAL_MAX in (self._acknowledged, self._obtained[self.me]):
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")
        if self.busy:
            first = (self.me, self._numbered[self.me] + 1)
            raise Busy(f"{first} has no number yet; broadcast again when `busy` is false")
        self._obtained[self.me] += 1
        identifier = Identifier(self.me, self._obtained[self.me])
        self._buffer[identifier] = payload
        self._to_others(self._msg(identifier, payload))
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        return identifier

    # Of its own accord ------------------------------------------------------------------------------------

    def acknowledge(self, now: float) -> bool:
        """Number an update as holder of the token, `by multicasting ACK(t, U_id, g)`, once all earlier
        updates are here. Return False if that is not possible.
        """
        del now
        if not self.holding or not self._has_all or self._acknowledged == NATURAL_MAX:
            return False
        source = next((s for s in self._cycle if self._numbered[s] < self._obtained[s]), None)
        if source is None:
            return False
        identifier = Identifier(source, self._numbered[source] + 1)
        message = self._ack(self._acknowledged + 1, identifier)
        self._learn(self.me, message)
        self._to_others(message)
        self._collect()
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, "acknowledge", identifier, self._acknowledged))
        return True

    @property
    def _has_all(self) -> bool:
        """Return True if this process has all acknowledged updates (`receiving all the messages already
        acknowledged`).
        """
        return all(map(int.__le__, self._numbered, self._obtained))

    @property
    def deliverable(self) -> bool:
        """Return True if the update with the next gsn is here."""
        name = self._names.get(self._status + 1)
        return name is not None and name.id <= self._obtained[name.source]

    def deliver(self) -> Delivery | None:
        """Deliver the update with the next gsn (`delivers messages in an orderly way … according to their
        gsns`), or None if it is missing.
        """
        if not self.deliverable:
            return None
        self._advance()
        name = self._names[self._status]
        payload = self._buffer[name]
        self._collect()
        if self._tracer.recording:
            self._tracer.record(tracing.Deliver(self.me, name, self._status, payload))
        return Delivery(name.source, name.id, self._status, payload)

    def _advance(self) -> None:
        """Set the status to the gsn of the update that was delivered last."""
        self._status += 1

    def settle(self, now: float) -> list[Delivery]:
        """Deliver and acknowledge until neither does anything; the deliveries come in their order."""
        deliveries: list[Delivery] = []
        while True:
            while (delivery := self.deliver()) is not None:
                deliveries.append(delivery)
            if not self.acknowledge(now):
                return deliveries

    # Receiving --------------------------------------------------------------------------------------------

    def _receive_msg(self, sender: int, message: Any) -> bool:
        """Store a MSG. Return True if its update is the next one of its source."""
        name: Identifier = message.identifier
        if name.source != sender:
            wrong = UpdatesViolation.FOREIGN_UPDATE
        elif name.id != self._obtained[sender] + 1:
            wrong = UpdatesViolation.UPDATE_LEFT_OUT
        elif self._obtained[sender] - self._numbered[sender] >= self._unnumbered_max():
            wrong = UpdatesViolation.TOO_FAR_AHEAD
        else:
            self._obtained[sender] += 1
            self._buffer[name] = message.payload
            return True
        self._violated(wrong, sender, message)
        return False

    def _receive_ack(self, sender: int, message: Any) -> None:
        """Store an ACK, and learn all ACKs up to the first missing gsn."""
        wrong = self._unassignable(message.number, message.identifier)
        if wrong is not None:
            self._violated(wrong, sender, message)
            return
        self._early[message.number] = (sender, message)
        while (early := self._early.pop(self._acknowledged + 1, None)) is not None:
            giver, ack = early
            if giver != self._giver():
                self._violated(UpdatesViolation.OUT_OF_TURN, giver, ack)
            elif ack.identifier.id != self._numbered[ack.identifier.source] + 1:
                self._violated(UpdatesViolation.TWO_NUMBERS, giver, ack)
            else:
                self._learn(giver, ack)
        self._collect()

    def _unassignable(self, number: int, name: Identifier) -> UpdatesViolation | None:
        """Return the violation if the sender cannot have given this gsn to this update, else None."""
        if number > self._last_possible():
            return UpdatesViolation.TOO_FAR_AHEAD
        if number <= self._acknowledged or number in self._early:
            return UpdatesViolation.TWO_IDENTIFIERS
        if name.source == self.me and name.id > self._obtained[self.me]:
            return UpdatesViolation.NEVER_BROADCAST
        ahead = name.id - self._numbered[name.source]
        known = any(name == ack.identifier for _, ack in self._early.values())
        if known or not 0 < ahead <= number - self._acknowledged:
            return UpdatesViolation.TWO_NUMBERS
        return None

    def _learn(self, giver: int, message: Any) -> None:
        """Record the next gsn, and the update that has it."""
        del giver
        self._acknowledged = message.number
        self._numbered[message.identifier.source] += 1
        self._names[message.number] = message.identifier

    @property
    def stable(self) -> int:
        """Return the highest gsn up to which this process has delivered all updates, and knows that all
        processes have them.
        """
        return max(0, min(self._stable(), self._status))

    def _collect(self) -> None:
        """Remove stable updates that were delivered: `Stable messages … are immediately removed from the
        local buffers`.
        """
        stable = self.stable
        while self._names and (first := next(iter(self._names))) <= stable:
            del self._buffer[self._names.pop(first)]

    # Looking at a core from outside -----------------------------------------------------------------------

    @property
    def progress(self) -> int:
        """Measure of progress: updates obtained, numbered and delivered."""
        return sum(self._obtained) + 2 * self._acknowledged + len(self._early) + self._status

    def waits(self) -> tuple[Wait, ...]:
        """Return the next number, the missing updates that have one, and the missing number of the first own
        update.
        """
        waits = []
        if self._early:
            waits.append(Wait(f"number {self._acknowledged + 1}", self._giver()))
        for source in self._others:
            for number in range(self._obtained[source] + 1, self._numbered[source] + 1):
                waits.append(Wait(f"message {source}:{number}", source))
        own = self._numbered[self.me] + 1
        if own <= self._obtained[self.me] and not self.holding:
            waits.append(Wait(f"a number for message {self.me}:{own}", self._giver()))
        return tuple(waits)

    def __repr__(self) -> str:
        holds = ", holds the token" if self.holding else ""
        told = f"last number {self._acknowledged}, delivered to {self._status}{holds}"
        return f"<{self.protocol}: {told}; {standing(self)}>"

    def _own(self) -> Hashable:
        """Return the state of the subclass, for the snapshot."""
        return ()

    def _resume(self, own: Any) -> None:
        """Set the state of the subclass to the one that `_own` returned."""

    def snapshot(self) -> UpdatesSnapshot:
        """Return the whole state."""
        return UpdatesSnapshot(
            tuple(self._obtained),
            tuple(self._numbered),
            self._acknowledged,
            self._status,
            tuple((number, *self._early[number]) for number in sorted(self._early)),
            tuple(self._names.items()),
            tuple(sorted(self._buffer.items())),
            self._own(),
            tuple(self._outputs),
            tuple(sorted(self._violations.items())),
        )

    def restore(self, snapshot: UpdatesSnapshot, now: float) -> None:
        """Set the state to a snapshot; parameters and tracer stay."""
        del now
        self._obtained, self._numbered = list(snapshot.obtained), list(snapshot.numbered)
        self._acknowledged, self._status = snapshot.acknowledged, snapshot.status
        self._early = {number: (giver, ack) for number, giver, ack in snapshot.early}
        self._names, self._buffer = dict(snapshot.names), dict(snapshot.buffer)
        self._resume(snapshot.own)
        self._outputs, self._violations = list(snapshot.outputs), Counter(dict(snapshot.violations))
