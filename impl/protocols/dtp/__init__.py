"""DTP: the token goes to the process that seems least active, with the repairs that the models demanded.

Its members all stay alive: the paper has no answer to a crash.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 4.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.dtp.messages import Message, flaw
from antiphon.impl.protocols.dtp.process import Core
from antiphon.impl.protocols.dtp.state import Snapshot
from antiphon.impl.protocols.dtp.timers import Timer
from antiphon.impl.protocols.dtp.violations import DtpViolation
from antiphon.impl.tracing import Tracer

__all__ = ["MESSAGES", "Core", "DtpViolation", "Message", "Snapshot", "Timer", "dtp"]

MESSAGES: MessageFormat[Message] = MessageFormat("dtp", 1, Message, flaw)
"""The messages of DTP, version 1."""


def dtp(
    *,
    resilience: int = 0,
    resend_ms: float = 50.0,
    pass_ms: float = 50.0,
    request_ms: float = 20.0,
    silence_ms: float = 100.0,
    backoff_max: int = 8,
) -> Implementation[Message]:
    """DTP; `Core` says what the waiting times and `resilience` mean, and refuses impossible ones."""

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return Core(
            me,
            members,
            resilience=resilience,
            resend_ms=resend_ms,
            pass_ms=pass_ms,
            request_ms=request_ms,
            silence_ms=silence_ms,
            backoff_max=backoff_max,
            tracer=tracer,
        )

    def resilient(holders: int) -> Implementation[Message]:
        return dtp(
            resilience=holders - 1,
            resend_ms=resend_ms,
            pass_ms=pass_ms,
            request_ms=request_ms,
            silence_ms=silence_ms,
            backoff_max=backoff_max,
        )

    return Implementation(MESSAGES, core, resilient=resilient, holders=resilience + 1)
