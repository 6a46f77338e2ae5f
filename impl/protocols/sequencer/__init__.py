"""SEQUENCER: a member sends to the coordinator, who multicasts for it; repaired.

Between its members it needs reliable queues. Nobody leaves yet: who changes views will drive `ChangesViews`.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Implementation, MessageFormat, Network, source_flaw
from antiphon.impl.protocols.sequencer.messages import Message, SequencerViolation
from antiphon.impl.protocols.sequencer.process import PENDING_MAX, Core, Snapshot
from antiphon.impl.tracing import Tracer

__all__ = ["MESSAGES", "Core", "Message", "SequencerViolation", "Snapshot", "sequencer"]

MESSAGES: MessageFormat[Message] = MessageFormat("sequencer", 1, Message, source_flaw)
"""The messages of SEQUENCER, version 1."""


def sequencer(*, pending_max: int = PENDING_MAX) -> Implementation[Message]:
    """SEQUENCER; a member is busy while `pending_max` of its own messages have not come back."""

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return Core(me, members, pending_max=pending_max, tracer=tracer)

    return Implementation(MESSAGES, core, Network.FIFO)
