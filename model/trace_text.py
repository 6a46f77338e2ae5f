"""Text of a run: its steps, their changes, and what the run shows. Every report prints with its run."""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.model.changes import beginning, described, trace_changes
from antiphon.model.notation import compact, compact_step, short_places
from antiphon.model.trace import Trace


def trace_text(trace: Trace) -> str:
    """Return the text of a run: first what it shows, then each step with its changes, events and refusals."""
    return "\n".join(_lines(trace))


def _lines(trace: Trace) -> Iterator[str]:
    yield f"{trace.shows or 'a run'}: {len(trace)} step{'s' * (len(trace) != 1)}"
    for where, value in beginning(trace) if trace.initial else described(trace.program, trace.start):
        yield f"        {where} = {value}"
    for number, (transition, changed) in enumerate(
        zip(trace.transitions, trace_changes(trace), strict=True), 1
    ):
        if trace.loop == number - 1:
            yield "   from here for ever:"
        yield f"{number:>4}  {compact_step(transition.step)}"
        yield from (f"        {change}" for change in changed)
        yield from (f"      » {compact(event)}" for event in transition.events)
        yield from (f"      ✗ {short_places(str(refusal))}" for refusal in transition.refused)
    if trace.loop is not None:
        yield f"   on with step {trace.loop + 1}" if trace.loop < len(trace) else "   nothing more happens"
    said = [str(refusal) for refusal in trace.transitions[-1].refused] if trace.transitions else []
    if trace.why and trace.why not in said:
        yield f"      {short_places(trace.why)}"
