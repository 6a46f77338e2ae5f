"""`antiphon trace`: is there a behaviour of a specification that explains the log of a real run?"""

from __future__ import annotations

import json as codec
import shlex
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from antiphon.conformance.cli import documents, options, output, reports
from antiphon.conformance.cli.options import Effort, Reports, Showing, Variant, said
from antiphon.conformance.cli.progress import working
from antiphon.conformance.compare.validation import (
    Failure,
    Observation,
    ObservationError,
    Stuck,
    Validation,
    mentioned,
    read_logs,
    validate,
)
from antiphon.conformance.report.answers import Answer, of_validation
from antiphon.conformance.report.documents import state_document, trace_document
from antiphon.conformance.report.words import counted
from antiphon.model.bounds import Bounds
from antiphon.model.changes import described
from antiphon.model.notation import compact_step, short_places
from antiphon.model.verdict import Outcome
from antiphon.spec.places import Kind, stands_at

STATES_SHOWN = 4
LINES_SHOWN = 12
WIDEST = 400
"""Characters of a value or a reason; --json has all."""
_MAP = Kind("map", callable, "a function that takes a line")


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
    map_: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="FILE.py",
            help="A file whose function observe says what a line tells, or file.py:Name; without, lines are "
            "observations as they stand.",
            show_default=False,
        ),
    ] = None,
    hidden: Annotated[
        list[str] | None,
        typer.Option(
            "--hidden",
            metavar="ACTION:N",
            help="An action that no line tells of may be taken so often; may be repeated.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="STATE",
            help="The logs begin here: variables with values as JSON, or a file of it; the others are as "
            "initially.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--ways", help="Look for all explanations, and count them.")
    ] = False,
    variant: Variant,
    effort: Effort,
    showing: Showing,
    reported: Reports,
) -> int:
    """Look for a behaviour of a specification that explains the logs of a real run.

    Lines may tell little: an action without its arguments, a part of the state. Several logs are put in an
    order that the specification allows; clocks are not looked at.
    """
    bound = variant.program(specification)
    try:
        with working(f"explaining {', '.join(map(str, logs))}", output.err()):
            found = _found(bound, logs, map_, hidden, start, effort, every=every)
    except ObservationError as error:
        raise output.UsageProblem(str(error)) from error
    begins = found.trace is not None and found.trace.initial
    if showing.save is not None and found.trace is not None and not begins:
        raise output.UsageProblem("--save: an explanation that begins with --from cannot be replayed")
    saved = output.saved(showing.save, found.trace, "explanation")
    words = [*map(str, logs), *said({"--map": [map_] if map_ else (), "--hidden": hidden})]
    words += [*said({"--from": [start] if start else ()}), *(["--ways"] if every else []), *effort.words()]
    again = shlex.join(["antiphon", "trace", specification, *words, *variant.words()])
    reports.write(
        reported, lambda: Answer("trace", (of_validation(specification, found, again, saved or ""),))
    )
    if showing.json:
        return output.finish(_document(specification, found, again, saved))
    _print(found, showing)
    if saved:
        output.out().print(f"explanation saved: {saved}")
    output.last_line(found.outcome, f"{specification}: {found.reason}; {found.seconds:.1f} s")
    return found.outcome.exit_code


def _found(
    bound: Any,
    logs: list[Path],
    map_: str | None,
    hidden: list[str] | None,
    start: str | None,
    effort: Effort,
    *,
    every: bool,
) -> Validation:
    missing = [file for file in logs if not file.is_file()]
    if missing:
        reason = f"{', '.join(map(str, missing))}: there is no such log"
        return Validation(bound, Outcome.UNKNOWN, reason, 0)
    observe = None if map_ is None else stands_at(map_ if ":" in map_ else f"{map_}:observe", _MAP)
    return validate(
        bound,
        read_logs(bound, logs, observe),
        hidden=_budgets(hidden or ()),
        start=_state(start),
        every=every,
        bounds=Bounds(effort.max_states, effort.max_seconds, None, effort.max_memory),
    )


def _budgets(given: Any) -> dict[str, int]:
    found = {}
    for word in given:
        name, sign, number = word.partition(":")
        if not sign or not number.isdecimal():
            raise output.UsageProblem(f"--hidden {word}: write ACTION:N, how often it may be taken")
        found[name] = int(number)
    return found


def _state(given: str | None) -> dict[str, Any] | None:
    if given is None:
        return None
    text = given
    if not given.lstrip().startswith("{"):
        try:
            text = Path(given).read_text(encoding="utf-8")
        except OSError as error:
            raise output.UsageProblem(f"--from {given}: {error.strerror}") from error
    try:
        found = codec.loads(text)
    except ValueError as error:
        raise output.UsageProblem(f"--from: not JSON: {error}") from error
    if not isinstance(found, dict):
        raise output.UsageProblem("--from: a state is an object, each variable with its value")
    return found


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
        failure=None if found.failure is None else _failure(found),
        saved=saved,
    )


def _failure(found: Validation) -> documents.FailedTrace:
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
        _print_failure(found, found.failure)
    elif found.trace is not None and found.broken:
        output.print_trace(found.trace)
        if not showing.no_diagram:
            output.print_diagram(found.trace)
    if found.trace is not None:
        hidden = f", of which no line tells of {found.hidden:,}" if found.hidden else ""
        console.print(f"an explanation: {counted(len(found.trace), 'step')}{hidden}")


def _print_failure(found: Validation, failed: Failure) -> None:
    console = output.out()
    console.print(f"explained: {failed.explained:,} of {failed.total:,} observations, up to here:")
    for seen in failed.lines:
        console.print(Text(f"  {seen.place}  {seen.text[:200]}", style="bold"), soft_wrap=True)
    one = failed.states == 1
    console.print("the state there:" if one else f"{failed.states:,} states are possible there")
    alike = Counter(_alike(found, item) for item in failed.stuck)
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


def _alike(found: Validation, item: Stuck) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what is shown of a state: the values that the next lines mention, and their obstacles."""
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
