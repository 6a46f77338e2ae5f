"""Pinwheel: like CM (`chang_maxemchuk`), with several updates on their way, several numbers for each holder,
and news of deliveries.

Between its members it needs reliable queues. They all stay alive: a membership is not part of it.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, sections 3 and 5, second paragraphs.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation, MessageFormat, Network, source_flaw
from antiphon.impl.protocols.pinwheel.messages import Message
from antiphon.impl.protocols.pinwheel.process import DEFAULTS, Core, Settings
from antiphon.impl.protocols.updates import UpdatesSnapshot, UpdatesViolation

__all__ = ["MESSAGES", "Core", "Message", "Settings", "UpdatesSnapshot", "UpdatesViolation", "pinwheel"]

MESSAGES: MessageFormat[Message] = MessageFormat("pinwheel", 1, Message, source_flaw)
"""The messages of Pinwheel, version 1."""


def pinwheel(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """Return Pinwheel as an implementation; `Settings` has its parameters, and `Core` refuses impossible
    ones.
    """
    return Implementation.of(MESSAGES, kind, replace(DEFAULTS, **settings), Network.FIFO)
