"""In what sense is the whole Horus stack an ordering machine? As its topmost layer is: what is below TOTAL is stutters.

The mapping is that of `horus_total.py`, word for word: it looks at calls that TOTAL makes and at what is delivered, and at nothing that MBRSHIP,
FRAG, NAK, COM or the network keep. What breaks the stack below is seen here only if it changes an order, or delivers what nobody broadcast.
"""

from __future__ import annotations

from antiphon.spec.protocols.horus.tower import Horus
from antiphon.spec.refinement import Refinement
from antiphon.spec.refinements.horus_total import Places
from antiphon.spec.services.events import Broadcast, Deliver
from antiphon.spec.services.ordering import OrderingMachine, steps_between


class HorusOrdering(Places, Horus):
    """TOTAL:MBRSHIP:FRAG:NAK:COM, seen as the abstract ordering machine."""


HORUS = Refinement(
    HorusOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": "2 * views * messages", "numbers": 1, "forgets": True},
    bounds={"processes": 2, "messages": 1, "casts": 3, "buffer": 3, "crashes": 1, "patient": True, "oracle": "one that waits"},
)
