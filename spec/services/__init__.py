"""Abstract services: state machines over events, each both the property and the reference. Models, walks and
logs are judged by the same text.
"""

from antiphon.spec.services.broadcast import Failures, ReliableBroadcast
from antiphon.spec.services.events import Broadcast, Crash, Deliver, Group, Message, Process
from antiphon.spec.services.judge import Judge
from antiphon.spec.services.order import TotalOrder, TotalOrderBroadcast

__all__ = [
    "Broadcast", "Crash", "Deliver", "Failures", "Group", "Judge", "Message", "Process", "ReliableBroadcast",
    "TotalOrder",
    "TotalOrderBroadcast",
]  # fmt: skip
