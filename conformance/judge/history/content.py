"""Check of the contents of messages: source, payload, receivers, duplication.

The identifier of a message names its source; the payload is the one that the source broadcast; a message is
delivered at its destinations alone, once each. The service machines know only the identity of messages. This
module knows nothing of order, and nothing of agreement.
"""

from __future__ import annotations

from typing import Final

from antiphon.conformance.judge.history.finding import (
    BROADCAST_BY_ANOTHER,
    FOR_OTHERS,
    OTHER_PAYLOAD,
    Finding,
    History,
    Offence,
    Place,
    finding,
)
from antiphon.conformance.judge.trace import Broadcast, Deliver
from antiphon.spec.services.broadcast import TWICE
from antiphon.spec.services.order import OF_DELIVERIES
from antiphon.spec.services.promises import Property

NO_DUPLICATION: Final = Property(
    "NoDuplication",
    "a process delivers a message at most once, whoever broadcast it",
    "deliveries",
    promised=OF_DELIVERIES,
    by="deliveries alone",
    incarnations="each",
    for_some=True,
    implies=("UniformIntegrity",),
)


def foreign_broadcasts(history: History) -> list[Offence]:
    """Return a finding about broadcasts of messages that name another process as their source."""
    return [
        (BROADCAST_BY_ANOTHER, Place(process, event.i, event.m), None)
        for process, events in enumerate(history)
        for event in events
        if isinstance(event, Broadcast) and not _names(event.m, process)
    ]


def other_payloads(history: History) -> list[Offence]:
    """Return a finding about first deliveries of messages with another payload than in the source's first
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


def destinations_of(history: History) -> dict[str, frozenset[int]]:
    """Map each message that has destinations to them; the first broadcast by its source names them."""
    told: dict[str, frozenset[int] | None] = {}
    for process, events in enumerate(history):
        for event in events:
            if isinstance(event, Broadcast) and _names(event.m, process):
                named = None if event.destinations is None else frozenset(event.destinations)
                told.setdefault(event.m, named)
    return {m: named for m, named in told.items() if named is not None}


def deliveries_to_others(history: History) -> list[Offence]:
    """Return a finding about deliveries of messages at processes that are not among the destinations."""
    meant = destinations_of(history)
    return [
        (FOR_OTHERS, Place(process, event.i, event.m), None)
        for process, events in enumerate(history)
        for event in events
        if isinstance(event, Deliver) and process not in meant.get(event.m, (process,))
    ]


def no_duplication(history: History) -> Finding:
    """Check that no process delivers a message twice, whoever broadcast it."""
    offences: list[Offence] = []
    for process, events in enumerate(history):
        first: dict[str, Place] = {}
        for event in events:
            if not isinstance(event, Deliver):
                continue
            here = Place(process, event.i, event.m)
            if event.m in first:
                offences.append((TWICE, here, first[event.m]))
            first.setdefault(event.m, here)
    return finding(NO_DUPLICATION.name, offences)


def _names(message: str, process: int) -> bool:
    """Return True if an identifier names a process as its source."""
    return message.split(":")[0] == str(process)
