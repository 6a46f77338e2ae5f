"""Diagrams of a run in windows, which a page draws at once and a file has room for.

A window has up to `WINDOW` steps. It begins at a multiple of `STRIDE`, so that it stays while one walks, and
overlaps its neighbours, so that at least `STRIDE` steps stand before each step but the first ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from antiphon.conformance.report.diagram import Diagram, Event, crash_of, member_of
from antiphon.conformance.report.svg import drawn as drawn_of
from antiphon.conformance.report.window import cut
from antiphon.model.notation import compact
from antiphon.model.trace import Trace
from antiphon.spec.lang import Program, Transition

STRIDE = 30
WINDOW = 2 * STRIDE


def windows(steps: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last step of each window of so many steps, the first step has the number 1."""
    for block in range(1, max(steps // STRIDE, 1) + 1):
        yield (block - 1) * STRIDE + 1, min(steps, (block + 1) * STRIDE)


@dataclass(frozen=True)
class Part:
    """Part of a run: the steps that are drawn, and the steps before them in which messages that arrive later
    were sent.

    Attributes:
        trace: these steps as a run; its loop, if it has one, is counted from its own start.
        before: number of steps of the run before the start of `trace`.
        down: members that have crashed in these, and have taken no step since.
    """

    trace: Trace
    before: int = 0
    down: frozenset[Any] = frozenset()


def begin_of(first: int) -> int:
    """Return the first step that the part of a run needs so that the window beginning with step `first` can
    be drawn, less one.
    """
    return max(0, first - 1 - STRIDE)


def part_of(trace: Trace, first: int, last: int) -> Part:
    """Return the part of a run for the window from `first` to `last`."""
    before, whole = begin_of(first), last == len(trace)
    down: frozenset[Any] = frozenset()
    for transition in trace.transitions[:before]:
        down = down_after(trace.program, down, transition)
    part = Trace(
        trace.program,
        trace.transitions[before - 1].state if before else trace.start,
        trace.transitions[before:last],
        trace.shows if whole else "",
        trace.why if whole else "",
        trace.loop - before if whole and trace.loop is not None and trace.loop >= before else None,
        initial=trace.initial and not before,
    )
    return Part(part, before, down)


def down_after(program: Program, down: frozenset[Any], transition: Transition) -> frozenset[Any]:
    """Return the members that have crashed and taken no step since, updated by one more step."""
    if (member := crash_of(program, transition)) is not None:
        return down | {member}
    return down - {member_of(transition.step)} if down else down


def picture(part: Part, drawn: Diagram, first: int, last: int, left_out: int = 0) -> dict[str, Any]:
    """Draw the steps from `first` to `last` of a run, the first step has the number 1.

    Args:
        part: the part of the run for this window.
        drawn: the diagram of that part.
        first: the first step that is drawn.
        last: the last step that is drawn; 0: the start alone.
        left_out: number of steps at the begin of the run that the page does not have, and does not count.

    Returns:
        The diagram as SVG; the heights at which the start and each of these steps begin; the height at which
        the last one ends; the numbers of the first and the last step.
    """
    events = (*_crashed(drawn, part.down), *drawn.events)
    drawn = replace(drawn, skipped=part.before - left_out, events=events)
    if first > part.before + 1:
        drawn = cut(drawn, first - part.before, last - part.before)
    sheet = drawn_of(drawn)
    return {
        "svg": sheet.svg,
        "rows": [sheet.tops[0], *sheet.tops[len(sheet.tops) - (last - first + 1) :]],
        "bottom": sheet.bottom,
        "first": first - left_out,
        "last": last - left_out,
    }


def _crashed(drawn: Diagram, down: frozenset[Any]) -> Iterator[Event]:
    """Yield, for each crashed member that takes no step in the drawing, the event that ends its lane."""
    alive = {drawn.lanes[event.lane] for event in drawn.events if event.lane is not None}
    for name in sorted(map(compact, down)):
        if name in drawn.lanes and name not in alive:
            yield Event(0, drawn.lanes.index(name), "crashed before", crash=True)
