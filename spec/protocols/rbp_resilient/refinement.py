"""Refinement of figure 25 to an ordering machine: the history is the union of all seqQ and stableQ, with the
deliveries.

The mapping is that of figure 16 (`rbp.refinement`), with two differences. Delivered messages leave the
queues: a process is taken to remember what it has delivered (`given`, which no step of the protocol reads),
and a number that it passed over was spent on NULL. A stopped process still counts: what it delivered, the
others must deliver in the same place.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, everywhere, on
from antiphon.spec.protocols.rbp_resilient.bounds import RbpResilientBounded
from antiphon.spec.protocols.rbp_resilient.figure25 import Body, Number
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingView, Position, steps_between


class RbpResilientOrdering(RbpResilientBounded, OrderingView):
    """Figure 25 with helpers that compute, from its state, the state of the abstract ordering machine that it
    refines.
    """

    given: Map[Process, Set[Assigned]] = everywhere(Set())

    @on(Deliver)
    def remember(self, event: Deliver) -> None:
        """Remember a delivered message with its number, the present lastdelivered_p."""
        p = event.process
        for k in self.each(Number):
            if k == self.last_delivered[p]:
                self.given[p] |= {Assigned(1, k, event.message)}

    def named(self, body: Body | None) -> Message | None:
        """Return the message that B stands for; None for NULL."""
        return body.message if body is not None else None

    def learned(self, p: Process) -> Set[Assigned]:
        """Return the pairs of seqQ_p and stableQ_p, and those that p has delivered or passed over."""
        kept = {Assigned(1, item.number, self.named(item.body)) for item in self.numbered[p] | self.stable[p]}
        passed_over = {
            Assigned(1, k, None)
            for k in self.each(Number)
            if k <= self.last_delivered[p] and not any(item.number == k for item in self.given[p])
        }
        return self.given[p] | kept | passed_over

    def submitted(self) -> Set[Message]:
        """Return the messages that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def history(self) -> Set[Assigned]:
        """Return all pairs that any process knows, up or not, as the history of the ordering machine."""
        return Set() | {item for p in self.each(Process) for item in self.learned(p)}

    def at(self, p: Process) -> Position:
        """Return the position of p: lastdelivered_p, the number that it delivered last."""
        return Position(1, self.last_delivered[p])


RBP_RESILIENT = Refinement(
    RbpResilientOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages + 1 + passes"},
    bounds={"processes": 2, "messages": 1, "losses": 1, "crashes": 1, "passes": 2, "timeouts": 1},
)
