"""Deliveries keep the order in which one process broadcast, or all that happened before: FIFO and causal
order.

`Fifo`: of two messages of one sender that a process delivers, it delivers the one first that was broadcast
first. `Causal`: the same of any two messages of which the first happened before the second: the second's
sender had broadcast or delivered the first, or a message that the first happened before (Lamport 1978;
Birman, Schiper and Stephenson 1991). Gaps are allowed. `ReliableFifo` and `ReliableCausal` allow none:
whoever delivers a message has delivered every earlier message that was sent in the same view (Chockler,
Keidar and Vitenberg 2001, in sense).

All are uniform. A message has a *vector position*: for each process, the number of its broadcasts that
happened before the message, itself included. So an event costs a number of operations proportional to the
number of processes, and the verdict does not depend on how concurrent events were merged.
"""

from __future__ import annotations

from typing import Final

from antiphon.spec.lang import Map, everywhere, expect, on
from antiphon.spec.services.broadcast import Deliveries
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process, View
from antiphon.spec.services.order import Count
from antiphon.spec.services.promises import Promises, Property
from antiphon.spec.services.views import PartitionableSynchrony

Clock = Map[Process, Count]
"""Number of broadcasts of each process."""


class CausalOrder(Deliveries):
    """FIFO and causal order of pairs of messages, as a state machine over events.

    State: `position[m]` is the vector position of m. `clock[p]` counts, for each process, the broadcasts that
    happened before the next event of p. `last_of[p][s]` is the number of the last broadcast of s that p has
    delivered, `covered[p][s]` of the last that p has delivered or that happened before one of its deliveries.
    """

    position: Map[Message, Clock] = everywhere(everywhere(0))
    clock: Map[Process, Clock] = everywhere(everywhere(0))
    last_of: Map[Process, Clock] = everywhere(everywhere(0))
    covered: Map[Process, Clock] = everywhere(everywhere(0))

    @on(Broadcast)
    def note_broadcast(self, event: Broadcast) -> None:
        """Count a broadcast at its sender; a second broadcast of the same message is not counted."""
        p = event.process
        if self.origin[event.message] is None:
            mine = self.clock[p] | {p: self.clock[p][p] + 1}
            self.clock[p] = mine
            self.position[event.message] = mine
        super().note_broadcast(event)

    @on(Deliver)
    def judge_integrity(self, event: Deliver) -> None:
        """Judge a delivery: no message that m happened before was delivered; a second or foreign delivery
        breaks integrity, and has no place in the order.
        """
        p = event.process
        m = event.message
        if m is not None and not self.delivered[p][m]:
            s = self.origin[m]
            if s is not None:
                self.judge_pairs(p, m, s)
                self.last_of[p][s] = max(self.last_of[p][s], self.position[m][s])
                self.covered[p] = self.later(self.covered[p], self.position[m])
                self.clock[p] = self.later(self.clock[p], self.position[m])
        super().judge_integrity(event)

    def later(self, a: Clock, b: Clock) -> Clock:
        """Return the componentwise maximum of two clocks."""
        return Map({k: max(a[k], b[k]) for k in self.each(Process)})

    def judge_pairs(self, p: Process, m: Message, s: Process) -> None:
        """Check that, of the messages p delivered before m, none is a later one of m's sender s, and none is
        one that m happened before.
        """
        if self.covered[p][s] >= self.position[m][s]:
            expect(False, "Causal", Deliver(p, self.delivered_early(p, m, s)))
        if self.last_of[p][s] >= self.position[m][s]:
            expect(False, "Fifo", Deliver(p, self.delivered_later(p, m, s)))

    def delivered_early(self, p: Process, m: Message, s: Process) -> Message:
        """Return a message that p has delivered before m although m, a message of s, happened before it; m
        itself if there is none.
        """
        return next(
            (
                k
                for k in self.each(Message)
                if k != m and self.delivered[p][k] and self.position[k][s] >= self.position[m][s]
            ),
            m,
        )

    def delivered_later(self, p: Process, m: Message, s: Process) -> Message:
        """Return a message that p has delivered although s broadcast it after m; m if there is none."""
        return next(
            (
                k
                for k in self.each(Message)
                if self.delivered[p][k] and self.origin[k] == s and self.position[k][s] > self.position[m][s]
            ),
            m,
        )


