"""`antiphon find`: the shortest way to a state in which an expression is true; exits 0 with it, 1 without."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer
from rich.text import Text

import antiphon
from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.check import Job
from antiphon.conformance.cli.options import Bounds, Showing, Variant
from antiphon.conformance.cli.progress import searching
from antiphon.conformance.report.documents import place_of, trace_document
from antiphon.model.bounds import StopReason
from antiphon.results import Found, Trace


def find(
    specification: options.Specification,
    expression: Annotated[
        str,
        typer.Argument(
            metavar="EXPRESSION",
            help="A boolean of the language over `self`: any(self.holding[p] for p in self.each(Process)).",
        ),
    ],
    *,
    variant: Variant,
    bounds: Bounds,
    showing: Showing,
) -> int:
    """Find the shortest way to a state in which an expression is true."""
    bounds.refuse_what_z3_lacks()
    job = Job(specification, variant)
    bound = job.program
    with searching(specification, bounds.engine) as progress:
        found = antiphon.find(bound, expression, progress=progress, **bounds.asked())
    saved = output.saved(showing.save, found.trace, "such state")
    again = f"{job.command(*bounds.words(), verb='find')} {shlex.quote(expression)}"
    if showing.json:
        return output.finish(_document(specification, found, saved, again))
    if found.trace is not None:
        _print(found.trace, found, picture=not showing.no_diagram)
    explored = found.exploration
    if explored.states:
        seen = "every reachable state" if explored.complete else "a part"
        output.out().print(
            f"{explored.states:,} states, depth {explored.depth}: {seen}; {explored.seconds:.1f} s"
        )
    output.out().print(f"again:  {again}", soft_wrap=True)
    if saved:
        output.out().print(f"trace saved: {saved}")
    if explored.stopped is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    output.last_line(found.outcome, found.reason)
    return found.outcome.exit_code


def _print(trace: Trace, found: Found, *, picture: bool) -> None:
    output.print_trace(trace)
    for where, value in found.state.items():
        output.out().print(Text(f"        {where} = {value}", style="bright_black"))
    output.out().print()
    if picture:
        output.print_diagram(trace)


def _document(name: str, found: Found, saved: str | None, again: str) -> documents.Find:
    explored = found.exploration
    return documents.Find(
        outcome=found.outcome,
        name=name,
        specification=place_of(found.program),
        digest=found.program.digest,
        constants=found.program.constants,
        engine=found.verdict.provenance.engine,
        expression=found.expression,
        reason=found.reason,
        states=explored.states,
        transitions=explored.transitions,
        depth=explored.depth,
        complete=explored.complete,
        seconds=round(explored.seconds, 3),
        reproduce=again,
        state=dict(found.state),
        trace=None if found.trace is None else trace_document(found.trace),
        saved=saved,
    )
