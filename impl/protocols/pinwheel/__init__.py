"""Pinwheel: as CM, with several updates on their way, several numbers a holder, and news of deliveries.

Between its members it needs reliable queues. They all stay alive: a membership is not part of it.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, sections 3 and 5, second paragraphs.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Implementation, MessageFormat, Network, source_flaw
from antiphon.impl.protocols.pinwheel.messages import Message
from antiphon.impl.protocols.pinwheel.process import WINDOW, Core
from antiphon.impl.protocols.updates import UpdatesSnapshot, UpdatesViolation
from antiphon.impl.tracing import Tracer

__all__ = ["MESSAGES", "Core", "Message", "UpdatesSnapshot", "UpdatesViolation", "pinwheel"]

MESSAGES: MessageFormat[Message] = MessageFormat("pinwheel", 1, Message, source_flaw)
"""The messages of Pinwheel, version 1."""


def pinwheel(*, window: int = WINDOW) -> Implementation[Message]:
    """Pinwheel; a member is busy while `window` of its own updates have no number."""

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return Core(me, members, window=window, tracer=tracer)

    return Implementation(MESSAGES, core, Network.FIFO)
