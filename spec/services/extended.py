"""Extended virtual synchrony: a group may part, and a process learns, before a new view, with whom it goes
on.

Source: Moser, Amir, Melliar-Smith and Agarwal 1994, "Extended virtual synchrony"; Transitional Set and
Agreement on Successors as Chockler, Keidar and Vitenberg 2001 have them. What is written here is their sense,
not their words.

A view is a *regular configuration*. Before the next one a process enters the *transitional configuration* of
its view, the part of it that goes on together with it, and may deliver there what was sent in the view and
can be promised to that part only. A part without a majority does so too: nothing here speaks of a primary
partition.

1. Configurations: as in `ViewAgreement`; and `TransitionalSet`, `AgreementOnSuccessors`.
2. Messages: delivered in the configuration in which they were sent or in the transitional one after it
   (`SendingViewDelivery`), once (`UniformIntegrity`), by their sender unless it fails (`VscValidity`).
3. `FailureAtomicity`: processes that are in the same transitional configuration have delivered the same
   before it, and deliver the same in it when they go on to the same view.
4. `SafeDelivery`, of `SafeExtendedSynchrony`: what is delivered in a regular configuration all its members
   deliver unless they fail; what is delivered in a transitional one, all of that.
5. One total order, with gaps, is `TotalOrder`'s. That only messages of processes outside the transitional
   configuration may be missing is not judged.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, everywhere, expect, obligation, on
from antiphon.spec.services.events import Deliver, Install, Installed, Message, Process, Transition, View
from antiphon.spec.services.order import Count
from antiphon.spec.services.views import PartitionableSynchrony


class ExtendedVirtualSynchrony(PartitionableSynchrony):
    """Extended virtual synchrony as a state machine over events.

    State: `moves_with[p][v]` is the transitional configuration that p entered from v (None: it has not),
    `late[p][m]` whether p delivered m in a transitional configuration, `apart_early[p][q][v]` as `apart`,
    of deliveries in v before the transitional configuration.
    """

    moves_with: Map[Process, Map[View, Set[Process] | None]] = everywhere(everywhere(None))
    late: Map[Process, Map[Message, bool]] = everywhere(everywhere(False))
    apart_early: Map[Process, Map[Process, Map[View, Count]]] = everywhere(everywhere(everywhere(0)))

    def part_of(self, p: Process, v: Installed) -> Set[Process] | None:
        """The transitional configuration that p entered from v."""
        return next((self.moves_with[p][w] for w in self.each(View) if w == v), None)

    def is_moving(self, p: Process) -> bool:
        """P is in the transitional configuration of its view."""
        return self.part_of(p, self.view_of(p)) is not None

    @on(Transition)
    def judge_transition(self, event: Transition) -> None:
        """A part of the view, p in it, entered once; who has entered it before has delivered the same."""
        p = event.process
        v = self.view_of(p)
        expect(v > 0 and not self.is_moving(p) and p in event.members, "TransitionalSet")
        if v > 0 and not self.is_moving(p):
            members = self.agreed_members(v)
            expect(members is not None and event.members <= members, "TransitionalSet")
            for q in self.each(Process):
                if q != p and self.moves_with[q][v] == event.members and self.apart_early[p][q][v] > 0:
                    self.tell_torn(p, q, v)
            self.moves_with[p][v] = event.members

    def has_early(self, p: Process, m: Message, v: View) -> bool:
        """P has delivered m in v before the transitional configuration."""
        return self.delivered_in[p][m] == v and not self.late[p][m]

    def tell_torn(self, p: Process, q: Process, v: View) -> None:
        """Only one of the two has delivered some message in v before the transitional configuration."""
        m = next(
            (m for m in self.each(Message) if self.has_early(p, m, v) != self.has_early(q, m, v)),
            None,
        )
        if m is not None:
            expect(False, "FailureAtomicity", Deliver(p if self.has_early(p, m, v) else q, m))

    def compare_deliveries(self, p: Process, m: Message) -> None:
        """What comes before the transitional configuration is compared by itself too."""
        v = self.view_of(p)
        self.late[p][m] = self.is_moving(p)
        for q in self.each(Process):
            if q != p and v > 0 and not self.is_moving(p):
                before = self.apart_early[p][q][v]
                now = before - 1 if self.has_early(q, m, v) else before + 1
                self.apart_early[p][q][v] = now
                self.apart_early[q][p][v] = now
        super().compare_deliveries(p, m)

    @on(Install)
    def judge_install(self, event: Install) -> None:
        """Of those who install the view, exactly those come from the same one who are told to go together."""
        p = event.process
        v = self.view_of(p)
        if event.view > v:
            part = self.part_of(p, v)
            expect(v == 0 or (part is not None and part <= event.members), "TransitionalSet")
            for q in self.each(Process):
                if q != p and self.came_from[q][event.view] is not None:
                    expect(
                        self.names_rightly(p, v, q, event.view)
                        and self.names_rightly_back(p, v, q, event.view),
                        "TransitionalSet",
                        Install(q, event.view, event.members),
                    )
        super().judge_install(event)

    def names_rightly(self, p: Process, v: Installed, q: Process, w: View) -> bool:
        """P, which goes from v to w, was told of q just if q came from v too."""
        part = self.part_of(p, v)
        return part is None or (q in part) == (self.came_from[q][w] == v)

    def names_rightly_back(self, p: Process, v: Installed, q: Process, w: View) -> bool:
        """Q, which has gone to w, was told of p just if it came from v too."""
        u = self.came_from[q][w]
        part = self.part_of(q, u) if u is not None else None
        return part is None or (p in part) == (u == v)


class SafeExtendedSynchrony(ExtendedVirtualSynchrony):
    """Extended virtual synchrony with safe delivery."""

    @obligation
    def SafeDelivery(self) -> bool:
        """What is delivered in a view all its members deliver that do not fail; what is delivered in a
        transitional configuration, all of that.
        """
        return all(
            self.delivered_in[p][m] != v or not self.is_promised(p, m, v, q) or self.has_or_failed(q, m)
            for p in self.each(Process)
            for m in self.each(Message)
            for v in self.each(View)
            for q in self.each(Process)
        )

    def is_promised(self, p: Process, m: Message, v: View, q: Process) -> bool:
        """P's delivery of m promises it to q: to the members of v, or of the transitional configuration."""
        promised = self.moves_with[p][v] if self.late[p][m] else self.agreed_members(v)
        return promised is not None and q in promised

    def has_or_failed(self, q: Process, m: Message) -> bool:
        """Q has delivered m, or has crashed."""
        return self.delivered[q][m] or not self.correct(q)
