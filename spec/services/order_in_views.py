"""Total order in changing views, in a weak and a reliable form.

`WeakTotalOrder`: processes that go together from one view to the same next one have kept one order in it;
processes that part may differ. `ReliableTotalOrder`: nobody skips a message: of the sequences that two
processes deliver in a view, one is a prefix of the other. The strong total order, one for all views, is
`UniformNumbering` of `order`.

1. Weak order is judged pairwise: among processes that have delivered the same messages (virtual synchrony)
   that is equivalent to one order for all of them.
2. A pair is compared when the later of two deliveries of a message comes, by the places of messages in each
   process's own sequence, so the verdict does not depend on how concurrent events were merged. An event costs
   a number of operations proportional to the number of processes, whatever the length of the log.

Source: Chockler, Keidar and Vitenberg 2001, in sense, not in words.
"""

from __future__ import annotations

from typing import Final

from antiphon.spec.lang import Map, everywhere, expect, on
from antiphon.spec.services.events import Deliver, Install, Message, Process, View
from antiphon.spec.services.order import Count, Place
from antiphon.spec.services.promises import Promises, Property
from antiphon.spec.services.views import PartitionableSynchrony


class PlacesInViews(PartitionableSynchrony):
    """Place of a message in a process's sequence of deliveries in one view.

    State: `length_in[p][v]` how many messages p has delivered in v, `place_in_view[p][m]` the place of m
    among them, from 1 (None: p has not delivered m, or in no view).
    """

    length_in: Map[Process, Map[View, Count]] = everywhere(everywhere(0))
    place_in_view: Map[Process, Map[Message, Place | None]] = everywhere(everywhere(None))

    @on(Deliver)
    def note_place(self, event: Deliver) -> None:
        """Record the place of a first delivery in p's sequence, after the view of the delivery is
        recorded.
        """
        p = event.process
        m = event.message
        v = self.view_of(p)
        if m is not None and v > 0 and self.place_in_view[p][m] is None and self.delivered_in[p][m] == v:
            self.length_in[p][v] += 1
            self.place_in_view[p][m] = self.length_in[p][v]
            self.judge_place(p, m, v)

    def judge_place(self, p: Process, m: Message, v: View) -> None:
        """Hook that is called when p has delivered m at its place in view v; subclasses check their promises
        in it.
        """


class WeakOrder(PlacesInViews):
    """Weak total order as a state machine over events.

    State: `common[p][q][v]` the last place in q's sequence in v of a message that both have delivered there
    (0: none), `crossed[p][q][v]` whether the two have delivered some two messages there in different orders.
    """

    common: Map[Process, Map[Process, Map[View, Count]]] = everywhere(everywhere(everywhere(0)))
    crossed: Map[Process, Map[Process, Map[View, bool]]] = everywhere(everywhere(everywhere(False)))

    def judge_place(self, p: Process, m: Message, v: View) -> None:
        """Compare the place of m at p with that at every other process that has delivered m in view v."""
        for q in self.each(Process):
            j = self.place_in_view[q][m]
            if q != p and j is not None and self.delivered_in[q][m] == v:
                self.compare_places(p, q, m, v, j)
                self.common[p][q][v] = max(self.common[p][q][v], j)
                self.common[q][p][v] = self.length_in[p][v]

    def compare_places(self, p: Process, q: Process, m: Message, v: View, j: Place) -> None:
        """Compare the orders of p and q, when m is the last in p's sequence of view v and stands at place j
        of q's.
        """
        if self.common[p][q][v] > j:
            self.crossed[p][q][v] = True
            self.crossed[q][p][v] = True

    @on(Install)
    def judge_order_kept(self, event: Install) -> None:
        """Check, when p goes to the view, that the processes that went there from the same view have kept the
        same order.
        """
        p = event.process
        v = self.came_from[p][event.view]
        if v is not None and v > 0:
            for q in self.each(Process):
                if self.came_from[q][event.view] == v and self.crossed[p][q][v]:
                    expect(False, "WeakTotalOrder", Install(q, event.view, event.members))


class ReliableOrder(WeakOrder):
    """Weak total order and reliable total order, in views.

    State: `sequence_in[v][k]` is the k-th message of view v, fixed by the first process to deliver a k-th
    message.
    """

    sequence_in: Map[View, Map[Place, Message | None]] = everywhere(everywhere(None))

    def judge_place(self, p: Process, m: Message, v: View) -> None:
        """Check the place of m: the first delivery at a place of view v fixes it for all processes."""
        if self.is_firm(p, m):
            k = self.length_in[p][v]
            first = self.sequence_in[v][k]
            if first is None:
                self.sequence_in[v][k] = m
            elif first != m:
                self.tell_other(
                    next((q for q in self.each(Process) if self.place_in_view[q][first] == k), p), first
                )
        super().judge_place(p, m, v)

    def is_firm(self, p: Process, m: Message) -> bool:
        """Return True if p must not have skipped a message before m; in this class always."""
        return True

    def tell_other(self, q: Process, first: Message) -> None:
        """Report that q has delivered another message, `first`, at the same place of the order."""
        expect(False, "ReliableTotalOrder", Deliver(q, first))


# What logs are judged by ------------------------------------------------------------------------------------

WEAK_TOTAL_ORDER: Final = Property(
    "WeakTotalOrder",
    "processes that go from one view to the same next one have kept one order in it",
    "views installed from one view",
    nothing="no two processes go from one view to the same next one",
    promised=("weak-total-order", "reliable-total-order", "extended-total-order"),
    reason="installed by two who have kept different orders in the view before",
)
ORDER_IN_VIEWS_PROMISES: Final = Promises(
    (
        WEAK_TOTAL_ORDER,
        Property(
            "ReliableTotalOrder",
            "of what two processes deliver in a view one has a beginning of what the other has",
            "places compared",
            nothing="fewer than two processes deliver",
            promised=("reliable-total-order",),
            reason="delivered at a place where another process delivers another message",
        ),
    ),
    ("weak-total-order", "reliable-total-order"),
    ReliableOrder,
)
