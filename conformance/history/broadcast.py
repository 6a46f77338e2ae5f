"""Every delivery has a broadcast, every broadcast a delivery, and no correct process misses one.

Integrity, agreement and validity on the complete log of one run: "eventually" has come true by the
end of the log or it never does. This module knows nothing of order between messages.

Source: Barchet-Estefanel 2002, section 2.1 (Validity, Uniform Agreement, Uniform Integrity).
"""

from __future__ import annotations

from antiphon.conformance.history.finding import (
    BY_NOBODY,
    NEVER_BROADCAST,
    NOT_BY_ALL,
    OTHER_PAYLOAD,
    TWICE,
    UNIFORM_AGREEMENT,
    UNIFORM_INTEGRITY,
    VALIDITY,
    Finding,
    History,
    Place,
    correct_processes,
)
from antiphon.conformance.trace import Broadcast, Deliver


def integrity(history: History) -> Finding:
    """Every process delivers a message at most once, and only as its sender broadcast it.

    A delivery offends at most once: as a repetition, else as unknown, else for its payload. The
    payload is compared by digest with the sender's first broadcast of that message.
    """
    broadcasts = _broadcasts(history)
    offending: list[tuple[str, Place, Place | None]] = []
    for process, events in enumerate(history):
        seen: dict[str, Place] = {}
        for event in events:
            if not isinstance(event, Deliver):
                continue
            here = Place(process, event.i, event.m)
            if event.m in seen:
                offending.append((TWICE, here, seen[event.m]))
                continue
            seen[event.m] = here
            if event.m not in broadcasts:
                offending.append((NEVER_BROADCAST, here, None))
            elif broadcasts[event.m][1] != event.digest:
                offending.append((OTHER_PAYLOAD, here, broadcasts[event.m][0]))
    if not offending:
        return Finding(UNIFORM_INTEGRITY)
    return Finding(UNIFORM_INTEGRITY, len(offending), *offending[0])


def agreement(history: History) -> Finding:
    """What any process delivers, every process delivers that did not crash."""
    delivered_by = _delivered_by(history)
    correct = correct_processes(history)
    offending = [
        (min(places.items())[1], Place(process, None, message))
        for message, places in delivered_by.items()
        for process in correct
        if process not in places
    ]
    if not offending:
        return Finding(UNIFORM_AGREEMENT)
    first, second = min(offending, key=lambda pair: (pair[0].process, pair[0].index, pair[1].process))
    return Finding(UNIFORM_AGREEMENT, len(offending), NOT_BY_ALL, first, second)


def validity(history: History) -> Finding:
    """What a correct process broadcasts, some correct process delivers."""
    delivered_by = _delivered_by(history)
    correct = correct_processes(history)
    offending = [
        Place(process, event.i, event.m)
        for process in correct
        for event in history[process]
        if isinstance(event, Broadcast) and not any(q in delivered_by.get(event.m, {}) for q in correct)
    ]
    return Finding(VALIDITY, len(offending), BY_NOBODY, offending[0]) if offending else Finding(VALIDITY)


def _broadcasts(history: History) -> dict[str, tuple[Place, str]]:
    """Map every message to the first broadcast of it by its own sender, and to the digest told there."""
    broadcasts: dict[str, tuple[Place, str]] = {}
    for process, events in enumerate(history):
        for event in events:
            if isinstance(event, Broadcast) and event.m.split(":")[0] == str(process):
                broadcasts.setdefault(event.m, (Place(process, event.i, event.m), event.digest))
    return broadcasts


def _delivered_by(history: History) -> dict[str, dict[int, Place]]:
    """Map every delivered message to the first delivery of it at each process."""
    delivered: dict[str, dict[int, Place]] = {}
    for process, events in enumerate(history):
        for event in events:
            if isinstance(event, Deliver):
                delivered.setdefault(event.m, {}).setdefault(process, Place(process, event.i, event.m))
    return delivered
