"""JavaGroups' TOTAL: one member numbers for all, over a network that may lose, with what the models demanded.

Its members all stay: view changes, and what the document says of them, are left out.

Source: Cornell, "JavaGroups TOTAL", the design document of the protocol layer of that name.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.total.messages import Message, TotalViolation, flaw
from antiphon.impl.protocols.total.process import DEFAULTS, Core, Settings, Snapshot, Timer

__all__ = ["MESSAGES", "Core", "Message", "Settings", "Snapshot", "Timer", "TotalViolation", "total"]

MESSAGES: MessageFormat[Message] = MessageFormat("total", 1, Message, flaw)
"""The messages of TOTAL, version 1."""


def total(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """TOTAL; `Settings` says what there is to set, and `Core` refuses what is impossible."""
    return Implementation.of(MESSAGES, kind, replace(DEFAULTS, **settings))
