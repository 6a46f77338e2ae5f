"""An output that cannot be written stops no command and changes no verdict.

1. Streams stand in for standard output and standard error while a command runs. They keep their first failure
   and drop what follows. A reader that goes away (`| head`) is no failure; it ends only endless commands.
2. A file that an option asked for and that cannot be written after the work is named on standard error.
3. The exit code stays that of the verdict; where that is 0, it becomes 70.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

FAILURE = 70


class NobodyReads(Exception):
    """Standard output of a command that goes on for ever is read by nobody any more."""


class Answer:
    """What a command could not write, and its exit code after that."""

    def __init__(self, *, endless: bool) -> None:
        self.out = _Stream(sys.stdout or _nowhere(), endless=endless)
        self.err = _Stream(sys.stderr or _nowhere())
        self.files: list[str] = []
        """The complaints about files that were asked for and not written."""

    def code(self, code: int) -> int:
        """The exit code of a command that ended with `code`."""
        self.out.flush()
        lost = self.out.failure
        if lost is not None:
            _silence(self.out)
            if not isinstance(lost, BrokenPipeError):
                self.files.append(f"standard output: cannot be written: {lost.strerror}")
                self.err.write(f"antiphon: {self.files[-1]}\n")
        self.err.flush()
        if self.err.failure is not None:
            _silence(self.err)
        return FAILURE if self.files and code == 0 else code


_answers: list[Answer] = []
"""That of the command that runs, if one does."""


def unwritten(option: str, file: object, error: OSError) -> None:
    """Say that what an option asked for could not be written after the work; the answer stands."""
    told = f"{option} {file}: not written: {error.strerror}"
    sys.stderr.write(f"antiphon: {told}\n")
    if _answers:
        _answers[-1].files.append(told)


def is_all_written() -> bool:
    """Return True if everything that was asked for could be written so far."""
    return not (_answers and _answers[-1].files)


@contextmanager
def standing(*, endless: bool = False) -> Iterator[Answer]:
    """Stand in for standard output and standard error while a command runs.

    Args:
        endless: the command goes on for ever, so that it must end when nobody reads it.
    """
    before = sys.stdout, sys.stderr
    answer = Answer(endless=endless)
    sys.stdout, sys.stderr = cast("TextIO", answer.out), cast("TextIO", answer.err)
    _answers.append(answer)
    try:
        yield answer
    finally:
        _answers.pop()
        sys.stdout, sys.stderr = before


class _Stream:
    """A text stream that keeps its first failure, and drops what follows."""

    def __init__(self, stream: TextIO, *, endless: bool = False) -> None:
        self.failure: OSError | None = None
        self._stream, self._endless = stream, endless

    def write(self, text: str) -> int:
        """Write a text, unless writing has failed before."""
        if not isinstance(text, str):  # by this libraries tell a text stream from one of bytes
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self.failure is None:
            with self._kept():
                self._stream.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write texts one after the other."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Pass on what was written, unless writing has failed before."""
        if self.failure is None:
            with self._kept():
                self._stream.flush()

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.failure = error
            if self._endless and isinstance(error, BrokenPipeError):
                raise NobodyReads from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _nowhere() -> TextIO:
    """A stream for a process that was started with a closed one."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - as long as the process


def _silence(stream: _Stream) -> None:
    """Let Python find nothing to complain about when it flushes the stream at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
