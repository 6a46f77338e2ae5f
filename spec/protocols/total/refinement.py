"""Refinement of TOTAL to an ordering machine: a view is a series; the first process that passes a message up
fixes its sequence id.

The document keeps nothing of earlier views, so the history is what was passed up (`given`, which no step of
the protocol reads). The first member that passes a message up assigns, learns and delivers in one transition,
a later one learns and delivers in one. A view's ids "can begin at any value": those below the first that
anybody passed up in it are spent on nothing, and passed over by each member that passes up something in that
view. The document promises nothing about members that crash: what only they passed up is forgotten.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, on
from antiphon.spec.protocols.total.bounds import TotalBounded
from antiphon.spec.protocols.total.headers import Number
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process, View
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingOfDeliveries, steps_between


class TotalOrdering(TotalBounded, OrderingOfDeliveries):
    """TOTAL with helpers that compute, from its state, the state of the abstract ordering machine that it
    refines.
    """

    @on(Deliver)
    def remember(self, event: Deliver) -> None:
        """Remember a message that is passed up with its id, which is one less than the next expected id."""
        p = event.process
        m = event.message
        for v in self.each(View):
            for k in self.each(Number):
                if m is not None and v == self.installed[p] and k + 1 == self.next_expected[p]:
                    self.given[p] |= {Assigned(v, k, m)}

    def below_first(self, v: View, k: Number) -> bool:
        """Return True if k is lower than every id under which a live member passed up a message in view v."""
        return all(
            item.series != v or k < item.number
            for q in self.each(Process)
            for item in self.given[q]
            if not self.down[q]
        )

    def submitted(self) -> Set[Message]:
        """Return the messages that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def gone(self, p: Process) -> bool:
        """Return True if p has crashed."""
        return self.down[p]

    def passed_over(self, p: Process) -> Set[Assigned]:
        """Return the ids of each view that p has skipped: those lower than the first id under which any live
        member passed up a message, if p has passed up one in the view.
        """
        return Set() | {
            Assigned(v, k, None)
            for v in self.each(View)
            for k in self.each(Number)
            if not self.down[p] and self.below_first(v, k) and any(item.series == v for item in self.given[p])
        }


TOTAL = Refinement(
    TotalOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": "views", "numbers": "first_ids - 1 + messages + spare", "forgets": True},
    bounds={
        "processes": 2,
        "messages": 2,
        "losses": 0,
        "crashes": 0,
        "views": 2,
        "reforms": True,
        "first_ids": 2,
        "assigned": True,
    },
)
