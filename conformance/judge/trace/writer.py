"""Writer of a log: it appends whole lines, each passed to the kernel before the writer goes on.

1. A line is one write to a file opened for appending, so killing the process (even with SIGKILL)
   loses at most the line that was being written; every line before it stays.
2. An existing log is never overwritten: a second writer for the same file is refused, unless it goes on with
    the log of a process that stopped and returns (`returning`), with the event `recover`.
3. A write that fails, on a full disk for instance, raises at once and names the file, the event
   and the reason. The writer is closed to further events: a log with a hole would be worse.

This module does not know what the events mean. It survives the death of the process, not of the machine:
nothing is synchronised to the disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from antiphon.conformance.judge.trace.lines import shortened
from antiphon.conformance.judge.trace.reader import CUT_OFF, TRUNCATED, read_log
from antiphon.conformance.judge.trace.schema import (
    Alarm,
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Crash,
    Decide,
    Deliver,
    End,
    Event,
    Header,
    Install,
    Propose,
    Receive,
    Recover,
    Safe,
    Send,
    Suspect,
    Transitional,
    Trust,
    Violation,
)


class LogWriteError(OSError):
    """Error: a log could not be written; the message says which, where and why."""


class LogWriter:
    """Append the events of one process to one file, with their indices.

    Use it as a context manager; leaving it closes the file without writing `end`, since only the caller knows
    whether the log is complete.
    """

    def __init__(self, path: str | Path, header: Header) -> None:
        """Create the log and write its header.

        Raises:
            LogWriteError: the file exists, cannot be created, or the header cannot be written.
        """
        self.path = Path(path)
        self.events = 0
        self._encoder = msgspec.json.Encoder()
        self._failure: str | None = None
        try:
            self._descriptor: int | None = os.open(
                path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644
            )
        except FileExistsError as error:
            raise LogWriteError(f"{path}: a log is never overwritten; choose another run") from error
        except OSError as error:
            raise LogWriteError(f"{path}: cannot create the log: {error.strerror}") from error
        try:
            self._write(header, "the header")
        except LogWriteError:
            self.close()
            raise

    @classmethod
    def returning(cls, path: str | Path) -> Self:
        """Open the log of a process that crashed and is back, and write `recover` at its end. A last line
        that is cut off is removed.

        Raises:
            LogWriteError: there is no such log, it is damaged or over, or it cannot be written.
        """
        path = Path(path)
        log = read_log(path)
        others = [problem for problem in log.problems if problem.reason not in (TRUNCATED, CUT_OFF)]
        if log.header is None or others:
            raise LogWriteError(f"{path}: no log to go on with: {(others or log.problems)[0].reason}")
        if log.complete:
            raise LogWriteError(f"{path}: the log is over: its process has finished its part")
        writer = cls.__new__(cls)
        writer.path, writer.events = path, len(log.events)
        writer._encoder, writer._failure = msgspec.json.Encoder(), None
        try:
            writer._descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
            text = path.read_bytes()
            whole = text.rfind(b"\n") + 1
            if any(problem.reason == CUT_OFF for problem in log.problems):
                os.ftruncate(writer._descriptor, whole)
            elif whole < len(text):
                os.write(writer._descriptor, b"\n")
        except OSError as error:
            raise LogWriteError(f"{path}: cannot go on with the log: {error.strerror}") from error
        writer.recover()
        return writer

    def broadcast(self, m: str, digest: str, destinations: Iterable[int] | None = None) -> None:
        """Record that the application broadcasts message `m`; call it before any process can receive it.

        Args:
            m: the name of the message, "source:id".
            digest: the digest of its payload.
            destinations: the processes that the message is for; None: for all.
        """
        told = None if destinations is None else tuple(destinations)
        self._event(Broadcast(self.events, m, digest, told))

    def deliver(self, m: str, number: int, digest: str) -> None:
        """Record that the application gets message `m` as `number`."""
        self._event(Deliver(self.events, m, number, digest))

    def core_broadcast(self, m: str, digest: str) -> None:
        """Record that the protocol takes message `m` from the application."""
        self._event(CoreBroadcast(self.events, m, digest))

    def core_deliver(self, m: str, number: int, digest: str) -> None:
        """Record that the protocol delivers message `m` as `number`."""
        self._event(CoreDeliver(self.events, m, number, digest))

    def install(self, view: int, members: Iterable[int]) -> None:
        """Record that the application learns of a view; call it after all deliveries of the last one."""
        self._event(Install(self.events, view, tuple(members)))

    def transitional(self, members: Iterable[int]) -> None:
        """Record that the application learns which members of its view go on with it."""
        self._event(Transitional(self.events, tuple(members)))

    def safe(self, m: str) -> None:
        """Record that the application learns that message `m`, which it has got, is safe."""
        self._event(Safe(self.events, m))

    def propose(self, consensus: int, value: str) -> None:
        """Record that the process proposes a value; call it before any process can receive it."""
        self._event(Propose(self.events, consensus, value))

    def decide(self, consensus: int, value: str) -> None:
        """Record that the process learns the decision of a consensus."""
        self._event(Decide(self.events, consensus, value))

    def suspect(self, suspected: int) -> None:
        """Record that the process begins to suspect another."""
        self._event(Suspect(self.events, suspected))

    def trust(self, trusted: int) -> None:
        """Record that the process suspects another no more."""
        self._event(Trust(self.events, trusted))

    def alarm(self) -> None:
        """Record that the failure detector notices that nothing happens."""
        self._event(Alarm(self.events))

    def violation(self, sender: int, what: str) -> None:
        """Record an impossible message from `sender`; a long text is cut off."""
        self._event(Violation(self.events, sender, shortened(what)))

    def send(self, d: str, to: int) -> None:
        """Record that the process sends datagram `d` to a process; call it before the datagram leaves."""
        self._event(Send(self.events, d, to))

    def receive(self, d: str) -> None:
        """Record that the process receives datagram `d`."""
        self._event(Receive(self.events, d))

    def crash(self) -> None:
        """Record that the process stops."""
        self._event(Crash(self.events))

    def recover(self) -> None:
        """Record that the process is back after a crash: the following events are of a new incarnation."""
        self._event(Recover(self.events))

    def end(self) -> None:
        """Record that the log is complete."""
        self._event(End(self.events))

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _event(self, event: Event) -> None:
        self._write(event, f"event {event.i}")
        self.events += 1

    def _write(self, line: Header | Event, what: str) -> None:
        if self._descriptor is None:
            raise LogWriteError(f"{self.path}: cannot write {what}: the log is closed")
        if self._failure is not None:
            raise LogWriteError(f"{self.path}: cannot write {what}: an earlier write failed: {self._failure}")
        data = self._encoder.encode(line) + b"\n"
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            self._failure = error.strerror
            kept = f"{self.events} events before it are kept"
            raise LogWriteError(f"{self.path}: cannot write {what}: {error.strerror}; {kept}") from error
