"""A damaged log is read as far as it can be: every fault is located, every good line is kept.

This module does not judge a run, nor decide what a line is (`lines` does). It knows the shape of one file: a
header, events whose indices count from 0, `end` on the last line. What does not fit is a `Problem` with file,
line and reason, and whoever judges the log owes the verdict `unknown` while there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from antiphon.conformance.trace.lines import decode_line
from antiphon.conformance.trace.schema import Crash, End, Event, Header

EMPTY: Final = "the file is empty"
CUT_OFF: Final = "the line is cut off: it has no end of line"
TRUNCATED: Final = "the log is truncated: its last line is not end"
AFTER_END: Final = "an event after end"
AFTER_CRASH: Final = "an event of a process that has crashed"


@dataclass(frozen=True)
class Problem:
    """One fault of one file; `line` counts from 1, and 0 speaks of the file as a whole."""

    path: Path
    line: int
    reason: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else f"{self.path}"
        return f"{place}: {self.reason}"


@dataclass(frozen=True)
class Log:
    """What one file says: its header if it has one, the events that parse, the faults.

    `lines[k]` is the line on which `events[k]` stands.
    """

    path: Path
    header: Header | None
    events: tuple[Event, ...]
    lines: tuple[int, ...]
    problems: tuple[Problem, ...]

    @property
    def complete(self) -> bool:
        """Whether the log has nothing wrong and nothing missing."""
        return not self.problems


def read_log(path: Path) -> Log:
    """Read one log.

    Never raises for what the file contains, nor for a file that is missing or cannot be read:
    those are problems too.
    """
    reading = _Reading(path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                reading.line(number, line)
    except OSError as error:
        reading.fault(reading.last_line, f"cannot be read: {error.strerror}")
    return reading.finish()


class _Reading:
    """The state of reading one file: what is kept so far and the index that must come next."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: Header | None = None
        self.events: list[Event] = []
        self.lines: list[int] = []
        self.problems: list[Problem] = []
        self.next_index = 0
        self.last_line = 0

    def fault(self, line: int, reason: str) -> None:
        self.problems.append(Problem(self.path, line, reason))

    def line(self, number: int, line: bytes) -> None:
        """Take one line, keep what it says, note what is wrong with it."""
        self.last_line = number
        if not line.endswith(b"\n"):
            self.fault(number, CUT_OFF)
        header, event, fault, detail = decode_line(number, line)
        if fault is not None:
            self.fault(number, detail)
        if number == 1:
            self.header = header
        elif event is None:
            self.next_index += 1
        if event is not None:
            self._take_event(number, event)

    def _take_event(self, number: int, event: Event) -> None:
        if event.i != self.next_index:
            self.fault(number, f"event {event.i} where event {self.next_index} must stand")
        self.next_index = event.i + 1
        last = self.events[-1] if self.events else None
        if isinstance(last, End):
            self.fault(number, AFTER_END)
        elif isinstance(last, Crash) and not isinstance(event, End):
            self.fault(number, AFTER_CRASH)
        self.events.append(event)
        self.lines.append(number)

    def finish(self) -> Log:
        if self.last_line == 0 and not self.problems:
            self.fault(0, EMPTY)
        elif self.last_line and not (self.events and isinstance(self.events[-1], End)):
            self.fault(self.last_line, TRUNCATED)
        return Log(self.path, self.header, tuple(self.events), tuple(self.lines), tuple(self.problems))
