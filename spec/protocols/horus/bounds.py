"""Bounds of the exploration of Horus' layers: variants, the sender of each message, and the times at which
timers expire.

A stack inherits the classes of this module for the layers that it has. The paper says nothing of these
bounds.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, constraint, mutation, restriction
from antiphon.spec.protocols.horus.frag import Frag
from antiphon.spec.protocols.horus.nak import Nak
from antiphon.spec.protocols.horus.readings import (
    oracle,
    ranked,
    source_address,
    status_tells,
    view_upcall,
)
from antiphon.spec.protocols.horus.repairs import AwaitRoom, DiscardAfterLoss, MarkFirst, NumbersFirst
from antiphon.spec.protocols.horus.total import Total
from antiphon.spec.services import Group, Message, Process


@restriction("timers (a NAK, a status) expire only when nothing is in flight")
class Patient(Nak):
    """Restriction: NAK's timers expire only when no message is in flight."""

    @constraint("ask", "tell")
    def is_silent(self) -> bool:
        """Bound: no packet is in flight."""
        return len(self.network) == 0


@mutation(
    "what is sent during the flush is delivered at once, and not buffered, to see what the sentence is good "
    "for"
)
class DeliverAtOnce(Total):
    """Planted fault in Horus' TOTAL: messages sent during the flush are delivered at once. Printed and
    correct: "These messages are not delivered, but buffered".
    """

    def keep(self, p: Process, q: Process, m: Message) -> None:
        """Deliver message m of q to p at once, instead of keeping it."""
        self.hand_up(p, q, m)


@mutation("a member does not keep for itself what it sends during the flush, to see that views are compared")
class ForgetOwn(Total):
    """Planted fault in Horus' TOTAL: a member does not keep its own messages of the flush. Correct code
    buffers them for everybody, its sender included.
    """

    def keep(self, p: Process, q: Process, m: Message) -> None:
        """Keep message m of q at p, but not p's own message (q = p)."""
        if q != p:
            super().keep(p, q, m)


class Strides(Group):
    """Bound on senders: message k is broadcast by member k * `stride`, modulo the number of members; where
    `stride` is 0, by any member.
    """

    stride: Const[int] = 0

    @constraint("broadcast")
    def takes_turn(self, p: Process, m: Message) -> bool:
        """Return True if p may broadcast message m: its number is m * `stride` modulo the number of members,
        or `stride` is 0.
        """
        return self.stride == 0 or p.index == m.index * self.stride % self.processes


class NakBounded(Nak, repairs=(AwaitRoom,), readings=(source_address, status_tells), restrictions=(Patient,)):
    """NAK:COM, where the variants and bounds of this module can be switched on."""


class FragBounded(Frag, repairs=(DiscardAfterLoss, MarkFirst)):
    """FRAG, where the variants and bounds of this module can be switched on."""


class TotalBounded(
    Total,
    Strides,
    repairs=(NumbersFirst,),
    readings=(oracle, ranked, view_upcall),
    mutations=(DeliverAtOnce, ForgetOwn),
):
    """TOTAL, where the variants and bounds of this module can be switched on."""
