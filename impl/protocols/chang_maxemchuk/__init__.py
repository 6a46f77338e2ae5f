"""CM, the protocol of Chang and Maxemchuk: each acknowledgement numbers an update and passes the token.

Between its members it needs reliable queues. They all stay alive: a reformation is not part of it.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3, first paragraph.
"""

from __future__ import annotations

from antiphon.impl.protocols.chang_maxemchuk.messages import Message
from antiphon.impl.protocols.chang_maxemchuk.process import Core
from antiphon.impl.protocols.core import Implementation, MessageFormat, Network, source_flaw
from antiphon.impl.protocols.updates import UpdatesSnapshot, UpdatesViolation
from antiphon.impl.tracing import Tracer

__all__ = ["MESSAGES", "Core", "Message", "UpdatesSnapshot", "UpdatesViolation", "chang_maxemchuk"]

MESSAGES: MessageFormat[Message] = MessageFormat("chang-maxemchuk", 1, Message, source_flaw)
"""The messages of CM, version 1."""


def chang_maxemchuk() -> Implementation[Message]:
    """CM, which has nothing to set."""

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return Core(me, members, tracer=tracer)

    return Implementation(MESSAGES, core, Network.FIFO)
