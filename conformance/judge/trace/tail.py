"""A log that still grows is read further from where its reader stopped: whole lines, each once.

How far it was read is a small record (`Tail`) that can be kept and read back. A line without its end may
still be in the making, and is left for the next time, but for `end`. What a line is, `reader` and `lines`
decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from antiphon.conformance.judge.trace.lines import decode_line
from antiphon.conformance.judge.trace.reader import LINE_BYTES_MAX, LogLine, Reading
from antiphon.conformance.judge.trace.schema import Crash, End

SHORTER = "the log has become shorter while it was followed"


class Tail(msgspec.Struct):
    """The position in a log that is being read: `at` in bytes, `lines` in lines, then the index that the next
    event must have.

    `begun` tells that a line was not blank, `crashed` and `ended` what stood last; `skipping` that the rest
    of a line that is too long comes next, `unended` that the end of the line may come that was read last.
    """

    at: int = 0
    lines: int = 0
    next_index: int = 0
    crashed: bool = False
    ended: bool = False
    skipping: bool = False
    begun: bool = False
    unended: bool = False

    def read(self, path: str | Path, end: int) -> Iterator[LogLine]:
        """Read on to this byte at most, and note how far it came; line 0 speaks of the file as a whole. As
        `read_lines`, it never raises, but it does not miss an end of the log.
        """
        last = End(0) if self.ended else Crash(0) if self.crashed else None
        begun = self.begun or self.next_index > 0
        reading = Reading(number=self.lines, begun=begun, next_index=self.next_index, last=last)
        try:
            with Path(path).open("rb") as file:
                file.seek(self.at)
                while self.at < end:
                    text = file.readline(min(LINE_BYTES_MAX, end - self.at))
                    whole = text.endswith(b"\n")
                    if not text:
                        yield LogLine(0, fault=SHORTER)
                        return
                    if not whole and len(text) < LINE_BYTES_MAX and not _is_end(text):
                        return
                    self.at += len(text)
                    if self.unended and text == b"\n":
                        self.unended = False
                        continue
                    self.unended = not whole and len(text) < LINE_BYTES_MAX
                    if not self.skipping:
                        line = reading.line(text)
                        self.lines, self.next_index = reading.number, reading.next_index
                        self.begun = reading.begun
                        if line.event is not None:
                            self.crashed = isinstance(line.event, Crash)
                            self.ended = isinstance(line.event, End)
                        yield line
                    self.skipping = not whole and len(text) == LINE_BYTES_MAX
        except OSError as error:
            yield LogLine(0, fault=f"cannot be read: {error.strerror}")


def _is_end(text: bytes) -> bool:
    """Return True if a line without its end is whole all the same, and the last."""
    return isinstance(decode_line(2, text).event, End)
