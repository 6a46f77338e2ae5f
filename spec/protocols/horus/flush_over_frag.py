"""TOTAL:MBRSHIP:FRAG:NAK:COM with a flush that is made of messages, over a network that loses and reorders,
as one specification.

`full_stack` has an abstract MBRSHIP; this module has the flush of `flush`, which is ours, and whose casts go
down to FRAG. What is decided here beyond that:
1. `Letter` is what MBRSHIP casts: a packet, and for whom it is. NAK casts to the whole view; who is not
   addressed ignores it.
2. What FRAG hands up waits in `channel` until it is handled: it may belong to a flush that its receiver has
   not heard of.
3. A member that a flush leaves behind is removed from the destinations (`ComView`): otherwise NAK's window
   would wait for acknowledgements of a member that is down, and the flush for the window.
4. A member takes part in a flush when the window has room for all that it sends then, and the coordinator
   sends the view when it has room for that.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import (
    AtMost,
    Map,
    Seq,
    Set,
    action,
    constraint,
    emit,
    environment,
    everywhere,
    mutation,
    on,
    record,
    require,
    restriction,
)
from antiphon.spec.protocols.horus.boundaries import ComView, Envelope, FragCast, FragReceive
from antiphon.spec.protocols.horus.flush import Copy, Flush, MbrshipFlushed, Packet
from antiphon.spec.protocols.horus.frag import Frag
from antiphon.spec.protocols.horus.group import Ordered, Unordered
from antiphon.spec.protocols.horus.nak import Nak
from antiphon.spec.protocols.horus.total import Total
from antiphon.spec.services import Deliver, Process


@record
class Letter:
    """Cast of MBRSHIP: its content `packet`, and its receivers `to`."""

    to: Set[Process]
    packet: Packet


class FlushOverFrag(MbrshipFlushed, Frag):
    """MBRSHIP with its flush over FRAG, over any layer that casts. `letters[p]` are the casts of p."""

    letters: Map[Process, Annotated[Seq[Letter], AtMost("casts")]] = everywhere(())

    def multicast(self, q: Process, packet: Packet, to: Set[Process]) -> None:
        """Multicast a packet as one message of FRAG: of the largest size if it carries a message of the
        application, else of one fragment.
        """
        if len(to) > 0:
            self.letters[q] += (Letter(to, packet),)
            large = isinstance(packet, Ordered | Unordered | Copy)
            emit(FragCast(q, self.fragments if large else 1))

    @on(FragReceive)
    def receive_up(self, call: FragReceive) -> None:
        """Keep, at the receiver p, a message that FRAG hands up, unless it is for other members or its sender
        was left behind. If FRAG hands up a unit that nobody cast, report the delivery of a message that does
        not exist.
        """
        p = call.process
        q = call.origin
        unit = call.unit
        if unit is None:
            emit(Deliver(p, None))
        elif q not in self.left[p] and q not in self.leaving[p]:
            letter = self.letters[unit.author][unit.place - 1]
            if p in letter.to:
                self.channel[q][p] += (letter.packet,)

    def take_part(self, p: Process, coordinator: Process, failed: Set[Process]) -> None:
        """Take part in the flush, and remove the members that are left behind from the destinations below."""
        for q in self.each(Process):
            if q in failed:
                self.leave_behind(p, q)
        super().take_part(p, coordinator, failed)

    def leave_behind(self, p: Process, q: Process) -> None:
        """Remove q from p's destinations."""
        emit(ComView(p, q))

    # Room ---------------------------------------------------------------------------------------------------

    def room_for(self, p: Process, failed: Set[Process]) -> int:
        """Return the number of NAK casts that p needs to send on its messages of the failed members, and for
        one packet more.
        """
        return 1 + self.fragments * sum(len(self.kept[p][q]) for q in failed)

    @action(fairness="weak", per="p")
    def start_flush(self, p: Process) -> None:
        """Begin the flush, if there is room for FLUSH and the messages after it."""
        require(self.room(p) >= 1 + self.room_for(p, self.failed_of(p)))
        super().start_flush(p)

    @action(fairness="weak", per="p")
    def send_view(self, p: Process) -> None:
        """Send the view, if NAK has room for the unstable messages and the view."""
        require(self.room(p) >= self.room_for(p, self.leaving[p]))
        super().send_view(p)

    @action(fairness="weak", per=("p", "q"))
    def receive(self, p: Process, q: Process) -> None:
        """Receive the next packet, if there is room for p's answer to a FLUSH."""
        require(self.has_room_to_answer(p, q))
        super().receive(p, q)

    def has_room_to_answer(self, p: Process, q: Process) -> bool:
        """Return True if a packet from q has come, and it is no FLUSH or p has room for its answer."""
        if len(self.channel[q][p]) == 0:
            return False
        packet = self.channel[q][p][0]
        return not isinstance(packet, Flush) or self.room(p) >= self.room_for(p, packet.leaving)


