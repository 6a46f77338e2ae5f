"""What does RBP do while nobody fails? The moving sequencer with one message for four functions.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels", 2002, section 3.1.3, figure 16,
printed lines 1-63. The protocol is Chang and Maxemchuk's (1984).

What is modelled: processes p1..pn in a ring (p_k is `Process(k - 1)`); `send` is unreliable, so packets in flight may be lost (budget
`losses`), overtake each other, and be sent again. The paper's variables: recvQ_p is `received[p]`, seqQ_p `numbered[p]`, ts_p
`last_number[p]`, lastdelivered_p `last_delivered[p]`, message id_p `message_id[p]`. The do-until loops and waits are kept as where a process
stands: `pending` (lines 12-15), `arriving` (33-44; `catching_up`
inside the loop of 34-36), `holding` (45-46), `passed` (47-49). Timers are the loops' next rounds; they are steps
of the algorithm and may be limited by `timeouts`, or unlimited (`unlimited`), which obligations need.

What is decided here, because the figure is silent:
1. "to all" includes oneself; the own copy is applied in the same step, since nothing can lose it.
2. The sender `q` of an ACK is the predecessor of the process that it names; of (m, B) the source of B. Only requests carry their sender.
3. A packet that no `when receive` accepts (the replies of lines 21, 53 and 57 as printed) changes nothing and is not kept.
4. `urgent` explores the runs in which a process that can accept, sequence or deliver does so before anything else happens; these steps read
   and write one process's own state. `assigned` explores the runs in which
   message k comes from p_(k mod n). `patient` explores the runs in which timers expire only after losses,
   once for each.
5. Exploration stops where a literal run would rename messages more than `spare` times in all, or need more than `messages + 1 + spare`
   numbers.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, action, emit, initial, invariant, obligation, require, witness
from antiphon.spec.protocols.rbp_state import Ack, Body, Data, Identifier, Number, Numbered, Packet, RbpState, Request, RequestNumbers, Sequenced
from antiphon.spec.services import Broadcast, Deliver, Message, Process, TotalOrderBroadcast

__all__ = ["Ack", "Body", "Data", "Identifier", "Number", "Numbered", "Packet", "Rbp", "RbpJudged", "Request", "RequestNumbers", "Sequenced"]


class Rbp(RbpState):
    """RBP without failures, figure 16."""

    # Lines 1-15 --------------------------------------------------------------------------------------------------------------------------

    @initial
    def start(self) -> None:
        """Lines 8-9: `if p=1 then send ACK(NULL, ts_p + 1, toknext_p) to p1`."""
        first = Process(0)
        if self.start_rotation:
            self.learn(first, Sequenced(None, 1))
            self.network |= {Ack(q, None, 1, self.successor(first)) for q in self.each(Process) if q != first}
            self.passed[first] = Sequenced(None, 1)
        else:
            self.network |= {Ack(first, None, 1, self.successor(first))}

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Lines 11-14: a new identifier, (m, B) to all. The procedure is busy until B is acknowledged (line 15)."""
        require(m.index == self.broadcasts and self.pending[p] is None and self.is_idle())
        require(not self.assigned or p.index == m.index % self.processes)
        require(self.message_id[p] < self.messages + self.spare)
        body = Body(m, Identifier(p, self.message_id[p] + 1))
        self.message_id[p] += 1
        self.broadcasts += 1
        self.pending[p] = body
        self.received[p] += (body,)
        self.network |= {Data(q, body) for q in self.each(Process) if q != p}
        emit(Broadcast(p, m))

    @action(fairness="weak", per="p")
    def resend(self, p: Process) -> None:
        """Lines 12-15: until the ACK, the message is sent again; as printed, under the next identifier."""
        own = self.pending[p]
        require(own is not None and self.may_expire())
        if own is not None:
            if self.one_identifier:
                self.network |= {Data(q, own) for q in self.each(Process) if q != p}
            else:
                require(sum(self.message_id[q] for q in self.each(Process)) - self.broadcasts < self.spare)
                renamed = Body(own.message, Identifier(p, self.message_id[p] + 1))
                self.message_id[p] += 1
                self.pending[p] = renamed
                self.received[p] += (renamed,)
                self.network |= {Data(q, renamed) for q in self.each(Process) if q != p}
        self.expire()

    # Lines 17-57: task 1 -----------------------------------------------------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Lines 18-23: an old message is answered with its number, a new one is stored."""
        p = packet.to
        body = packet.body
        require(self.may_receive(p))
        self.network -= {packet}
        known = self.is_numbered(p, body.identifier)
        asked = self.holding[p] if self.holder_answers else self.successor(p) == p
        if known and asked and self.handled_replies:
            self.network |= {
                Numbered(body.identifier.source, item.identifier, item.number)
                for item in self.numbered[p]
                if item.identifier == body.identifier and body.identifier.source != p
            }
        store = not known if self.nesting == "comment" else known and not asked
        if (store or self.store_late_body) and not self.has_body(p, body.identifier):
            self.received[p] += (body,)

    @action(fairness="weak", per="packet")
    def receive_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """Lines 25-40: the number is recorded; others ask for what they miss, the process that is named takes the token or answers it."""
        p = packet.to
        item = Sequenced(packet.identifier, packet.number)
        require(self.is_idle() and (self.may_take(p) or self.ends_wait(p, packet)))
        self.network -= {packet}
        self.learn(p, item)
        if self.ends_wait(p, packet) and not self.await_successor:
            self.passed[p] = None
        if self.old_token and self.answering == "current" and self.holding[p] and packet.next_holder is not None:
            self.answer_old_token(p, self.predecessor(packet.next_holder), packet.number)
        if packet.next_holder != p:
            if packet.number > self.last_number[p] + 1:
                self.ask_for_numbers(p, packet.number)
            if not self.has_body(p, packet.identifier):
                self.ask_for_body(p, item, packet.number)
        else:
            self.take_token(p, item)

    def ends_wait(self, p: Process, packet: Ack) -> bool:
        """Line 49: an ACK from toknext_p, that is, one that names the successor of p's successor."""
        after = self.successor(p)
        return self.passed[p] is not None and after is not None and packet.next_holder == self.successor(after)

    def take_token(self, p: Process, item: Sequenced) -> None:
        """Lines 32-44, for the process that the ACK names."""
        accepted = self.holding[p] and self.last_number[p] == item.number
        if self.old_token and (accepted or self.highest_known(p) > item.number):
            if self.answering == "named":
                self.answer_old_token(p, self.predecessor(p), item.number)
        else:
            if item.number > self.last_number[p] + 1:
                self.ask_for_numbers(p, item.number)
                self.catching_up[p] = True
            else:
                self.catching_up[p] = False
                if item.number > self.last_number[p]:
                    self.last_number[p] = item.number
            if not self.has_body(p, item.identifier):
                self.ask_for_body(p, item, item.number)
            self.arriving[p] = item

    def answer_old_token(self, p: Process, sender: Process, number: Number) -> None:
        """retransmits_acks, line 39: all that p knows to have followed `number`. Its second argument, nts_p, is defined nowhere."""
        if sender != p:
            self.network |= {Numbered(sender, later.identifier, later.number) for later in self.numbered[p] if later.number > number}

    @action(fairness="weak", per="packet")
    def receive_numbered(self, packet: Annotated[Numbered, In("network")]) -> None:
        """A number told again; only as repaired does anybody receive it."""
        p = packet.to
        require(self.may_receive(p))
        self.network -= {packet}
        self.learn(p, Sequenced(packet.identifier, packet.number))

    @action(fairness="weak", per="packet")
    def receive_request(self, packet: Annotated[Request, In("network")]) -> None:
        """Lines 51-53: whoever has the body sends it; as printed, without its identifier, to a process that cannot receive it."""
        p = packet.to
        require(self.may_receive(p))
        self.network -= {packet}
        if self.handled_replies:
            self.network |= {Data(packet.sender, body) for body in self.received[p] if body.identifier == packet.identifier}

    @action(fairness="weak", per="packet")
    def receive_request_numbers(self, packet: Annotated[RequestNumbers, In("network")]) -> None:
        """Lines 55-57: every number that is known in first..last is told; as printed, in a shape that nobody receives."""
        p = packet.to
        require(self.may_receive(p))
        self.network -= {packet}
        if self.handled_replies:
            self.network |= {
                Numbered(packet.sender, item.identifier, item.number)
                for item in self.numbered[p]
                if packet.first <= item.number and item.number <= packet.last
            }

    @action(fairness="weak", per="p")
    def repeat_request(self, p: Process) -> None:
        """Lines 34-36 and 42-44: the next holder asks again for what it misses."""
        token = self.arriving[p]
        goal = self.highest_known(p) if self.repeat_requests else token.number if token is not None else 0
        gap = goal > self.last_number[p]
        bodies = any(self.wants_body(p, item) for item in self.numbered[p])
        require((gap or bodies) and self.may_expire())
        if gap:
            self.ask_for_numbers(p, goal)
        for item in self.numbered[p]:
            if self.wants_body(p, item):
                self.ask_for_body(p, item, self.highest_known(p))
        self.expire()

    def wants_body(self, p: Process, item: Sequenced) -> bool:
        """P asks again for this body: as printed, that of the token it waits to accept."""
        return not self.has_body(p, item.identifier) and (self.repeat_requests or self.arriving[p] == item)

    @action(fairness="weak", per="p")
    def accept(self, p: Process) -> None:
        """Lines 36 and 44: the number of the token is reached and its body is there; p holds the token."""
        require(self.can_accept(p) and self.is_first(p) and not (self.urgent and self.can_deliver(p)))
        self.arriving[p] = None
        self.catching_up[p] = False
        self.holding[p] = True

    @action(fairness="weak", per="p")
    def sequence(self, p: Process) -> None:
        """Lines 45-48: the first message of recvQ that has no number gets ts_p + 1; one ACK tells all."""
        require(self.can_sequence(p) and self.is_first(p) and not (self.urgent and (self.can_deliver(p) or self.can_accept(p))))
        body = next((item for item in self.received[p] if not self.is_numbered(p, item.identifier)), None)
        if body is not None:
            item = Sequenced(body.identifier, self.last_number[p] + 1)
            self.holding[p] = False
            self.passed[p] = item
            self.learn(p, item)
            self.network |= {Ack(q, item.identifier, item.number, self.successor(p)) for q in self.each(Process) if q != p}

    @action(fairness="weak", per="p")
    def resend_token(self, p: Process) -> None:
        """Lines 47-49: until an ACK of toknext_p arrives, the ACK is sent again."""
        sent = self.passed[p]
        require(sent is not None and self.may_expire())
        if sent is not None:
            self.network |= {Ack(q, sent.identifier, sent.number, self.successor(p)) for q in self.each(Process) if q != p}
        self.expire()

    # Lines 59-63: task 2 -----------------------------------------------------------------------------------------------------------------

    @action(fairness="weak", per="p")
    def deliver(self, p: Process, item: Sequenced) -> None:
        """Lines 60-63: the message whose number is next is delivered. As printed, whether or not it is there."""
        require(item in self.numbered[p] and item.number == self.last_delivered[p] + 1 and self.is_first(p))
        require(not self.await_body or self.has_body(p, item.identifier))
        self.last_delivered[p] = item.number
        body = next((stored for stored in self.received[p] if stored.identifier == item.identifier), None)
        if item.identifier is not None or not self.skip_null:
            emit(Deliver(p, body.message if body is not None else None))

    # Properties --------------------------------------------------------------------------------------------------------------------------

    @invariant
    def UniqueNumbers(self) -> bool:
        """A number belongs to one message, and a message has one number, whoever knows them (section 3.1.2)."""
        return all(
            (a.number == b.number) == (a.identifier == b.identifier)
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[q]
        )

    @invariant
    def OneHolder(self) -> bool:
        """At most one process holds the token."""
        return not any(self.holding[p] and self.holding[q] for p in self.each(Process) for q in self.each(Process) if p != q)

    @invariant
    def HolderHasAll(self) -> bool:
        """The process that may acknowledge has every message numbered before (sections 1 and 3.2.1)."""
        return all(
            not self.holding[p]
            or all(
                any(item.number == k and self.has_body(p, item.identifier) for item in self.numbered[p])
                for k in self.each(Number)
                if k <= self.last_number[p]
            )
            for p in self.each(Process)
        )

    @invariant
    def SenderOrder(self) -> bool:
        """Messages of one source are numbered in the order in which it broadcast them."""
        return all(
            a.identifier is None
            or b.identifier is None
            or a.identifier.source != b.identifier.source
            or (a.identifier.number < b.identifier.number) == (a.number < b.number)
            for p in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[p]
            if a != b
        )

    @invariant
    def NobodyFollowsItself(self) -> bool:
        """toknext_p is never p, so line 21 is never reached."""
        return not any(self.successor(p) == p for p in self.each(Process))

    @obligation
    def Returns(self) -> bool:
        """The procedure TO-broadcast ends: its message is acknowledged (line 15)."""
        return all(self.pending[p] is None for p in self.each(Process))

    @witness
    def TokenAccepted(self) -> bool:
        """Some process holds the token."""
        return any(self.holding[p] for p in self.each(Process))

    @witness
    def AllDelivered(self) -> bool:
        """Everything was broadcast, numbered, and delivered everywhere."""
        return self.broadcasts == self.messages and all(self.last_delivered[p] == self.messages + 1 for p in self.each(Process))


class RbpJudged(Rbp, TotalOrderBroadcast):
    """RBP without failures, judged by total order broadcast."""
