"""JavaGroups' TOTAL: one member numbers for all, over a network that may lose, with what the models demanded.

Its members all stay: view changes, and what the document says of them, are left out.

Source: Cornell, "JavaGroups TOTAL", the design document of the protocol layer of that name.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.total.messages import Message, flaw
from antiphon.impl.protocols.total.process import Core
from antiphon.impl.protocols.total.state import Snapshot
from antiphon.impl.protocols.total.timers import Timer
from antiphon.impl.protocols.total.violations import TotalViolation
from antiphon.impl.tracing import Tracer

__all__ = ["MESSAGES", "Core", "Message", "Snapshot", "Timer", "TotalViolation", "total"]

MESSAGES: MessageFormat[Message] = MessageFormat("total", 1, Message, flaw)
"""The messages of TOTAL, version 1."""


def total(
    *,
    request_ms: float = 50.0,
    resend_ms: float = 20.0,
    suffix_ms: float = 50.0,
    backoff_max: int = 8,
    pending_max: int = 1,
) -> Implementation[Message]:
    """TOTAL; `Core` says what the waiting times and `pending_max` mean, and refuses impossible ones."""

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return Core(
            me,
            members,
            request_ms=request_ms,
            resend_ms=resend_ms,
            suffix_ms=suffix_ms,
            backoff_max=backoff_max,
            pending_max=pending_max,
            tracer=tracer,
        )

    return Implementation(MESSAGES, core)
