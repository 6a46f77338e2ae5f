"""In what sense is Pinwheel an ordering machine? As CM is: its token passes by a step of its own, and what it hears of others moves no number.

Passing the token, and hearing how far others have delivered, are stutters: from what is stable, updates are removed, never ordered.
"""

from __future__ import annotations

from antiphon.spec.protocols.pinwheel import Pinwheel
from antiphon.spec.refinement import Refinement
from antiphon.spec.refinements.chang_maxemchuk import SequenceOrdering
from antiphon.spec.services.events import Broadcast, Deliver
from antiphon.spec.services.ordering import OrderingMachine, steps_between


class PinwheelOrdering(Pinwheel, SequenceOrdering):
    """Pinwheel, seen as the abstract ordering machine."""


PINWHEEL = Refinement(
    PinwheelOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages"},
    bounds={"processes": 2, "messages": 2},
)
