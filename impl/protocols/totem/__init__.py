"""Totem's single ring: a token goes round, and only who holds it multicasts.

Between its members it needs reliable queues. Its members all stay: the membership protocol is left out.

Source: J. Kim and C. Kim 1997, section 5, the paragraph on Totem (Amir, Moser, Melliar-Smith, Agarwal,
Ciarfella 1995).
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Implementation, MessageFormat, Network
from antiphon.impl.protocols.totem.messages import Message, flaw
from antiphon.impl.protocols.totem.process import VISIT_MAX, Core
from antiphon.impl.protocols.totem.state import Snapshot
from antiphon.impl.protocols.totem.timers import Timer
from antiphon.impl.protocols.totem.violations import TotemViolation
from antiphon.impl.tracing import Tracer

__all__ = ["MESSAGES", "Core", "Message", "Snapshot", "Timer", "TotemViolation", "totem"]

MESSAGES: MessageFormat[Message] = MessageFormat("totem", 1, Message, flaw)
"""The messages of Totem's ring, version 1."""


def totem(
    *, visit_max: int = VISIT_MAX, unstable_max: int = 2 * VISIT_MAX, rest_ms: float = 5.0
) -> Implementation[Message]:
    """Totem's ring; `Core` says what the three mean, and refuses impossible ones."""

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return Core(
            me, members, visit_max=visit_max, unstable_max=unstable_max, rest_ms=rest_ms, tracer=tracer
        )

    return Implementation(MESSAGES, core, Network.FIFO)
