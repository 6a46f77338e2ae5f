"""SEQUENCER within bounds: stops and hand-overs are limited, there are finitely many views, and every run
ends.
"""

from __future__ import annotations

from antiphon.spec.environment import HandOvers
from antiphon.spec.lang import Const, Map, constraint, environment, everywhere
from antiphon.spec.protocols.sequencer.design import Sequencer
from antiphon.spec.protocols.sequencer.readings import READINGS
from antiphon.spec.protocols.sequencer.repairs import REPAIRS
from antiphon.spec.services import Process


class SequencerBounded(Sequencer, HandOvers, repairs=REPAIRS, readings=READINGS):
    """SEQUENCER, with its variants to choose from; up to `stops` members stop."""

    stops: Const[int] = 0

    stopped: Map[Process, bool] = everywhere(False)

    @environment
    def leave(self, p: Process) -> None:
        """Leave the group at p by stop(), and note that p has stopped and not crashed."""
        super().leave(p)
        self.stopped[p] = True

    @constraint("leave")
    def may_leave(self, p: Process) -> bool:
        """Return True if p may leave: the bound allows a view that excludes p, and another member goes on."""
        return (
            self.formed < self.views
            and any(q != p and not self.down[q] for q in self.members[self.formed])
            and sum(1 for q in self.each(Process) if self.stopped[q]) < self.stops
        )
