"""JavaGroups' TOTAL: one member numbers for all, over a network that may lose, with what the models demanded.

With members that stay a message is delivered when it is numbered; on the lists of a group whose members
change, when all members that take part in the ordering have it (`total_listed`). The document's view changes
are left out.

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
    """Return TOTAL as an implementation; `Settings` has its parameters, and `Core` refuses
    impossible ones.
    """
    return Implementation.of(MESSAGES, kind, replace(DEFAULTS, **settings))


def total_listed(settings: Settings = DEFAULTS, kind: type[ListedCore] = ListedCore) -> Implementation[Any]:
    """Return TOTAL as an implementation for the lists of a group whose members change, with cores of this
    class.
    """

    def listed(me: int, members: int, taking_part: int, tracer: Tracer) -> ListedCore:
        return kind(me, members, settings, core=taking_part, tracer=tracer)

    def whole(me: int, members: int, tracer: Tracer) -> ListedCore:
        return listed(me, members, members, tracer)

    return Implementation(LISTED_MESSAGES, whole, holders=0, listed=listed, settings=settings)
