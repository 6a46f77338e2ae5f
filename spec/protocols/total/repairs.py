"""Repairs of TOTAL: each changes one sentence of the document, and names the claim that demands it."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, Map, Set, action, everywhere, repair, require
from antiphon.spec.protocols.total.design import Total
from antiphon.spec.protocols.total.headers import (
    Bcast,
    First,
    NewView,
    NewViewAck,
    Next,
    Number,
    Resend,
    SeqAck,
)
from antiphon.spec.protocols.total.readings import Remedies
from antiphon.spec.services import Installed, Message, Process


@repair(
    "after VIEW_CHANGE nothing is expected, and messages are queued, until TOTAL_NEW_VIEW says what is "
    "first; it clears nothing",
    answers="TOT-10",
)
class AwaitNewView(Total):
    """Repair of TOTAL, View Changes. Printed: "the members may not know what sequence id to expect", and they
    go on expecting the old one. Repaired: after VIEW_CHANGE a member expects nothing and queues messages,
    until TOTAL_NEW_VIEW names the first id.
    """

    def follow(self, p: Process) -> None:
        """Follow the new sequencer at p. The next expected id is unknown (0) until the sequencer announces
        it.
        """
        super().follow(p)
        self.next_expected[p] = 0

    def reset_state(self, p: Process, first: First) -> None:
        """Set the next expected id of p to `first` only if it is unknown; the queue is kept."""
        if self.next_expected[p] == 0:
            self.next_expected[p] = first
            self.pass_up_queue(p)


@repair("TOTAL_NEW_VIEW is sent again until TOTAL_NEW_VIEW_ACK of each member has come", answers="TOT-09")
class AcknowledgeNewView(Total):
    """Repair of TOTAL, appendix, TOTAL_NEW_VIEW_ACK. Printed: "This header type is not currently used".
    Repaired: TOTAL_NEW_VIEW is sent again until every member has acknowledged it.
    """

    first_assigned: Map[Process, First] = everywhere(1)
    unacknowledged: Map[Process, Set[Process]] = everywhere(Set())

    def clear(self, p: Process) -> None:
        """Clear the queue, and the list of missing acknowledgements of the old view."""
        super().clear(p)
        self.unacknowledged[p] = Set()

    def begin_view(self, p: Process, first: First) -> None:
        """Begin the view, and wait for acknowledgements of all others."""
        super().begin_view(p, first)
        self.first_assigned[p] = first
        self.unacknowledged[p] |= self.group_of(p) - {p}

    def follow(self, p: Process) -> None:
        """Follow the new sequencer, and forget the first id that p assigned."""
        super().follow(p)
        self.first_assigned[p] = 1

    @action(fairness="weak")
    def receive_new_view(self, packet: Annotated[NewView, In("network")]) -> None:
        """Receive TOTAL_NEW_VIEW, and acknowledge it."""
        super().receive_new_view(packet)
        to = self.sequencer(packet.to)
        if to is not None and self.reaches(packet.to, to):
            self.network |= {NewViewAck(to, packet.view, packet.to)}

    @action(fairness="weak")
    def announce_view_again(self, p: Process) -> None:
        """Send TOTAL_NEW_VIEW again to members that have not acknowledged it."""
        require(self.may_act(p) and self.is_sequencer(p) and len(self.unacknowledged[p]) > 0)
        late = {q for q in self.unacknowledged[p] if self.reaches(p, q)}
        self.network |= {NewView(q, self.installed[p], self.first_assigned[p]) for q in late}

    @action(fairness="weak")
    def receive_new_view_ack(self, packet: Annotated[NewViewAck, In("network")]) -> None:
        """Note that a member has acknowledged TOTAL_NEW_VIEW."""
        require(self.hears(packet.to, packet.view))
        self.network -= {packet}
        self.unacknowledged[packet.to] -= {packet.sender}


@repair("the sequencer numbers a message once: a request says which message it is for", answers="TOT-15")
class IdentifyRequests(Total):
    """Repair of TOTAL, appendix, TOTAL_REQUEST. Printed: its argument is "N/A", so a repeated request cannot
    be recognised. Repaired: a request names its message, and the sequencer numbers a message once.
    """

    known: Map[Process, Set[Message]] = everywhere(Set())

    def gets_id(self, p: Process, m: Message) -> bool:
        """Return True if p, as the sequencer, must give m an id: p knows none for m."""
        return m not in self.known[p]

    def keep(self, p: Process, number: Number, m: Message) -> None:
        """Keep message m under its id at the sequencer p, and note that m has an id."""
        super().keep(p, number, m)
        self.known[p] |= {m}

    def forget_sent(self, p: Process) -> None:
        """Forget the sent messages and their ids, since another view may number them again."""
        super().forget_sent(p)
        self.known[p] = Set()


@repair("a member asks again, in the next view too, until its own message was passed up", answers="TOT-14")
class RepeatRequest(Total):
    """Repair of TOTAL, lost requests. Printed: "only a major issue for messages being broadcast by the
    sequencer". Repaired: a member repeats its request, in the next view too, until its own message was passed
    up.
    """

    pending: Map[Process, Set[Message]] = everywhere(Set())

    def request(self, p: Process, m: Message) -> None:
        """Request an id for m, and remember the request."""
        self.pending[p] |= {m}
        super().request(p, m)

    def pass_up(self, p: Process, k: Number, m: Message) -> None:
        """Pass m up, and forget the request."""
        self.pending[p] -= {m}
        super().pass_up(p, k, m)

    @action(fairness="weak")
    def request_again(self, p: Process, m: Message) -> None:
        """Request again an id for the first of p's messages that was not passed up."""
        require(self.may_act(p) and m in self.pending[p] and not any(other < m for other in self.pending[p]))
        self.request(p, m)


