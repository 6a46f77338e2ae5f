"""Bounds of the exploration of Horus' layers: what can be switched on, who broadcasts which message, and when
timers expire.

A stack inherits the classes here of the layers that it has. None of this is said by the paper.
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
    """NAK with timers that are longer than what a message takes."""

    @constraint("ask", "tell")
    def is_silent(self) -> bool:
        """Bound: no packet is in flight."""
        return len(self.network) == 0


@mutation(
    "what is sent during the flush is delivered at once, and not buffered, to see what the sentence is good "
    "for"
)
class DeliverAtOnce(Total):
    """Printed: "These messages are not delivered, but buffered"."""

    def keep(self, p: Process, q: Process, m: Message) -> None:
        """Deliver it."""
        self.hand_up(p, q, m)


@mutation("a member does not keep for itself what it sends during the flush, to see that views are compared")
class ForgetOwn(Total):
    """Printed: "all members that did not get the token in time send their messages"."""

    def keep(self, p: Process, q: Process, m: Message) -> None:
        """Keep only what others sent."""
        if q != p:
            super().keep(p, q, m)


class Strides(Group):
    """Message k comes from member k * `stride`; from any member where `stride` is 0."""

    stride: Const[int] = 0

    @constraint("broadcast")
    def takes_turn(self, p: Process, m: Message) -> bool:
        """Bound: it is the turn of p."""
        return self.stride == 0 or p.index == m.index * self.stride % self.processes


class NakBounded(Nak, repairs=(AwaitRoom,), readings=(source_address, status_tells), restrictions=(Patient,)):
    """NAK:COM with what can be switched on."""


class FragBounded(Frag, repairs=(DiscardAfterLoss, MarkFirst)):
    """FRAG with what can be switched on."""


class TotalBounded(
    Total,
    Strides,
    repairs=(NumbersFirst,),
    readings=(oracle, ranked, view_upcall),
    mutations=(DeliverAtOnce, ForgetOwn),
):
    """TOTAL with what can be switched on."""
