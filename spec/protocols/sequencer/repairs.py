"""Repairs of SEQUENCER: each changes one sentence of the design, and names the claim that demands it."""

from __future__ import annotations

from antiphon.spec.environment.fifo import Position
from antiphon.spec.lang import Map, Set, action, environment, everywhere, repair, require
from antiphon.spec.protocols.sequencer.design import Data, Number, Sequencer
from antiphon.spec.services import Message, Process


@repair(
    "On reception, FORWARD: a process that is not coordinator keeps what was forwarded to it, until it is",
    answers="SEQ-11",
)
class KeepEarly(Sequencer):
    """Repair of SEQUENCER, reception of FORWARD. Printed: "If not coord: error and return". Repaired: a
    process that is not coordinator yet keeps the forwarded message until it is.
    """

    def is_refused(self, p: Process) -> bool:
        """Return False: p refuses no FORWARD, coordinator or not."""
        return False


class Leaving(Sequencer):
    """Common state of the repairs of the view change: which members leave a view together, and which members
    have received each multicast.
    """

    def is_blocked(self, p: Process) -> bool:
        """Return True if p sends nothing because it is about to leave its view; in this class never."""
        return False

    def goes_on(self, p: Process, q: Process) -> bool:
        """Return True if q goes with p from p's view to the view that has formed."""
        return q in self.members[self.formed] and q in self.current_members(p)

    def is_held(self, s: Process, k: Position, q: Process) -> bool:
        """Return True if q has received the multicast at position k of s (from 0), or is s itself."""
        return k < (len(self.log[s]) if q == s else self.heard[s][q])

    def is_flushed(self, p: Process) -> bool:
        """Return True if p has received every multicast that a member which goes on with p has received."""
        return not any(self.may_hear(p, s) for s in self.each(Process))


@repair(
    "On view change: the survivors leave a view only after all of them have received what any of them has, "
    "and send nothing meanwhile",
    answers="SEQ-08",
)
class Flush(Leaving):
    """Repair of SEQUENCER. Printed: "I decided not to implement this, because this implies flushing".
    Repaired: survivors leave a view only when all of them have received what any of them has, and send
    nothing meanwhile.
    """

    def is_blocked(self, p: Process) -> bool:
        """Return True if a view has formed that p has not installed."""
        return self.may_install(p)

    @action
    def send(self, p: Process, m: Message) -> None:
        """Send m, unless p is about to leave its view."""
        require(not self.is_blocked(p))
        super().send(p, m)

    def may_take_forward(self, p: Process, q: Process) -> bool:
        """Return True if p takes a FORWARD of q: not while p is about to leave its view."""
        return super().may_take_forward(p, q) and not self.is_blocked(p)

    def may_hear(self, p: Process, s: Process) -> bool:
        """Return True if p may receive the next multicast of s: s has not left, and, if p is about to leave
        its view, a member that goes on with p has the multicast.
        """
        k = self.heard[s][p]
        is_due = any(self.goes_on(p, q) and self.is_held(s, k, q) for q in self.each(Process))
        return super().may_hear(p, s) and s in self.current_members(p) and (is_due or not self.is_blocked(p))

    @action(fairness="weak")
    def change_view(self, p: Process) -> None:
        """Change the view at p only if p is flushed: p has received what every member that goes on with p has
        received.
        """
        require(self.may_install(p) and self.is_flushed(p))
        super().change_view(p)


@repair(
    "Deliver: a message of a sender who is not in the view, and whose entry is gone, is discarded",
    answers="SEQ-13",
)
class OnlyMembers(Sequencer):
    """Repair of SEQUENCER, Deliver. Printed: "If M was already delivered (M's seqno is <= the one in
    received-table): - Discard M", but the entry of a process that left is gone. Repaired: a message of such a
    process is discarded.
    """

    def is_discarded(self, p: Process, s: Process, k: Number) -> bool:
        """Return True if the message was delivered before, or if its sender has left p's view."""
        return super().is_discarded(p, s, k) or s not in self.current_members(p)


@repair(
    "On view change: resend whenever the coordinator is another one, not only if it left",
    answers="SEQ-21",
)
class ResendOnChange(Sequencer):
    """Repair of SEQUENCER, On view change. Printed: "If the coord leaves/crashes". Repaired: messages are
    sent again whenever another process has become coordinator.
    """

    def must_resend(self, p: Process, before: Process, after: Process) -> bool:
        """Return True if p must send its requests again after a view change: the coordinator has changed from
        `before` to `after`.
        """
        return before != after


