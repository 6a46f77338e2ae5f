"""The implementation's events become the schema's: what a judge needs is kept, the rest is left out.

| implementation        | trace            |
|-----------------------|------------------|
| Broadcast             | `core-broadcast` |
| Deliver               | `core-deliver`   |
| Violation             | `violation`      |
| Send                  | `send`           |
| Receive               | `receive`        |
| all others            | not logged       |

What the application broadcasts and gets, it writes itself (`application`).

This module knows event types on both sides, and no protocol.
"""

from __future__ import annotations

from collections.abc import Callable

from antiphon.conformance.judge.trace import LogWriteError, LogWriter, datagram_id, digest, message_id
from antiphon.impl.tracing import Broadcast, Deliver, Event, Receive, Send, Violation


class LogTracer:
    """A tracer that writes a log. A tracer must not raise: a write that fails goes to `on_failure`, once."""

    recording = True

    def __init__(self, log: LogWriter, on_failure: Callable[[LogWriteError], None]) -> None:
        self._log = log
        self._on_failure = on_failure

    def record(self, event: Event) -> None:
        """Write what the schema knows of one event."""
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
