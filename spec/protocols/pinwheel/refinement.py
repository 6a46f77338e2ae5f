"""Pinwheel is an ordering machine as CM is; passing the token and hearing of deliveries are stutters.

Stability decides about removal, and never about order.
"""

from __future__ import annotations

from antiphon.spec.protocols.chang_maxemchuk.refinement import SequenceOrdering
from antiphon.spec.protocols.pinwheel.algorithm import Pinwheel
from antiphon.spec.protocols.pinwheel.queues import PinwheelInQueues
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver
from antiphon.spec.services.ordering import OrderingMachine, steps_between


class PinwheelOrdering(Pinwheel, SequenceOrdering):
    """Pinwheel with helpers that compute, from its state, the state of the ordering machine that it
    refines.
    """


PINWHEEL = Refinement(
    PinwheelOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "messages"},
    bounds={"processes": 2, "messages": 2},
)

PINWHEEL_IN_QUEUES = Refinement(
    PinwheelInQueues,
    Pinwheel,
    (Broadcast, Deliver),
    bounds={"processes": 2, "messages": 2},
)
"""Refinement of Pinwheel by Pinwheel over queues: the last ACK of a holder and the passing of the token are
one step.
"""
