"""Totem's single ring: a token goes round, and only who holds it multicasts.

Between its members it needs reliable queues. Its members all stay: the membership protocol is left out.

Source: J. Kim and C. Kim 1997, section 5, the paragraph on Totem (Amir, Moser, Melliar-Smith, Agarwal,
Ciarfella 1995).
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation, MessageFormat, Network
from antiphon.impl.protocols.totem.messages import Message, TotemViolation, flaw
from antiphon.impl.protocols.totem.process import DEFAULTS, Core, Settings, Snapshot, Timer

__all__ = ["MESSAGES", "Core", "Message", "Settings", "Snapshot", "Timer", "TotemViolation", "totem"]

MESSAGES: MessageFormat[Message] = MessageFormat("totem", 1, Message, flaw)
"""The messages of Totem's ring, version 1."""


def totem(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """Return Totem's ring as an implementation; `Settings` has its parameters, and `Core` refuses impossible
    ones.
    """
    return Implementation.of(MESSAGES, kind, replace(DEFAULTS, **settings), Network.FIFO)
