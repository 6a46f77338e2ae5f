"""A member's event log in the trace schema, written by a thread of its own: so tracing costs the caller a
queue operation and no disk access.

    with EventLog("runs/monday", group="orders", me=0, members=3, protocol="rbp-resilient") as log:
        async with Group("orders", me=0, members=3, ..., tracer=log) as group:
            ...

1. `record` puts an event into a bounded queue and returns. The thread makes lines of events and writes them.
2. A close in order loses nothing, and ends the log with `end`. A process that is killed loses what it did not
   write yet: milliseconds.
3. When the queue is full, events are dropped: counted in `dropped`, reported by `logging`, and visible in the
   log, whose indices have a gap there and which has no `end`. A write that fails is recorded in `failure`.
4. A message is logged as broadcast when the protocol takes it, and as delivered when the protocol delivers
   it: between protocol and application is only the queue of the group.

`antiphon verify DIRECTORY` judges the logs of all members. Source of the schema: docs/trace-schema.md. This
module must not know a protocol or a transport.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from msgspec import json

from antiphon.impl.errors import SystemRefusal
from antiphon.impl.tracing import Broadcast, Deliver, Event, Receive, Send, Violation

__all__ = ["EVENTS_MAX", "EventLog", "LogRefused"]

EVENTS_MAX: Final = 100_000
"""Largest number of events that wait for the writer; an event of a message holds the message's payload."""

_BATCH_S: Final = 0.005
"""Seconds for which the writer waits after a write, so that it writes several events at once."""

_CHUNK: Final = 2_000
"""Largest number of events in one write."""

_KNOWN: Final = frozenset((Broadcast, Deliver, Violation, Send, Receive))
"""Kinds of events for which the schema has a line."""

_logger = logging.getLogger("antiphon")


class LogRefused(SystemRefusal):
    """Error: a log cannot be created; the message says where and why. An existing log is never
    overwritten.
    """


class EventLog:
    """Tracer that writes the events of a member to `process-ME.ndjson`. It is a context manager, used
    once.
    """

    recording = True

    def __init__(
        self,
        directory: str | Path,
        *,
        group: str,
        me: int,
        members: int,
        protocol: str,
        events_max: int = EVENTS_MAX,
    ) -> None:
        """Create the log of member `me` in a directory, which is made if it does not exist. The logs of all
        members are to be brought to that directory.

        Raises:
            LogRefused: the log exists, or cannot be created.
        """
        self.path = Path(directory) / f"process-{me}.ndjson"
        self.dropped = 0
        """Number of events that found the queue full."""
        self.failure: str | None = None
        """Error that ended the writing, if a write failed."""
        self._events_max = events_max
        self._queue: deque[Event | int] = deque()
        self._lost = 0
        self._index = 0
        self._news = threading.Event()
        self._closing = threading.Event()
        self._encoder = json.Encoder()
        header = {
            "schema": "antiphon.trace", "version": 1, "run": group, "protocol": protocol, "process": me,
            "processes": members, "seed": 0, "messages": 0,
        }  # fmt: skip
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError as error:
            told = f"{self.path} exists; a log is never overwritten: choose another directory"
            raise LogRefused(error.errno, told) from error
        except OSError as error:
            raise LogRefused(error.errno, f"{self.path} cannot be created: {error.strerror}") from error
        self._write(self._encoder.encode(header) + b"\n")
        self._thread = threading.Thread(target=self._work, name=f"log {self.path.name}", daemon=True)
        self._thread.start()

    def record(self, event: Event) -> None:
        """Queue an event, if the schema has a line for it."""
        if type(event) not in _KNOWN:
            return
        queue = self._queue
        if len(queue) >= self._events_max:
            self._lost += 1
            self.dropped += 1
            return
        if self._lost:
            queue.append(self._lost)
            self._lost = 0
        queue.append(event)
        if not self._news.is_set():
            self._news.set()

    def close(self, *, complete: bool = True) -> None:
        """Write everything queued, and `end` if the log is complete. A second call does nothing."""
        if self._descriptor < 0:
            return
        self._closing.set()
        self._news.set()
        self._thread.join()
        if complete and not self.dropped and self.failure is None:
            self._write(self._encoder.encode({"kind": "end", "i": self._index}) + b"\n")
        os.close(self._descriptor)
        self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the log; after an exception it has no `end`, since the member has not finished its part."""
        self.close(complete=error is None)

    def __repr__(self) -> str:
        told = self.failure or f"{len(self._queue)} events to write, {self.dropped} dropped"
        return f"<EventLog {str(self.path)!r}: {told}>"

    def _work(self) -> None:
        """Write queued events in the log's own thread, until the log is closed and the queue is empty."""
        told = 0
        while True:
            self._news.wait()
            self._news.clear()
            last = self._closing.is_set()
            while self._queue:
                self._write(self._lines())
            if self.dropped > told:
                told = self.dropped
                _logger.warning("%s: %d events dropped so far, the disk is too slow", self.path, told)
            if last:
                return
            self._closing.wait(_BATCH_S)

    def _lines(self) -> bytes:
        """Return the lines of the queued events."""
        lines = bytearray()
        for _ in range(min(len(self._queue), _CHUNK)):
            event = self._queue.popleft()
            if isinstance(event, int):
                self._index += event
                continue
            lines += self._encoder.encode(_line(event, self._index))
            lines += b"\n"
            self._index += 1
        return bytes(lines)

    def _write(self, data: bytes) -> None:
        """Write lines to the file; write nothing after a failed write, since a log with an unmarked gap would
        mislead the judge.
        """
        if self.failure is not None:
            return
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            self.failure = f"cannot be written: {error.strerror}"
            _logger.error("%s: %s; the log ends there", self.path, self.failure)


def _line(event: Event, index: int) -> dict[str, Any]:
    """Return an event as a line of the trace schema."""
    match event:
        case Broadcast(_, (source, number), payload):
            digest = hashlib.blake2b(payload, digest_size=16).hexdigest()
            return {"kind": "broadcast", "i": index, "m": f"{source}:{number}", "digest": digest}
        case Deliver(_, (source, identifier), number, payload):
            digest = hashlib.blake2b(payload, digest_size=16).hexdigest()
            named = f"{source}:{identifier}"
            return {"kind": "deliver", "i": index, "m": named, "number": number, "digest": digest}
        case Violation(_, kind, sender, detail):
            return {"kind": "violation", "i": index, "sender": sender, "what": f"{kind}: {detail}"[:200]}
        case Send(_, (sender, counter), to):
            return {"kind": "send", "i": index, "d": f"{sender}:{counter}", "to": to}
        case Receive(_, (sender, counter)):
            return {"kind": "receive", "i": index, "d": f"{sender}:{counter}"}
        case _:
            raise AssertionError(f"{event} is not in the schema")
