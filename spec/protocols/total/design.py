"""TOTAL: a member sends a request to the sequencer, which numbers the message and broadcasts it.

Source: Cornell, "JavaGroups TOTAL" (the design document of the protocol layer of that name): sections
Members, Sequencer, View Changes, Retransmission, and the table of header types in the appendix (`headers`).
It has no figures and no printed line numbers.

| document | here |
|---|---|
| next expected sequence id | `next_expected[p]` |
| queue of messages ordered by sequence id | `queue[p]` |
| next sequence id to assign | `next_to_assign[p]`; 0: p is not the sequencer |
| what TOTAL_RESEND is answered with | `sent[p]`, which the document implies only |

What is modelled: the retransmission thread is the action `ask`; its period, what it requested last and when
are timers, and any step may come as late as it likes. Views come from `Membership`, which gives what the
document asks of the layer below; its options break one guarantee each. Every packet says in which view it
was sent. The network loses (budget `losses`) and reorders; "to the group" includes the sender, whose own
copy is there at once, since nothing can lose it.

What is decided here, because the document is silent:
1. A sequencer that broadcasts asks nobody; it numbers its own message in the same step.
2. The first view is settled: everybody expects id 1, which the first member will assign. A process that was
   in no view expects 1. With `expected` a run begins later: the view has just changed, TOTAL_NEW_VIEW with
   the id `first_ids` is on its way, and all but the sequencer expect the id `expected` of the view before,
   whose messages are none of the run's.
3. A new first id is any of 1 to `first_ids`.
4. A packet that was sent in a view which its receiver has left is gone; it is not sent at all to a member
   that is known to have gone on.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses, Membership
from antiphon.spec.lang import Between, Const, In, Map, action, emit, everywhere, initial, require
from antiphon.spec.protocols.total.headers import Bcast, First, NewView, Next, Number, Packet, Request, Resend
from antiphon.spec.services import Broadcast, Deliver, Message, Process, View


class Total(Losses[Packet], Membership):
    """JavaGroups' TOTAL. There are ids for `messages` and `spare` more messages in a view."""

    first_ids: Const[int] = 1
    expected: Const[int] = 0
    spare: Const[int] = 0

    next_expected: Map[Process, Next] = everywhere(1)
    queue: Map[Process, Map[Number, Message | None]] = everywhere(everywhere(None))
    next_to_assign: Map[Process, Next] = everywhere(0)
    sent: Map[Process, Map[Number, Message | None]] = everywhere(everywhere(None))
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    @initial
    def found(self) -> None:
        """Found the first view, settled; or, with `expected`, a view that follows one in which the id
        `expected` was next.
        """
        self.found_group()
        for p in self.each(Process):
            if self.expected > 0:
                self.next_expected[p] = self.expected
                if self.sequencer(p) == p:
                    self.begin_view(p, self.first_ids)
                else:
                    self.follow(p)
            elif self.sequencer(p) == p:
                self.next_to_assign[p] = 1

    # The layer below --------------------------------------------------------------------------------------

    def may_act(self, p: Process) -> bool:
        """Return True if p is in a view."""
        return self.is_member(p)

    def hears(self, p: Process, v: View) -> bool:
        """Return True if p may receive a message sent in view v, which "may only be received in
        that view".
        """
        return self.may_act(p) and self.may_receive(p, v)

    def reaches(self, p: Process, q: Process) -> bool:
        """Return True if q can still receive a packet of p."""
        is_there = not self.down[q] and not self.is_stale(q, self.installed[p])
        return q != p and q in self.group_of(p) and is_there

    # Members ----------------------------------------------------------------------------------------------

    def lowest_queued(self, p: Process) -> Number | None:
        """Return the "lowest sequence id stored" in p's queue."""
        return next((k for k in self.each(Number) if self.queue[p][k] is not None), None)

    @action(fairness="weak")
    def receive_bcast(self, packet: Annotated[Bcast, In("network")]) -> None:
        """Receive TOTAL_BCAST: "A normal broadcast message to the group"."""
        require(self.hears(packet.to, packet.view))
        self.network -= {packet}
        self.take_in(packet.to, packet.number, packet.message)

    def take_in(self, p: Process, k: Number, m: Message) -> None:
        """Take in, at p, message m with id k. It is discarded if k is lower than expected or queued already,
        else queued.
        """
        queued = self.queue[p][k]
        if k < self.next_expected[p]:
            self.discard_lower(p, m)
        elif queued is not None:
            self.discard_twin(p, queued, m)
        else:
            self.queue[p][k] = m
            self.pass_up_queue(p)

    def discard_lower(self, p: Process, m: Message) -> None:
        """Discard a message "because it has already been received and passed up the stack"."""

    def discard_twin(self, p: Process, queued: Message, m: Message) -> None:
        """Discard a message that is queued already, "since the messages are the same"."""

    def pass_up_queue(self, p: Process) -> None:
        """Pass up the queue: while it has the next expected id, "the message is removed from the queue and
        passed up".
        """
        for k in self.each(Number):
            m = self.queue[p][k]
            if k == self.next_expected[p] and m is not None:
                self.queue[p][k] = None
                self.pass_up(p, k, m)

    def pass_up(self, p: Process, k: Number, m: Message) -> None:
        """Pass a message up: "The next expected sequence id is also incremented by one"."""
        self.next_expected[p] = k + 1
        emit(Deliver(p, m))

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast m at p: a member that wishes to broadcast "sends it only the sequencer"."""
        require(m.index == self.broadcasts and self.may_act(p))
        self.broadcasts += 1
        emit(Broadcast(p, m))
        self.request(p, m)

    def request(self, p: Process, m: Message) -> None:
        """Send TOTAL_REQUEST, unless p is the sequencer."""
        to = self.sequencer(p)
        if self.is_sequencer(p):
            self.assign(p, m)
        elif to is not None and self.reaches(p, to):
            self.network |= {Request(to, self.installed[p], m)}

    # Sequencer --------------------------------------------------------------------------------------------

    def sequencer(self, p: Process) -> Process | None:
        """Return the sequencer, the "first listed member" by p's list."""
        return self.coordinator(p)

    def knows_address(self, p: Process) -> bool:
        """Return True if p knows its address: SET_LOCAL_ADDRESS came "at some point (usually at the beginning
        of the connection)".
        """
        return True

    def is_sequencer(self, p: Process) -> bool:
        """Return True if p is first in its own list."""
        return self.knows_address(p) and self.sequencer(p) == p

    @action(fairness="weak")
    def receive_request(self, packet: Annotated[Request, In("network")]) -> None:
        """Receive TOTAL_REQUEST: the sequencer "assigns a sequence id to the message and broadcasts it"."""
        p = packet.to
        require(self.hears(p, packet.view))
        self.network -= {packet}
        if self.is_sequencer(p):
            self.assign(p, packet.message)

    def gets_id(self, p: Process, m: Message) -> bool:
        """Return True if m gets an id: "each time the sequencer receives a broadcast request"."""
        return True

    def assign(self, p: Process, m: Message) -> None:
        """Assign the next id to the message and broadcast it to the group."""
        if self.gets_id(p, m):
            number = self.next_to_assign[p]
            self.next_to_assign[p] = number + 1
            self.keep(p, number, m)
            self.send_bcast(p, number, m)
            self.take_in(p, number, m)

    def send_bcast(self, p: Process, number: Number, m: Message) -> None:
        """Send TOTAL_BCAST to the group."""
        group = {q for q in self.each(Process) if self.reaches(p, q)}
        self.network |= {Bcast(q, self.installed[p], number, m) for q in group}

    def keep(self, p: Process, number: Number, m: Message) -> None:
        """Keep the message for retransmission, until the view changes (reading `keeping`)."""
        self.sent[p][number] = m

    # View Changes -----------------------------------------------------------------------------------------

    def next_of_view(self, p: Process) -> bool:
        """Return True if p will be the sequencer of the view that has formed."""
        return self.knows_address(p) and self.first_listed(p, self.formed) == p

    def is_new_sequencer(self, p: Process) -> bool:
        """Return True if p will be "the new sequencer" of the view that has formed (reading `announcing`)."""
        return self.next_of_view(p)

    @action(fairness="weak")
    def change_view(self, p: Process, first: First) -> None:
        """Change the view at p (VIEW_CHANGE); a new sequencer begins "assigning sequences at any value",
        `first`.
        """
        require(self.may_install(p))
        is_next = self.next_of_view(p)
        is_new = self.is_new_sequencer(p)
        require(first == 1 or is_next)
        self.install(p)
        self.clear(p)
        if is_new:
            self.begin_view(p, first)
        elif not is_next:
            self.follow(p)

    def clear(self, p: Process) -> None:
        """Clear the queue: members "clear this queue when they observe a VIEW_CHANGE event"."""
        self.queue[p] = everywhere(None)

    def forget_sent(self, p: Process) -> None:
        """Forget, at p, the messages that p sent in the old view, so that they are not sent again."""
        self.sent[p] = everywhere(None)

    def begin_view(self, p: Process, first: First) -> None:
        """Begin the view: the new sequencer "broadcasts a TOTAL_NEW_VIEW message" with the id of its first
        message.
        """
        self.forget_sent(p)
        self.next_to_assign[p] = first
        self.next_expected[p] = first
        self.send_new_view(p, first)

    def send_new_view(self, p: Process, first: First) -> None:
        """Send TOTAL_NEW_VIEW to the group."""
        self.network |= {NewView(q, self.formed, first) for q in self.group_of(p) - {p} if not self.down[q]}

    def follow(self, p: Process) -> None:
        """Follow another sequencer: p assigns no ids any more, and still expects the same next id."""
        self.forget_sent(p)
        self.next_to_assign[p] = 0

    @action(fairness="weak")
    def receive_new_view(self, packet: Annotated[NewView, In("network")]) -> None:
        """Receive TOTAL_NEW_VIEW: "Message sent when the view changes, resetting the state of the TOTAL
        layer".
        """
        require(self.hears(packet.to, packet.view))
        self.network -= {packet}
        self.reset_state(packet.to, packet.first)

    def reset_state(self, p: Process, first: First) -> None:
        """Reset the state: the next expected id is the first of the view, and the queue is empty (reading
        `reset`).
        """
        self.next_expected[p] = first
        self.queue[p] = everywhere(None)

    # Retransmission ---------------------------------------------------------------------------------------

    @action(fairness="weak")
    def ask(self, p: Process) -> None:
        """Ask for the messages of a gap: the "lowest sequence id is greater than the next expected sequence
        id".
        """
        to = self.sequencer(p)
        lowest = self.lowest_queued(p)
        expected = self.next_expected[p]
        require(self.may_act(p) and to is not None and lowest is not None and expected > 0)
        if to is not None and lowest is not None:
            require(lowest > expected and self.reaches(p, to))
            gap = {k for k in self.each(Number) if expected <= k and k < lowest}
            self.network |= {Resend(to, self.installed[p], p, k) for k in gap}

    @action(fairness="weak")
    def receive_resend(self, packet: Annotated[Resend, In("network")]) -> None:
        """Receive TOTAL_RESEND, "A request (to the sequencer) to resend the message", and answer it if
        possible.
        """
        p = packet.to
        m = self.sent[p][packet.number]
        require(self.hears(p, packet.view))
        self.network -= {packet}
        if m is not None and self.reaches(p, packet.sender):
            self.network |= {Bcast(packet.sender, self.installed[p], packet.number, m)}
