"""RBP without failures, from figure 16 of its report with the repairs that the models demanded.

Its members all stay alive: the normal phase has no answer to a crash.

Source: Barchet-Estefanel 2002, section 3.1.3.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.rbp.messages import Message, flaw
from antiphon.impl.protocols.rbp.process import Core
from antiphon.impl.protocols.rbp.state import Observation, Snapshot
from antiphon.impl.protocols.rbp.timers import Timer
from antiphon.impl.protocols.rbp.violations import RbpViolation
from antiphon.impl.tracing import Tracer

__all__ = ["MESSAGES", "Core", "Message", "Observation", "RbpViolation", "Snapshot", "Timer", "rbp"]

MESSAGES: MessageFormat[Message] = MessageFormat("rbp", 1, Message, flaw)
"""The messages of RBP without failures, version 1."""


def rbp(
    *, resend_ms: float = 50.0, token_ms: float = 50.0, request_ms: float = 20.0, backoff_max: int = 8
) -> Implementation[Message]:
    """RBP without failures; `Core` says what the waiting times mean, and refuses impossible ones."""

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return Core(
            me,
            members,
            resend_ms=resend_ms,
            token_ms=token_ms,
            request_ms=request_ms,
            backoff_max=backoff_max,
            tracer=tracer,
        )

    return Implementation(MESSAGES, core, forgets=False)
