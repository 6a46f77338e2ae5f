"""Finding: the number of violations of a property in a run, and the first two contradicting events.

This module has the vocabulary of the judge and of its callers: findings, places, and the reasons of
violations that no service has. It knows no property and no check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from antiphon.conformance.judge.trace import Event, log_name
from antiphon.spec.services.broadcast import NEVER_BROADCAST

History = Sequence[Sequence[Event]]
"""The events of a run: `history[p]` are those of process p, in its own order."""

BROADCAST_BY_ANOTHER: Final = "broadcast by a process that it does not name as its source"
FOR_OTHERS: Final = "delivered by a process that it is not for"
OTHER_PAYLOAD: Final = "delivered with another payload than was broadcast"
NO_SEQUENCE: Final = "no sequence explains these deliveries"
SENT_AGAIN: Final = "sent a second time"
SENT_BY_ANOTHER: Final = "sent by a process that it does not name as its sender"
NEVER_SENT: Final = "received, but nobody sent it"
RECEIVED_BY_ANOTHER: Final = "received by a process that it was not sent to"
CYCLE: Final = "comes before its own cause"
TOOK_OTHER: Final = "taken by the protocol other than the application broadcast it there"
TOOK_NOTHING: Final = "broadcast by the application, never taken by the protocol"
GOT_OTHER: Final = "got by the application other than the protocol delivered it there"
GOT_NOTHING: Final = "delivered by the protocol, never got by the application"
ACCUSED: Final = "reports what no correct process says"

ABSENT: Final = (NEVER_BROADCAST, NEVER_SENT, RECEIVED_BY_ANOTHER)
"""Reasons that an incomplete log may only seem to show: the missing event may be in the missing part."""


@dataclass(frozen=True)
class Place:
    """Place of an event in a run: its process, its index in that process, and its message, datagram or view.

    `index` is None for a missing event: the process should have delivered the message.
    """

    process: int
    index: int | None
    message: str

    def __str__(self) -> str:
        """Return file and line, as in a log without faults: the header is line 1, and event 0 follows it."""
        if self.index is None:
            return f"no delivery of {self.message} by process {self.process}"
        return f"{log_name(self.process)}:{self.index + 2} ({self.message})"

    def to_json(self) -> dict[str, Any]:
        """Return the place as JSON data."""
        return {"process": self.process, "index": self.index, "message": self.message}


@dataclass(frozen=True)
class Finding:
    """Finding about a property: the number of violations (`offending`, 0 when it holds), the first reason,
    and its place.

    The unit of the count is an event; for missing deliveries a pair of a message and a process (agreement); a
    contradiction (causality). `judged` is the number of events that the property concerns (`counting`): with
    0 it was not judged. `doubt` says why these logs cannot decide it, `implied` names a property whose
    violation implies this one, `odd` the process that alone differs from the others.
    """

    property: str
    offending: int = 0
    reason: str | None = None
    first: Place | None = None
    second: Place | None = None
    judged: int = 0
    doubt: str | None = None
    implied: str | None = None
    odd: str | None = None

    def __str__(self) -> str:
        """Return the finding in one sentence, or "" without a violation."""
        if self.doubt or not self.offending:
            return self.doubt or ""
        if self.implied:
            return f"broken with {self.implied}"
        where = f": {self.first}" if self.first else ""
        against = f", against {self.second}" if self.second else ""
        more = f", and {self.offending - 1} more" * (self.offending > 1)
        return f"{self.reason}{where}{against}{more}" + (f"; {self.odd}" if self.odd else "")

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON data."""
        return {
            "property": self.property,
            "judged": self.judged,
            "offending": self.offending,
            "reason": self.reason,
            "first": self.first and self.first.to_json(),
            "second": self.second and self.second.to_json(),
            "doubt": self.doubt,
            "implied": self.implied,
            "odd": self.odd,
        }


Offence = tuple[str, Place, Place | None]
"""Violation: its reason, its place, and the place that it contradicts."""


def finding(name: str, offences: Sequence[Offence]) -> Finding:
    """Return the finding on the violations of a property; it shows the first one."""
    return Finding(name, len(offences), *offences[0]) if offences else Finding(name)


def joined(found: Finding, offences: Sequence[Offence]) -> Finding:
    """Return the finding with more violations; it shows its earlier ones first, except for one that an
    incomplete log may only seem to show.
    """
    more = finding(found.property, offences)
    shown = more if more.offending and (not found.offending or found.reason in ABSENT) else found
    return replace(shown, offending=found.offending + more.offending)
