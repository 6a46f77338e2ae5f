"""Endpoint: one member without its socket, that is, a core with its layers and its codec.

Every shell uses an endpoint in the same way: it hands in datagrams and the time, and then takes the datagrams
to send and the deliveries. The order of events within one step is: the input, its effects in the core,
deliveries, datagrams to send.

Without `layers` an endpoint is the bare core: a payload is a message, a message is a datagram, and the
network must be one that the core needs. With layers messages travel in batches and datagrams in packs, and
queues are made where the core needs them (`antiphon.impl.layers`); a tracer then gets the application's
broadcasts and deliveries, not the core's.

A member cannot go on when it waits for others and makes no progress for `stall_ms`, or when another member is
silent for `stall_ms` (`heartbeats`): `tick` raises `GroupFailed`, which names the silent members. An empty
datagram is a heartbeat. The time for which this member itself was asleep does not count.

This module must not know a protocol, an address or a clock.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar, cast

from antiphon.impl import tracing
from antiphon.impl.errors import GroupFailed, Rejection, UnknownDelivery, Violation
from antiphon.impl.layers import Layers
from antiphon.impl.layers.batches import Batches
from antiphon.impl.layers.carrier import Carrier, Plain
from antiphon.impl.layers.links import ITEM_BYTES, SEGMENT_BYTES, Links
from antiphon.impl.layers.packing import Packing
from antiphon.impl.protocols.core import (
    NATURAL_MAX,
    PAYLOAD_BYTES_MAX,
    Delivery,
    Identifier,
    Implementation,
    Network,
    Send,
    Wait,
    bytes_copy,
    payload_copy,
    standing,
)
from antiphon.impl.protocols.flush import Flushes, Report
from antiphon.impl.tracing import NULL_TRACER, Tracer
from antiphon.impl.transport.heartbeats import Heartbeats
from antiphon.impl.transport.wire import ENVELOPE_BYTES, EVERYBODY, Admission, Codec, Rejected

__all__ = ["Datagram", "Endpoint", "LayersViolation"]

M = TypeVar("M")


class Datagram(NamedTuple):
    """Bytes to send to one member, or to EVERYBODY."""

    to: int
    data: bytes


class LayersViolation(Violation):
    """Kind of message that no correct member of a layered group sends."""

    NO_BATCH = "payload_that_is_no_next_batch_of_its_source"


class Endpoint(Generic[M]):
    """Endpoint of a member: bytes go in and out. `now` is in milliseconds, as for the core."""

    def __init__(
        self,
        implementation: Implementation[M],
        group: str,
        me: int,
        members: int,
        tracer: Tracer = NULL_TRACER,
        *,
        stall_ms: float = math.inf,
        layers: Layers | None = None,
        multicast: bool = False,
        taking_part: int | None = None,
        head: bytes = b"",
    ) -> None:
        """Make the endpoint of member `me` of 0..members-1 of the group with this name; without `layers`,
        with its bare core.

        With `taking_part` this is one list of a group whose members change, and only so many, the first
        ones, order messages (`Implementation.listed`). Its datagrams begin with `head`.

        With `multicast` a message for all others is one datagram, for EVERYBODY; a core that needs reliable
        queues has one for each member, and its messages go to each.

        Raises:
            InvalidMembership: name, place and number of members do not fit together.
            ValueError: `stall_ms` is not positive, or the layers' sizes are impossible.
        """
        if not stall_ms > 0:
            raise ValueError(f"a group that makes no progress fails after more than 0 ms, not {stall_ms}")
        self.codec = Codec(implementation.messages)
        self.admission = Admission(self.codec, group, me, members)
        self._carrier = _carrier(implementation.network, me, members, layers, head)
        self._others = [process for process in range(members) if process != me]
        self._multicast = multicast and implementation.network is Network.LOSSY and members > 2
        self._batches = None if layers is None else _batches(
            me, taking_part or members, layers, ordered=implementation.ordered
        )
        self.holders = implementation.holders or members
        """Least number of members that have a message when it is delivered, whatever the message asks."""
        inside = tracer if layers is None else _Inside(tracer)
        if taking_part is None:
            self.core = implementation.core(me, members, inside)
        else:
            assert implementation.listed is not None, "a protocol without lists was asked for one"
            self.core = implementation.listed(me, members, taking_part, inside)
        self.datagrams: Counter[str] = Counter()
        """Datagrams sent, by kind of message: one for each receiver, or one for all that get it at once."""
        self.transmissions: Counter[str] = Counter()
        """Messages sent, by kind: one message to all counts once, as the papers count."""
        self.unsent = False
        """True if something happened since `datagrams_to_send`."""
        self.progress_at = 0.0
        """Time of this member's last progress."""
        self._progress = 0
        self._stall_ms = stall_ms
        self._heartbeats = Heartbeats(me, members, stall_ms)
        self._tracer = tracer
        self._now = 0.0
        self._counter = 0
        self._last_counted: M | None = None
        self._deliveries: list[Delivery] = []

    def start(self, now: float) -> None:
        """Start the endpoint; call this once, before every other method."""
        self.core.start(now)
        self.progress_at = now
        self._heartbeats.start(now)
        self._settle(now)

    @property
    def busy(self) -> bool:
        """Return True if a call of `broadcast` would be refused now."""
        return self.core.busy if self._batches is None else self._batches.full

    @property
    def idle(self) -> bool:
        """Return True if no message of this member waits or is on its way."""
        return not self.core.busy if self._batches is None else self._batches.idle

    @property
    def violations(self) -> Counter[Violation]:
        """Number of messages that no correct member sends, by kind and member; a copy."""
        violations = self.core.violations
        if self._batches is not None and self._batches.broken:
            violations[LayersViolation.NO_BATCH] = self._batches.broken
        return violations

    def checked(self, payload: bytes | bytearray | memoryview) -> bytes:
        """Return a payload as an immutable copy. Raises `TypeError`, `PayloadTooLarge`."""
        return payload_copy(payload) if self._batches is None else self._batches.checked(payload)

    def broadcast(self, payload: bytes, now: float, holders: int = 1) -> Identifier:
        """Broadcast a message to the group. It is delivered when `holders` members have it.

        Raises:
            UnknownDelivery: the core does not wait for so many, and there are no layers that do.
            Busy: `busy` is True; nothing was done.
            TypeError, PayloadTooLarge: as the core's `broadcast`, or with layers as `Batches.put`.
            GroupFailed: no number is left.
        """
        if self._heartbeats.beats:
            self._wake(now)
        if self._batches is None:
            if holders > self.holders:
                told = f"delivered when {self.holders} members have it; waiting for {holders} takes layers"
                raise UnknownDelivery(f"without layers a message is {told}")
            identifier = self.core.broadcast(payload, now)
            self._settle(now)
            return identifier
        identifier = self._batches.put(payload, holders if holders > self.holders else 1)
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.core.me, identifier, bytes_copy(payload)))
        if self._takes_batch:
            self._settle(now)
        return identifier

    def datagram_received(self, sender: int, data: bytes | memoryview, now: float) -> None:
        """Handle the bytes of one datagram, whatever they are, from the address of member `sender`, without
        the `head` that it was sent with.

        Raises:
            GroupFailed: the datagram proves that the members have no common order any more.
        """
        self._now = now
        if self._heartbeats.beats:
            self._wake(now)
            self._heartbeats.heard(sender, now)
        if not data:
            return
        items = self._carrier.received(sender, data, now)
        if isinstance(items, str):
            self.drop(Rejected(Rejection.MALFORMED, items), data)
            return
        for item in items:
            self._item_received(sender, item, now)

    def _item_received(self, sender: int, data: bytes | memoryview, now: float) -> None:
        envelope = self.admission.admit(data)
        if isinstance(envelope, Rejected):
            self._dropped(envelope, data)
            return
        if envelope.sender != sender:
            told = f"sender {envelope.sender}; the datagram came from process {sender}"
            self.drop(Rejected(Rejection.FALSE_SENDER, told), data)
            return
        if self._tracer.recording:
            datagram = (envelope.sender, envelope.counter)
            self._tracer.record(
                tracing.Receive(self.core.me, datagram, self.codec.messages.kind(envelope.message))
            )
        self.core.receive(envelope.sender, envelope.message, now)
        broken = self.core.broken
        if broken is not None:
            said = f"{self.codec.messages.kind(envelope.message)} of process {sender}"
            raise GroupFailed(f"the order is no longer common: {broken.value}, by the {said}")
        self._settle(now)

    def drop(self, rejected: Rejected, data: bytes | memoryview) -> None:
        """Count a refused datagram, and trace it."""
        self._dropped(self.admission.refuse(rejected), data)

    def tick(self, now: float) -> None:
        """Run the timers that are due.

        Raises:
            GroupFailed: a member is silent, or this one has made no progress, for `stall_ms`.
        """
        self._wake(now)
        self._carrier.tick(now)
        self.core.tick(now)
        self._settle(now)
        silences = self._heartbeats.silences(now)
        if silences and silences[0].ms >= self._heartbeats.limit_ms:
            raise GroupFailed(self._stalled(now))
        if now < self.progress_at + self._stall_ms:
            return
        if self._needs():
            raise GroupFailed(self._stalled(now))
        self.progress_at = now

    def next_deadline(self) -> float | None:
        """Return the time at which `tick` has something to do, or None."""
        if self._takes_batch:  # what the application took lets the next batch go
            return self._now
        earliest = math.inf if self._stall_ms == math.inf else self.progress_at + self._stall_ms
        for part in (self.core, self._carrier, self._heartbeats):  # asked after every datagram
            deadline = part.next_deadline()
            if deadline is not None and deadline < earliest:
                earliest = deadline
        return None if earliest == math.inf else earliest

    def datagrams_to_send(self) -> list[Datagram]:
        """Return, once, the datagrams to send, in order. Raises `GroupFailed` after the last counter."""
        self.unsent = False
        self._last_counted = None  # a message that is sent again is another transmission
        for receivers, message in self._addressed(self.core.outputs()):
            to = receivers[0] if len(receivers) == 1 else EVERYBODY
            self._carrier.send(to, self._encode(receivers, message))
        datagrams = [Datagram(to, data) for to, data in self._carrier.outputs(self._now)]
        if not self._heartbeats.beats:
            return datagrams
        for to, _ in datagrams:
            for process in self._others if to == EVERYBODY else (to,):
                self._heartbeats.sent(process, self._now)
        return datagrams + [Datagram(to, b"") for to in self._heartbeats.due(self._now)]

    def deliveries(self) -> list[Delivery]:
        """Return, once, the deliveries in order, for the application, which takes them."""
        deliveries = self.collect()
        if deliveries:
            self.take()
        return deliveries

    def collect(self) -> list[Delivery]:
        """Return, once, the deliveries in order; the application takes them later (`take`)."""
        deliveries, self._deliveries = self._deliveries, []
        return deliveries

    def take(self) -> None:
        """Record that the application has taken all deliveries, also those before this list."""
        if self._batches is not None:
            self._batches.take()

    def untaken_of(self, source: int) -> int:
        """Return the number of bytes that the application of this member has not taken, as all know:
        `Batches.untaken_of` of the layers.
        """
        assert self._batches is not None, "without layers nobody counts the messages of the common order"
        return self._batches.untaken_of(source)

    def go_on(
        self, names: Sequence[object], ids: Sequence[int], number: int, carried: Sequence[int], *, left: bool
    ) -> None:
        """Continue after the end of another list, with the arguments of `Batches.go_on`; call it only with
        layers.
        """
        assert self._batches is not None, "without layers nobody counts the messages of the common order"
        self._batches.go_on(names, ids, number, carried, left=left)

    def count_on(self, sources: Sequence[int]) -> None:
        """Wait only for the applications of these members: `Batches.count_on` of the layers."""
        if self._batches is not None:
            self._batches.count_on(sources)

    def delivered_of(self, source: int) -> int:
        """Return the number of messages of this member of the list that were delivered here; only with
        layers.
        """
        assert self._batches is not None, "without layers nobody counts the messages of the common order"
        return self._batches.delivered_of(source)

    def adopt(self, agreed: Report) -> bool:
        """Deliver what the members of an ending list have agreed on; return False if this member lacks some
        of it.

        After this only `deliveries` is called.
        """
        flushed = cast(Flushes, self.core).adopt(agreed)
        if flushed is None:
            return False
        broken = 0 if self._batches is None else self._batches.broken
        self._deliver(flushed)
        if self._batches is not None:
            self._batches.broken = broken  # what a source that has crashed left out is nobody's mistake
            self._deliveries += self._batches.release()
        return True

    @property
    def untaken(self) -> Sequence[Delivery]:
        """Deliveries that the next call of `deliveries` returns."""
        return self._deliveries

    @property
    def held(self) -> int:
        """Return the number of messages of the common order that this member has, delivered or not.

        Only with layers, which count them.
        """
        assert self._batches is not None, "without layers nobody counts the messages of the common order"
        return self._batches.held

    def waits(self) -> tuple[Wait, ...]:
        """Return the messages that this member needs before it can go on; those of silent members first."""
        return self._silent() + self._needs()

    @property
    def waiting_since(self) -> float | None:
        """Return the time since which this member has waited: the beginning of another member's silence, or
        the last progress.
        """
        silences = self._heartbeats.silences(self._now)
        if silences:
            return self._now - silences[0].ms
        return self.progress_at if self._needs() else None

    def slow(self) -> tuple[Wait, ...]:
        """Return the applications that slow all members, since they have not taken their deliveries."""
        if self._batches is None:
            return ()
        return tuple(
            Wait(f"the taking of {untaken} bytes by the application", process)
            for process, untaken in self._batches.slow
        )

    def __repr__(self) -> str:
        protocol = self.codec.messages.protocol
        lacking = () if self._batches is None else self._batches.lacking
        held_back = "".join(f"; {wait}" for wait in (*lacking, *self._silent(), *self.slow()))
        return f"<{protocol} of group {self.admission.group!r}: {standing(self.core)}{held_back}>"

    def _wake(self, now: float) -> None:
        """Measure the time for which this member was asleep before this step; it counts as no member's
        silence or waiting.
        """
        self.progress_at = min(now, self.progress_at + self._heartbeats.slept(now))

    def _silent(self) -> tuple[Wait, ...]:
        """Return the members that have missed several heartbeats, the longest silent first."""
        silences = self._heartbeats.silences(self._now)
        return tuple(Wait("a sign of life", silence.process) for silence in silences)

    def _needs(self) -> tuple[Wait, ...]:
        """Return what the core, and the layers around it, wait for."""
        return self.core.waits() + (() if self._batches is None else self._batches.lacking)

    def _stalled(self, now: float) -> str:
        """Return the reason why this member cannot go on: the silent members, or else the messages that do
        not come. Return "" if it can.
        """
        needs = "; ".join(map(str, self._needs()))
        needed = f": process {self.core.me} needs {needs}" if needs else ""
        silent = " and ".join(
            f"process {process} has not answered for {round(ms / 1000.0, 1):g} s"
            for process, ms in self._heartbeats.silences(now)
        )
        return f"{silent or f'no progress for {self._stall_ms / 1000.0:g} s'}{needed}"

    def _settle(self, now: float) -> None:
        self._now = now
        self.unsent = True
        self._deliver(self.core.settle(now))
        while self._takes_batch:
            assert self._batches is not None
            self.core.broadcast(self._batches.next(), now)
            self._deliver(self.core.settle(now))
        progress = self.core.progress
        if progress != self._progress:
            self._progress, self.progress_at = progress, now

    @property
    def _takes_batch(self) -> bool:
        """Return True if a batch is ready, and the core and the carrier can take it."""
        batches = self._batches
        return batches is not None and batches.ready and not self.core.busy and not self._carrier.full

    def _deliver(self, deliveries: list[Delivery]) -> None:
        if self._batches is None:
            self._deliveries += deliveries
            return
        for delivery in deliveries:
            messages = self._batches.unpack(delivery)
            if self._tracer.recording:
                self._tell(messages)
            self._deliveries += messages

    def _tell(self, messages: list[Delivery]) -> None:
        for source, name, number, payload in messages:
            self._tracer.record(tracing.Deliver(self.core.me, Identifier(source, name), number, payload))

    def _dropped(self, rejected: Rejected, data: bytes | memoryview) -> None:
        if self._tracer.recording:
            detail = rejected.detail[: tracing.DETAIL_MAX]
            self._tracer.record(tracing.Dropped(self.core.me, rejected.kind, len(data), detail))

    def _addressed(self, sends: list[Send[M]]) -> Iterable[tuple[tuple[int, ...], M]]:
        """Yield each message with its receivers; with multicast, a message that the core sends to all others
        is yielded once with all of them.
        """
        if not self._multicast:
            return [((to,), message) for to, message in sends]
        addressed: list[tuple[tuple[int, ...], M]] = []
        at = 0
        while at < len(sends):
            to, message = sends[at]
            run = sends[at : at + len(self._others)]
            together = [each.to for each in run if each.message is message] == self._others
            addressed.append((tuple(self._others) if together else (to,), message))
            at += len(run) if together else 1
        return addressed

    def _encode(self, receivers: tuple[int, ...], message: M) -> bytes:
        if self._counter == NATURAL_MAX:
            raise GroupFailed(
                f"process {self.core.me} has sent {NATURAL_MAX} datagrams, the last there is a name for"
            )
        self._counter += 1
        data = self.codec.encode(
            self.codec.envelope(self.admission.group, self.core.me, self._counter, message)
        )
        kind = self.codec.messages.kind(message)
        self.datagrams[kind] += 1
        if message is not self._last_counted:  # copies of one message to all are one object, sent in a row
            self.transmissions[kind] += 1
            self._last_counted = message
        if self._tracer.recording:
            for to in receivers:
                self._tracer.record(
                    tracing.Send(self.core.me, (self.core.me, self._counter), to, kind, len(data))
                )
        return data


