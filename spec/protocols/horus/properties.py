"""Promises of each boundary of Horus, and questions to each layer.

FIFO broadcast above NAK and FRAG, virtual synchrony above MBRSHIP and TOTAL, as machines over events. They
are the reference for layers, as `spec/services` is for whole protocols: a layer passes a property on if the
property's machine finds no violation above the layer either.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, everywhere, expect, invariant, obligation, on, witness
from antiphon.spec.protocols.horus.boundaries import Negative, PlaceHolder
from antiphon.spec.protocols.horus.bounds import FragBounded, NakBounded, TotalBounded
from antiphon.spec.protocols.horus.group import NewView, Number
from antiphon.spec.services import Broadcast, Deliver, Message, Process, ReliableBroadcast, View, Views


class FifoBroadcast(ReliableBroadcast):
    """Reliable broadcast in which the messages of one sender are delivered in the order in which it broadcast
    them.

    The order in which a sender broadcasts is the order of `Message`.
    """

    @on(Deliver)
    def judge_fifo(self, event: Deliver) -> None:
        """Check that no later message of the same sender was delivered before this one."""
        p = event.process
        m = event.message
        if m is not None:
            expect(
                not any(
                    self.delivered[p][later] and self.origin[later] == self.origin[m]
                    for later in self.each(Message)
                    if later > m
                ),
                "Fifo",
            )


class ViewSynchrony(ReliableBroadcast, Views):
    """Broadcast in views, judged at the application's upcalls for views.

    `VirtualSynchrony`: members that go together from one view to the next have delivered the same messages.
    `SameView`: a message is delivered in the view in which it was broadcast. State: `entered[p]` the view of
    p, as its application sees it; `sent_in[m]` the view of a broadcast.
    """

    entered: Map[Process, View] = everywhere(1)
    sent_in: Map[Message, View | None] = everywhere(None)

    @on(NewView)
    def judge_view(self, event: NewView) -> None:
        """Check, when p goes to a view, that all processes which went to it from p's last view have delivered
        the same messages. They go in one step, so nothing was delivered since.
        """
        p = event.process
        self.entered[p] += 1
        for q in self.each(Process):
            if q != p and self.entered[q] == self.entered[p]:
                expect(
                    all(self.delivered[p][m] == self.delivered[q][m] for m in self.each(Message)),
                    "VirtualSynchrony",
                    NewView(q),
                )

    @on(Broadcast)
    def note_view(self, event: Broadcast) -> None:
        """Record the view in which a message was sent."""
        self.sent_in[event.message] = self.entered[event.process]

    @on(Deliver)
    def judge_same_view(self, event: Deliver) -> None:
        """Check that a message is delivered in the view in which it was broadcast."""
        m = event.message
        if m is not None:
            expect(self.sent_in[m] == self.entered[event.process], "SameView")


class NakChecked(NakBounded):
    """NAK:COM with its properties."""

    @invariant
    def GapNoticed(self) -> bool:
        """Invariant: a process with a message that came early knows of one that it misses."""
        return all(
            len(self.early[p][q]) == 0 or self.expected[p][q] <= self.known[p][q]
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @obligation
    def Answered(self) -> bool:
        """Obligation: every cast was passed up everywhere, or reported as lost."""
        return all(
            p == q or self.expected[p][q] == self.cast[q] + 1
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @obligation
    def BuffersFlushed(self) -> bool:
        """Obligation: no member buffers a message any more."""
        return all(self.oldest[p] == self.cast[p] + 1 for p in self.each(Process))

    @witness
    def Asked(self) -> bool:
        """Witness: a member has asked for the retransmission of a message."""
        return any(isinstance(envelope.header, Negative) for envelope in self.network)

    @witness
    def CameEarly(self) -> bool:
        """Witness: a message waits at a member for an earlier message."""
        return any(len(self.early[p][q]) > 0 for p in self.each(Process) for q in self.each(Process))

    @witness
    def Replaced(self) -> bool:
        """Witness: a place holder is on its way."""
        return any(isinstance(envelope.header, PlaceHolder) for envelope in self.network)


class FragChecked(FragBounded):
    """FRAG with its properties."""

    @witness
    def Reassembling(self) -> bool:
        """Witness: a member has some fragments of a message, not all."""
        return any(
            len(self.gathered[p][q]) > 0 for p in self.each(Process) for q in self.each(Process) if p != q
        )


class TotalChecked(TotalBounded):
    """TOTAL with its properties."""

    @invariant
    def OneHolder(self) -> bool:
        """Invariant: in a view at most one member holds the token."""
        return all(
            p == q or self.token[p] is None or self.token[q] is None or self.view[p] != self.view[q]
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def Waiting(self) -> bool:
        """Witness: a member waits for the token."""
        return any(len(self.waiting[p]) > 0 for p in self.each(Process))

    @witness
    def Continued(self) -> bool:
        """Witness: in a later view than the first a numbered message was delivered."""
        return any(self.view[p] > 1 and self.next_number[p] > 1 for p in self.each(Process))

    @witness
    def Gap(self) -> bool:
        """Witness: a numbered message waits for the one with the number before it."""
        return any(self.numbered[p][k] is not None for p in self.each(Process) for k in self.each(Number))

    @witness
    def Buffered(self) -> bool:
        """Witness: a message that was sent during the flush is buffered."""
        return any(len(self.held[p][q]) > 0 for p in self.each(Process) for q in self.each(Process))

    @witness
    def TokenLost(self) -> bool:
        """Witness: the holder of the token is down."""
        return any(self.token[p] is not None and self.down[p] for p in self.each(Process))