@repair("Deliver: received-table remembers each seqno, not only the highest", answers="SEQ-04")
class RememberEach(Sequencer):
    """Repair of SEQUENCER, Deliver. Printed: "received-table: Map which keeps the highest seqno seen per
    member", which discards a message that was overtaken. Repaired: each seqno is remembered.
    """

    accepted: Map[Process, Map[Process, Set[Number]]] = everywhere(everywhere(Set()))

    def is_received(self, p: Process, s: Process, k: Number) -> bool:
        """Return True if p has accepted message number k of s."""
        return k in self.accepted[p][s]

    def update_entry(self, p: Process, s: Process, k: Number) -> None:
        """Add the seqno to the accepted ones, and record the highest seqno."""
        self.accepted[p][s] |= {k}
        self.received_table[p][s] = max(self.received_table[p][s], k)

    def remove_entry(self, p: Process, s: Process) -> None:
        """Remove all entries of s."""
        super().remove_entry(p, s)
        self.accepted[p][s] = Set()


@repair(
    "On send: the coordinator, too, keeps its message in the forward-table until it has it back",
    answers="SEQ-10",
)
class RememberOwn(Sequencer):
    """Repair of SEQUENCER, On send. Printed: "If not coordinator: - Add message to the forward-table".
    Repaired: the coordinator adds its own message to its forward-table, until it gets the message back.
    """

    def send_as_coordinator(self, p: Process, k: Number, m: Message) -> None:
        """Add the message to the coordinator's own forward-table, and multicast it."""
        self.forward_table[p][k] = m
        super().send_as_coordinator(p, k, m)


@repair("On stop: wait until forward-table is empty", answers="SEQ-19")
class WaitBeforeStop(Sequencer):
    """Repair of SEQUENCER, On stop. Printed: "Wait for all replies until forward-table is empty, or a timeout
    (?)", which was not implemented. Repaired: a process waits for that before it stops.
    """

    @environment
    def leave(self, p: Process) -> None:
        """Leave at stop(), when the forward-table of p is empty."""
        require(not self.has_pending(p))
        super().leave(p)


@repair("Deliver: a message is delivered after all members of the view have received it", answers="SEQ-20")
class WaitForAll(Leaving):
    """Repair of SEQUENCER, Deliver. Printed: "Take sender S from header and call Deliver(M,S)". Repaired: a
    message is delivered only after all members of the view have received it.
    """

    passed_up: Map[Process, Map[Process, Position]] = everywhere(everywhere(0))

    def unwrap(self, p: Process, packet: Data) -> None:
        """Do nothing: `pass_up` delivers the message later."""

    def handed_on(self, sender: Process, to: Process) -> Position:
        """Return how many multicasts of `sender` were passed up at `to`."""
        return self.passed_up[sender][to]

    def is_stable(self, p: Process, s: Process) -> bool:
        """Return True if all members of p's view have the next message of s, or all members that go on from
        the view have it.
        """
        k = self.passed_up[s][p]
        return all(
            self.is_held(s, k, q) or (self.is_blocked(p) and (self.down[q] or not self.goes_on(p, q)))
            for q in self.each(Process)
            if q in self.current_members(p)
        )

    @action(fairness="weak")
    def pass_up(self, p: Process, s: Process) -> None:
        """Deliver at p the next message of s, which all members have."""
        require(self.passed_up[s][p] < self.heard[s][p] and self.is_stable(p, s))
        packet = self.log[s][self.passed_up[s][p]]
        self.passed_up[s][p] += 1
        if packet.view >= self.first_view(p):
            self.deliver(p, packet.sender, packet.number, packet.message)

    def is_flushed(self, p: Process) -> bool:
        """Return True if p has received and passed up everything that the members going on with p have
        received.
        """
        is_done = all(self.passed_up[s][p] == self.heard[s][p] for s in self.each(Process))
        return super().is_flushed(p) and is_done


REPAIRS = (
    KeepEarly,
    Flush,
    OnlyMembers,
    ResendOnChange,
    RememberEach,
    RememberOwn,
    WaitBeforeStop,
    WaitForAll,
)
