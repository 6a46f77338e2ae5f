"""What does each boundary promise? FIFO broadcast above NAK and FRAG, virtual synchrony above MBRSHIP and TOTAL, as machines over events.

They are the reference for layers, as `spec/services` is for whole protocols: a layer passes a property on when its judge finds it above too.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, everywhere, expect, on
from antiphon.spec.protocols.horus.group import NewView, View, Views
from antiphon.spec.services import Broadcast, Deliver, Message, Process, ReliableBroadcast


class FifoBroadcast(ReliableBroadcast):
    """Reliable broadcast in which the messages of one sender are delivered in the order in which it broadcast them, which is that of `Message`."""

    @on(Deliver)
    def judge_fifo(self, event: Deliver) -> None:
        """No later message of the same sender was delivered before."""
        p = event.process
        m = event.message
        if m is not None:
            expect(not any(self.delivered[p][later] and self.origin[later] == self.origin[m] for later in self.each(Message) if later > m), "Fifo")


class ViewSynchrony(ReliableBroadcast, Views):
    """Broadcast in views, judged where the application is told of a view.

    `VirtualSynchrony`: members that go together from one view to the next have delivered the same messages. `SameView`: a message is delivered in
    the view in which it was broadcast. State: `entered[p]` the view of p, as its application sees it; `sent_in[m]` the view of a broadcast.
    """

    entered: Map[Process, View] = everywhere(1)
    sent_in: Map[Message, View | None] = everywhere(None)

    @on(NewView)
    def judge_view(self, event: NewView) -> None:
        """Whoever has gone to the same view before has delivered the same; they go in one step, so nothing was delivered since."""
        p = event.process
        self.entered[p] += 1
        for q in self.each(Process):
            if q != p and self.entered[q] == self.entered[p]:
                expect(all(self.delivered[p][m] == self.delivered[q][m] for m in self.each(Message)), "VirtualSynchrony", NewView(q))

    @on(Broadcast)
    def note_view(self, event: Broadcast) -> None:
        """The view that a message belongs to."""
        self.sent_in[event.message] = self.entered[event.process]

    @on(Deliver)
    def judge_same_view(self, event: Deliver) -> None:
        """It is delivered in its view."""
        m = event.message
        if m is not None:
            expect(self.sent_in[m] == self.entered[event.process], "SameView")
