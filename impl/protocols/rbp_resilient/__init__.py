"""RBP with stability, from figure 25 of its report with the repairs that the models demanded.

A message is delivered when so many members have it as `resilience` says, and forgotten when all have it. The
members stay: what the figure does when a process fails, Reformation, is not here.

Source: Barchet-Estefanel 2002, section 3.2, figure 25.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.rbp.messages import Message, flaw
from antiphon.impl.protocols.rbp_resilient.process import Core
from antiphon.impl.protocols.rbp_resilient.state import Observation, Snapshot
from antiphon.impl.protocols.rbp_resilient.timers import Timer
from antiphon.impl.protocols.rbp_resilient.violations import ResilientViolation
from antiphon.impl.tracing import Tracer

__all__ = [
    "MESSAGES",
    "Core",
    "Message",
    "Observation",
    "ResilientViolation",
    "Snapshot",
    "Timer",
    "rbp_resilient",
]

MESSAGES: MessageFormat[Message] = MessageFormat("rbp-resilient", 1, Message, flaw)
"""The messages of figure 25, version 1: those of figure 16. TL, which the figure adds, never changes here."""


def rbp_resilient(
    *,
    resilience: int = 0,
    resend_ms: float = 50.0,
    token_ms: float = 50.0,
    request_ms: float = 20.0,
    hurry_ms: float = 1.0,
    silence_ms: float = 40.0,
    backoff_max: int = 8,
) -> Implementation[Message]:
    """RBP with stability; `Core` says what the settings mean, and refuses impossible ones."""

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return Core(
            me,
            members,
            resilience=resilience,
            resend_ms=resend_ms,
            token_ms=token_ms,
            request_ms=request_ms,
            hurry_ms=hurry_ms,
            silence_ms=silence_ms,
            backoff_max=backoff_max,
            tracer=tracer,
        )

    def resilient(holders: int) -> Implementation[Message]:
        return rbp_resilient(
            resilience=holders,
            resend_ms=resend_ms,
            token_ms=token_ms,
            request_ms=request_ms,
            hurry_ms=hurry_ms,
            silence_ms=silence_ms,
            backoff_max=backoff_max,
        )

    return Implementation(MESSAGES, core, resilient=resilient, holders=resilience)