@mutation("whom a flush leaves behind stays a destination, to see that the window would wait for who is down")
class KeepDestinations(FlushOverFrag):
    """Planted fault in the flush over FRAG: a member that is left behind stays a destination, so that NAK's
    window waits for its acknowledgements for ever. Correct code removes it.
    """

    def leave_behind(self, p: Process, q: Process) -> None:
        """Do nothing, in place of removing q from p's destinations."""


@restriction(
    "what FRAG hands up is handled before anything else happens, one member after the other: until then it "
    "is as if it were on its way, but for NAK's acknowledgements"
)
class HandledAtOnce(FlushOverFrag, Nak):
    """Restriction: what FRAG hands up is handled before anything else happens. Until then it is as if it were
    still in the network.
    """

    def can_handle(self, p: Process, q: Process) -> bool:
        """Return True if p can handle the next packet from q."""
        return (
            not self.down[p]
            and len(self.channel[q][p]) > 0
            and not self.belongs_later(p, q)
            and self.has_room_to_answer(p, q)
        )

    @constraint(
        "arrive", "lose", "ask", "tell", "broadcast", "pass_token", "start_flush", "send_view", "install",
        "crash",
    )  # fmt: skip
    def nothing_waits(self) -> bool:
        """Bound: no member has a packet to handle."""
        return not any(self.can_handle(p, q) for p in self.each(Process) for q in self.each(Process))

    @constraint("receive")
    def is_first(self, p: Process, q: Process) -> bool:
        """Bound: no pair of members before (p, q) has a packet to handle."""
        return not any(
            self.can_handle(r, s)
            for r in self.each(Process)
            for s in self.each(Process)
            if r < p or (r == p and s < q)
        )


class HorusFlush(
    Total,
    FlushOverFrag,
    Nak,
    Losses[Envelope],
    restrictions=(HandledAtOnce,),
    mutations=(KeepDestinations,),
):
    """Stack TOTAL:MBRSHIP:FRAG:NAK:COM, whose MBRSHIP makes its flush of messages."""

    def listens(self, q: Process) -> bool:
        """Return True if q is up: nothing reaches a member that is down."""
        return not self.down[q]

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, which stops for ever; messages on their way to p are lost."""
        super().crash(p)
        self.network -= {envelope for envelope in self.network if envelope.to == p}

    def room_for(self, p: Process, failed: Set[Process]) -> int:
        """Return the number of NAK casts that p needs for a flush: its messages of the failed members, one
        packet, and TOTAL's waiting messages.
        """
        return super().room_for(p, failed) + self.fragments * len(self.waiting[p])

    def can_send(self, p: Process) -> bool:
        """Return True if NAK has room for another message of p and for all messages that wait at p, which are
        cast together when the token comes.
        """
        return super().can_send(p) and self.room(p) >= self.fragments * (len(self.waiting[p]) + 1)

    def can_pass(self, p: Process) -> bool:
        """Return True if p may pass the token: NAK has room for one cast more."""
        return super().can_pass(p) and self.room(p) >= 1
