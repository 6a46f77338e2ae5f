"""`antiphon trace`: search for a behaviour of a specification that explains the log of a real run."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from antiphon.conformance.cli import documents, options, output, reports
from antiphon.conformance.cli.observed import Observed
from antiphon.conformance.cli.options import Effort, Reports, Showing, Variant
from antiphon.conformance.cli.progress import working
from antiphon.conformance.compare.validation import (
    Failure,
    Observation,
    ObservationError,
    Possible,
    Stuck,
    Validation,
    mentioned,
    validate,
)
from antiphon.conformance.report.answers import Answer, of_validation
from antiphon.conformance.report.documents import state_document, trace_document
from antiphon.conformance.report.explorer.observed import ObservedLogs
from antiphon.conformance.report.words import counted
from antiphon.model.bounds import Bounds
from antiphon.model.changes import described
from antiphon.model.notation import compact_step, short_places
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Program

STATES_SHOWN = 4
LINES_SHOWN = 12
WIDEST = 400
"""Largest number of printed characters of a value or a reason; `--json` prints all."""


def trace(
    specification: options.Specification,
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG...",
            help="Logs, each in its own order: lines of JSON (.ndjson) or of text; or a trace of Apalache or "
            "Quint (.itf.json).",
            show_default=False,
        ),
    ],
    *,
    every: Annotated[bool, typer.Option("--ways", help="Look for all explanations, and count them.")] = False,
    observed: Observed,
    variant: Variant,
    effort: Effort,
    showing: Showing,
    reported: Reports,
) -> int:
    """Look for a behaviour of a specification that explains the logs of a real run.

    Lines may contain little: an action without its arguments, a part of the state. Several logs are put in an
    order that the specification allows; clocks are ignored.
    """
    bound = variant.program(specification)
    try:
        with working(f"explaining {', '.join(map(str, logs))}", output.err()):
            found = _found(bound, logs, observed, effort, every=every)
    except ObservationError as error:
        raise output.UsageProblem(str(error)) from error
    begins = found.trace is not None and found.trace.initial
    if showing.save is not None and found.trace is not None and not begins:
        raise output.UsageProblem("--save: an explanation that begins with --from cannot be replayed")
    saved = output.saved(showing.save, found.trace, "explanation")
    words = [*map(str, logs), *observed.words(), *(["--ways"] if every else []), *effort.words()]
    again = shlex.join(["antiphon", "trace", specification, *words, *variant.words()])

    def answer() -> Answer:
        walked = None if reported.html is None else _walked(bound, logs, observed, effort, found)
        return Answer("trace", (of_validation(specification, found, again, saved or "", walked),))

    reports.write(reported, answer)
    if showing.json:
        return output.finish(_document(specification, found, again, saved))
    _print(found, showing)
    if saved:
        output.out().print(f"explanation saved: {saved}")
    output.last_line(found.outcome, f"{specification}: {found.reason}; {found.seconds:.1f} s")
    return found.outcome.exit_code


def _found(
    bound: Program, logs: list[Path], observed: Observed, effort: Effort, *, every: bool
) -> Validation:
    if directory := next((file for file in logs if file.is_dir()), None):
        raise output.UsageProblem(f"{directory} is a directory: name the logs in it, a file each")
    missing = [file for file in logs if not file.exists()]
    if missing:
        reason = f"{', '.join(map(str, missing))}: there is no such log"
        return Validation(bound, Outcome.UNKNOWN, reason, 0)
    return validate(
        bound,
        observed.logs(bound, logs),
        hidden=observed.budgets(),
        start=observed.beginning(),
        every=every,
        bounds=Bounds(effort.max_states, effort.max_seconds, None, effort.max_memory),
    )


def _walked(
    bound: Program, logs: list[Path], observed: Observed, effort: Effort, found: Validation
) -> ObservedLogs | None:
    """Return the logs with the states in which the system may be after each line; None if no line has an
    observation.
    """
    if not found.lines:
        return None
    bounds = Bounds(effort.max_states, effort.max_seconds, None, effort.max_memory)
    read = observed.logs(bound, logs)
    hidden, start = observed.budgets(), observed.beginning()
    return ObservedLogs(Possible(bound, read, hidden=hidden, start=start, bounds=bounds), found)


def _document(name: str, found: Validation, again: str, saved: str | None) -> documents.Trace:
    return documents.Trace(
        outcome=found.outcome,
        name=name,
        constants=found.program.constants,
        reason=found.reason,
        lines=found.lines,
        hidden=found.hidden,
        ways=found.ways,
        broken=dict(found.broken),
        nodes=found.nodes,
        seconds=round(found.seconds, 3),
        reproduce=again,
        trace=None if found.trace is None else trace_document(found.trace),
        failure=None if found.failure is None else failed_document(found),
        saved=saved,
    )


def failed_document(found: Validation) -> documents.FailedTrace:
    """Return the reasons why logs have no explanation, as a document."""
    failed = found.failure
    assert failed is not None
    return documents.FailedTrace(
        explained=failed.explained,
        states=failed.states,
        lines=[_line(seen) for seen in failed.lines],
        stuck=[
            documents.StuckDocument(
                state=state_document(found.program, item.state),
                lines=[
                    documents.KeptBackDocument(
                        at=seen.place,
                        obstacles=[
                            documents.ObstacleDocument(
                                action=each.action,
                                why=each.why,
                                at="" if each.at is None else short_places(str(each.at)),
                                steps=list(map(compact_step, each.steps)),
                            )
                            for each in obstacles
                        ],
                    )
                    for seen, obstacles in item.lines
                ],
            )
            for item in failed.stuck
        ],
    )


def _line(seen: Observation) -> documents.LineDocument:
    return documents.LineDocument(at=seen.place, text=seen.text)


def _print(found: Validation, showing: Showing) -> None:
    console = output.out()
    if found.failure is not None:
        print_failure(found, found.failure)
    elif found.trace is not None and found.broken:
        output.print_trace(found.trace)
        if not showing.no_diagram:
            output.print_diagram(found.trace)
    if found.trace is not None:
        hidden = f", of which no line tells of {found.hidden:,}" if found.hidden else ""
        console.print(f"an explanation: {counted(len(found.trace), 'step')}{hidden}")


def print_failure(found: Validation, failed: Failure) -> None:
    """Print how far logs are explained, the possible states there, and what keeps the next lines back."""
    console = output.out()
    console.print(f"explained: {failed.explained:,} of {failed.total:,} observations, up to here:")
    for seen in failed.lines:
        console.print(Text(f"  {seen.place}  {seen.text[:200]}", style="bold"), soft_wrap=True)
    one = failed.states == 1
    console.print("the state there:" if one else f"{failed.states:,} states are possible there")
    alike = Counter(_shown_of_state(found, item) for item in failed.stuck)
    for (values, obstacles), count in list(alike.items())[:STATES_SHOWN]:
        if not one:
            which = "in all of them" if count == failed.states else f"in {counted(count, 'state')}"
            console.print(f"  {which}:")
        for value in values[:LINES_SHOWN]:
            console.print(Text(f"    {_cut(value)}", style="bright_black"), soft_wrap=True)
        for obstacle in obstacles[:LINES_SHOWN]:
            console.print(Text(f"  ✗ {_cut(obstacle)}", style="red"), soft_wrap=True)
    left = failed.states - sum(list(alike.values())[:STATES_SHOWN])
    if left:
        console.print(f"  and {counted(left, 'state')} more (--json has {len(failed.stuck):,})")


def _shown_of_state(found: Validation, item: Stuck) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the text that describes a state without explanation: the values of variables that the next lines
    mention, and the obstacles to each line. States with the same text are shown once.
    """
    told = {where for seen, _ in item.lines for where in mentioned(found.program, seen)}
    values = tuple(
        f"{where} = {value}"
        for where, value in described(found.program, item.state)
        if not told or where in told or where.partition("[")[0] in told
    )
    several = len(item.lines) > 1
    return values, tuple(
        f"{f'{seen.place}: ' if several else ''}{why}" for seen, obstacles in item.lines for why in obstacles
    )


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."