@repair("the last messages of the sequencer are asked for, or sent again, too", answers="TOT-18")
class RecoverSuffix(Remedies):
    """Repair of TOTAL, Future Improvements. Printed: the thread "does not know if there is a suffix of
    messages" that was lost. Repaired: lost last messages are requested, or sent again.

    With `tells_last` the sequencer sends the id of its last message to everybody (TOTAL_SEQ_ACK, "not
    currently used"). Without it members acknowledge to the sequencer, which sends again what they have not
    acknowledged.
    """

    def acknowledges(self) -> bool:
        """Return True if members send TOTAL_CUM_SEQ_ACK: a reading has them do so, or positive
        acknowledgements are the chosen remedy.
        """
        return super().acknowledges() or not self.tells_last()

    @action(fairness="weak")
    def announce_last(self, p: Process) -> None:
        """Announce the id of the sequencer's last message to all."""
        require(self.tells_last() and self.may_act(p) and self.is_sequencer(p))
        require(any(self.sent[p][k] is not None for k in self.each(Number)))
        last = self.next_to_assign[p] - 1
        self.network |= {SeqAck(q, self.installed[p], last) for q in self.each(Process) if self.reaches(p, q)}

    @action(fairness="weak")
    def receive_last(self, packet: Annotated[SeqAck, In("network")]) -> None:
        """Receive the id of the sequencer's last message, and "actively request a lost suffix of
        messages".
        """
        p = packet.to
        to = self.sequencer(p)
        expected = self.next_expected[p]
        require(self.hears(p, packet.view))
        self.network -= {packet}
        if to is not None and expected > 0 and self.reaches(p, to):
            suffix = {k for k in self.each(Number) if expected <= k and k <= packet.number}
            self.network |= {Resend(to, self.installed[p], p, k) for k in suffix if self.queue[p][k] is None}

    def lacks(self, p: Process, q: Process, k: Next) -> bool:
        """Return True if q is in p's view and has not acknowledged all messages up to k."""
        return self.reaches(p, q) and self.acknowledged[p][q] < k

    @action(fairness="weak")
    def send_suffix(self, p: Process) -> None:
        """Send again the messages that some member has not acknowledged."""
        require(not self.tells_last() and self.may_act(p) and self.is_sequencer(p))
        require(any(self.lacks(p, q, self.next_to_assign[p] - 1) for q in self.each(Process)))
        for k in self.each(Number):
            m = self.sent[p][k]
            if m is not None:
                late = {q for q in self.each(Process) if self.lacks(p, q, k)}
                self.network |= {Bcast(q, self.installed[p], k, m) for q in late}


@repair(
    "the view change waits until the members that go on have passed up the same messages; meanwhile nobody "
    "sends or receives others",
    answers="TOT-17",
)
class Flush(Total):
    """Repair of TOTAL, Future Improvements. Printed: "A flush protocol would delay the view change until all
    ... are synchronized". Repaired: members that go on leave the view only when they have passed up the same
    messages, and send and receive nothing else meanwhile.
    """

    passed: Map[Process, Map[Number, Message | None]] = everywhere(everywhere(None))

    def may_act(self, p: Process) -> bool:
        """Return True if p may act, and is not about to leave its view."""
        return super().may_act(p) and not self.may_install(p)

    def pass_up(self, p: Process, k: Number, m: Message) -> None:
        """Pass m up, and remember it for the flush."""
        self.passed[p][k] = m
        super().pass_up(p, k, m)

    def clear(self, p: Process) -> None:
        """Clear the queue, and the record of the messages that were passed up."""
        super().clear(p)
        self.passed[p] = everywhere(None)

    def goes_on(self, p: Process, q: Process) -> bool:
        """Return True if q goes with p from its view to the view that has formed."""
        return q in self.members[self.formed] and self.installed[q] == self.installed[p] and not self.down[q]

    def is_synchronised(self, p: Process) -> bool:
        """Return True if all members that go on with p to the next view have passed up the same messages as
        p.
        """
        return all(
            self.passed[q][k] == self.passed[p][k]
            for q in self.each(Process)
            if self.goes_on(p, q)
            for k in self.each(Number)
        )

    @action(fairness="weak")
    def change_view(self, p: Process, first: First) -> None:
        """Change the view, if the members that go on are synchronised."""
        require(self.may_install(p) and self.is_synchronised(p))
        super().change_view(p, first)

    @action(fairness="weak")
    def synchronise(self, p: Process, q: Process) -> None:
        """Pass up at p, by the flush, the next message that q has passed up and p has not."""
        require(self.may_install(p) and self.may_install(q) and self.goes_on(p, q))
        ahead = {n for n in self.each(Number) if self.passed[q][n] is not None and self.passed[p][n] is None}
        k = next((n for n in self.each(Number) if n in ahead), None)
        require(k is not None)
        if k is not None:
            m = self.passed[q][k]
            if m is not None:
                self.pass_up(p, k, m)


@repair("a MERGE gives everybody the list of the merged group, as a new view does", answers="TOT-21")
class HandleMerge(Total):
    """Repair of TOTAL, Future Improvements. Printed: "The protocol does not currently handle MERGE events".
    Repaired: a MERGE gives all members the list of the merged group.
    """

    def listed(self, p: Process, v: Installed) -> Set[Process]:
        """Return the members of view v, which are the same for every process p."""
        return self.members_of(v)


REPAIRS = (
    AwaitNewView,
    AcknowledgeNewView,
    IdentifyRequests,
    RepeatRequest,
    RecoverSuffix,
    Flush,
    HandleMerge,
)
