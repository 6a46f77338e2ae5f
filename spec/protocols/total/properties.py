"""Properties of TOTAL: total order broadcast while the view stays, and one sequence of messages in each view.

Source: Cornell, "JavaGroups TOTAL", sections Members and Future Improvements.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Duplications
from antiphon.spec.lang import (
    Between,
    Map,
    emit,
    everywhere,
    expect,
    invariant,
    obligation,
    on,
    record,
    witness,
)
from antiphon.spec.protocols.total.bounds import TotalBounded
from antiphon.spec.protocols.total.headers import Number, Packet
from antiphon.spec.services import Deliver, Message, TotalOrderBroadcast
from antiphon.spec.services.events import Process, View
from antiphon.spec.services.order import Count, Place

Passed = Annotated[int, Between(0, "messages + spare")]
"""Number of messages that a member has passed up in a view."""


@record
class Discarded:
    """Event: `process` discards `message`, since its sequence id is lower than the expected one."""

    process: Process
    message: Message


@record
class QueuedTwice:
    """Event: `process` receives `message` under a sequence id under which it has `queued` another message,
    and discards `message`.
    """

    process: Process
    queued: Message
    message: Message


class TotalChecked(TotalBounded, TotalOrderBroadcast):
    """Properties of TOTAL, also view by view.

    `view_order[v][k]` is the message that was passed up k-th in view v, by whoever was first;
    `view_count[p][v]` is how many p has passed up in v.
    """

    view_order: Map[View, Map[Place, Message | None]] = everywhere(everywhere(None))
    view_count: Map[Process, Map[View, Count]] = everywhere(everywhere(0))

    @on(Deliver)
    def judge_view(self, event: Deliver) -> None:
        """Check that a member passes up the k-th message of the view's sequence (Future Improvements: "total
        order for a prefix of the messages in one view").
        """
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

    def discard_lower(self, p: Process, m: Message) -> None:
        """Discard a message whose id is lower than expected, and emit the event `Discarded`."""
        emit(Discarded(p, m))

    def discard_twin(self, p: Process, queued: Message, m: Message) -> None:
        """Discard a message whose id is queued already, and emit the event `QueuedTwice`."""
        emit(QueuedTwice(p, queued, m))

    @on(Discarded)
    def judge_discard(self, event: Discarded) -> None:
        """Check that a discarded message "has already been received and passed up the stack" (section
        Members).
        """
        p = event.process
        expect(self.delivered[p][event.message], "DiscardedWasPassedUp", Deliver(p, event.message))

    @on(QueuedTwice)
    def judge_twin(self, event: QueuedTwice) -> None:
        """Check that a message is discarded "since the messages are the same" (section Members)."""
        expect(event.queued == event.message, "QueuedTwinIsTheSame", Deliver(event.process, event.queued))

    @invariant
    def OneSequencer(self) -> bool:
        """Invariant: there is "exactly one sequencer" (section Sequencer): no two members of a view have an
        id to assign next.
        """
        return not any(
            self.next_to_assign[p] > 0
            and self.next_to_assign[q] > 0
            and self.installed[p] == self.installed[q]
            for p in self.each(Process)
            for q in self.each(Process)
            if p < q
        )

    def keep(self, p: Process, number: Number, m: Message) -> None:
        """Keep a message, and check that "no two messages receive the same sequence id" in a view (section
        Sequencer).
        """
        expect(
            not any(
                self.sent[q][number] is not None
                and self.sent[q][number] != m
                and self.installed[p] == self.installed[q]
                for q in self.each(Process)
            ),
            "UniqueIds",
        )
        super().keep(p, number, m)

    @invariant
    def NoIdSkipped(self) -> bool:
        """Invariant: "no sequence id is skipped" (section Sequencer): the assigned ids are consecutive."""
        return not any(
            self.sent[p][j] is not None and self.sent[p][k] is None and j < k and k < self.next_to_assign[p]
            for p in self.each(Process)
            for j in self.each(Number)
            for k in self.each(Number)
        )

    @obligation
    def GapsAreFilled(self) -> bool:
        """Obligation: queues become empty, so there are "no sequence id's that are skipped" (section
        Retransmission).
        """
        return not any(self.lowest_queued(p) is not None and not self.down[p] for p in self.each(Process))

    @witness
    def AllBroadcast(self) -> bool:
        """Witness: every message was broadcast, and no process has a message in its queue."""
        is_empty = all(self.lowest_queued(p) is None for p in self.each(Process))
        return self.broadcasts == self.messages and is_empty

    @witness
    def GapSeen(self) -> bool:
        """Witness: a member has a message and lacks an earlier one."""
        return any(self.lowest_queued(p) is not None for p in self.each(Process))

    @witness
    def BeginsElsewhere(self) -> bool:
        """Witness: a new sequencer has begun at another id than 1 ("at any value"), and has numbered nothing
        yet.
        """
        return any(
            self.installed[p] > 1
            and self.is_sequencer(p)
            and self.next_to_assign[p] > 1
            and all(self.sent[p][k] is None for k in self.each(Number))
            for p in self.each(Process)
        )

    @witness
    def NextView(self) -> bool:
        """Witness: a sequencer has numbered a message in a view after the first."""
        return any(
            self.installed[p] > 1
            and self.is_sequencer(p)
            and any(self.sent[p][k] is not None for k in self.each(Number))
            for p in self.each(Process)
        )

    @obligation
    def ViewAgreement(self) -> bool:
        """Obligation: live members of a view pass up equally many messages in it, by `ViewPrefix` the same
        ones.
        """
        return all(
            self.view_count[p][v] == self.view_count[q][v]
            for v in self.each(View)
            for p in self.members[v]
            for q in self.members[v]
            if not self.down[p] and not self.down[q]
        )

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every member has passed up every message."""
        return all(self.delivered[p][m] for p in self.each(Process) for m in self.each(Message))


class TotalRepeatedChecked(Duplications[Packet], TotalChecked):
    """TOTAL over channels that lose, reorder and repeat, with the same properties."""
