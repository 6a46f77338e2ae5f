"""An identifier names the source of its message, and a payload is the one that the source broadcast.

What logs say of messages beside their identity, of which the machines know nothing. This module knows nothing
of order, and nothing of agreement.
"""

from __future__ import annotations

from antiphon.conformance.history.finding import (
    BROADCAST_BY_ANOTHER,
    OTHER_PAYLOAD,
    History,
    Offence,
    Place,
)
from antiphon.conformance.trace import Broadcast, Deliver


def foreign_broadcasts(history: History) -> list[Offence]:
    """The broadcasts of messages that name another process as their source."""
    return [
        (BROADCAST_BY_ANOTHER, Place(process, event.i, event.m), None)
        for process, events in enumerate(history)
        for event in events
        if isinstance(event, Broadcast) and not _names(event.m, process)
    ]


def other_payloads(history: History) -> list[Offence]:
    """The first deliveries of messages at a process with another payload than that of the source's first
    broadcast; payloads are compared by digest.
    """
    sent: dict[str, tuple[Place, str]] = {}
    for process, events in enumerate(history):
        for event in events:
            if isinstance(event, Broadcast) and _names(event.m, process):
                sent.setdefault(event.m, (Place(process, event.i, event.m), event.digest))
    offences: list[Offence] = []
    for process, events in enumerate(history):
        firsts: dict[str, Deliver] = {}
        for event in events:
            if isinstance(event, Deliver):
                firsts.setdefault(event.m, event)
        offences += [
            (OTHER_PAYLOAD, Place(process, event.i, m), sent[m][0])
            for m, event in firsts.items()
            if m in sent and sent[m][1] != event.digest
        ]
    return offences


def _names(message: str, process: int) -> bool:
    """Whether an identifier names a process as its source."""
    return message.split(":")[0] == str(process)
