"""Abstract services: state machines over events, which define properties and judge them.

The services judge models, random walks and logs.
"""

from antiphon.spec.services.broadcast import Failures, ReliableBroadcast
from antiphon.spec.services.events import (
    Broadcast,
    Crash,
    Deliver,
    Group,
    Install,
    Installed,
    Message,
    Process,
    Transition,
    View,
    Views,
)
from antiphon.spec.services.extended import ExtendedVirtualSynchrony, SafeExtendedSynchrony
from antiphon.spec.services.non_uniform import NonUniformBroadcast, NonUniformTotalOrderBroadcast
from antiphon.spec.services.order import TotalOrder, TotalOrderBroadcast
from antiphon.spec.services.views import (
    PartitionableSynchrony,
    UniformViewSynchrony,
    ViewAgreement,
    ViewSynchrony,
)

__all__ = [
    "Broadcast", "Crash", "Deliver", "ExtendedVirtualSynchrony", "Failures", "Group", "Install", "Installed",
    "Message", "NonUniformBroadcast", "NonUniformTotalOrderBroadcast", "PartitionableSynchrony", "Process",
    "ReliableBroadcast", "SafeExtendedSynchrony", "TotalOrder", "TotalOrderBroadcast", "Transition",
    "UniformViewSynchrony", "View", "ViewAgreement", "ViewSynchrony", "Views",
]  # fmt: skip
