"""A coordinator orders what everybody sends: members forward to it, it multicasts, all deliver in its order.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Design"; the
document has headings and no line numbers.

| document | here |
|---|---|
| forward-table of p | `forward_table[p]`, by seqno |
| received-table of p | `received_table[p][s]`, the highest seqno of s; 0: no entry |
| tag of a message | the pair of `sender` and `number` |
| local_addr, coord | `p`, `coordinator(p)` |

What is modelled: UNICAST is a reliable queue for each pair of processes, NAKACK a log for each coordinator,
which everybody reads in order and without gaps for as long as the coordinator is in its view. The document
says of views only what to do when one comes; `Membership` gives them, and is kind: views are the same for
all, only who has crashed or stopped is excluded, and no view forms before the last is installed everywhere.
Kind, too: a broadcast is received only after the view that it was sent in, and none of a process that has
left.

What is abstracted, and why that is sound: messages without a header, and unicasts, pass and are left out; the
copy of the message is the matter of `shallow_copy`. What the text names in one breath is one step: it touches
the own tables and one channel.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Membership
from antiphon.spec.environment.fifo import FifoMulticast, Unicast
from antiphon.spec.lang import Between, Map, action, emit, environment, everywhere, record, require
from antiphon.spec.services import Broadcast, Crash, Deliver, Message, Process, View

Number = Annotated[int, Between(1, "messages")]
"""A sequence number that was given to a message."""

Highest = Annotated[int, Between(0, "messages")]
"""The highest sequence number so far; 0: none."""


@record
class Forward:
    """A message with a FORWARD header, whose tag is (sender, number), on its way to one process."""

    to: Process
    sender: Process
    number: Number
    message: Message


@record
class Data:
    """A message with a DATA header, multicast in a view."""

    view: View
    sender: Process
    number: Number
    message: Message


class Sequencer(Membership, Unicast[Forward], FifoMulticast[Data]):
    """SEQUENCER, section "Design"."""

    broadcasts: Annotated[int, Between(0, "messages")] = 0
    last_number: Map[Process, Highest] = everywhere(0)
    forward_table: Map[Process, Map[Number, Message | None]] = everywhere(everywhere(None))
    received_table: Map[Process, Map[Process, Highest]] = everywhere(everywhere(0))

    # On send(M) -------------------------------------------------------------------------------------------

    @action
    def send(self, p: Process, m: Message) -> None:
        """Send m: it gets "the local_addr and a monotonically increasing seqno" and goes to the
        coordinator.
        """
        to = self.coordinator(p)
        require(m.index == self.broadcasts and to is not None)
        k = self.last_number[p] + 1
        self.broadcasts += 1
        self.last_number[p] = k
        emit(Broadcast(p, m))
        if to == p:
            self.send_as_coordinator(p, k, m)
        elif to is not None:
            self.forward_table[p][k] = m
            self.unicast_to(p, to, Forward(to, p, k, m))

    def send_as_coordinator(self, p: Process, k: Number, m: Message) -> None:
        """Send as coordinator (On send(M): "Else - Multicast(M, local_addr)")."""
        self.multicast_data(p, p, k, m)

    # On stop() --------------------------------------------------------------------------------------------

    def has_pending(self, p: Process) -> bool:
        """Return True if the forward-table of p is not empty."""
        return any(self.forward_table[p][k] is not None for k in self.each(Number))

    @environment
    def leave(self, p: Process) -> None:
        """Leave at stop(): p stops for ever and waits for nothing ("I decided not to implement this")."""
        require(not self.down[p] and p in self.members[self.formed])
        self.down[p] = True
        emit(Crash(p))

    # On reception of M from S -----------------------------------------------------------------------------

    def may_take_forward(self, p: Process, q: Process) -> bool:
        """Return True if p takes a FORWARD of q: p is the coordinator (else: "If not coord ... Else -
        Multicast(M,S)"), and q sends to it.
        """
        return self.is_coordinator(p)

    @action(fairness="weak")
    def receive_forward(self, p: Process, q: Process) -> None:
        """Receive a FORWARD at the coordinator: Multicast(M,S)."""
        require(self.has_packet(q, p) and self.may_take_forward(p, q))
        packet = self.channel[q][p][0]
        self.take(q, p)
        self.multicast_data(p, packet.sender, packet.number, packet.message)

    def is_refused(self, p: Process) -> bool:
        """Return True if p refuses a FORWARD ("If not coord")."""
        return not self.is_coordinator(p)

    @action(fairness="weak")
    def refuse_forward(self, p: Process, q: Process) -> None:
        """Refuse a FORWARD ("If not coord: error and return")."""
        require(self.has_packet(q, p) and self.is_refused(p))
        self.take(q, p)

    def may_hear(self, p: Process, s: Process) -> bool:
        """Return True if NAKACK may give p the next multicast of s: it is of a view that p has seen, from a
        member of p's view.
        """
        if not self.has_multicast(s, p) or not self.is_member(p):
            return False
        view = self.log[s][self.heard[s][p]].view
        if s not in self.current_members(p):
            return view < self.installed[p] and not self.is_stale(p, view)
        return view <= self.installed[p]

    @action(fairness="weak")
    def receive_data(self, p: Process, s: Process) -> None:
        """Receive DATA: "Take sender S from header and call Deliver(M,S)"."""
        require(self.may_hear(p, s))
        packet = self.log[s][self.heard[s][p]]
        self.hear(s, p)
        self.unwrap(p, packet)

    def unwrap(self, p: Process, packet: Data) -> None:
        """Call Deliver(M,S), if p was in the group already when M was multicast."""
        if packet.view >= self.first_view(p):
            self.deliver(p, packet.sender, packet.number, packet.message)

    def first_view(self, p: Process) -> View:
        """Return the first view of which p is a member; messages of earlier views do not reach p."""
        return next((v for v in self.each(View) if p in self.members[v]), self.formed)

    # Multicast(M,S) ---------------------------------------------------------------------------------------

    def multicast_data(self, p: Process, s: Process, k: Number, m: Message) -> None:
        """Multicast (M,S): "Replace FORWARD type in header with DATA type - Multicast M"."""
        packet = Data(self.installed[p], s, k, m)
        self.multicast(p, packet)
        self.loop_back(p, packet)

    def loop_back(self, p: Process, packet: Data) -> None:
        """Receive, at p, the coordinator's own multicast in the step that sends it (reading `loopback`)."""
        self.hear(p, p)
        self.unwrap(p, packet)

    # Deliver(M,S) -----------------------------------------------------------------------------------------

    def is_received(self, p: Process, s: Process, k: Number) -> bool:
        """Return True if "M's seqno is <= the one in received-table" (Deliver(M,S))."""
        return k <= self.received_table[p][s]

    def is_discarded(self, p: Process, s: Process, k: Number) -> bool:
        """Return True if the message is discarded (Deliver(M,S): "If M was already delivered ...
        Discard M").
        """
        return self.is_received(p, s, k)

    def update_entry(self, p: Process, s: Process, k: Number) -> None:
        """Update the entry of s (Deliver(M,S): "Update the received-table with M's seqno with key=S")."""
        self.received_table[p][s] = k

    def deliver(self, p: Process, s: Process, k: Number, m: Message) -> None:
        """Deliver (M,S): p's own message leaves the forward-table; a message that was delivered already is
        discarded.
        """
        if p == s:
            self.forward_table[p][k] = None
        if not self.is_discarded(p, s, k):
            self.update_entry(p, s, k)
            emit(Deliver(p, m))

    # On view change ---------------------------------------------------------------------------------------

    @action(fairness="weak")
    def change_view(self, p: Process) -> None:
        """Change the view at p (On view change): resend if the coordinator left, and clear old entries."""
        require(self.may_install(p))
        before = self.coordinator(p)
        self.install(p)
        after = self.coordinator(p)
        if before is not None and after is not None:
            if self.must_resend(p, before, after):
                self.resend_all(p, after)
        for s in self.each(Process):
            if s not in self.current_members(p):
                self.remove_entry(p, s)

    def must_resend(self, p: Process, before: Process, after: Process) -> bool:
        """Return True if p must send its messages again (On view change: "If the coord leaves/crashes")."""
        return before not in self.current_members(p)

    def resend_all(self, p: Process, to: Process) -> None:
        """Send all messages again (On view change: "For each message M in forward-table (*in increasing order
        of seqnos* !)").
        """
        for k in self.each(Number):
            self.resend(p, to, k)

    def resend(self, p: Process, to: Process, k: Number) -> None:
        """Send one message again (On view change: "Change M.dest to the new coord - Send M to the new
        coord").
        """
        m = self.forward_table[p][k]
        if m is not None:
            if to == p:
                self.resend_to_itself(p, k, m)
            else:
                self.unicast_to(p, to, Forward(to, p, k, m))

    def resend_to_itself(self, p: Process, k: Number, m: Message) -> None:
        """Send a message again to p itself as new coordinator; p has it at once (reading `self_unicast`)."""
        self.multicast_data(p, p, k, m)

    def remove_entry(self, p: Process, s: Process) -> None:
        """Remove entries of members that left (On view change: "Remove entries for left members in
        received-table").
        """
        self.received_table[p][s] = 0
