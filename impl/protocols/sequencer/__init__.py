"""SEQUENCER, repaired: a member sends to the coordinator, which multicasts for it.

Between its members it needs reliable queues. With members that stay it delivers what is ordered; on the lists
of a group whose members change, what all have that take part in the ordering (`sequencer_listed`).

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation, MessageFormat, Network, source_flaw
from antiphon.impl.protocols.sequencer.listed import ListedCore, ListedMessage
from antiphon.impl.protocols.sequencer.listed import flaw as listed_flaw
from antiphon.impl.protocols.sequencer.messages import Message, SequencerViolation
from antiphon.impl.protocols.sequencer.process import DEFAULTS, Core, Settings, Snapshot
from antiphon.impl.tracing import Tracer

__all__ = [
    "LISTED_MESSAGES",
    "MESSAGES",
    "Core",
    "ListedCore",
    "ListedMessage",
    "Message",
    "SequencerViolation",
    "Settings",
    "Snapshot",
    "sequencer",
    "sequencer_listed",
]

MESSAGES: MessageFormat[Message] = MessageFormat("sequencer", 1, Message, source_flaw)
"""The messages of SEQUENCER, version 1."""

LISTED_MESSAGES: MessageFormat[ListedMessage] = MessageFormat(
    "sequencer-listed", 1, ListedMessage, listed_flaw
)
"""The messages of SEQUENCER on one list of a group whose members change, version 1."""


def sequencer(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """Return SEQUENCER as an implementation; `Settings` has its parameters, and `Core` refuses impossible
    ones.
    """
    return Implementation.of(MESSAGES, kind, replace(DEFAULTS, **settings), Network.FIFO)


def sequencer_listed(
    settings: Settings = DEFAULTS, kind: type[ListedCore] = ListedCore
) -> Implementation[Any]:
    """Return SEQUENCER as an implementation for the lists of a group whose members change, with cores of this
    class.
    """

    def listed(me: int, members: int, taking_part: int, tracer: Tracer) -> ListedCore:
        return kind(me, members, settings, core=taking_part, tracer=tracer)

    def whole(me: int, members: int, tracer: Tracer) -> ListedCore:
        return listed(me, members, members, tracer)

    return Implementation(
        LISTED_MESSAGES, whole, Network.FIFO, holders=0, listed=listed, settings=settings
    )
