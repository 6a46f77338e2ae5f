"""The repairs of SEQUENCER: each changes one sentence of the design, and says which claim it answers."""

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
    """Keep what comes before its receiver is coordinator. Printed: "If not coord: error and return"."""

    def is_refused(self, p: Process) -> bool:
        """Return False: nothing is refused."""
        return False


class Leaving(Sequencer):
    """Common state of the repairs of the view change: who leaves a view with whom, who holds which
    multicast.
    """

    def is_blocked(self, p: Process) -> bool:
        """P is about to leave its view, and sends nothing."""
        return False

    def goes_on(self, p: Process, q: Process) -> bool:
        """Q goes with p from p's view to the view that has formed."""
        return q in self.members[self.formed] and q in self.current_members(p)

    def is_held(self, s: Process, k: Position, q: Process) -> bool:
        """Q has received the multicast at position k of s (from 0), or is s itself."""
        return k < (len(self.log[s]) if q == s else self.heard[s][q])

    def is_flushed(self, p: Process) -> bool:
        """P has received what any of those has received who go on with it."""
        return not any(self.may_hear(p, s) for s in self.each(Process))


@repair(
    "On view change: the survivors leave a view only after all of them have received what any of them has, "
    "and send nothing meanwhile",
    answers="SEQ-08",
)
class Flush(Leaving):
    """Printed: "I decided not to implement this, because this implies flushing"."""

    def is_blocked(self, p: Process) -> bool:
        """A view has formed that p has not installed."""
        return self.may_install(p)

    @action
    def send(self, p: Process, m: Message) -> None:
        """Not while p is about to leave its view."""
        require(not self.is_blocked(p))
        super().send(p, m)

    def may_take_forward(self, p: Process, q: Process) -> bool:
        """Not while p is about to leave its view."""
        return super().may_take_forward(p, q) and not self.is_blocked(p)

    def may_hear(self, p: Process, s: Process) -> bool:
        """Return True if p may hear s: not if s has left; before p leaves its view, what another has who goes
        on with it.
        """
        k = self.heard[s][p]
        is_due = any(self.goes_on(p, q) and self.is_held(s, k, q) for q in self.each(Process))
        return super().may_hear(p, s) and s in self.current_members(p) and (is_due or not self.is_blocked(p))

    @action(fairness="weak")
    def change_view(self, p: Process) -> None:
        """Only when p is flushed."""
        require(self.may_install(p) and self.is_flushed(p))
        super().change_view(p)


@repair(
    "Deliver: a message of a sender who is not in the view, and whose entry is gone, is discarded",
    answers="SEQ-13",
)
class OnlyMembers(Sequencer):
    """Printed: "If M was already delivered (M's seqno is <= the one in received-table): - Discard M"."""

    def is_discarded(self, p: Process, s: Process, k: Number) -> bool:
        """Return True also for a message of a process that has left."""
        return super().is_discarded(p, s, k) or s not in self.current_members(p)


@repair(
    "On view change: resend whenever the coordinator is another one, not only if it left",
    answers="SEQ-21",
)
class ResendOnChange(Sequencer):
    """Printed: "If the coord leaves/crashes"."""

    def must_resend(self, p: Process, before: Process, after: Process) -> bool:
        """The coordinator is another one."""
        return before != after


@repair("Deliver: received-table remembers each seqno, not only the highest", answers="SEQ-04")
class RememberEach(Sequencer):
    """Printed: "received-table: Map which keeps the highest seqno seen per member"."""

    accepted: Map[Process, Map[Process, Set[Number]]] = everywhere(everywhere(Set()))

    def is_received(self, p: Process, s: Process, k: Number) -> bool:
        """Return True if this very seqno was received."""
        return k in self.accepted[p][s]

    def update_entry(self, p: Process, s: Process, k: Number) -> None:
        """One more seqno; the highest stays the highest."""
        self.accepted[p][s] |= {k}
        self.received_table[p][s] = max(self.received_table[p][s], k)

    def remove_entry(self, p: Process, s: Process) -> None:
        """None is left."""
        super().remove_entry(p, s)
        self.accepted[p][s] = Set()


@repair(
    "On send: the coordinator, too, keeps its message in the forward-table until it has it back",
    answers="SEQ-10",
)
class RememberOwn(Sequencer):
    """Printed: "If not coordinator: - Add message to the forward-table"."""

    def send_as_coordinator(self, p: Process, k: Number, m: Message) -> None:
        """The coordinator adds it, too."""
        self.forward_table[p][k] = m
        super().send_as_coordinator(p, k, m)


@repair("On stop: wait until forward-table is empty", answers="SEQ-19")
class WaitBeforeStop(Sequencer):
    """Printed: "Wait for all replies until forward-table is empty, or a timeout (?)", and not implemented."""

    @environment
    def leave(self, p: Process) -> None:
        """Leave with nothing pending."""
        require(not self.has_pending(p))
        super().leave(p)


@repair("Deliver: a message is delivered after all members of the view have received it", answers="SEQ-20")
class WaitForAll(Leaving):
    """Printed: "Take sender S from header and call Deliver(M,S)"."""

    passed_up: Map[Process, Map[Process, Position]] = everywhere(everywhere(0))

    def unwrap(self, p: Process, packet: Data) -> None:
        """Not yet: `pass_up` does it."""

    def handed_on(self, sender: Process, to: Process) -> Position:
        """Return the messages that were passed up."""
        return self.passed_up[sender][to]

    def is_stable(self, p: Process, s: Process) -> bool:
        """Return True if the next message of s is with all members of the view, or with all who go on from
        it.
        """
        k = self.passed_up[s][p]
        return all(
            self.is_held(s, k, q) or (self.is_blocked(p) and (self.down[q] or not self.goes_on(p, q)))
            for q in self.each(Process)
            if q in self.current_members(p)
        )

    @action(fairness="weak")
    def pass_up(self, p: Process, s: Process) -> None:
        """Deliver a message that all members have."""
        require(self.passed_up[s][p] < self.heard[s][p] and self.is_stable(p, s))
        packet = self.log[s][self.passed_up[s][p]]
        self.passed_up[s][p] += 1
        if packet.view >= self.first_view(p):
            self.deliver(p, packet.sender, packet.number, packet.message)

    def is_flushed(self, p: Process) -> bool:
        """And has passed it up."""
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
