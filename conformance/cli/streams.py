"""Output streams of a command: one that cannot be written stops no command and changes no verdict.

1. Streams stand in for standard output and standard error while a command runs. They keep their first failure
   and drop later output. A reader that goes away (`| head`) is no failure; it ends only endless commands.
2. A file of an option that cannot be written after the work is named on standard error.
3. The exit code stays that of the verdict; where that is 0, it becomes 70.
4. Foreign code may close or replace the streams, or their descriptors: they are restored before anything is
   printed. Output of such code goes to standard error where a command promises one document.
5. A character that the encoding of a stream does not have is written as its number. In JSON all characters
   that are not ASCII then are: so a document is JSON in any encoding.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from antiphon.spec.lang.calls import is_noted

FAILURE = 70

_LACKING = "backslashreplace"
"""Treatment of a character that the encoding of a stream lacks, by the name that `codecs` gives it."""


class NobodyReads(Exception):
    """Signal that nobody reads the standard output of an endless command any more."""


class Answer:
    """Streams of a running command; they note which output could not be written, and decide the exit code."""

    def __init__(self, *, endless: bool) -> None:
        out = sys.stdout or _nowhere()
        self.out = _Stream(out, endless=endless, held=is_noted() and not out.isatty())
        self.err = _Stream(sys.stderr or _nowhere())
        self.only_documents = False
        self.files: list[str] = []
        """Complaints about requested files that were not written."""

    def code(self, code: int) -> int:
        """Return the exit code of a command that ended with `code`."""
        restore()
        self.out.give()
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
"""List with the answer of the running command; empty if none runs."""


def unwritten(option: str, file: object, error: OSError) -> None:
    """Report that the file of an option could not be written after the work. The verdict of the work
    stands.
    """
    told = f"{option} {file}: not written: {error.strerror}"
    sys.stderr.write(f"antiphon: {told}\n")
    if _answers:
        _answers[-1].files.append(told)


def is_all_written() -> bool:
    """Return True if every requested file could be written so far."""
    return not (_answers and _answers[-1].files)


def restore() -> None:
    """Restore the standard streams to their state at the beginning of the command."""
    if not _answers:
        return
    answer = _answers[-1]
    answer.err.restore()
    answer.out.restore()
    sys.stderr = cast("TextIO", answer.err)
    sys.stdout = cast("TextIO", answer.err if answer.only_documents else answer.out)


def document() -> TextIO:
    """Return the stream of standard output on which a command prints its one document."""
    restore()
    return cast("TextIO", _answers[-1].out) if _answers else sys.stdout


def write_json(text: str) -> None:
    """Write one JSON document, whose text this is, and a line break, where a command prints its document."""
    stream = document()
    if not (stream.encoding or "utf-8").lower().startswith("utf"):
        text = _NO_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
    stream.write(text + "\n")


_NO_ASCII = re.compile(r"[^\x00-\x7f]+")


@contextmanager
def only_documents() -> Iterator[None]:
    """Context in which output that is not written to `document` goes to standard error."""
    if not _answers:
        yield
        return
    _answers[-1].only_documents = True
    restore()
    try:
        yield
    finally:
        _answers[-1].only_documents = False
        restore()


@contextmanager
def standing(*, endless: bool = False) -> Iterator[Answer]:
    """Context in which our streams stand in for standard output and standard error.

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
        restore()
        _answers.pop()
        answer.out.release()
        answer.err.release()
        sys.stdout, sys.stderr = before


class _Stream:
    """Text stream in place of a standard stream. It stores its first failure, and drops all later output."""

    def __init__(self, stream: TextIO, *, endless: bool = False, held: bool = False) -> None:
        self.failure: OSError | None = None
        self._stream, self._endless = stream, endless
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_LACKING)
        self._held: list[str] | None = [] if held else None
        """Text that is written when the command ends: a process that is killed before has written nothing.
        A terminal is written to at once, since somebody may debug there.
        """
        self._number: int | None = None
        self._spare: int | None = None
        """Second descriptor of the stream's file, from which the first is restored; None if it has none."""
        with suppress(OSError, ValueError, AttributeError):
            self._number = stream.fileno()
            self._spare = os.dup(self._number)

    def write(self, text: str) -> int:
        """Write a text; drop it if writing has failed before."""
        if not isinstance(text, str):  # by this libraries tell a text stream from one of bytes
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self._held is not None:
            self._held.append(text)
        elif self.failure is None:
            with self._kept():
                self._stream.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write texts in turn; drop them if writing has failed before."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the underlying stream, unless writing has failed before."""
        if self.failure is None:
            with self._kept():
                self._stream.flush()

    def give(self) -> None:
        """Write the text that was held back, and flush the underlying stream."""
        held, self._held = self._held, None
        for text in held or ():
            self.write(text)
        self.flush()

    def close(self) -> None:
        """Flush the underlying stream and leave it open, since other code writes to it."""
        self.flush()

    def restore(self) -> None:
        """Restore the stream and its file descriptor to their state at the beginning of the command."""
        if self._number is None or self._spare is None:
            return
        if not _same(self._number, self._spare):
            os.dup2(self._spare, self._number)
        if not _usable(self._stream):
            self._stream = open(  # noqa: SIM115
                self._number, "w", encoding="utf-8", errors=_LACKING, closefd=False
            )

    def release(self) -> None:
        """Close the spare copy of the file descriptor."""
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None

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
    """Return a stream that discards its text, in place of a standard stream that was closed when the process
    started.
    """
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - as long as the process


def _silence(stream: _Stream) -> None:
    """Redirect the descriptor of a failed stream to /dev/null, so that Python's flush at exit reports no
    error.
    """
    with suppress(OSError, ValueError):
        stream.release()
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _usable(stream: TextIO) -> bool:
    try:
        return not stream.closed
    except ValueError:  # its buffer was taken away
        return False


def _same(one: int, other: int) -> bool:
    """Return True if both descriptors refer to the same open file."""
    try:
        return os.path.sameopenfile(one, other)
    except OSError:
        return False
