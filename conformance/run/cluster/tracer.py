"""Tracer that translates the implementation's events into the schema's, as far as a judge needs them.

| implementation        | trace            |
|-----------------------|------------------|
| Broadcast             | `core-broadcast` |
| Deliver               | `core-deliver`   |
| Violation             | `violation`      |
| Send                  | `send`           |
| Receive               | `receive`        |
| all others            | not logged       |

The application logs its own broadcasts and deliveries (`application`).

This module knows event types on both sides, and no protocol.
"""

from __future__ import annotations

from collections.abc import Callable

from antiphon.conformance.judge.trace import LogWriteError, LogWriter, datagram_id, digest, message_id
from antiphon.impl.tracing import Broadcast, Deliver, Event, Receive, Send, Violation


class LogTracer:
    """Tracer that writes a log. A tracer must not raise: a failed write is passed to `on_failure`, once."""

    recording = True

    def __init__(self, log: LogWriter, on_failure: Callable[[LogWriteError], None]) -> None:
        self._log = log
        self._on_failure = on_failure

    def record(self, event: Event) -> None:
        """Write one event, if the schema has its kind."""
        if not self.recording:
            return
        try:
            self._write(event)
        except LogWriteError as error:
            self.recording = False
            self._on_failure(error)

    def _write(self, event: Event) -> None:
        match event:
            case Broadcast():
                self._log.core_broadcast(message_id(*event.identifier), digest(event.payload))
            case Deliver():
                self._log.core_deliver(message_id(*event.identifier), event.number, digest(event.payload))
            case Violation():
                self._log.violation(event.sender, f"{event.kind}: {event.detail}")
            case Send():
                self._log.send(datagram_id(*event.datagram), event.to)
            case Receive():
                self._log.receive(datagram_id(*event.datagram))
