"""CM, the protocol of Chang and Maxemchuk: each acknowledgement numbers an update and passes the token.

Between its members it needs reliable queues. They all stay alive: a reformation is not part of it.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3, first paragraph.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.impl.protocols.chang_maxemchuk.messages import Message
from antiphon.impl.protocols.chang_maxemchuk.process import DEFAULTS, Core, Settings
from antiphon.impl.protocols.core import Implementation, MessageFormat, Network, source_flaw
from antiphon.impl.protocols.updates import UpdatesSnapshot, UpdatesViolation

__all__ = [
    "MESSAGES",
    "Core",
    "Message",
    "Settings",
    "UpdatesSnapshot",
    "UpdatesViolation",
    "chang_maxemchuk",
]

MESSAGES: MessageFormat[Message] = MessageFormat("chang-maxemchuk", 1, Message, source_flaw)
"""The messages of CM, version 1."""


def chang_maxemchuk(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """Return CM as an implementation; `Settings` is empty."""
    return Implementation.of(MESSAGES, kind, replace(DEFAULTS, **settings), Network.FIFO)
