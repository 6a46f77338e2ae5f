"""Figures 2 and 5 as the abstract machine of broadcast without numbers, since they order nothing; the
deliveredQ of each process are the machine's state.

No mapping makes either of them an ordering machine: that would give total order, and two processes of theirs
deliver two messages in two orders (`Figure2Ordered`, `Figure5Ordered`). Tokens, lists, notices, requests and
copies on their way are stutters.
"""

from __future__ import annotations

from antiphon.spec.lang import Set
from antiphon.spec.protocols.token_broadcast.bounds import Figure2Bounded, Figure5Bounded
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process
from antiphon.spec.services.order import TotalOrderBroadcast
from antiphon.spec.services.unordered import BroadcastMachine, deliveries_between


class Figure2Deliveries(Figure2Bounded):
    """Figure 2 as a refinement of the machine of broadcast that gives no numbers."""

    def submitted(self) -> Set[Message]:
        """Return the messages that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def handed(self, p: Process) -> Set[Message]:
        """Return deliveredQ_p: the messages that p has delivered."""
        return self.delivered_queue[p]


class Figure5Deliveries(Figure5Bounded):
    """Figure 5 as a refinement of the machine of broadcast that gives no numbers."""

    def submitted(self) -> Set[Message]:
        """Return the messages that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def handed(self, p: Process) -> Set[Message]:
        """Return deliveredQ_p: the messages that p has delivered."""
        return self.delivered_queue[p]


class Figure2Ordered(Figure2Bounded, TotalOrderBroadcast):
    """Figure 2, checked against total order broadcast, which it does not claim to be."""


class Figure5Ordered(Figure5Bounded, TotalOrderBroadcast):
    """Figure 5, checked against total order broadcast, which it does not claim to be."""


FIGURE_2 = Refinement(
    Figure2Deliveries,
    BroadcastMachine,
    (Broadcast, Deliver),
    deliveries_between,
    sizes={},
    bounds={"processes": 3, "messages": 2, "losses": 1},
)

FIGURE_5 = Refinement(
    Figure5Deliveries,
    BroadcastMachine,
    (Broadcast, Deliver),
    deliveries_between,
    sizes={},
    bounds={"processes": 2, "messages": 2, "losses": 1},
)
