"""What does JavaGroups' TOTAL promise? Total order broadcast while the view stays, and in every view a prefix of one sequence.

Source: Cornell, "JavaGroups TOTAL", sections Members and Future Improvements.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Duplications, View
from antiphon.spec.lang import Between, Map, everywhere, expect, obligation, on, witness
from antiphon.spec.protocols.total import Total
from antiphon.spec.protocols.total_headers import Discarded, Packet, QueuedTwice
from antiphon.spec.services import Deliver, Message, TotalOrderBroadcast
from antiphon.spec.services.events import Process
from antiphon.spec.services.order import Count, Place

Passed = Annotated[int, Between(0, "messages + spare")]
"""How many messages a member has passed up in a view."""


class TotalJudged(Total, TotalOrderBroadcast):
    """TOTAL, judged by total order broadcast, and view by view.

    `view_order[v][k]` is the message that was passed up k-th in view v, by whoever was first; `view_count[p][v]` is how many p has passed up in v.
    """

    view_order: Map[View, Map[Place, Message | None]] = everywhere(everywhere(None))
    view_count: Map[Process, Map[View, Count]] = everywhere(everywhere(0))

    @on(Deliver)
    def judge_view(self, event: Deliver) -> None:
        """Section Future Improvements: "total order for a prefix of the messages in one view"."""
        p = event.process
        m = event.message
        v = self.installed[p]
        if m is not None and v > 0 and self.view_count[p][v] < self.messages:
            k = self.view_count[p][v] + 1
            other = self.view_order[v][k]
            if other is None:
                self.view_order[v][k] = m
            else:
                expect(other == m, "ViewPrefix", Deliver(p, other))
            self.view_count[p][v] = k

    @on(Discarded)
    def judge_discard(self, event: Discarded) -> None:
        """Section Members: "this message can be discarded because it has already been received and passed up the stack"."""
        expect(self.delivered[event.process][event.message], "DiscardedWasPassedUp", Deliver(event.process, event.message))

    @on(QueuedTwice)
    def judge_twin(self, event: QueuedTwice) -> None:
        """Section Members: "the message is discarded since the messages are the same"."""
        expect(event.queued == event.message, "QueuedTwinIsTheSame", Deliver(event.process, event.queued))

    @obligation
    def ViewAgreement(self) -> bool:
        """Members of a view that are up pass up the same number of messages in it, which `ViewPrefix` makes the same messages."""
        return all(
            self.view_count[p][v] == self.view_count[q][v]
            for v in self.each(View)
            for p in self.members[v]
            for q in self.members[v]
            if not self.down[p] and not self.down[q]
        )

    @witness
    def AllDelivered(self) -> bool:
        """Everybody has passed up everything."""
        return all(self.delivered[p][m] for p in self.each(Process) for m in self.each(Message))


class TotalRepeatedJudged(Duplications[Packet], TotalJudged):
    """The same over channels that repeat as well."""
