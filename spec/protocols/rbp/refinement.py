"""Figure 16 as an ordering machine: the history is what all seqQ say together, with the message for its
identifier.

Assigning is lines 46-48 (the holder puts (B, seqnum) into its own seqQ), learning line 26, delivering lines
60-63. A NULL acknowledgement spends a number on nothing. Identifiers stand for messages: two identifiers of
one message give it two numbers. Tokens, requests, bodies and timers are stutters.
"""

from __future__ import annotations

from antiphon.spec.lang import Set
from antiphon.spec.protocols.rbp.bounds import RbpBounded
from antiphon.spec.protocols.rbp.figure16 import Identifier
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingView, Position, steps_between


class RbpOrdering(RbpBounded, OrderingView):
    """Figure 16 with helpers that compute, from its state, the state of the abstract ordering machine that it
    refines.
    """

    def named(self, b: Identifier | None) -> Message | None:
        """Return the message that B stands for, as its source knows it; None for NULL."""
        if b is None:
            return None
        return next((body.message for body in self.received[b.source] if body.identifier == b), None)

    def submitted(self) -> Set[Message]:
        """Return the messages that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def history(self) -> Set[Assigned]:
        """Return all entries of all seqQ, as the history of the ordering machine."""
        return Set() | {
            Assigned(1, item.number, self.named(item.identifier))
            for p in self.each(Process)
            for item in self.numbered[p]
        }

    def learned(self, p: Process) -> Set[Assigned]:
        """Return the pairs of seqQ_p: the messages whose numbers p knows."""
        return Set() | {Assigned(1, item.number, self.named(item.identifier)) for item in self.numbered[p]}

    def at(self, p: Process) -> Position:
        """Return the position of p: lastdelivered_p, the number that it delivered last."""
        return Position(1, self.last_delivered[p])


RBP = Refinement(
    RbpOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages + 1 + spare"},
    bounds={"processes": 2, "messages": 2, "losses": 1, "timeouts": 1},
)
