"""RBP on one ring, with the repairs that the models demanded: figure 16 of its report, and figure 25.

Figure 16 has no answer to a crash, and keeps every message. With stability, figure 25, a message is delivered
when so many members have it as `resilience` says, and forgotten when all have it; that one is called
`rbp-resilient`. The members stay: what figure 25 does when a process fails, Reformation, is not here.

Source: Barchet-Estefanel 2002, section 3.1.3, figure 16, and section 3.2, figure 25.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.rbp.messages import Message, RbpViolation, RingMessage, flaw
from antiphon.impl.protocols.rbp.process import (
    FIGURE_16,
    FIGURE_25,
    Core,
    Observation,
    Settings,
    Snapshot,
    Timer,
)
from antiphon.impl.tracing import Tracer

__all__ = [
    "FIGURE_16",
    "FIGURE_25",
    "LISTED_MESSAGES",
    "MESSAGES",
    "RESILIENT_MESSAGES",
    "Core",
    "Message",
    "Observation",
    "RbpViolation",
    "Settings",
    "Snapshot",
    "Timer",
    "irbp",
    "rbp",
    "ring",
]

MESSAGES: MessageFormat[Message] = MessageFormat("rbp", 1, RingMessage, flaw)
"""The messages of RBP without failures, version 1."""

RESILIENT_MESSAGES: MessageFormat[Message] = MessageFormat("rbp-resilient", 1, RingMessage, flaw)
"""Messages of RBP with stability, version 1; members of one kind do not understand those of the other."""


LISTED_MESSAGES: MessageFormat[Message] = MessageFormat("irbp", 1, Message, flaw)
"""The messages of RBP with stability on one list of a group whose members change, version 1."""


def rbp(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """Return RBP without failures as an implementation; `Settings` has its parameters, and `Core` refuses
    impossible ones.
    """
    return ring(replace(FIGURE_16, **settings), kind)


def ring(settings: Settings, kind: type[Core] = Core) -> Implementation[Message]:
    """Return the ring with these settings as an implementation, with cores of this class."""

    def resilient(holders: int) -> Implementation[Message]:
        return ring(replace(settings, resilience=holders), kind)

    messages = RESILIENT_MESSAGES if settings.stability else MESSAGES
    return Implementation.of(messages, kind, settings)._replace(
        resilient=resilient if settings.stability else None,
        holders=settings.resilience,
        forgets=settings.stability,
    )


def irbp(settings: Settings = FIGURE_25, kind: type[Core] = Core) -> Implementation[Message]:
    """Return the ring of figure 25 for the lists of a group whose members change, under figures 32 and 34."""

    def listed(me: int, members: int, taking_part: int, tracer: Tracer) -> Core:
        return kind(me, members, settings, ring=taking_part, tracer=tracer)

    return ring(settings, kind)._replace(messages=LISTED_MESSAGES, resilient=None, listed=listed)
