"""Space-time diagram of a run's logs: broadcasts, deliveries, views, and the place of a violation.

1. Rows are events in the causal order that the judge reads. Arrows go from a broadcast to its deliveries;
   with `everything` there are rows and arrows of datagrams and of the protocol's side too.
2. A picture has at most `ROWS_MAX` rows by default. A longer run is shown around the two contradicting
  events, or, without a violation, from its beginning.

This module judges nothing, and draws nothing: it makes the diagram that `svg` and `terminal` draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from antiphon.conformance.judge import trace as logs
from antiphon.conformance.judge.history import Finding, Place, RunFindings
from antiphon.conformance.judge.trace import Run, Step, causal_order
from antiphon.conformance.report.diagram import Arrow, Diagram, Event, Fate
from antiphon.model.verdict import Outcome

__all__ = ["ROWS_MAX", "diagram_of_logs"]

ROWS_MAX: Final = 60
"""Largest number of events in a picture."""
_AROUND: Final = 8
"""Number of events shown before the first contradicting one, if there is no room for the whole run."""

_OF_THE_PROTOCOL: Final = (logs.CoreBroadcast, logs.CoreDeliver, logs.Send, logs.Receive)


def diagram_of_logs(
    run: Run, judged: RunFindings, *, everything: bool = False, most: int = ROWS_MAX
) -> Diagram:
    """Return the diagram of a run.

    Args:
        run: the logs, as `load_run` reads them.
        judged: the verdicts on them; the first violation is shown.
        everything: True to show datagrams and the protocol's events too.
        most: the largest number of rows.
    """
    shown = _first_violation(judged)
    steps = [
        step
        for step in causal_order(run.events).steps
        if not isinstance(step.event, logs.End if everything else (logs.End, *_OF_THE_PROTOCOL))
    ]
    places = [place for place in (shown.first, shown.second) if place] if shown else []
    chosen, before, after = _chosen(steps, places, most)
    rows = {(step.process, step.event.i): row for row, step in enumerate(chosen, 1 + (before > 0))}
    events = [
        Event(
            rows[step.process, step.event.i],
            step.process,
            label_of(step.event),
            broken=shown.property if shown and _is_at(step, places[:1]) else "",
            fault=isinstance(step.event, logs.Violation),
            crash=isinstance(step.event, logs.Crash),
        )
        for step in chosen
    ]
    if before:
        events.insert(0, Event(1, None, f"... {before:,} events before"))
    if after:
        events.append(Event(len(events) + 1, None, f"... {after:,} events after"))
    header = run.header
    told = f"{header.run} · {header.protocol}, {header.processes} processes" if header else ""
    return Diagram(
        told or run.directory.name,
        shown.property if shown else "",
        str(shown) if shown else "",
        False,
        tuple(f"process {process}" for process in range(len(run.logs))),
        len(events),
        tuple(events),
        tuple(_arrows(steps, rows)),
    )


def label_of(event: logs.Event) -> str:
    """Return a short text for an event."""
    match event:
        case logs.Broadcast(m=m, destinations=destinations):
            return f"broadcast {m}" + (f" to {_numbers(destinations)}" if destinations is not None else "")
        case logs.Deliver(m=m, number=number):
            return f"deliver {m} as {number}"
        case logs.CoreBroadcast(m=m):
            return f"protocol takes {m}"
        case logs.CoreDeliver(m=m, number=number):
            return f"protocol delivers {m} as {number}"
        case logs.Install(view=view, members=members):
            return f"install view {view}: {_numbers(members)}"
        case logs.Transitional(members=members):
            return f"transitional: {_numbers(members)}"
        case logs.Safe(m=m):
            return f"{m} is safe"
        case logs.Propose(consensus=number, value=value) | logs.Decide(consensus=number, value=value):
            return f"{event.__struct_config__.tag} {value} in {number}"
        case logs.Suspect(suspected=process) | logs.Trust(trusted=process):
            return f"{event.__struct_config__.tag} process {process}"
        case logs.Violation(sender=sender, what=what):
            return f"process {sender} says {what}"
        case logs.Send(d=d, to=to):
            return f"send {d} to process {to}"
        case logs.Receive(d=d):
            return f"receive {d}"
        case _:
            return str(event.__struct_config__.tag)


def _numbers(processes: Sequence[int]) -> str:
    return ", ".join(map(str, processes)) or "nobody"


def _first_violation(judged: RunFindings) -> Finding | None:
    """Return the first finding of a violation that no other violation implies; else the first violation, or
    None.
    """
    broken = [finding for finding in judged.findings if judged.outcome(finding) is Outcome.VIOLATED]
    return min(broken, key=lambda finding: finding.implied is not None, default=None)


def _is_at(step: Step, places: Sequence[Place]) -> bool:
    return any((step.process, step.event.i) == (place.process, place.index) for place in places)


def _chosen(steps: Sequence[Step], places: Sequence[Place], most: int) -> tuple[Sequence[Step], int, int]:
    """Return the events that the diagram has room for, and the numbers of omitted events before and after
    them. If the two contradicting events are too far apart, choose the events about the same messages.
    """
    if len(steps) <= most:
        return steps, 0, 0
    at = [number for number, step in enumerate(steps) if _is_at(step, places)]
    first = max(at[0] - _AROUND, 0) if at else 0
    if at and at[-1] - first >= most:
        about = {place.message for place in places}
        near = [step for step in steps if getattr(step.event, "m", "") in about or _is_at(step, places)]
        return near[:most], len(steps) - len(near[:most]), 0
    chosen = steps[first : first + most]
    return chosen, first, len(steps) - first - len(chosen)


def _arrows(steps: Sequence[Step], rows: dict[tuple[int, int], int]) -> list[Arrow]:
    """Return an arrow for each delivery or reception that is shown; its start is at the top if the broadcast
    or sending is not shown.
    """
    begun: dict[tuple[str, str], tuple[int, int]] = {}
    arrows: list[Arrow] = []
    for step in steps:
        here = rows.get((step.process, step.event.i))
        match step.event:
            case logs.Broadcast(m=name) if name.partition(":")[0] == str(step.process):
                begun.setdefault(("message", name), (step.process, here or 0))
            case logs.Send(d=name):
                begun.setdefault(("datagram", name), (step.process, here or 0))
            case logs.Deliver(m=name) | logs.Receive(d=name) if here:
                kind = "message" if isinstance(step.event, logs.Deliver) else "datagram"
                source, row = begun.get((kind, name), (None, 0))
                if source not in (None, step.process):
                    whence = source if row else None
                    arrows.append(Arrow(kind, name, whence, row, step.process, here, Fate.RECEIVED))
            case _:
                pass
    return arrows
