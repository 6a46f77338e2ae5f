"""In what sense is figure 25 an ordering machine? The history is what all seqQ and stableQ say together, and what was delivered from them.

As in figure 16 (`rbp.py`), with two differences. Delivered messages leave the queues; what a process has delivered it is taken to remember
(`given`, which no step of the protocol reads), and a number that it passed over was spent on NULL. A process that has stopped goes on being
looked at: what it delivered, the others must deliver in the same place.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, everywhere, on
from antiphon.spec.protocols.rbp_resilient import RbpResilient, Sequenced
from antiphon.spec.protocols.rbp_resilient.state import Number
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingView, Position, steps_between


class RbpResilientOrdering(RbpResilient, OrderingView):
    """Figure 25, seen as the abstract ordering machine."""

    given: Map[Process, Set[Sequenced]] = everywhere(Set())

    @on(Deliver)
    def remember(self, event: Deliver) -> None:
        """What is delivered, with its number: lastdelivered_p has just become it."""
        p = event.process
        for k in self.each(Number):
            if k == self.last_delivered[p]:
                self.given[p] |= {Sequenced(event.message, k)}

    def known_items(self, p: Process) -> Set[Sequenced]:
        """The pairs of seqQ_p and stableQ_p, and those that p has delivered or passed over."""
        passed_over = {
            Sequenced(None, k) for k in self.each(Number) if k <= self.last_delivered[p] and not any(item.number == k for item in self.given[p])
        }
        return self.numbered[p] | self.stable[p] | self.given[p] | passed_over

    def submitted(self) -> Set[Message]:
        """Messages are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def learned(self, p: Process) -> Set[Assigned]:
        """What p knows."""
        return Set() | {Assigned(1, item.number, item.message) for item in self.known_items(p)}

    def history(self) -> Set[Assigned]:
        """Whatever somebody knows, up or not."""
        return Set() | {Assigned(1, item.number, item.message) for p in self.each(Process) for item in self.known_items(p)}

    def at(self, p: Process) -> Position:
        """The number lastdelivered_p."""
        return Position(1, self.last_delivered[p])


RBP_RESILIENT = Refinement(
    RbpResilientOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages + 1 + passes"},
    bounds={"processes": 2, "messages": 1, "losses": 1, "crashes": 1, "passes": 2, "timeouts": 1},
)