class _Inside:
    """Tracer for a core within layers. It passes on events that are not about payloads, since a payload is a
    batch that only the layers know.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @property
    def recording(self) -> bool:
        """Return True if the tracer of the endpoint records events."""
        return self._tracer.recording

    def record(self, event: tracing.Event) -> None:
        """Pass an event on to the tracer of the endpoint, unless it is about a batch."""
        if not isinstance(event, tracing.Broadcast | tracing.Deliver):
            self._tracer.record(event)


def _carrier(network: Network, me: int, members: int, layers: Layers | None, head: bytes) -> Carrier:
    if layers is None:
        return Plain()
    if network is Network.LOSSY:
        return Packing(layers.datagram_bytes, head)
    size, queue = layers.datagram_bytes, layers.queue_bytes
    return Links(me, members, segment_bytes_max=size, queue_bytes_max=queue, head=head)


def _batches(me: int, members: int, layers: Layers, *, ordered: bool) -> Batches:
    room = layers.datagram_bytes - SEGMENT_BYTES - ITEM_BYTES - ENVELOPE_BYTES
    return Batches(
        me,
        members,
        batch_bytes=min(PAYLOAD_BYTES_MAX, room),
        buffer_bytes=layers.buffer_bytes,
        message_bytes_max=layers.message_bytes_max,
        untaken_bytes=layers.untaken_bytes,
        ahead=layers.ahead,
        ordered=ordered,
    )
