"""DTP: the token goes to the process that seems least active, with the repairs that the models demanded.

Its members all stay alive: the paper has no answer to a crash.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 4.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.dtp.messages import DtpViolation, Message, flaw
from antiphon.impl.protocols.dtp.process import DEFAULTS, Core, Settings, Snapshot, Timer

__all__ = ["MESSAGES", "Core", "DtpViolation", "Message", "Settings", "Snapshot", "Timer", "dtp"]

MESSAGES: MessageFormat[Message] = MessageFormat("dtp", 1, Message, flaw)
"""The messages of DTP, version 1."""


def dtp(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """Return DTP as an implementation; `Settings` has its parameters, and `Core` refuses impossible ones."""
    made = replace(DEFAULTS, **settings)

    def resilient(holders: int) -> Implementation[Message]:
        return dtp(kind=kind, **{**settings, "resilience": holders - 1})

    implementation = Implementation.of(MESSAGES, kind, made)
    return implementation._replace(resilient=resilient, holders=made.resilience + 1)
