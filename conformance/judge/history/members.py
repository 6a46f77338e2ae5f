"""Judge of members: messages between application and protocol are the same on both sides, and members accuse
nobody.

This module compares the two sides of one process; it knows nothing of other processes' deliveries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from antiphon.conformance.judge.history.finding import (
    ACCUSED,
    GOT_NOTHING,
    GOT_OTHER,
    TOOK_NOTHING,
    TOOK_OTHER,
    Finding,
    History,
    Offence,
    Place,
    finding,
)
from antiphon.conformance.judge.trace import Broadcast, CoreBroadcast, CoreDeliver, Deliver, End, Violation
from antiphon.spec.services.promises import Property

HANDOVER: Final = Property(
    "Handover",
    "at each process the protocol takes what the application broadcasts, and the application gets what the "
    "protocol delivers: each one, once, unaltered, in order",
    "handovers",
    by="the library between the two",
    always=True,
    incarnations="each",
    for_some=True,
)
NO_VIOLATION: Final = Property(
    "NoViolation",
    "no process reports that another said what no correct process says",
    "events",
    by="every member",
    always=True,
    incarnations="each",
    for_some=True,
)


def handover(history: History) -> Finding:
    """Check that protocol and application exchange the same messages: each one, once, unaltered and in order.

    Judged are the processes whose logs have the protocol's events; in a finished log no message may be under
    way. The count is of the messages that arrived altered, and the first that never arrived.
    """
    offences: list[Offence] = []
    for process, events in enumerate(history):
        taken = [event for event in events if isinstance(event, CoreBroadcast)]
        given = [event for event in events if isinstance(event, CoreDeliver)]
        if not taken and not given:
            continue
        ended = isinstance(events[-1], End)
        broadcast = [event for event in events if isinstance(event, Broadcast)]
        got = [event for event in events if isinstance(event, Deliver)]
        offences += _passed_on(process, broadcast, taken, TOOK_OTHER, TOOK_NOTHING if ended else None)
        offences += _passed_on(process, given, got, GOT_OTHER, GOT_NOTHING if ended else None)
    return finding(HANDOVER.name, offences)


def no_violation(history: History) -> Finding:
    """Check that no process reports an impossible message from another."""
    offences: list[Offence] = [
        (ACCUSED, Place(process, event.i, f"process {event.sender}: {event.what}"), None)
        for process, events in enumerate(history)
        for event in events
        if isinstance(event, Violation)
    ]
    return finding(NO_VIOLATION.name, offences)


_Passing = Broadcast | CoreBroadcast | CoreDeliver | Deliver


def _passed_on(
    process: int, before: Sequence[_Passing], after: Sequence[_Passing], other: str, nothing: str | None
) -> Iterator[Offence]:
    """Compare the messages that went in on one side of a process with those that came out on the other side.
    Yield a violation for each message that came out and is not the one that went in at the same place and
    earlier, and for each one that never came out.
    """
    for k, event in enumerate(after):
        source = before[k] if k < len(before) and before[k].i < event.i else None
        if source is None or _content(source) != _content(event):
            yield other, _place(process, event), None if source is None else _place(process, source)
    if nothing is not None and len(after) < len(before):
        yield nothing, _place(process, before[len(after)]), None


def _content(event: _Passing) -> tuple[str, str, int]:
    return event.m, event.digest, event.number if isinstance(event, CoreDeliver | Deliver) else 0


def _place(process: int, event: _Passing) -> Place:
    return Place(process, event.i, event.m)
