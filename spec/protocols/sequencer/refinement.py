"""SEQUENCER is an ordering machine: a view is a series, a number a place among its coordinator's multicasts.

SEQUENCER sends no numbers: NAKACK delivers a coordinator's multicasts in one order, and that is the number.
The first delivery of a message fixes its number (`given`, which no step of the protocol reads): it assigns,
learns and delivers in one step, a later delivery learns and delivers in one step. A multicast that is
discarded, since its message was delivered before, spends its number on nothing. The document promises
something to the survivors of a failover only: what only a crashed member delivered is forgotten.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment.fifo import Position as Place
from antiphon.spec.lang import Between, Set, on
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process, View
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingOfDeliveries, steps_between

Turn = Annotated[int, Between(1, "messages + room")]
"""Position of a multicast among those of its view, from 1."""


class SequencerOrdering(SequencerBounded, OrderingOfDeliveries):
    """SEQUENCER with helpers that compute, from its state, the state of the abstract ordering machine that it
    refines.
    """

    @on(Deliver)
    def remember(self, event: Deliver) -> None:
        """Remember a delivered message with its position in the order: that of the multicast that the process
        received or passed up last.
        """
        p = event.process
        m = event.message
        for s in self.each(Process):
            for k in self.each(Place):
                if m is not None and k + 1 == self.handed_on(s, p) and self.log[s][k].message == m:
                    self.given[p] |= {Assigned(self.log[s][k].view, self.place_in_view(s, k), m)}

    def place_in_view(self, s: Process, k: Place) -> int:
        """Return how many multicasts of s, up to the one at index k, belong to the same view as the one at
        index k.
        """
        return sum(1 for j in self.each(Place) if j <= k and self.log[s][j].view == self.log[s][k].view)

    def delivers_nothing(self, v: View, k: Turn) -> bool:
        """Return True if no live member has delivered the k-th multicast of view v."""
        return not any(
            item.series == v and item.number == k
            for q in self.each(Process)
            for item in self.given[q]
            if not self.down[q]
        )

    def submitted(self) -> Set[Message]:
        """Return the messages that were sent; they are sent in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def gone(self, p: Process) -> bool:
        """Return True if p has crashed or stopped."""
        return self.down[p]

    def passed_over(self, p: Process) -> Set[Assigned]:
        """Return the multicasts that p has passed over: nobody delivered them, and p delivered a later
        one.
        """
        return Set() | {
            Assigned(v, k, None)
            for v in self.each(View)
            for k in self.each(Turn)
            if not self.down[p]
            and self.delivers_nothing(v, k)
            and any(item.series == v and item.number > k for item in self.given[p])
        }


SEQUENCER = Refinement(
    SequencerOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": "views", "numbers": "messages + room", "forgets": True},
    bounds={"processes": 3, "messages": 2, "crashes": 1, "views": 2},
)
