"""A trace is what the processes of one run wrote down, in an order that only causality gives.

This package knows the event schema, how a log is written, read and merged. It must not know any
protocol, any implementation or any property: those who judge read `Run` and decide for themselves.
The schema is told in docs/trace-schema.md.
"""

from antiphon.conformance.trace.causal import Merge, Step, causal_order
from antiphon.conformance.trace.directory import NO_DELIVERIES, NO_LOG, Run, load_run, log_name, logs_in
from antiphon.conformance.trace.lines import LineFault
from antiphon.conformance.trace.reader import (
    AFTER_CRASH,
    AFTER_END,
    CUT_OFF,
    EMPTY,
    TRUNCATED,
    Log,
    Problem,
    read_log,
)
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
    "AFTER_CRASH",
    "AFTER_END",
    "CUT_OFF",
    "EMPTY",
    "NO_DELIVERIES",
    "NO_LOG",
    "SCHEMA",
    "TRUNCATED",
    "VERSION",
    "Broadcast",
    "Crash",
    "Deliver",
    "End",
    "Event",
    "Header",
    "LineFault",
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
    "logs_in",
    "message_id",
    "read_log",
]
