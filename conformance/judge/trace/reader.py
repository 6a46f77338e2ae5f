"""Reader of a log, damaged or not: every fault has its place, every good line is read.

This module does not judge a run, nor decode a line (`lines` does). It knows the shape of one file: a header,
events whose indices count from 0, `end` on the last line. A line that does not fit is one fault, its first,
with file, line and reason; the judge must return `unknown` if there is one. No more than `LINE_BYTES_MAX`
bytes of a line are held, however long it is.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from antiphon.conformance.extras import needs_zstd
from antiphon.conformance.judge.trace.blocks import Block, block_of
from antiphon.conformance.judge.trace.lines import NOTHING, Line, decode_line
from antiphon.conformance.judge.trace.schema import Crash, End, Event, Header, Recover

LINE_BYTES_MAX: Final = 65_536
"""The longest line that is read, its end of line included."""

EMPTY: Final = "the file is empty"
TOO_LONG: Final = f"the line is longer than {LINE_BYTES_MAX:,} bytes"
CUT_OFF: Final = "the line is cut off"
TRUNCATED: Final = "the log is truncated: its last line is not end"
AFTER_END: Final = "an event after end"
AFTER_CRASH: Final = "an event of a process that has crashed"


@dataclass(frozen=True)
class Problem:
    """Fault of a file; `line` counts from 1, and 0 stands for the file as a whole."""

    path: Path
    line: int
    reason: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else f"{self.path}"
        return f"{place}: {self.reason}"


class LogLine(NamedTuple):
    """Content of one line of a log, and its fault if it has one; line 0 is about the file as a whole. A blank
    line has none.

    `text` is the line without its end, or the beginning of one that is too long; `more` the fields that the
    schema does not know.
    """

    number: int
    text: bytes = b""
    header: Header | None = None
    event: Event | None = None
    fault: str | None = None
    more: Mapping[str, Any] = NOTHING


@dataclass(frozen=True)
class Log:
    """Content of one file: its header if it has one, the events that can be decoded, the faults.

    `lines[k]` is the line of `events[k]`; `more` has, by lines, the fields that the schema does not know.
    """

    path: Path
    header: Header | None
    events: tuple[Event, ...]
    lines: tuple[int, ...]
    problems: tuple[Problem, ...]
    more: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Return True if the log has no fault and is not cut off."""
        return not self.problems


def read_log(path: str | Path, end: int | None = None) -> Log:
    """Read one log, up to a byte if one is named.

    The contents of the file raise no error, nor does a missing or unreadable file: these are problems too.
    """
    path = Path(path)
    header: Header | None = None
    events: list[Event] = []
    lines: list[int] = []
    problems: list[Problem] = []
    more: dict[int, Mapping[str, Any]] = {}
    for part in read_parts(path, end):
        if isinstance(part, Block):
            events += part.events()
            lines += part.lines
            continue
        header = header or part.header
        if part.event is not None:
            events.append(part.event)
            lines.append(part.number)
        if part.fault is not None:
            problems.append(Problem(path, part.number, part.fault))
        if part.more:
            more[part.number] = part.more
    return Log(path, header, tuple(events), tuple(lines), tuple(problems), more)


def read_lines(log: str | Path | bytes) -> Iterator[LogLine]:
    """Yield the lines of a log, or of its bytes, each with at most one fault; as `read_log`, it
    never raises.
    """
    for part in _read(log, Reading(in_blocks=False)):
        assert isinstance(part, LogLine)
        yield part


def read_parts(log: Path | str | bytes, end: int | None = None) -> Iterator[LogLine | Block]:
    """Yield the parts of a log, up to a byte if one is named: blocks of lines in the writer's spelling, and
    single lines.
    """
    return _read(log, Reading(in_blocks=True), end)


def _read(log: Path | str | bytes, reading: Reading, end: int | None = None) -> Iterator[LogLine | Block]:
    """Read a log in lines and blocks. The last line is always returned alone and after the others, since
    faults of the file's end are reported at it.
    """
    last = LogLine(0)
    try:
        with _opened(log, end) as file:
            for text in _pieces(file):
                for part in reading.parts(text):
                    if last.number:
                        yield last
                    if isinstance(part, Block):
                        yield part
                        last = LogLine(0)
                    else:
                        last = part
    except _damages() as error:
        told = getattr(error, "strerror", None) or str(error)
        yield last._replace(fault=last.fault or f"cannot be read: {told}")
        return
    if last.number == 0:
        yield LogLine(0, fault=EMPTY)
    elif last.fault is None and not reading.ended:
        yield last._replace(fault=TRUNCATED)
    else:
        yield last


def _opened(log: Path | str | bytes, end: int | None) -> AbstractContextManager[BinaryIO]:
    if isinstance(log, bytes):
        return io.BytesIO(log[:end])
    path = os.fspath(log)
    opener = _OPENERS.get(f".{path.rpartition('.')[2]}", plain)
    opened: AbstractContextManager[BinaryIO] = opener(path, "rb")
    if end is None:
        return opened
    with opened as file:
        return io.BytesIO(file.read(end))


