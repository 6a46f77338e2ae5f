"""Figure 12 is an ordering machine: its history is the union of all seqQ, the position of a process is its
nextdeliver.

Assigning is line 18 (the holder puts the tuple into its own seqQ), learning lines 28-31, delivering lines
35-37. Tokens, requests and bodies are stutters. A number reaches others only in copies of what the holder
recorded, so the union of all seqQ never loses one.
"""

from __future__ import annotations

from antiphon.spec.lang import Set
from antiphon.spec.protocols.moving_sequencer.bounds import MovingSequencerBounded
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingView, Position, steps_between


class MovingSequencerOrdering(MovingSequencerBounded, OrderingView):
    """Figure 12 with helpers that compute, from its state, the state of the abstract ordering machine that it
    refines.
    """

    def submitted(self) -> Set[Message]:
        """Return the messages that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def history(self) -> Set[Assigned]:
        """Return all entries of all seqQ, as the history of the ordering machine."""
        return Set() | {
            Assigned(1, item.number, item.message) for p in self.each(Process) for item in self.numbered[p]
        }

    def learned(self, p: Process) -> Set[Assigned]:
        """Return the pairs of seqQ_p: the messages whose numbers p knows."""
        return Set() | {Assigned(1, item.number, item.message) for item in self.numbered[p]}

    def at(self, p: Process) -> Position:
        """Return the position of p: nextdeliver_p minus 1, the number that it delivered last."""
        return Position(1, self.next_deliver[p] - 1)


MOVING_SEQUENCER = Refinement(
    MovingSequencerOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages + spare"},
    bounds={"processes": 2, "messages": 2, "losses": 1, "urgent": True},
)
