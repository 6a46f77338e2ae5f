"""An endpoint is one member short of a socket: a core, its codec and its count of datagrams.

Every shell does with it the same: hand in datagrams and the time, then take the datagrams to send and the
deliveries. The order of events within one step is: what came in, what it caused in the core, what is
delivered, what is sent.

This module must not know a protocol, an address or a clock.
"""

from __future__ import annotations

from collections import Counter
from typing import Generic, NamedTuple, TypeVar

from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier, Implementation
from antiphon.impl.tracing import NULL_TRACER, Tracer
from antiphon.impl.transport.wire import Admission, Codec, Rejected

__all__ = ["Datagram", "Endpoint"]

M = TypeVar("M")


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
    ) -> None:
        """Member `me` of 0..members-1 of the group with this name.

        Raises:
            InvalidMembership: name, place and number of members do not fit together.
        """
        self.codec = Codec(implementation.messages)
        self.admission = Admission(self.codec, group, me, members)
        self.core = implementation.core(me, members, tracer)
        self.datagrams: Counter[str] = Counter()
        """Datagrams sent, by kind of message: one for each receiver."""
        self.transmissions: Counter[str] = Counter()
        """Messages sent, by kind: one message to all counts once, as the papers count."""
        self._tracer = tracer
        self._counter = 0
        self._last_counted: M | None = None
        self._deliveries: list[Delivery] = []

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Send to the group. Raises as the core's `broadcast`; nothing was done."""
        identifier = self.core.broadcast(payload, now)
        self._deliveries += self.core.settle(now)
        return identifier

    def datagram_received(self, data: bytes, now: float) -> None:
        """Handle the bytes of one datagram, whatever they are."""
        envelope = self.admission.admit(data)
        if isinstance(envelope, Rejected):
            if self._tracer.recording:
                self._tracer.record(tracing.Dropped(self.core.me, envelope.kind, len(data), envelope.detail))
            return
        if self._tracer.recording:
            datagram = (envelope.sender, envelope.counter)
            self._tracer.record(
                tracing.Receive(self.core.me, datagram, self.codec.messages.kind(envelope.message))
            )
        self.core.receive(envelope.sender, envelope.message, now)
        self._deliveries += self.core.settle(now)

    def tick(self, now: float) -> None:
        """Let the timers expire whose deadline has come."""
        self.core.tick(now)
        self._deliveries += self.core.settle(now)

    def next_deadline(self) -> float | None:
        """When `tick` has something to do, or None."""
        return self.core.next_deadline()

    def datagrams_to_send(self) -> list[Datagram]:
        """Hand over, once, the datagrams to send, in order."""
        return [Datagram(to, self._encode(to, message)) for to, message in self.core.outputs()]

    def deliveries(self) -> list[Delivery]:
        """Hand over, once, what was delivered, in order."""
        deliveries, self._deliveries = self._deliveries, []
        return deliveries

    def _encode(self, to: int, message: M) -> bytes:
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
