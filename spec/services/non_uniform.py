"""Reliable and total order broadcast as they are promised to correct processes alone.

The uniform properties bind a process that crashes later, too. Many protocols do not promise that: a process
that delivers at once may crash with a message that nobody else ever gets. A specification of such a protocol
inherits `NonUniformBroadcast` or `NonUniformTotalOrderBroadcast`. It is judged by `Validity`, `Agreement`,
`Integrity` and, for total order, `TotalOrder` and `PrefixOrder`, and by no uniform property.

Source: Defago, Schiper, Urban 2000, which names the two forms of each property; Barchet-Estefanel 2002,
section 2.1.
"""

from __future__ import annotations

from antiphon.spec.lang import expect, obligation, on
from antiphon.spec.services.broadcast import Deliveries
from antiphon.spec.services.events import Deliver, Message, Process
from antiphon.spec.services.order import Place, TotalOrder

__all__ = ["NonUniformBroadcast", "NonUniformTotalOrder", "NonUniformTotalOrderBroadcast"]


class NonUniformBroadcast(Deliveries):
    """Reliable broadcast among correct processes: `Validity`, `Agreement`, `Integrity`."""

    @on(Deliver)
    def judge_integrity(self, event: Deliver) -> None:
        """Check that every process delivers m at most once, and only if m was previously broadcast by
        sender(m).
        """
        m = event.message
        if m is None:
            expect(False, "Integrity")
        else:
            expect(not self.delivered[event.process][m], "Integrity", Deliver(event.process, m))
            expect(self.origin[m] is not None, "Integrity")
            self.delivered[event.process][m] = True

    @obligation
    def Validity(self) -> bool:
        """If a correct process broadcasts m, some correct process eventually delivers m."""
        return all(
            not any(self.origin[m] == p and self.correct(p) for p in self.each(Process))
            or any(self.correct(q) and self.delivered[q][m] for q in self.each(Process))
            for m in self.each(Message)
        )

    @obligation
    def Agreement(self) -> bool:
        """If a correct process delivers m, all correct processes eventually deliver m."""
        return all(
            self.delivered[q][m]
            or not self.correct(q)
            or not any(self.delivered[p][m] and self.correct(p) for p in self.each(Process))
            for m in self.each(Message)
            for q in self.each(Process)
        )


class NonUniformTotalOrder(TotalOrder):
    """Total order among correct processes, pairwise (`TotalOrder`) and by position (`PrefixOrder`)."""

    def judge_position(self, p: Process, q: Process, m: Message, k: Place) -> None:
        """Check prefix order among correct processes: the delivery of q at position k, if there is one, is
        m.
        """
        other = self.deliveries[q][k]
        if other is not None and other != m:
            expect(self.crashed[p] or self.crashed[q], "PrefixOrder", Deliver(q, other))

    def judge_pair(self, p: Process, q: Process, m: Message, k: Place) -> None:
        """Check total order among correct processes, when m becomes common to p and q: m is the last common
        message in p's sequence, so it must be the last in q's.
        """
        j = self.place[q][m]
        if j is not None:
            last = self.latest[p][q]
            if last > j:
                expect(self.crashed[p] or self.crashed[q], "TotalOrder", Deliver(q, self.deliveries[q][last]))
            self.latest[p][q] = max(last, j)
            self.latest[q][p] = k


class NonUniformTotalOrderBroadcast(NonUniformBroadcast, NonUniformTotalOrder):
    """Total order broadcast among correct processes."""
