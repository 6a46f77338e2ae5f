"""Figure 6 is the machine of consensus: the first decision chooses the value, every later one learns it.

Rounds, estimates and replies are stutters: what a majority has adopted can be seen in no event before a
process decides it.
"""

from __future__ import annotations

from antiphon.spec.protocols.chandra_toueg.figure6 import Phase
from antiphon.spec.protocols.chandra_toueg.properties import ChandraTouegChecked
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.consensus import ConsensusMachine, Decide, Propose, Value
from antiphon.spec.services.events import Process


class ChandraTouegIsConsensus(ChandraTouegChecked):
    """Figure 6 with helpers that compute, from its state, the state of the abstract machine of consensus that
    it refines.
    """

    def chosen(self) -> Value | None:
        """Return the value that any process has decided."""
        return next(
            (self.decision[p] for p in self.each(Process) if self.decision[p] is not None),
            None,
        )

    def offers(self, p: Process) -> Value | None:
        """Return the value that p offers to the machine of consensus: its proposal, until a value is
        decided.
        """
        return self.proposal[p] if self.chosen() is None else None

    def told(self, p: Process) -> bool:
        """Return True if p has decided: in the machine of consensus p has been told the chosen value."""
        return self.has_decided(p)

    def proposed(self, p: Process) -> bool:
        """Return True if p has proposed."""
        return self.phase[p] is not Phase.idle


CHANDRA_TOUEG = Refinement(
    ChandraTouegIsConsensus,
    ConsensusMachine,
    (Propose, Decide),
    bounds={
        "processes": 3, "values": 2, "crashes": 1, "false_suspicions": 1, "rounds": 2, "urgent": True,
        "detected_at_once": True,
    },
)  # fmt: skip
