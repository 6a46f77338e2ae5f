"""A damaged log is read as far as it can be: every fault is located, every good line is kept.

This module does not judge a run. It knows the shape of one file: a header, events whose indices
count from 0, `end` on the last line. What does not fit is a `Problem` with file, line and reason,
and whoever judges the log owes the verdict `unknown` while there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from antiphon.conformance.trace.schema import SCHEMA, VERSION, Crash, End, Event, Header


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


class _Kind(msgspec.Struct, frozen=True):
    """As much of a first line as tells whether it is a header that this reader may read."""

    schema: str
    version: int


_kind = msgspec.json.Decoder(_Kind)
_header = msgspec.json.Decoder(Header)
_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


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
            self.fault(number, "the line is cut off: it has no end of line")
        if number == 1 and self._take_header(line):
            return
        try:
            event = _event.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.fault(number, f"not an event: {_shown(line)}: {error}")
            self.next_index += 1
            return
        self._take_event(number, event)

    def _take_header(self, line: bytes) -> bool:
        """Read the first line as a header; False when it is none, so that an event there is kept."""
        try:
            kind = _kind.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.fault(1, f'no header: the first line must say {{"schema":"{SCHEMA}","version":{VERSION},...}}')
            return _undecodable(line)
        if kind.schema != SCHEMA:
            self.fault(1, f"schema {kind.schema!r} is not {SCHEMA!r}")
        elif kind.version != VERSION:
            self.fault(1, f"version {kind.version} of the schema; this reader knows version {VERSION}")
        else:
            try:
                self.header = _header.decode(line)
            except msgspec.DecodeError as error:
                self.fault(1, f"not a header: {error}")
        return True

    def _take_event(self, number: int, event: Event) -> None:
        if event.i != self.next_index:
            self.fault(number, f"event {event.i} where event {self.next_index} must stand")
        self.next_index = event.i + 1
        last = self.events[-1] if self.events else None
        if isinstance(last, End):
            self.fault(number, "an event after end")
        elif isinstance(last, Crash) and not isinstance(event, End):
            self.fault(number, "an event of a process that has crashed")
        self.events.append(event)
        self.lines.append(number)

    def finish(self) -> Log:
        if self.last_line == 0 and not self.problems:
            self.fault(0, "the file is empty")
        elif self.last_line and not (self.events and isinstance(self.events[-1], End)):
            self.fault(self.last_line, "the log is truncated: its last line is not end")
        return Log(self.path, self.header, tuple(self.events), tuple(self.lines), tuple(self.problems))


def _undecodable(line: bytes) -> bool:
    """Whether a first line that is no header is no event either, and so has been reported already."""
    try:
        _event.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return True
    return False


def _shown(line: bytes) -> str:
    """Show the beginning of a line, whatever bytes it holds."""
    text = line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 60 else text[:57] + "...")
