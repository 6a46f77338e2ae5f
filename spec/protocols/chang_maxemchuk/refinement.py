"""CM is an ordering machine: the history is `order`, and a process has learned as much of it as it knows
ACKs.

Assigning and learning by the holder are one step, `ACK(t, U_id, g)`; the others learn when that ACK arrives.
Only updates have gsns, so no number is spent on nothing. The arrival of an update itself is a stutter: the
machine knows which message has a number, not its content.
"""

from __future__ import annotations

from antiphon.spec.lang import Set
from antiphon.spec.protocols.chang_maxemchuk.algorithm import ChangMaxemchuk, Number, Sequence
from antiphon.spec.protocols.chang_maxemchuk.queues import ChangMaxemchukInQueues
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingView, Position, steps_between


class SequenceOrdering(Sequence, OrderingView):
    """One sequence of numbers, of which each process knows a beginning, with helpers that compute, from its
    state, the state of the ordering machine that it refines.
    """

    def submitted(self) -> Set[Message]:
        """Return the updates that were multicast: they have a source."""
        return Set() | {m for m in self.each(Message) if self.source[m] is not None}

    def history(self) -> Set[Assigned]:
        """Return every gsn that was given, as the history of the ordering machine."""
        return Set() | {Assigned(1, k, self.order[k]) for k in self.each(Number) if k <= self.assigned}

    def learned(self, p: Process) -> Set[Assigned]:
        """Return the gsns of the ACKs that p has."""
        return Set() | {Assigned(1, k, self.order[k]) for k in self.each(Number) if k <= self.acknowledged[p]}

    def at(self, p: Process) -> Position:
        """Return the gsn of the update that p delivered last."""
        return Position(1, self.status[p])


class ChangMaxemchukOrdering(ChangMaxemchuk, SequenceOrdering):
    """CM with helpers that compute, from its state, the state of the ordering machine that it refines."""


CHANG_MAXEMCHUK = Refinement(
    ChangMaxemchukOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages"},
    bounds={"processes": 3, "messages": 2},
)

CHANG_MAXEMCHUK_IN_QUEUES = Refinement(
    ChangMaxemchukInQueues,
    ChangMaxemchuk,
    (Broadcast, Deliver),
    bounds={"processes": 3, "messages": 2},
)
"""Refinement of CM by CM over queues: an ACK that waits is a stutter, and one that closes a gap is several
steps of CM.
"""
