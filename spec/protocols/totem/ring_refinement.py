"""Refinement of the ring of messages to an ordering machine: the first process that delivers an update fixes
its number.

The token gives a number before anybody delivers under it. Nothing in the ring keeps what was delivered, so
`given` does, which no step reads. The first delivery of an update assigns, learns and delivers in one
transition, a later delivery learns and delivers in one. The token and what it tells are stutters.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, on
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Number
from antiphon.spec.protocols.totem.ring_properties import TotemRingBounded
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingOfDeliveries, steps_between


class TotemRingOrdering(TotemRingBounded, OrderingOfDeliveries):
    """The ring with helpers that compute, from its state, the state of the ordering machine that it
    refines.
    """

    @on(Deliver)
    def remember(self, event: Deliver) -> None:
        """Remember the update that p delivers, with the number that p has reached."""
        p = event.process
        self.given[p] |= {Assigned(1, k, event.message) for k in self.each(Number) if k == self.status[p]}

    def submitted(self) -> Set[Message]:
        """Return the updates that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}


TOTEM_RING = Refinement(
    TotemRingOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages"},
    bounds={"processes": 2, "messages": 2},
)
