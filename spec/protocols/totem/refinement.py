"""Totem is an ordering machine in which submitting, assigning and learning are one step: only the holder
multicasts.

A number travels with its update, so receiving the update is learning the number. The token's delivery
information, and what a process takes for stable, order nothing: they are stutters.
"""

from __future__ import annotations

from antiphon.spec.lang import Set
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Number
from antiphon.spec.protocols.totem.bounds import TotemBounded
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingView, Position, steps_between


class TotemOrdering(TotemBounded, OrderingView):
    """Totem's ordering with helpers that compute, from its state, the state of the ordering machine that it
    refines.
    """

    def submitted(self) -> Set[Message]:
        """Return the updates that were multicast; they are multicast in the order of their indices, each with
        its number.
        """
        return Set() | {m for m in self.each(Message) if m.index < self.assigned}

    def history(self) -> Set[Assigned]:
        """Return the multicasts of the ring with the numbers that the token gave them."""
        return Set() | {Assigned(1, k, self.order[k]) for k in self.each(Number) if k <= self.assigned}

    def learned(self, p: Process) -> Set[Assigned]:
        """Return the updates that p has, with their numbers."""
        return Set() | {Assigned(1, k, self.order[k]) for k in self.obtained[p]}

    def at(self, p: Process) -> Position:
        """Return the number of the update that p delivered last."""
        return Position(1, self.status[p])


TOTEM = Refinement(
    TotemOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages"},
    bounds={"processes": 3, "messages": 2, "visits": 5},
)
