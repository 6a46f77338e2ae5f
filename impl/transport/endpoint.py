"""An endpoint is one member short of a socket: a core, its codec and its count of datagrams.

Every shell does with it the same: hand in datagrams and the time, then take the datagrams to send and the
deliveries. The order of events within one step is: what came in, what it caused in the core, what is
delivered, what is sent.

A member that waits for others and makes no progress for `stall_ms` cannot go on, and says so: `tick` raises
`GroupFailed`. Whose tick comes late was not waiting but asleep (a stopped process, a suspended machine), and
waits anew.

This module must not know a protocol, an address or a clock.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Generic, NamedTuple, TypeVar

from antiphon.impl import tracing
from antiphon.impl.errors import GroupFailed, Rejection
from antiphon.impl.protocols.core import NATURAL_MAX, Delivery, Identifier, Implementation, standing
from antiphon.impl.tracing import NULL_TRACER, Tracer
from antiphon.impl.transport.wire import Admission, Codec, Rejected

__all__ = ["Datagram", "Endpoint"]

M = TypeVar("M")

_LATE = 0.1
"""The part of `stall_ms` by which a tick is late when the member was asleep."""


class Datagram(NamedTuple):
    """Bytes for one member."""

    to: int
    data: bytes


class Endpoint(Generic[M]):
    """A member that takes and gives bytes. `now` is in milliseconds, as the core wants it."""

    def __init__(
        self,
        implementation: Implementation[M],
        group: str,
        me: int,
        members: int,
        tracer: Tracer = NULL_TRACER,
        *,
        stall_ms: float = math.inf,
    ) -> None:
        """Member `me` of 0..members-1 of the group with this name.

        Raises:
            InvalidMembership: name, place and number of members do not fit together.
            ValueError: `stall_ms` is not positive.
        """
        if not stall_ms > 0:
            raise ValueError(f"a group that makes no progress fails after more than 0 ms, not {stall_ms}")
        self.codec = Codec(implementation.messages)
        self.admission = Admission(self.codec, group, me, members)
        self.core = implementation.core(me, members, tracer)
        self.datagrams: Counter[str] = Counter()
        """Datagrams sent, by kind of message: one for each receiver."""
        self.transmissions: Counter[str] = Counter()
        """Messages sent, by kind: one message to all counts once, as the papers count."""
        self.progress_at = 0.0
        """The `now` at which this member got further the last time."""
        self._progress = 0
        self._stall_ms = stall_ms
        self._tracer = tracer
        self._counter = 0
        self._last_counted: M | None = None
        self._deliveries: list[Delivery] = []

    def start(self, now: float) -> None:
        """Take part from now on: once, before every other call."""
        self.core.start(now)
        self.progress_at = now
        self._settle(now)

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Send to the group. Raises as the core's `broadcast`; nothing was done."""
        identifier = self.core.broadcast(payload, now)
        self._settle(now)
        return identifier

    def datagram_received(self, sender: int, data: bytes, now: float) -> None:
        """Handle the bytes of one datagram, whatever they are, from the address of member `sender`.

        Raises:
            GroupFailed: it proves that the members have no common order any more.
        """
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

    def drop(self, rejected: Rejected, data: bytes) -> None:
        """Count a datagram that is refused, and tell the tracer."""
        self._dropped(self.admission.refuse(rejected), data)

    def tick(self, now: float) -> None:
        """Let the timers expire whose deadline has come.

        Raises:
            GroupFailed: the member has made no progress for `stall_ms`.
        """
        self.core.tick(now)
        self._settle(now)
        deadline = self.progress_at + self._stall_ms
        if now < deadline:
            return
        waits = self.core.waits()
        if not waits or now > deadline + _LATE * self._stall_ms:
            self.progress_at = now
            return
        missing = "; ".join(str(wait) for wait in waits)
        raise GroupFailed(
            f"no progress for {self._stall_ms / 1000.0:g} s: process {self.core.me} needs {missing}"
        )

    def next_deadline(self) -> float | None:
        """When `tick` has something to do, or None."""
        deadline = self.core.next_deadline()
        if self._stall_ms == math.inf:
            return deadline
        stalled = self.progress_at + self._stall_ms
        return stalled if deadline is None else min(deadline, stalled)

    def datagrams_to_send(self) -> list[Datagram]:
        """Hand over, once, the datagrams to send, in order. Raises `GroupFailed` after the last counter."""
        return [Datagram(to, self._encode(to, message)) for to, message in self.core.outputs()]

    def deliveries(self) -> list[Delivery]:
        """Hand over, once, what was delivered, in order."""
        deliveries, self._deliveries = self._deliveries, []
        return deliveries

    def __repr__(self) -> str:
        protocol = self.codec.messages.protocol
        return f"<{protocol} of group {self.admission.group!r}: {standing(self.core)}>"

    def _settle(self, now: float) -> None:
        self._deliveries += self.core.settle(now)
        progress = self.core.progress
        if progress != self._progress:
            self._progress, self.progress_at = progress, now

    def _dropped(self, rejected: Rejected, data: bytes) -> None:
        if self._tracer.recording:
            detail = rejected.detail[: tracing.DETAIL_MAX]
            self._tracer.record(tracing.Dropped(self.core.me, rejected.kind, len(data), detail))

    def _encode(self, to: int, message: M) -> bytes:
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
            self._tracer.record(
                tracing.Send(self.core.me, (self.core.me, self._counter), to, kind, len(data))
            )
        return data
