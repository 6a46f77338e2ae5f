"""How does one member order for all? JavaGroups' TOTAL: a member asks the sequencer, who numbers the message and broadcasts it.

Source: Cornell, "JavaGroups TOTAL" (the design document of the protocol layer of that name): sections Members, Sequencer, View Changes,
Retransmission, and the table of header types in the appendix. It has no figures and no printed line numbers.

What is modelled: a member's next expected sequence id (`next_expected`) and its queue ordered by sequence id (`queue`), the sequencer's next id to
assign (`next_to_assign`) and the messages that it can send again (`sent`), which the document implies only by answering TOTAL_RESEND. The
retransmission thread is the action `ask`: its period, what it requested last and when are timers, and any step may come as late as it likes.
Views come from `Membership`, which gives what the document asks of the layer below; its options break one guarantee each. Every packet says in
which view it was sent. The network loses (budget `losses`) and reorders; "to the group" includes the sender, whose own copy is there at once, since
nothing can lose it.

What is decided here, because the document is silent:
1. A sequencer that broadcasts asks nobody; it numbers its own message in the same step.
2. The first view is settled: everybody expects id 1, which the first member will assign. A process that was in no view expects 1.
3. A new first id is any of 1 to `first_ids`. Nobody assigns more than `messages + spare` ids in a view: exploration stops there.
4. TOTAL_UNICAST is "not to be processed by the TOTAL layer" and is left out. TOTAL_NEW_VIEW_ACK, TOTAL_CUM_SEQ_ACK and TOTAL_SEQ_ACK have no sender
   and no receiver in the text; the first two are used by repairs and readings that say so, the last by nobody.
5. A packet that was sent in a view which its receiver has left is gone; it is not sent at all to a member that is known to have gone on.
6. `assigned` explores the runs in which message k comes from the process after the k-th, `patient` those in which a timer expires only when nothing
   is in flight.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses, Membership, View
from antiphon.spec.lang import (
    Between,
    In,
    Map,
    Repair,
    Set,
    action,
    emit,
    environment,
    everywhere,
    initial,
    invariant,
    obligation,
    repair,
    require,
    witness,
)
from antiphon.spec.protocols.total_headers import (
    Bcast,
    CumAck,
    Discarded,
    First,
    Last,
    NewView,
    NewViewAck,
    Next,
    Number,
    Packet,
    QueuedTwice,
    Request,
    Resend,
)
from antiphon.spec.protocols.total_readings import TotalReadings
from antiphon.spec.services import Broadcast, Deliver, Message, Process


class Total(Losses[Packet], Membership, TotalReadings):
    """JavaGroups' TOTAL."""

    await_new_view: Repair = repair(
        "after VIEW_CHANGE nothing is expected, and messages are queued, until TOTAL_NEW_VIEW says what is first; it clears nothing", answers="TOT-10"
    )
    acknowledge_new_view: Repair = repair("TOTAL_NEW_VIEW is sent again until TOTAL_NEW_VIEW_ACK of each member has come", answers="TOT-09")
    identify_requests: Repair = repair("the sequencer numbers a message once: a request says which message it is for", answers="TOT-15")
    repeat_request: Repair = repair("a member asks again, in the next view too, until its own message was passed up", answers="TOT-14")
    recover_suffix: Repair = repair("the last messages of the sequencer are asked for, or sent again, too", answers="TOT-18")
    flush: Repair = repair(
        "the view change waits until the members that go on have passed up the same messages; meanwhile nobody sends or receives others",
        answers="TOT-17",
    )
    handle_merge: Repair = repair("a MERGE gives everybody the list of the merged group, as a new view does", answers="TOT-21")

    next_expected: Map[Process, Next] = everywhere(1)
    queue: Map[Process, Map[Number, Message | None]] = everywhere(everywhere(None))
    next_to_assign: Map[Process, Next] = everywhere(0)
    first_assigned: Map[Process, First] = everywhere(1)
    sent: Map[Process, Map[Number, Message | None]] = everywhere(everywhere(None))
    known: Map[Process, Set[Message]] = everywhere(Set())
    broadcasts: Annotated[int, Between(0, "messages")] = 0
    unacknowledged: Map[Process, Set[Process]] = everywhere(Set())
    acknowledged: Map[Process, Map[Process, Next]] = everywhere(everywhere(0))
    pending: Map[Process, Set[Message]] = everywhere(Set())
    passed: Map[Process, Map[Number, Message | None]] = everywhere(everywhere(None))

    # Helpers -----------------------------------------------------------------------------------------------------------------------------

    @initial
    def found(self) -> None:
        """The first view, settled."""
        self.found_group()
        for p in self.each(Process):
            if p.index == 0 or self.is_apart(p):
                self.next_to_assign[p] = 1

    def is_apart(self, p: Process) -> bool:
        """P's list has another first member: p itself. As repaired, a MERGE is handled."""
        return self.is_misled(p) and (self.lists == "another order" or (self.lists == "one side" and not self.handle_merge))

    def sequencer(self, p: Process) -> Process | None:
        """Section Sequencer: "the first listed member", by p's list."""
        if self.handle_merge and self.lists == "one side":
            return next((q for q in self.each(Process) if q in self.group_of(p)), None)
        return self.coordinator(p)

    def is_sequencer(self, p: Process) -> bool:
        """P finds itself first in the list."""
        return self.addresses == "set" and self.sequencer(p) == p

    def may_act(self, p: Process) -> bool:
        """P is in a view, and no flush holds it up."""
        return self.is_member(p) and not (self.flush and self.may_install(p))

    def hears(self, p: Process, v: View) -> bool:
        """P may receive what was sent in view v."""
        return self.may_act(p) and self.may_receive(p, v)

    def reaches(self, p: Process, q: Process) -> bool:
        """A packet of p can still be received by q."""
        return q != p and q in self.group_of(p) and not self.down[q] and not self.is_stale(q, self.installed[p])

    def may_expire(self, p: Process) -> bool:
        """A timer of p expires."""
        return self.may_act(p) and (not self.patient or len(self.network) == 0)

    def lowest_queued(self, p: Process) -> Number | None:
        """The lowest sequence id stored."""
        return next((k for k in self.each(Number) if self.queue[p][k] is not None), None)

    def is_known(self, p: Process, m: Message) -> bool:
        """As repaired, the sequencer p knows that it has numbered m."""
        return self.identify_requests and m in self.known[p]

    def has_room(self, p: Process, m: Message) -> bool:
        """Not a guard of the protocol: whether an id is left for m, should p be the one to number it."""
        return not self.is_sequencer(p) or self.is_known(p, m) or self.next_to_assign[p] < self.first_ids + self.messages + self.spare

    def acknowledges(self) -> bool:
        """Members send TOTAL_CUM_SEQ_ACK."""
        return self.keeping == "until acknowledged" or (self.recover_suffix and self.suffix == "acknowledged")

    def acknowledge(self, p: Process) -> None:
        """All up to the next expected id has arrived."""
        to = self.sequencer(p)
        if self.acknowledges() and to is not None and self.reaches(p, to):
            self.network |= {CumAck(to, self.installed[p], p, max(self.next_expected[p] - 1, 0))}

    # Members -----------------------------------------------------------------------------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Section Members: "If a member wishes to broadcast a message, it sends it only the sequencer"."""
        require(m.index == self.broadcasts and self.may_act(p))
        require(not self.assigned or p.index == (m.index + 1) % self.processes)
        require(self.has_room(p, m))
        self.broadcasts += 1
        emit(Broadcast(p, m))
        if self.repeat_request:
            self.pending[p] |= {m}
        self.request(p, m)

    def request(self, p: Process, m: Message) -> None:
        """TOTAL_REQUEST, unless p is the sequencer."""
        to = self.sequencer(p)
        if self.is_sequencer(p):
            self.assign(p, m)
        elif to is not None and self.reaches(p, to):
            self.network |= {Request(to, self.installed[p], m)}

    @action(fairness="weak")
    def request_again(self, p: Process) -> None:
        """Only as repaired: p's own messages that it has not passed up are requested again."""
        require(self.may_expire(p) and len(self.pending[p]) > 0)
        m = next((own for own in self.each(Message) if own in self.pending[p]), None)
        if m is not None:
            require(self.has_room(p, m))
            self.request(p, m)

    @action(fairness="weak")
    def receive_bcast(self, packet: Annotated[Bcast, In("network")]) -> None:
        """Section Members."""
        require(self.hears(packet.to, packet.view))
        self.network -= {packet}
        self.take_in(packet.to, packet.number, packet.message)
        self.acknowledge(packet.to)

    def take_in(self, p: Process, k: Number, m: Message) -> None:
        """A lower id: discarded, "because it has already been received and passed up the stack". Queued already: discarded. Else: queued."""
        queued = self.queue[p][k]
        if k < self.next_expected[p]:
            emit(Discarded(p, m))
        elif queued is not None:
            emit(QueuedTwice(p, queued, m))
        else:
            self.queue[p][k] = m
            self.pass_up_queue(p)

    def pass_up_queue(self, p: Process) -> None:
        """While the queue has the next expected id: "the message is removed from the queue and passed up the stack"."""
        for k in self.each(Number):
            m = self.queue[p][k]
            if k == self.next_expected[p] and m is not None:
                self.queue[p][k] = None
                self.pass_up(p, k, m)

    def pass_up(self, p: Process, k: Number, m: Message) -> None:
        """Out of the queue: "The next expected sequence id is also incremented by one"."""
        self.next_expected[p] = k + 1
        self.pending[p] -= {m}
        if self.flush:
            self.passed[p][k] = m
        emit(Deliver(p, m))

    # The sequencer -----------------------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def receive_request(self, packet: Annotated[Request, In("network")]) -> None:
        """Section Sequencer: "Each time the sequencer receives a broadcast request, it assigns the next sequence id"."""
        p = packet.to
        require(self.hears(p, packet.view))
        require(self.has_room(p, packet.message))
        self.network -= {packet}
        if self.is_sequencer(p):
            self.assign(p, packet.message)

    def assign(self, p: Process, m: Message) -> None:
        """The message gets its id and is broadcast; as repaired, a message that has an id keeps it."""
        if not self.is_known(p, m):
            number = self.next_to_assign[p]
            self.next_to_assign[p] = number + 1
            if self.keeping == "the last":
                self.sent[p] = everywhere(None)
            self.sent[p][number] = m
            if self.identify_requests:
                self.known[p] |= {m}
            self.network |= {Bcast(q, self.installed[p], number, m) for q in self.each(Process) if self.reaches(p, q)}
            self.take_in(p, number, m)

    # View changes ------------------------------------------------------------------------------------------------------------------------

    def is_synchronised(self, p: Process) -> bool:
        """All that go on with p from its view to the next have passed up the same messages."""
        return all(
            self.passed[q][k] == self.passed[p][k]
            for q in self.members[self.formed]
            if self.installed[q] == self.installed[p] and not self.down[q]
            for k in self.each(Number)
        )

    @action(fairness="weak")
    def change_view(self, p: Process, first: First) -> None:
        """Section View Changes: the queue is cleared; the sequencer starts "at any value", `first`, and broadcasts TOTAL_NEW_VIEW."""
        require(self.may_install(p) and (not self.flush or self.is_synchronised(p)))
        was = self.is_sequencer(p)
        takes_over = self.next_of_view(p)
        require(first == 1 or takes_over)
        self.install(p)
        if self.clearing == "at the view change":
            self.queue[p] = everywhere(None)
        self.passed[p] = everywhere(None)
        self.unacknowledged[p] = Set()
        self.acknowledged[p] = everywhere(0)
        if self.synchrony != "none":
            self.network -= {packet for packet in self.network if (packet.to == p and packet.view < self.formed) or self.down[packet.to]}
        if takes_over and (self.announcing == "every sequencer" or not was):
            self.begin_view(p, first)
        elif not takes_over:
            self.next_to_assign[p] = 0
            self.first_assigned[p] = 1
            self.sent[p] = everywhere(None)
            self.known[p] = Set()
            if self.await_new_view:
                self.next_expected[p] = 0

    def next_of_view(self, p: Process) -> bool:
        """P will be the sequencer of the view that has formed."""
        return self.addresses == "set" and (self.is_apart(p) or not any(q < p for q in self.members[self.formed]))

    def begin_view(self, p: Process, first: First) -> None:
        """P, the sequencer, starts with `first` and tells everybody."""
        self.sent[p] = everywhere(None)
        self.known[p] = Set()
        self.next_to_assign[p] = first
        self.first_assigned[p] = first
        self.next_expected[p] = first
        others = self.group_of(p) - {p}
        self.network |= {NewView(q, self.formed, first) for q in others if not self.down[q]}
        if self.acknowledge_new_view:
            self.unacknowledged[p] |= others

    @action(fairness="weak")
    def receive_new_view(self, packet: Annotated[NewView, In("network")]) -> None:
        """Appendix: "Message sent when the view changes, resetting the state of the TOTAL layer"; as repaired, it fills in what is unknown."""
        p = packet.to
        to = self.sequencer(p)
        require(self.hears(p, packet.view))
        self.network -= {packet}
        if self.await_new_view:
            if self.next_expected[p] == 0:
                self.next_expected[p] = packet.first
                self.pass_up_queue(p)
        else:
            self.next_expected[p] = packet.first
            if self.reset == "the queue too":
                self.queue[p] = everywhere(None)
        if self.acknowledge_new_view and to is not None and self.reaches(p, to):
            self.network |= {NewViewAck(to, packet.view, p)}

    @action(fairness="weak")
    def announce_view_again(self, p: Process) -> None:
        """Only as repaired: TOTAL_NEW_VIEW goes again to the members that have not acknowledged it."""
        require(self.may_expire(p) and self.is_sequencer(p) and len(self.unacknowledged[p]) > 0)
        self.network |= {NewView(q, self.installed[p], self.first_assigned[p]) for q in self.unacknowledged[p] if self.reaches(p, q)}

    @action(fairness="weak")
    def receive_new_view_ack(self, packet: Annotated[NewViewAck, In("network")]) -> None:
        """Only as repaired: this member knows the first id."""
        require(self.hears(packet.to, packet.view))
        self.network -= {packet}
        self.unacknowledged[packet.to] -= {packet.sender}

    # Retransmission ----------------------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def ask(self, p: Process) -> None:
        """The queue is "not empty and its lowest sequence id is greater than the next expected sequence id": the gap is asked for."""
        to = self.sequencer(p)
        lowest = self.lowest_queued(p)
        expected = self.next_expected[p]
        require(self.may_expire(p) and to is not None and lowest is not None and expected > 0)
        if to is not None and lowest is not None:
            require(lowest > expected and self.reaches(p, to))
            self.network |= {Resend(to, self.installed[p], p, k) for k in self.each(Number) if expected <= k and k < lowest}

    @action(fairness="weak")
    def receive_resend(self, packet: Annotated[Resend, In("network")]) -> None:
        """Appendix: "A request (to the sequencer) to resend the message with the specified sequence id": it is answered if the sequencer has it."""
        p = packet.to
        m = self.sent[p][packet.number]
        require(self.hears(p, packet.view))
        self.network -= {packet}
        if m is not None and self.reaches(p, packet.sender):
            self.network |= {Bcast(packet.sender, self.installed[p], packet.number, m)}

    @action(fairness="weak")
    def announce_last(self, p: Process) -> None:
        """Only as repaired: the sequencer tells the id of the last message."""
        require(self.recover_suffix and self.suffix == "announced" and self.may_expire(p) and self.is_sequencer(p))
        require(any(self.sent[p][k] is not None for k in self.each(Number)))
        self.network |= {Last(q, self.installed[p], self.next_to_assign[p] - 1) for q in self.each(Process) if self.reaches(p, q)}

    @action(fairness="weak")
    def receive_last(self, packet: Annotated[Last, In("network")]) -> None:
        """Only as repaired: "then the retransmission thread could actively request a lost suffix of messages"."""
        p = packet.to
        to = self.sequencer(p)
        expected = self.next_expected[p]
        require(self.hears(p, packet.view))
        self.network -= {packet}
        if to is not None and expected > 0 and self.reaches(p, to):
            missing = {k for k in self.each(Number) if expected <= k and k <= packet.number and self.queue[p][k] is None}
            self.network |= {Resend(to, self.installed[p], p, k) for k in missing}

    @action(fairness="weak")
    def receive_cum_ack(self, packet: Annotated[CumAck, In("network")]) -> None:
        """The sequencer learns what has arrived, and may free it."""
        p = packet.to
        require(self.hears(p, packet.view))
        self.network -= {packet}
        self.acknowledged[p][packet.sender] = max(self.acknowledged[p][packet.sender], packet.number)
        if self.keeping == "until acknowledged":
            for k in self.each(Number):
                if k < self.next_expected[p] and all(q == p or self.acknowledged[p][q] >= k for q in self.group_of(p)):
                    self.sent[p][k] = None

    @action(fairness="weak")
    def send_suffix(self, p: Process) -> None:
        """Only as repaired: "If the sequencer handled retransmission (perhaps using positive acknowledgements)"."""
        require(self.recover_suffix and self.suffix == "acknowledged" and self.may_expire(p) and self.is_sequencer(p))
        require(any(self.reaches(p, q) and self.acknowledged[p][q] < self.next_to_assign[p] - 1 for q in self.each(Process)))
        for k in self.each(Number):
            m = self.sent[p][k]
            if m is not None:
                self.network |= {Bcast(q, self.installed[p], k, m) for q in self.each(Process) if self.reaches(p, q) and self.acknowledged[p][q] < k}

    # The layers below --------------------------------------------------------------------------------------------------------------------

    @environment
    def drop_early(self, packet: Annotated[Packet, In("network")]) -> None:
        """In one reading, what arrives before the view change is thrown away."""
        require(self.early == "dropped" and self.is_early(packet.to, packet.view))
        self.network -= {packet}

    @action(fairness="weak")
    def synchronise(self, p: Process, q: Process) -> None:
        """Only as repaired: a flush gives p the next message that q, who goes on with p, has passed up in their view."""
        require(self.flush and self.may_install(p) and self.may_install(q) and not self.down[q] and self.installed[p] == self.installed[q])
        k = next((number for number in self.each(Number) if self.passed[q][number] is not None and self.passed[p][number] is None), None)
        require(k is not None)
        if k is not None:
            m = self.passed[q][k]
            if m is not None:
                self.pass_up(p, k, m)

    # Properties --------------------------------------------------------------------------------------------------------------------------

    @invariant
    def OneSequencer(self) -> bool:
        """Section Sequencer: "exactly one sequencer", so never two members of one view that find themselves first."""
        return not any(
            self.is_sequencer(p) and self.is_sequencer(q) and self.installed[p] == self.installed[q]
            for p in self.each(Process)
            for q in self.each(Process)
            if p < q
        )

    @invariant
    def UniqueIds(self) -> bool:
        """Section Sequencer: "no two messages receive the same sequence id", in a view."""
        return not any(
            self.sent[p][k] is not None
            and self.sent[q][k] is not None
            and self.sent[p][k] != self.sent[q][k]
            and self.installed[p] == self.installed[q]
            for p in self.each(Process)
            for q in self.each(Process)
            if p < q
            for k in self.each(Number)
        )

    @invariant
    def NoIdSkipped(self) -> bool:
        """Section Sequencer: "no sequence id is skipped when assigning"; the ids that were assigned are neighbours."""
        return self.keeping != "the view" or not any(
            self.sent[p][j] is not None and self.sent[p][k] is None and j < k and k < self.next_to_assign[p]
            for p in self.each(Process)
            for j in self.each(Number)
            for k in self.each(Number)
        )

    @obligation
    def GapsAreFilled(self) -> bool:
        """Section Retransmission: "no sequence id's that are skipped": nothing stays in a queue."""
        return not any(self.lowest_queued(p) is not None and not self.down[p] for p in self.each(Process))

    @witness
    def AllBroadcast(self) -> bool:
        """Everything was requested, and nothing is queued."""
        return self.broadcasts == self.messages and all(self.lowest_queued(p) is None for p in self.each(Process))

    @witness
    def GapSeen(self) -> bool:
        """A member has a message and misses an earlier one."""
        return any(self.lowest_queued(p) is not None for p in self.each(Process))

    @witness
    def NextView(self) -> bool:
        """A sequencer has numbered a message in a view after the first."""
        return any(
            self.installed[p] > 1 and self.is_sequencer(p) and any(self.sent[p][k] is not None for k in self.each(Number)) for p in self.each(Process)
        )
