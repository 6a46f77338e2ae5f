"""DTP: the token goes to the process that seems least active, with the repairs that the models demanded.

Its members all stay alive: the paper has no answer to a crash.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 4.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.dtp.messages import DtpViolation, Message, flaw
from antiphon.impl.protocols.dtp.process import Core, Settings, Snapshot, Timer
from antiphon.impl.tracing import Tracer

__all__ = ["MESSAGES", "Core", "DtpViolation", "Message", "Settings", "Snapshot", "Timer", "dtp", "made"]

MESSAGES: MessageFormat[Message] = MessageFormat("dtp", 1, Message, flaw)
"""The messages of DTP, version 1."""


def dtp(**settings: float) -> Implementation[Message]:
    """DTP; `Settings` says what there is to set, and `Core` refuses what is impossible."""
    return made(replace(Settings(), **settings))


def made(settings: Settings, kind: type[Core] = Core) -> Implementation[Message]:
    """DTP with these settings, of cores of this kind."""

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return kind(me, members, settings, tracer=tracer)

    def resilient(holders: int) -> Implementation[Message]:
        return made(replace(settings, resilience=holders - 1), kind)

    return Implementation(MESSAGES, core, resilient=resilient, holders=settings.resilience + 1)
