"""A damaged log is read as far as it can be: every fault is located, every good line is kept.

This module does not judge a run, nor decide what a line is (`lines` does). It knows the shape of one file: a
header, events whose indices count from 0, `end` on the last line. A line that does not fit is one fault, its
first, with file, line and reason; whoever judges the log owes the verdict `unknown` while there is one. No
more than `LINE_BYTES_MAX` bytes of a line are held, however long it is.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from antiphon.conformance.trace.lines import decode_line
from antiphon.conformance.trace.schema import Crash, End, Event, Header

LINE_BYTES_MAX: Final = 65_536
"""The longest line that is read, its end of line included."""

EMPTY: Final = "the file is empty"
TOO_LONG: Final = f"the line is longer than {LINE_BYTES_MAX:,} bytes"
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


class LogLine(NamedTuple):
    """What one line of a log says, and its fault if it has one; line 0 speaks of the file as a whole.

    `text` holds the line without its end, or the beginning of one that is too long.
    """

    number: int
    text: bytes = b""
    header: Header | None = None
    event: Event | None = None
    fault: str | None = None


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
    header: Header | None = None
    events: list[Event] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for line in read_lines(path):
        header = header or line.header
        if line.event is not None:
            events.append(line.event)
            lines.append(line.number)
        if line.fault is not None:
            problems.append(Problem(path, line.number, line.fault))
    return Log(path, header, tuple(events), tuple(lines), tuple(problems))


def read_lines(log: Path | bytes) -> Iterator[LogLine]:
    """Read a log, or the bytes of one, line by line, with at most one fault each; as `read_log`, it never
    raises.
    """
    reading = _Reading()
    last = LogLine(0)
    try:
        with _opened(log) as file:
            for text, whole in _bounded_lines(file):
                if last.number:
                    yield last
                last = reading.line(last.number + 1, text, whole)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        told = getattr(error, "strerror", None) or str(error)
        yield last._replace(fault=last.fault or f"cannot be read: {told}")
        return
    if last.number == 0:
        yield LogLine(0, fault=EMPTY)
    elif last.fault is None and not isinstance(last.event, End):
        yield last._replace(fault=TRUNCATED)
    else:
        yield last


def _opened(log: Path | bytes) -> AbstractContextManager[BinaryIO]:
    return BytesIO(log) if isinstance(log, bytes) else _OPENERS.get(log.suffix, Path.open)(log, "rb")


_OPENERS: Final[Mapping[str, Callable[..., Any]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""How a log that is compressed is read, by the end of its name."""


def _bounded_lines(file: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """The lines of a file as `LINE_BYTES_MAX` bytes at most, each with whether that is all of it."""
    while text := file.readline(LINE_BYTES_MAX):
        whole = text.endswith(b"\n") or len(text) < LINE_BYTES_MAX
        yield text, whole
        while not whole:
            rest = file.readline(LINE_BYTES_MAX)
            whole = rest.endswith(b"\n") or not rest


class _Reading:
    """The state of reading one file: the index that must come next, and the last event."""

    def __init__(self) -> None:
        self.next_index = 0
        self.last: Event | None = None

    def line(self, number: int, text: bytes, whole: bool) -> LogLine:
        """Take one line, keep what it says, note the first thing that is wrong with it."""
        said = text.removesuffix(b"\n")
        header, event, fault = decode_line(number, text) if whole else (None, None, TOO_LONG)
        if whole and said == text:
            fault = CUT_OFF
        if event is not None:
            fault = fault or self._misplaced(event)
            self.next_index = event.i + 1
            self.last = event
        elif number > 1:
            self.next_index += 1
        return LogLine(number, said, header, event, fault)

    def _misplaced(self, event: Event) -> str | None:
        if isinstance(self.last, End):
            return AFTER_END
        if isinstance(self.last, Crash) and not isinstance(event, End):
            return AFTER_CRASH
        if event.i != self.next_index:
            return f"event {event.i} where event {self.next_index} must stand"
        return None
