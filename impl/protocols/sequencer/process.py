"""Core of SEQUENCER, repaired: a message goes to the coordinator, which multicasts it for its sender.

Rules of this file:
1. No clock, socket, randomness or thread: this core needs no time at all, for the queues below lose nothing.
2. One public action is one atomic step, and a step never waits. Nothing happens without a message or a call,
   so `settle` only hands over what was delivered.
3. The coordinator's own copy of a multicast is applied inside the step; only the copies for others become
   outputs.
4. Whoever calls `receive` has checked the message's ranges (`messages.flaw`). What no correct member says is
   counted in `violations` and changes nothing.
5. What is kept is bounded: `pending_max` own messages, one number for each member, and EARLY_MAX messages for
   each member that arrive before the view in which they were sent.

| document                        | here                                                         |
|---------------------------------|--------------------------------------------------------------|
| local_addr, coord               | `me`, the first of `group`                                   |
| forward-table                   | `_forward_table`, by seqno                                   |
| received-table                  | `_received_table[s]`, the highest seqno of s; 0: no entry    |
| On send(M)                      | `broadcast`                                                  |
| On reception of M from S        | `receive`                                                    |
| Multicast(M,S), Deliver(M,S)    | `_multicast`, `_deliver`                                     |
| On view change                  | `change_view` (`impl.protocols.views`)                       |
| "shallow-copy M into M-tmp"     | messages are immutable; a delivery is made from one          |

Repairs, by paragraph. On send: the coordinator, too, keeps its message in the forward-table until it has it
back. On reception of FORWARD: who is not yet the coordinator keeps it until it is. Deliver: what comes of a
process that is not in the view is discarded. On view change: members leave a view only after all who go on
have received what any of them has, and send nothing meanwhile (`block`); messages are sent again whenever the
coordinator is another one, not only if it left.

Two repairs are not made here. To remember each seqno instead of the highest is needed only where the queues
to the coordinator do not keep their order. To deliver a message after all have it is what a layer above may
ask for; here it is delivered when it is ordered.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Design".
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from msgspec import Struct

from antiphon.impl import tracing
from antiphon.impl.errors import Busy, GroupFailed, InvalidMembership, Violation
from antiphon.impl.protocols.base import CoreBase
from antiphon.impl.protocols.core import NATURAL_MAX, Delivery, Identifier, Send, Wait, payload_copy, standing
from antiphon.impl.protocols.sequencer.messages import Data, Forward, Message, SequencerViolation
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["DEFAULTS", "EARLY_MAX", "PENDING_MAX", "Core", "Settings", "Snapshot"]

PENDING_MAX = 64
"""Default largest number of own messages on their way to the coordinator and back."""

EARLY_MAX = 2 * PENDING_MAX
"""Largest number of messages of a later view that are kept for each member."""


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a core."""

    pending_max: int = PENDING_MAX
    """Largest number of own messages on their way to the coordinator and back."""


DEFAULTS = Settings()
"""The default settings."""


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    view: int
    group: tuple[int, ...]
    blocked: bool
    last_number: int
    forward_table: tuple[tuple[int, bytes], ...]
    received_table: tuple[int, ...]
    delivered: int
    early: tuple[tuple[int, Message], ...]
    outputs: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]


