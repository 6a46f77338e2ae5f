"""Reader of a log that still grows: it goes on at its last position, with whole lines, each once.

The position is a small record (`Tail`) that can be saved and loaded. A line without its end may still be
being written, and is left for the next time, except for `end`. `reader` and `lines` decode the lines.
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
    """Position in a log that is being read: `at` in bytes, `lines` in lines, then the index of the next
    event.

    `begun` is True after a line that was not blank, `crashed` and `ended` are about the last event;
    `skipping` is True within a line that is too long, `unended` if the end of the last line may still come.
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
        """Read the log from the stored position to byte `end` at most, and store the new position; line 0
        stands for the file as a whole. Never raise an error; a missing end of the log is no fault.
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
