"""Every delivery has a broadcast, every broadcast a delivery, and no correct process misses one.

Integrity, agreement and validity on the complete log of one run: "eventually" has come true by the
end of the log or it never does. A message is its identifier, whatever its payload. This module knows nothing
of order between messages.

Source: Barchet-Estefanel 2002, section 2.1 (Validity, Uniform Agreement, Agreement, Uniform Integrity).
"""

from __future__ import annotations

from antiphon.conformance.history.finding import (
    AGREEMENT,
    BROADCAST_AGAIN,
    BROADCAST_BY_ANOTHER,
    BROADCAST_ONCE,
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
    Offence,
    Place,
    correct_processes,
    finding,
)
from antiphon.conformance.trace import Broadcast, Deliver


def broadcast_once(history: History) -> Finding:
    """An identifier names one message: the process that it names as its source broadcasts it, once."""
    first: dict[str, Place] = {}
    offences: list[Offence] = []
    for process, events in enumerate(history):
        for event in events:
            if not isinstance(event, Broadcast):
                continue
            here = Place(process, event.i, event.m)
            if not _names(event.m, process):
                offences.append((BROADCAST_BY_ANOTHER, here, None))
            elif event.m in first:
                offences.append((BROADCAST_AGAIN, here, first[event.m]))
            else:
                first[event.m] = here
    return finding(BROADCAST_ONCE, offences)


def integrity(history: History) -> Finding:
    """Every process delivers a message at most once, and only as its source broadcast it.

    A delivery offends at most once: as a repetition, else as unknown, else for its payload. The
    payload is compared by digest with the source's first broadcast of that message.
    """
    broadcasts = _broadcasts(history)
    offences: list[Offence] = []
    for process, events in enumerate(history):
        seen: dict[str, Place] = {}
        for event in events:
            if not isinstance(event, Deliver):
                continue
            here = Place(process, event.i, event.m)
            if event.m in seen:
                offences.append((TWICE, here, seen[event.m]))
                continue
            seen[event.m] = here
            if event.m not in broadcasts:
                offences.append((NEVER_BROADCAST, here, None))
            elif broadcasts[event.m][1] != event.digest:
                offences.append((OTHER_PAYLOAD, here, broadcasts[event.m][0]))
    return finding(UNIFORM_INTEGRITY, offences)


def uniform_agreement(history: History) -> Finding:
    """What any process delivers, every process delivers that did not crash."""
    return _agreement(history, UNIFORM_AGREEMENT, list(range(len(history))))


def agreement(history: History) -> Finding:
    """What a process delivers that did not crash, every process delivers that did not crash."""
    return _agreement(history, AGREEMENT, correct_processes(history))


def validity(history: History) -> Finding:
    """What a correct process broadcasts, some correct process delivers."""
    correct = correct_processes(history)
    delivered = _delivered_by(history, correct)
    offences: list[Offence] = [
        (BY_NOBODY, Place(process, event.i, event.m), None)
        for process in correct
        for event in history[process]
        if isinstance(event, Broadcast) and event.m not in delivered
    ]
    return finding(VALIDITY, offences)


def _agreement(history: History, name: str, deliverers: list[int]) -> Finding:
    correct = correct_processes(history)
    offences: list[Offence] = [
        (NOT_BY_ALL, next(iter(places.values())), Place(process, None, message))
        for message, places in _delivered_by(history, deliverers).items()
        for process in correct
        if process not in places
    ]
    return finding(name, offences)


def _names(message: str, process: int) -> bool:
    """Whether an identifier names a process as its source."""
    return message.split(":")[0] == str(process)


def _broadcasts(history: History) -> dict[str, tuple[Place, str]]:
    """Map every message to the first broadcast of it by its own source, and to the digest told there."""
    broadcasts: dict[str, tuple[Place, str]] = {}
    for process, events in enumerate(history):
        for event in events:
            if isinstance(event, Broadcast) and _names(event.m, process):
                broadcasts.setdefault(event.m, (Place(process, event.i, event.m), event.digest))
    return broadcasts


def _delivered_by(history: History, processes: list[int]) -> dict[str, dict[int, Place]]:
    """Map every message that these processes delivered to its first delivery at each of them, in order."""
    delivered: dict[str, dict[int, Place]] = {}
    for process in processes:
        for event in history[process]:
            if isinstance(event, Deliver):
                delivered.setdefault(event.m, {}).setdefault(process, Place(process, event.i, event.m))
    return delivered
