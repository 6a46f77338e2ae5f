"""Diagrams of a run in windows, which a page draws at once and a file has room for.

A window has up to `WINDOW` steps. It begins at a multiple of `STRIDE`, so that it stays while one walks, and
overlaps its neighbours, so that at least `STRIDE` steps stand before each step but the first ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from antiphon.conformance.report.diagram import Diagram, Event, crash_of, diagram, member_of
from antiphon.conformance.report.svg import row_tops, svg
from antiphon.conformance.report.window import cut
from antiphon.model.notation import compact
from antiphon.model.trace import Trace

STRIDE = 30
WINDOW = 2 * STRIDE


def windows(steps: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last step of each window of so many steps, the first step has the number 1."""
    for block in range(1, max(steps // STRIDE, 1) + 1):
        yield (block - 1) * STRIDE + 1, min(steps, (block + 1) * STRIDE)


def picture(trace: Trace, name: str, first: int, last: int, left_out: int = 0) -> dict[str, Any]:
    """Draw the steps from `first` to `last` of a run.

    Args:
        trace: the run.
        name: the name of its specification.
        first: the first step that is drawn.
        last: the last step that is drawn; 0: the start alone.
        left_out: number of steps at the begin of the run that the page does not have, and does not count.

    Returns:
        The diagram as SVG; the heights at which the start and each of these steps begin; the height at which
        the last one ends; the numbers of the first and the last step.
    """
    known = max(0, first - 1 - WINDOW)  # steps before: they have sent what arrives in the window
    whole = last == len(trace)
    part = Trace(
        trace.program,
        trace.transitions[known - 1].state if known else trace.start,
        trace.transitions[known:last],
        trace.shows if whole else "",
        trace.why if whole else "",
        trace.loop - known if whole and trace.loop is not None and trace.loop >= known else None,
        initial=trace.initial,
    )
    drawn = diagram(part, name)
    drawn = replace(drawn, skipped=known - left_out, events=(*_crashed(drawn, trace, known), *drawn.events))
    if first > known + 1:
        drawn = cut(drawn, first - known, last - known)
    tops, bottom = row_tops(drawn)
    return {
        "svg": svg(drawn),
        "rows": [tops[0], *tops[len(tops) - (last - first + 1) :]],
        "bottom": bottom,
        "first": first - left_out,
        "last": last - left_out,
    }


def _crashed(drawn: Diagram, trace: Trace, known: int) -> Iterator[Event]:
    """Yield the end of each lane whose member crashed in the first steps, and has taken no step since."""
    down: dict[str, None] = {}
    for transition in trace.transitions[:known]:
        if (member := crash_of(trace.program, transition)) is not None:
            down[compact(member)] = None
        elif down:
            down.pop(compact(member_of(transition.step)), None)
    alive = {drawn.lanes[event.lane] for event in drawn.events if event.lane is not None}
    for name in down:
        if name in drawn.lanes and name not in alive:
            yield Event(0, drawn.lanes.index(name), "crashed before", crash=True)
