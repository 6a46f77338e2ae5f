"""Refinement of the repaired figure 29 to the abstract machine of view synchrony: its multicasts, deliveries
and views are steps of the machine.

The mapping is made from the events that figure 29 emits. Messages on their way, sets that are exchanged,
calls and consensus are stutters.
"""

from __future__ import annotations

from antiphon.spec.lang import initial
from antiphon.spec.protocols.vsc.bounds import VscBounded
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Crash, Deliver, Install
from antiphon.spec.services.view_machine import (
    SynchronyOfEvents,
    ViewSynchronousMachine,
    ViewSynchronousMonitor,
    steps_told,
)


class VscSynchronous(VscBounded, SynchronyOfEvents, refines=ViewSynchronousMachine):
    """Figure 29 as a refinement of the abstract machine of view synchrony."""


class VscMonitored(VscBounded, ViewSynchronousMonitor):
    """Figure 29 beside the machine of view synchrony, checked step by step: for bounds at which
    `VscSynchronous` is too slow.
    """

    @initial
    def found(self) -> None:
        """Found the group, in figure 29 and in the machine of view synchrony."""
        super().found()
        self.machine_found()


VSC = Refinement(
    VscSynchronous,
    ViewSynchronousMachine,
    (Broadcast, Deliver, Install, Crash),
    steps_told,
    bounds={
        "processes": 3, "messages": 1, "views": 2, "crashes": 1, "false_suspicions": 1,
        "detected_at_once": True,
    },
    monitor=VscMonitored,
)  # fmt: skip