class ReliableOrderInViews(PartitionableSynchrony):
    """FIFO and causal order without gaps, among the messages of a view.

    State: `place_in[m]` is the vector position of m among the messages of its view. `view_clock[p][v]`
    counts, for each process, the messages of v that happened before the next event of p. `had[p][v][k]` is
    the number, among the broadcasts of k in v, of the last one that p has delivered.
    """

    place_in: Map[Message, Clock] = everywhere(everywhere(0))
    view_clock: Map[Process, Map[View, Clock]] = everywhere(everywhere(everywhere(0)))
    had: Map[Process, Map[View, Clock]] = everywhere(everywhere(everywhere(0)))

    @on(Broadcast)
    def note_sending_view(self, event: Broadcast) -> None:
        """Count a sender's broadcast in its view."""
        p = event.process
        v = self.view_of(p)
        if v > 0 and self.sent_in[event.message] is None:
            mine = self.view_clock[p][v] | {p: self.view_clock[p][v][p] + 1}
            self.view_clock[p][v] = mine
            self.place_in[event.message] = mine
        super().note_sending_view(event)

    @on(Deliver)
    def judge_delivery_view(self, event: Deliver) -> None:
        """Require that p delivered all messages of the view that happened before m."""
        p = event.process
        m = event.message
        if m is not None and self.delivered_in[p][m] is None:
            v = self.sent_in[m]
            if v is not None and v > 0:
                self.judge_gaps(p, m, v)
        super().judge_delivery_view(event)

    def judge_gaps(self, p: Process, m: Message, v: View) -> None:
        """Require that p has delivered, of every process, all messages that happened before m."""
        place = self.place_in[m]
        for k in self.each(Process):
            if self.origin[m] == k:
                expect(self.had[p][v][k] >= place[k] - 1, "ReliableFifo", Broadcast(k, m))
                expect(self.had[p][v][k] >= place[k] - 1, "ReliableCausal", Broadcast(k, m))
                self.had[p][v] = self.had[p][v] | {k: max(self.had[p][v][k], place[k])}
            else:
                expect(self.had[p][v][k] >= place[k], "ReliableCausal")
        mine = self.view_clock[p][v]
        self.view_clock[p][v] = Map({k: max(mine[k], place[k]) for k in self.each(Process)})


# What logs are judged by ------------------------------------------------------------------------------------

FIFO_ORDER: Final = "fifo-order"
CAUSAL_ORDER: Final = "causal-order"
_RELIABLE: Final = ("reliable-fifo-order", "reliable-causal-order")

FIFO: Final = Property(
    "Fifo",
    "two messages of one source that a process delivers it delivers in the order of their broadcasts",
    "deliveries of one source",
    nothing="nobody delivers two messages of one source",
    promised=(FIFO_ORDER, CAUSAL_ORDER, *_RELIABLE),
    by="FIFO order",
    reason="delivered after a message that its source broadcast later",
    incarnations="each",
    for_some=True,
)
CAUSAL: Final = Property(
    "Causal",
    "of two messages that a process delivers, of which one happened before the other, it delivers that one "
    "first",
    "caused deliveries",
    nothing="no delivered message happened before another",
    promised=(CAUSAL_ORDER, _RELIABLE[1]),
    by="causal order",
    reason="delivered after a message that it happened before",
    incarnations="each",
    for_some=True,
)
RELIABLE_FIFO: Final = Property(
    "ReliableFifo",
    "whoever delivers a message has delivered what its source broadcast before it in the same view",
    "deliveries of one source",
    nothing="nobody delivers two messages of one source",
    promised=_RELIABLE,
    reason="delivered without what its source broadcast before it in the same view",
)
RELIABLE_CAUSAL: Final = Property(
    "ReliableCausal",
    "whoever delivers a message has delivered what happened before it in the same view",
    "caused deliveries",
    nothing="no delivered message happened before another",
    promised=_RELIABLE[1:],
    reason="delivered without what happened before it in the same view",
)
CAUSAL_PROMISES: Final = Promises((FIFO, CAUSAL), (FIFO_ORDER, CAUSAL_ORDER), CausalOrder)
RELIABLE_PROMISES: Final = Promises((RELIABLE_FIFO, RELIABLE_CAUSAL), _RELIABLE, ReliableOrderInViews)