def plain(path: str, mode: str) -> io.FileIO:
    """Open a file that is not compressed, without a buffer: it is read in large pieces."""
    return io.FileIO(path, mode)


def _zstd(path: str, mode: str) -> Any:
    """Open a log that is compressed by Zstandard.

    Raises:
        MissingExtra: the package for that is not installed.
    """
    needs_zstd(path)
    import zstandard  # here: few logs are compressed so

    return zstandard.open(path, mode, dctx=zstandard.ZstdDecompressor(max_window_size=1 << 27))


def _damages() -> tuple[type[Exception], ...]:
    """Return the errors that a log which is damaged or cannot be opened raises; those of Zstandard only after
    a log that is compressed by it was opened.
    """
    loaded = sys.modules.get("zstandard")
    return (OSError, EOFError, zlib.error, lzma.LZMAError, *(() if loaded is None else (loaded.ZstdError,)))


_OPENERS: Final[Mapping[str, Callable[..., Any]]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _zstd,
}
"""Function that opens a compressed log, by the end of its name."""
_PIECE_BYTES: Final = 1 << 18
_FEW: Final = 64
"""Number of lines that are too few to look for a block among them."""


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file in pieces of whole lines. Yield separately the beginning of a line that is too long, and a
    last line without its end.
    """
    held, skipping = b"", False
    read = getattr(file, "read1", file.read)
    while more := read(_PIECE_BYTES):
        if skipping:
            skipping = b"\n" not in more
            more = more.partition(b"\n")[2]
        held += more
        if end := held.rfind(b"\n") + 1:
            yield held[:end]
            held = held[end:]
        if len(held) >= LINE_BYTES_MAX:
            yield held[:LINE_BYTES_MAX]
            held, skipping = b"", True
    if held:
        yield held


class Reading:
    """State of reading one file: the number of lines read, whether one of them was not blank, the index of
    the next event, and the last event if it was decoded as a single line.
    """

    def __init__(
        self,
        *,
        in_blocks: bool = False,
        number: int = 0,
        begun: bool = False,
        next_index: int = 0,
        last: Event | None = None,
    ) -> None:
        self.in_blocks = in_blocks
        self.number = number
        self.begun = begun
        self.next_index = next_index
        self.last = last

    @property
    def ended(self) -> bool:
        """Return True if the log is complete so far."""
        return isinstance(self.last, End)

    def parts(self, text: bytes) -> Iterator[LogLine | Block]:
        """Yield the lines and blocks of a text; the first line of a file, and the last line of the text, are
        single lines.
        """
        begin = end = 0
        if self.in_blocks:
            begin = 0 if self.number else text.find(b"\n") + 1
            end = max(text.rfind(b"\n", 0, -1) + 1, begin)
        yield from self._one_by_one(text[:begin])
        yield from self._many(text[begin:end])
        yield from self._one_by_one(text[end:])

    def _one_by_one(self, text: bytes) -> Iterator[LogLine]:
        return map(self.line, io.BytesIO(text))

    def _many(self, text: bytes) -> Iterator[LogLine | Block]:
        """Read whole lines: as one block if that is possible, else each half of them separately."""
        lines = text.count(b"\n")
        block = None
        if lines > 1 and self.begun and not isinstance(self.last, Crash | End):
            block = block_of(self.number + 1, self.next_index, text, lines)
        if block is not None:
            self.number += lines
            self.next_index += lines
            self.last = None
            yield block
        elif lines > _FEW:
            middle = text.rindex(b"\n", 0, max(len(text) // 2, text.index(b"\n") + 1)) + 1
            yield from self._many(text[:middle])
            yield from self._many(text[middle:])
        else:
            yield from self._one_by_one(text)

    def line(self, text: bytes) -> LogLine:
        """Decode one line, store its content, and record its first fault. The last line needs no end of line:
        JSON that is cut off cannot be decoded.
        """
        self.number += 1
        text = text[:LINE_BYTES_MAX]
        whole = text.endswith(b"\n") or len(text) < LINE_BYTES_MAX
        said = text.removesuffix(b"\n")
        if whole and not said.strip():
            return LogLine(self.number, said)
        is_first, self.begun = not self.begun, True
        header, event, fault, more = decode_line(2 - is_first, text) if whole else Line(fault=TOO_LONG)
        if whole and said == text and event is None and header is None:
            fault = CUT_OFF
        if event is not None:
            fault = fault or self._misplaced(event)
            self.next_index = event.i + 1
            self.last = event
        elif not is_first:
            self.next_index += 1
        return LogLine(self.number, said, header, event, fault, more)

    def _misplaced(self, event: Event) -> str | None:
        if isinstance(self.last, End):
            return AFTER_END
        if isinstance(self.last, Crash) and not isinstance(event, End | Recover):
            return AFTER_CRASH
        if event.i != self.next_index:
            return f"event {event.i} where event {self.next_index} must stand"
        return None
