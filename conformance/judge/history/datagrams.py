"""Check of datagrams: a datagram is received by a process that its sender sent it to, and no event comes
before its cause.

These are duties of the network and of the writers of logs: the network may lose, duplicate and reorder
datagrams, not make them. This module knows nothing of order between messages.
"""

from __future__ import annotations

from typing import Final

from antiphon.conformance.judge.history.finding import (
    CYCLE,
    NEVER_SENT,
    RECEIVED_BY_ANOTHER,
    SENT_AGAIN,
    SENT_BY_ANOTHER,
    Finding,
    History,
    Offence,
    Place,
    finding,
)
from antiphon.conformance.judge.trace import At, Merge, Receive, Send
from antiphon.spec.services.promises import Property

DATAGRAM_INTEGRITY: Final = Property(
    "DatagramIntegrity",
    "a datagram is sent once to each, by the process that it names, and received by nobody but whom it was "
    "sent to; never or any number of times",
    "datagrams",
    by="the network, and the transport that counts them",
    always=True,
    incarnations="kept",
    for_some=True,
)
CAUSALITY: Final = Property(
    "Causality",
    "there is an order of all events that keeps each process's own, sends before receives, broadcasts before "
    "deliveries",
    "events",
    by="those who write the logs",
    always=True,
    incarnations="kept",
    for_some=True,
)


def datagram_integrity(history: History) -> Finding:
    """Check that a datagram is sent once to each receiver, by the process that it names, and received only by
    a receiver.

    It may be received any number of times, or never. An event counts as one violation at most.
    """
    sends: dict[str, dict[int, Place]] = {}
    offences: list[Offence] = []
    for process, events in enumerate(history):
        for event in events:
            if not isinstance(event, Send):
                continue
            here = Place(process, event.i, event.d)
            if event.d.split(":")[0] != str(process):
                offences.append((SENT_BY_ANOTHER, here, None))
            elif event.to in sends.get(event.d, ()):
                offences.append((SENT_AGAIN, here, sends[event.d][event.to]))
            else:
                sends.setdefault(event.d, {})[event.to] = here
    for process, events in enumerate(history):
        for event in events:
            if not isinstance(event, Receive):
                continue
            here = Place(process, event.i, event.d)
            sent = sends.get(event.d)
            if sent is None:
                offences.append((NEVER_SENT, here, None))
            elif process not in sent:
                offences.append((RECEIVED_BY_ANOTHER, here, next(iter(sent.values()))))
    return finding(DATAGRAM_INTEGRITY.name, offences)


def causality(history: History, merge: Merge) -> Finding:
    """Check that there is an order of all events with each process's own order, sends before receives,
    broadcasts before deliveries.

    A violation shows an event and its cause that comes after it; other events may stand between them.
    """
    offences: list[Offence] = [
        (CYCLE, _place(history, effect, name), _place(history, cause, name))
        for effect, cause, name in merge.contradictions
    ]
    return finding(CAUSALITY.name, offences)


def _place(history: History, at: At, name: str) -> Place:
    process, position = at
    return Place(process, history[process][position].i, name)
