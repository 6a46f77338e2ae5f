"""Window of a long diagram: the rows around the first violation, else the last rows.

A row before them and one after them give the numbers of omitted rows. Rows keep their numbers
(`Diagram.skipped`). A message from before the window begins at its edge; one that arrives after it is still
in flight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from antiphon.conformance.report.diagram import Arrow, Diagram, Event, Fate

ROWS_MAX: Final = 300
"""Largest number of rows of a picture."""


def windowed(diagram: Diagram, most: int = ROWS_MAX) -> Diagram:
    """Return the diagram itself, if it has at most so many rows, else a window of it."""
    if diagram.rows <= most:
        return diagram
    room = most - 2
    focus = next((event.row for event in diagram.events if event.broken), diagram.rows)
    last = min(diagram.rows, max(focus + room // 4, room))
    return cut(diagram, last - room + 1, last)


def cut(diagram: Diagram, first: int, last: int) -> Diagram:
    """Return the rows from `first` to `last` of a diagram, and a row for all before and one for all after."""
    shift, before = first - 1 - (first > 1), first - 1 + diagram.skipped
    loop = diagram.loop if diagram.loop is not None and diagram.loop + 1 >= first else None
    events = [
        *_crashed(diagram, first),
        *([Event(1, None, f"... {before:,} rows before" if before else "...")] if first > 1 else []),
        *(replace(event, row=event.row - shift) for event in diagram.events if first <= event.row <= last),
    ]
    if last < diagram.rows:
        events.append(Event(last - shift + 1, None, f"... {diagram.rows - last:,} rows after"))
    return replace(
        diagram,
        rows=last - shift + (last < diagram.rows),
        events=tuple(events),
        arrows=tuple(_arrows(diagram, first, last, shift)),
        loop=None if loop is None or last < diagram.rows else loop - shift,
        skipped=diagram.skipped + shift,
    )


def _crashed(diagram: Diagram, first: int) -> Iterator[Event]:
    """Yield, at the top of the window, the end of each lane whose member crashed before row `first` and takes
    no later step.
    """
    for lane in range(len(diagram.lanes)):
        end = max((end for _, end in diagram.lifelines(lane) if end is not None), default=first)
        goes_on = any(event.lane == lane and event.row > end for event in diagram.events)
        if end < first and not goes_on:
            yield Event(0, lane, "crashed before", crash=True)


def _arrows(diagram: Diagram, first: int, last: int, shift: int) -> Iterator[Arrow]:
    for arrow in diagram.arrows:
        end = arrow.end
        if arrow.begin > last or (arrow.begin < first and (end is None or end < first)):
            continue
        begin = max(arrow.begin - shift, 1) if arrow.begin or first > 1 else 0
        if end is not None and end > last:
            yield replace(arrow, begin=begin, end=None, fate=Fate.FLYING)
        else:
            yield replace(arrow, begin=begin, end=None if end is None else end - shift)