class Core(CoreBase[Message]):
    """Core of SEQUENCER at process `me`; `antiphon.impl.protocols.core` tells a shell how to use it."""

    def __init__(
        self, me: int, members: int, settings: Settings = DEFAULTS, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Begin with empty tables, and a first view of all members.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: `pending_max` is not positive.
        """
        super().__init__(me, members, tracer)
        self._pending_max = settings.pending_max
        if self._pending_max < 1:
            told = f"pending_max is {self._pending_max}"
            raise ValueError(f"{told}; a member that may send nothing orders nothing")
        self.view = 1
        self.group = tuple(range(members))
        self._blocked = False
        self._last_number = 0
        self._forward_table: dict[int, bytes] = {}
        self._received_table = [0] * members
        self._delivered = 0
        self._early: list[tuple[int, Message]] = []

    @property
    def coordinator(self) -> int:
        """Return the member that orders: the first of the view."""
        return self.group[0]

    # On send(M) -------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Return True if a view is about to change, or the largest number of own messages is on its way."""
        return self._blocked or len(self._forward_table) >= self._pending_max

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Add a FORWARD header to the message with the next seqno, remember it, and send it to the
        coordinator.

        Raises:
            Busy: too many own messages have not come back, or the view is about to change.
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        del now
        payload = payload_copy(payload)
        if self._last_number == NATURAL_MAX:
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")
        if self.busy:
            why = "the view changes" if self._blocked else f"{len(self._forward_table)} have not come back"
            raise Busy(f"{why}; broadcast again when `busy` is false")
        self._last_number += 1
        identifier = Identifier(self.me, self._last_number)
        self._forward_table[self._last_number] = payload
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        self._send(identifier, payload)
        return identifier

    def _send(self, identifier: Identifier, payload: bytes) -> None:
        if self.coordinator == self.me:
            self._multicast(identifier, payload)
        else:
            self._outputs.append(Send(self.coordinator, Forward(self.view, identifier, payload)))

    # On reception of M from S -----------------------------------------------------------------------------

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Multicast a message with header FORWARD at the coordinator; deliver one with header DATA."""
        del now
        wrong = self._impossible(sender, message)
        if wrong is not None:
            self._violated(wrong, sender, message)
        elif message.view > self.view or (self._blocked and isinstance(message, Forward)):
            self._early.append((sender, message))
        elif isinstance(message, Data):
            if message.view == self.view:
                self._deliver(message.identifier, message.payload)
        elif self.coordinator == self.me:
            self._multicast(message.identifier, message.payload)

    def _impossible(self, sender: int, message: Message) -> SequencerViolation | None:
        """Return the violation if no correct member sends this message now, else None. A message of an
        earlier view is no violation.
        """
        if message.view > self.view or (self._blocked and isinstance(message, Forward)):
            kept = sum(1 for other, _ in self._early if other == sender)
            return SequencerViolation.TOO_EARLY if kept >= EARLY_MAX else None
        if isinstance(message, Forward):
            if message.identifier.source != sender:
                return SequencerViolation.FOREIGN_FORWARD
            leaves_out = sender in self.group and message.identifier.id > self._received_table[sender] + 1
            if leaves_out and self.coordinator == self.me:
                return SequencerViolation.NUMBER_LEFT_OUT
            misdirected = message.view == self.view and self.coordinator != self.me
            return SequencerViolation.MISDIRECTED if misdirected else None
        if message.view < self.view:
            return None
        if sender != self.coordinator:
            return SequencerViolation.NOT_COORDINATOR
        return self._undeliverable(message.identifier, message.payload)

    def _undeliverable(self, identifier: Identifier, payload: bytes) -> SequencerViolation | None:
        """Return the violation if the coordinator cannot have ordered this message now, else None."""
        source, number = identifier
        if source == self.me:
            if number > self._last_number:
                return SequencerViolation.NEVER_BROADCAST
            if self._forward_table.get(number, payload) != payload:
                return SequencerViolation.TWO_PAYLOADS
        if source in self.group and number > self._received_table[source] + 1:
            return SequencerViolation.NUMBER_LEFT_OUT
        return None

    # Multicast(M,S) and Deliver(M,S) ----------------------------------------------------------------------

    def _multicast(self, identifier: Identifier, payload: bytes) -> None:
        """Multicast a message in place of its sender (`Replace FORWARD type in header with DATA type`,
        `Multicast M`), and apply the coordinator's own copy at once.
        """
        message = Data(self.view, identifier, payload)
        for process in self.group:
            if process != self.me:
                self._outputs.append(Send(process, message))
        self._deliver(identifier, payload)

    def _deliver(self, identifier: Identifier, payload: bytes) -> None:
        """Deliver a message, unless it was delivered before or its sender is no member. Remove an own message
        from the forward-table.
        """
        source, number = identifier
        if source == self.me:
            self._forward_table.pop(number, None)
        if number <= self._received_table[source] or source not in self.group:
            return
        self._received_table[source] = number
        self._delivered += 1
        self._deliveries.append(Delivery(source, number, self._delivered, payload))
        if self._tracer.recording:
            self._tracer.record(tracing.Deliver(self.me, identifier, self._delivered, payload))

    # On view change ---------------------------------------------------------------------------------------

    def block(self, now: float) -> None:
        """Stop sending and ordering until the next view is installed (the repair `flush`)."""
        del now
        self._blocked = True

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Install the view: send each message of the forward-table to the new coordinator, and then take the
        early ones.

        Raises:
            InvalidMembership: as `ChangesViews` says.
        """
        if view <= self.view or self.me not in group or not _is_group(group, self.members):
            raise InvalidMembership(
                f"view {view} with the members {group}: process {self.me} of {self.members} is in view "
                f"{self.view} and can go on to a later one, of different members that has itself"
            )
        before = self.coordinator
        self.view, self.group, self._blocked = view, group, False
        for process in set(range(self.members)).difference(group):
            self._received_table[process] = 0
        if self.coordinator != before:
            for number, payload in sorted(self._forward_table.items()):
                self._send(Identifier(self.me, number), payload)
        early, self._early = self._early, []
        for sender, message in early:
            self.receive(sender, message, now)

    # Looking at a core from outside -------------------------------------------------------------------------

    def __repr__(self) -> str:
        told = f"view {self.view}, delivered {self._delivered}, {len(self._forward_table)} own on their way"
        coordinates = ", coordinates" if self.coordinator == self.me else ""
        return f"<sequencer: {told}{coordinates}; {standing(self)}>"

    @property
    def progress(self) -> int:
        """Measure of progress: messages sent and delivered, and changes of the view."""
        return self.view + self._last_number + self._delivered

    def waits(self) -> tuple[Wait, ...]:
        """Return what this process waits for: its own message that should come back next."""
        first = min(self._forward_table, default=None)
        return () if first is None else (Wait(f"message {self.me}:{first} back", self.coordinator),)

    def snapshot(self) -> Snapshot:
        """Return the whole state."""
        return Snapshot(
            self.view,
            self.group,
            self._blocked,
            self._last_number,
            tuple(sorted(self._forward_table.items())),
            tuple(self._received_table),
            self._delivered,
            tuple(self._early),
            tuple(self._outputs),
            tuple(self._deliveries),
            tuple(sorted(self._violations.items())),
        )

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Set the state to a snapshot; parameters and tracer stay."""
        del now
        self.view, self.group, self._blocked = snapshot.view, snapshot.group, snapshot.blocked
        self._last_number, self._delivered = snapshot.last_number, snapshot.delivered
        self._forward_table = dict(snapshot.forward_table)
        self._received_table = list(snapshot.received_table)
        self._early = list(snapshot.early)
        self._outputs, self._deliveries = list(snapshot.outputs), list(snapshot.deliveries)
        self._violations = Counter(dict(snapshot.violations))


def _is_group(group: tuple[int, ...], members: int) -> bool:
    return len(set(group)) == len(group) and all(0 <= process < members for process in group)
