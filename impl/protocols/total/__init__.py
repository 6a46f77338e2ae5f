"""JavaGroups' TOTAL: one member numbers for all, over a network that may lose, with what the models demanded.

With members that stay it delivers what is numbered; on the lists of a group whose members change, what all
have that take part in the ordering (`total_listed`). What the document says of view changes is left out.

Source: Cornell, "JavaGroups TOTAL", the design document of the protocol layer of that name.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.total.listed import ListedCore, ListedMessage
from antiphon.impl.protocols.total.listed import flaw as listed_flaw
from antiphon.impl.protocols.total.messages import Message, TotalViolation, flaw
from antiphon.impl.protocols.total.process import DEFAULTS, Core, Settings, Snapshot, Timer
from antiphon.impl.tracing import Tracer

__all__ = [
    "LISTED_MESSAGES",
    "MESSAGES",
    "Core",
    "ListedCore",
    "ListedMessage",
    "Message",
    "Settings",
    "Snapshot",
    "Timer",
    "TotalViolation",
    "total",
    "total_listed",
]

MESSAGES: MessageFormat[Message] = MessageFormat("total", 1, Message, flaw)
"""The messages of TOTAL, version 1."""

LISTED_MESSAGES: MessageFormat[ListedMessage] = MessageFormat("total-listed", 1, ListedMessage, listed_flaw)
"""The messages of TOTAL on one list of a group whose members change, version 1."""


def total(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """TOTAL; `Settings` says what there is to set, and `Core` refuses what is impossible."""
    return Implementation.of(MESSAGES, kind, replace(DEFAULTS, **settings))


def total_listed(settings: Settings = DEFAULTS) -> Implementation[Any]:
    """TOTAL for the lists of a group whose members change."""

    def listed(me: int, members: int, taking_part: int, tracer: Tracer) -> ListedCore:
        return ListedCore(me, members, settings, core=taking_part, tracer=tracer)

    def whole(me: int, members: int, tracer: Tracer) -> ListedCore:
        return listed(me, members, members, tracer)

    return Implementation(LISTED_MESSAGES, whole, holders=0, listed=listed, settings=settings)
