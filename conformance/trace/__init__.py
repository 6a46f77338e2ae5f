"""A trace is what the processes of one run wrote down, in an order that only causality gives.

This package knows the event schema, how a log is written, read and merged. It must not know any
protocol, any implementation or any property: those who judge read `Run` and decide for themselves.
The schema is told in docs/trace-schema.md.
"""

from antiphon.conformance.trace.causal import Merge, Step, causal_order
from antiphon.conformance.trace.reader import Log, Problem, read_log
from antiphon.conformance.trace.run import Run, load_run, log_name
from antiphon.conformance.trace.schema import (
    SCHEMA,
    VERSION,
    Broadcast,
    Crash,
    Deliver,
    End,
    Event,
    Header,
    Receive,
    Send,
    datagram_id,
    digest,
    message_id,
)
from antiphon.conformance.trace.writer import LogWriteError, LogWriter

__all__ = [
    "SCHEMA",
    "VERSION",
    "Broadcast",
    "Crash",
    "Deliver",
    "End",
    "Event",
    "Header",
    "Log",
    "LogWriteError",
    "LogWriter",
    "Merge",
    "Problem",
    "Receive",
    "Run",
    "Send",
    "Step",
    "causal_order",
    "datagram_id",
    "digest",
    "load_run",
    "log_name",
    "message_id",
    "read_log",
]
