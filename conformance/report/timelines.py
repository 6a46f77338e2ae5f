"""Export of a run to other viewers: logs with vector clocks for ShiViz, and trace events for Perfetto.

Both are made from the space-time diagram, whole, whatever its length. Time is the number of the row: a
millisecond a row for Perfetto. Source: Google, "Trace Event Format" (complete events `X`, flows `s` and `f`,
metadata `M`); Beschastnikh, Wang, Brun and Ernst 2016, section 4 (ShiViz).
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any, Final

from antiphon.conformance.report.answers import Shown, row_text
from antiphon.conformance.report.diagram import Arrow, Diagram, Event, Fate

PARSER: Final = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
"""Regular expression with which ShiViz reads the log; it is the log's first line."""
_ROW_US: Final = 1_000


def shiviz(shown: Shown) -> str:
    """Return the text of a log that ShiViz opens: two lines an event, its own and its process with
    its clock.
    """
    drawn = shown.diagram
    hosts = _hosts(drawn)
    clocks: dict[str, dict[str, int]] = defaultdict(dict)
    sent: dict[tuple[int, int], dict[str, int]] = {}
    arriving = _arriving(drawn)
    lines = [PARSER, ""]
    for event in sorted(drawn.events, key=lambda event: event.row):
        if event.lane is None:
            continue
        host = hosts[event.lane]
        clock = clocks[host]
        for arrow in arriving[event.row]:
            before = sent.get((arrow.source, arrow.begin), {}) if arrow.source is not None else {}
            clock = {name: max(clock.get(name, 0), before.get(name, 0)) for name in clock | before}
        clocks[host] = clock = clock | {host: clock.get(host, 0) + 1}
        sent[event.lane, event.row] = clock
        lines += [" ".join(row_text(event).split()), f"{host} {json.dumps(dict(sorted(clock.items())))}"]
    return "\n".join(lines) + "\n"


def perfetto(shown: Shown) -> str:
    """Return the text of a file of trace events: a thread a lane, a slice an event, a flow a message."""
    drawn = shown.diagram
    lanes = [*drawn.lanes, "nobody"]
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": drawn.title}}
    ]
    for tid, lane in enumerate(lanes, 1):
        named = {"pid": 1, "tid": tid}
        events.append({"ph": "M", "name": "thread_name", **named, "args": {"name": lane}})
        events.append({"ph": "M", "name": "thread_sort_index", **named, "args": {"sort_index": tid}})
    for event in drawn.events:
        events += _slices(shown, event, len(lanes) if event.lane is None else event.lane + 1)
    at = {(event.lane, event.row) for event in drawn.events}
    for number, arrow in enumerate(drawn.arrows, 1):
        ends = {(arrow.source, arrow.begin), (arrow.target, arrow.end)}
        if arrow.fate is Fate.RECEIVED and ends <= at and None not in (arrow.source, arrow.target):
            events += _flow(number, arrow)
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, indent=1, ensure_ascii=False) + "\n"


def _slices(shown: Shown, event: Event, tid: int) -> list[dict[str, Any]]:
    begin = event.row * _ROW_US
    changes = shown.changes_of(event)
    args: dict[str, Any] = {"step": event.row}
    args |= {"changes": list(changes)} if changes else {}
    args |= {"emits": list(event.emits)} if event.emits else {}
    args |= {"breaks": event.broken} if event.broken else {}
    category = "violation" if event.broken else "fault" if event.fault else "step"
    at: dict[str, Any] = {"cat": category, "pid": 1, "tid": tid, "ts": begin}
    made = {"ph": "X", "name": event.label, **at, "dur": _ROW_US * 9 // 10, "args": args}
    mark = {"ph": "i", "name": f"✗ {event.broken}", **at, "s": "g"}
    return [made, mark] if event.broken else [made]


def _flow(number: int, arrow: Arrow) -> list[dict[str, Any]]:
    """Return the two flow events of a message, at its sending and at its reception, each within the slice of
    its step.
    """
    assert arrow.source is not None
    assert arrow.target is not None
    assert arrow.end is not None
    of = {"cat": arrow.kind, "name": arrow.label, "id": number, "pid": 1}
    return [
        {"ph": "s", **of, "tid": arrow.source + 1, "ts": arrow.begin * _ROW_US + _ROW_US // 2},
        {"ph": "f", "bp": "e", **of, "tid": arrow.target + 1, "ts": arrow.end * _ROW_US + _ROW_US // 4},
    ]


def _arriving(drawn: Diagram) -> dict[int, list[Arrow]]:
    """Return, for each row, the arrows of the messages received in it."""
    found: dict[int, list[Arrow]] = defaultdict(list)
    for arrow in drawn.arrows:
        if arrow.fate is Fate.RECEIVED and arrow.end is not None:
            found[arrow.end].append(arrow)
    return found


def _hosts(drawn: Diagram) -> list[str]:
    """Return the names of the lanes without spaces, since ShiViz takes the first word of a line for the
    host.
    """
    return ["-".join(lane.split()) for lane in drawn.lanes]

