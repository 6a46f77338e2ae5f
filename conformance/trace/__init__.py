"""A trace is what the processes of one run wrote down, in an order that only causality gives.

This package knows the event schema, how a log is written, read and merged. It must not know any
protocol, any implementation or any property: those who judge read `Run` and decide for themselves.
The schema is told in docs/trace-schema.md.
"""

from antiphon.conformance.trace.causal import At, Merge, Step, causal_order
from antiphon.conformance.trace.directory import (
    MISSING,
    NO_DELIVERIES,
    NO_LOG,
    Run,
    faults_between,
    load_run,
    log_name,
    logs_in,
)
from antiphon.conformance.trace.lines import NO_HEADER
from antiphon.conformance.trace.reader import (
    AFTER_CRASH,
    AFTER_END,
    CUT_OFF,
    EMPTY,
    LINE_BYTES_MAX,
    TOO_LONG,
    TRUNCATED,
    Log,
    LogLine,
    Problem,
    read_lines,
    read_log,
)
from antiphon.conformance.trace.schema import (
    SCHEMA,
    VERSION,
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Crash,
    Deliver,
    End,
    Event,
    Header,
    Receive,
    Send,
    Violation,
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
    "LINE_BYTES_MAX",
    "MISSING",
    "NO_DELIVERIES",
    "NO_HEADER",
    "NO_LOG",
    "SCHEMA",
    "TOO_LONG",
    "TRUNCATED",
    "VERSION",
    "At",
    "Broadcast",
    "CoreBroadcast",
    "CoreDeliver",
    "Crash",
    "Deliver",
    "End",
    "Event",
    "Header",
    "Log",
    "LogLine",
    "LogWriteError",
    "LogWriter",
    "Merge",
    "Problem",
    "Receive",
    "Run",
    "Send",
    "Step",
    "Violation",
    "causal_order",
    "datagram_id",
    "digest",
    "faults_between",
    "load_run",
    "log_name",
    "logs_in",
    "message_id",
    "read_lines",
    "read_log",
]
