"""Child process that is written to and read from in lines, and whose whole session is always ended.

1. Neither a child that does not read nor one that does not write can block the caller: both ends of its pipes
   do not block, and every wait has a time.
2. Its standard error is read whenever its output is, and its last lines are kept, to be shown when something
   is wrong. However much it writes, no more is held and nothing goes to a disk.
3. It has its own session, so that an interrupt at the terminal reaches the parent alone, and so that what it
   starts itself is ended with it.

This module does not know what the lines mean.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence

LINE_BYTES_MAX = 8 * 1024 * 1024
"""Length of the longest line that a child may write."""

_CHUNK_BYTES = 1 << 16
_CHUNKS_MAX = 16
_STDERR_LINES = 3
_STDERR_COLUMNS = 200
_STDERR_BYTES = 8_000
_PAUSE_S = 0.002
_GRACE_S = 1.0
"""Seconds in which a child has to end after the end of its input, before it is killed."""


class CommandError(ValueError):
    """Error: a command cannot be started; the message says why."""


class TooLong(Exception):
    """Error: a child writes a line that is longer than `LINE_BYTES_MAX`."""


class Child:
    """Running child process. Call `end` in any case."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start the command.

        Raises:
            CommandError: it cannot be started.
        """
        found = shutil.which(command[0]) if command else None
        if found is None:
            named = command[0] if command else ""
            raise CommandError(f"no command {named!r}: it is no file that can be executed, and not in PATH")
        self._out, self._errors, self._in = b"", b"", bytearray()
        self.over = False
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the command is the user's own
                [found, *command[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CommandError(f"{command[0]} cannot be started: {error.strerror}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._stderr: int | None = self._process.stderr.fileno()
        for descriptor in (self._stdin, self._stdout, self._process.stderr.fileno()):
            os.set_blocking(descriptor, False)

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def tell(self, line: bytes) -> None:
        """Write a line, as far as the child takes it now; the rest is written by later waits."""
        self._in += line
        self._flush()

    def hear(self) -> list[bytes]:
        """Return the whole lines that are there, without waiting; `over` is True when no more can come.

        Raises:
            TooLong: a line has no end.
        """
        self._hear_errors()
        try:
            while chunk := os.read(self._stdout, _CHUNK_BYTES):
                self._out += chunk
                if len(self._out) > LINE_BYTES_MAX:
                    break
            else:
                self.over = True
        except BlockingIOError:
            pass
        *lines, self._out = self._out.split(b"\n")
        if len(self._out) > LINE_BYTES_MAX:
            raise TooLong
        if self.over and self._out:
            lines, self._out = [*lines, self._out], b""
        return lines

    def signal(self, number: int) -> None:
        """Send a signal to the whole session of the child."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """End the child and all that it has started, as by `kill -9`, and wait for it."""
        self.signal(signal.SIGKILL)
        self._process.wait()

    def end(self, grace_s: float = _GRACE_S) -> bool:
        """End the child: close its input, then send a signal. Return True if closing the input was enough."""
        self.signal(signal.SIGCONT)
        until = time.monotonic() + grace_s
        while self._in and time.monotonic() < until and not self.over:
            wait([self], until - time.monotonic())
            self._drop()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        ended = True
        while self._process.poll() is None:
            if time.monotonic() >= until:
                ended = False
                break
            self._drop()  # a child that still writes must not wait for a reader
            time.sleep(_PAUSE_S)
        self.kill()
        self._hear_errors()
        self._stderr = None
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        return ended

    def how_it_ended(self) -> str:
        """Return a clause that says how the process ended, after a short wait for its end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        code = self._process.returncode
        if code is None:
            return "closes its standard output, and goes on running"
        return f"was killed by signal {-code}" if code < 0 else f"exits with code {code}"

    def complaint(self) -> str:
        """Return the last lines of standard error, or ""."""
        self._hear_errors()
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return "\n".join(line[:_STDERR_COLUMNS] for line in lines[-_STDERR_LINES:])

    def _hear_errors(self) -> None:
        """Read the standard error, a bounded amount in each call, and keep the last bytes."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(_CHUNKS_MAX if self._stderr is not None else 0):
                assert self._stderr is not None
                chunk = os.read(self._stderr, _CHUNK_BYTES)
                if not chunk:
                    self._stderr = None  # its end
                    return
                self._errors = (self._errors + chunk)[-_STDERR_BYTES:]

    def _drop(self) -> None:
        """Read some of the output and standard error; throw the output away."""
        self._hear_errors()
        with contextlib.suppress(OSError):
            self.over = not os.read(self._stdout, _CHUNK_BYTES) or self.over

    def _flush(self) -> None:
        try:
            while self._in:
                del self._in[: os.write(self._stdin, self._in)]
        except BlockingIOError:
            pass
        except OSError:  # it has closed its input, or ended: the end of its output tells
            self._in.clear()


def wait(children: Iterable[Child], seconds: float) -> None:
    """Wait at most `seconds` until a child has written something or has ended; write to each child what it
    can take.
    """
    poll, waiting = select.poll(), {}
    for child in children:
        if not child.over:
            poll.register(child._stdout, select.POLLIN)
            if child._stderr is not None:
                poll.register(child._stderr, select.POLLIN)
        if child._in:
            waiting[child._stdin] = child
            poll.register(child._stdin, select.POLLOUT)
    for descriptor, _ in poll.poll(max(0.0, seconds) * 1000):
        if descriptor in waiting:
            waiting[descriptor]._flush()
