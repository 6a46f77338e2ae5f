"""A finding says how often a property was offended in a run, and shows the first two events that clash.

The vocabulary of the plain-Python checks and of the pipeline: names of properties, reasons, places.
It knows no check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from antiphon.conformance.trace import Crash, Event

History = Sequence[Sequence[Event]]
"""The events of a run: `history[p]` are those of process p, in its own order."""

UNIFORM_INTEGRITY: Final = "UniformIntegrity"
UNIFORM_AGREEMENT: Final = "UniformAgreement"
VALIDITY: Final = "Validity"
UNIFORM_TOTAL_ORDER: Final = "UniformTotalOrder"
PREFIX_ORDER: Final = "PrefixOrder"
PROPERTIES: Final = (UNIFORM_INTEGRITY, UNIFORM_AGREEMENT, VALIDITY, UNIFORM_TOTAL_ORDER, PREFIX_ORDER)
"""All properties, in the order in which they are reported."""

TWICE: Final = "delivered a second time"
NEVER_BROADCAST: Final = "delivered, but its sender never broadcast it"
OTHER_PAYLOAD: Final = "delivered with another payload than was broadcast"
NOT_BY_ALL: Final = "delivered by one process, not by the other, which has not crashed"
BY_NOBODY: Final = "broadcast by a correct process, delivered by no correct process"
OTHER_ORDER: Final = "both deliver both messages, each delivers its own first"
OTHER_MESSAGE: Final = "deliver different messages at the same position"


@dataclass(frozen=True)
class Place:
    """An event in a run: its process, its index in that process, its message.

    `index` is None where the event is missing: the process should have delivered the message.
    """

    process: int
    index: int | None
    message: str

    def __str__(self) -> str:
        where = "no delivery" if self.index is None else f"event {self.index}"
        return f"process {self.process}, {where}, message {self.message}"


@dataclass(frozen=True)
class Finding:
    """How often a property was offended (`offending`, 0 when it holds), why at first, and where.

    What is counted: deliveries (integrity), pairs of a message and a process that lacks it
    (agreement), broadcasts (validity), messages out of place summed over pairs of processes (total
    order), positions (prefix order).
    """

    property: str
    offending: int = 0
    reason: str | None = None
    first: Place | None = None
    second: Place | None = None


def correct_processes(history: History) -> list[int]:
    """Name the processes that wrote something and did not crash."""
    return [p for p, events in enumerate(history) if events and not any(isinstance(e, Crash) for e in events)]
