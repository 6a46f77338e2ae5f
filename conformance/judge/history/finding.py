"""A finding says how often a property was violated in a run, and shows the first two events that clash.

The vocabulary of the judge and of whoever shows its verdicts: findings, places, and the reasons that no
service gives. It knows no property and no check.
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
"""Reasons that a log which stops early may only seem to show: the missing event may stand in the missing
part.
"""


@dataclass(frozen=True)
class Place:
    """An event in a run: its process, its index in that process, and the message, datagram or view it is
    about.

    `index` is None where the event is missing: the process should have delivered the message.
    """

    process: int
    index: int | None
    message: str

    def __str__(self) -> str:
        """File and line, as in a log without faults: the header is line 1, and event 0 follows it."""
        if self.index is None:
            return f"no delivery of {self.message} by process {self.process}"
        return f"{log_name(self.process)}:{self.index + 2} ({self.message})"

    def to_json(self) -> dict[str, Any]:
        """The place as JSON data."""
        return {"process": self.process, "index": self.index, "message": self.message}


@dataclass(frozen=True)
class Finding:
    """The finding about a property: the number of its offences (`offending`, 0 when it holds), the first
    reason, and its place.

    What is counted: events; of what is lacking in the end cases, as pairs of a message and a process that
    lacks it (agreement); contradictions (causality). `judged` counts what the property is about (`counting`):
    where that is nothing, it was not judged. `doubt` says why these logs cannot show whether it is kept,
    `implied` names a property whose violation is this one too, `odd` who is alone in what it does.
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
        """Say what was found in one sentence; nothing if nothing was."""
        if self.doubt or not self.offending:
            return self.doubt or ""
        if self.implied:
            return f"broken with {self.implied}"
        where = f": {self.first}" if self.first else ""
        against = f", against {self.second}" if self.second else ""
        more = f", and {self.offending - 1} more" * (self.offending > 1)
        return f"{self.reason}{where}{against}{more}" + (f"; {self.odd}" if self.odd else "")

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON data."""
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
"""Why an event offends, where it stands, and what it clashes with."""


def finding(name: str, offences: Sequence[Offence]) -> Finding:
    """Sum up the offences of a property, of which the first is shown."""
    return Finding(name, len(offences), *offences[0]) if offences else Finding(name)


def joined(found: Finding, offences: Sequence[Offence]) -> Finding:
    """The same finding with more offences; those that it had are shown first, but for one that may only
    seem to be one.
    """
    more = finding(found.property, offences)
    shown = more if more.offending and (not found.offending or found.reason in ABSENT) else found
    return replace(shown, offending=found.offending + more.offending)
