"""`antiphon show`: a saved trace, or the logs of a run, as text and as a space-time diagram, in the terminal
or as an SVG file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

import antiphon
from antiphon.conformance.cli import documents, options, output, reports
from antiphon.conformance.cli.options import Timelines
from antiphon.conformance.cli.promised import Promise
from antiphon.conformance.judge.history import TOTAL_ORDER, PromiseError, judge_run
from antiphon.conformance.judge.trace import load_run, logs_in
from antiphon.conformance.report import words
from antiphon.conformance.report.answers import Shown, of_trace
from antiphon.conformance.report.documents import foreign_document, trace_document
from antiphon.conformance.report.logs import diagram_of_logs
from antiphon.conformance.report.svg import svg
from antiphon.conformance.report.terminal import text_diagram
from antiphon.conformance.spark.pipeline.runs import NO_RUN
from antiphon.model.export import ForeignRun, ForeignTraceError
from antiphon.model.verdict import Outcome
from antiphon.programs import called

SHOWN = 12
"""Number of variables in the initial state of another tool's run that are shown; the others with `--all`."""


def show(
    file: options.TraceFile,
    specification: options.TraceSpecification = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="OUT.svg",
            help="Draw the diagram into this file.",
            show_default=False,
            callback=options.writable,
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Show the whole initial state too; of logs, what the protocol does."),
    ] = False,
    promise: Promise = None,
    json: options.Json = False,
    *,
    timelines: Timelines,
) -> int:
    """Show a saved trace: its steps, their changes, and the messages between processes; or the logs of a run.

    A trace of another tool, without --as, is shown as its states.
    """
    if file.is_dir():
        promised = promise or [TOTAL_ORDER]
        return _run(file, promised, picture, timelines, everything=everything, json=json)
    if promise:
        raise output.UsageProblem("--promise is for the logs of a run: name its directory")
    try:
        trace = antiphon.load(file, specification)
    except ForeignTraceError as error:
        if timelines != Timelines():
            raise output.UsageProblem(_no_lanes("--shiviz and --perfetto", file)) from error
        return _foreign(file, error.run, picture, everything=everything, json=json)
    reports.draw(timelines, of_trace(trace, called(trace.program.spec)), "run")
    written = output.write_text("--svg", picture, trace.svg()) if picture is not None else None
    if json:
        document = documents.Show(
            outcome=Outcome.HOLDS, file=str(file), trace=trace_document(trace), written=written
        )
        return output.finish(document)
    output.print_trace(trace, everything=everything)
    output.print_diagram(trace)
    if written:
        output.out().print(f"diagram written: {written}")
    return 0


def _run(
    directory: Path,
    promise: list[str],
    picture: Path | None,
    timelines: Timelines,
    *,
    everything: bool,
    json: bool,
) -> int:
    """Show the logs of a run, and the first thing that is broken."""
    if not logs_in(directory):
        raise output.UsageProblem(f"{directory}: {NO_RUN}; a saved trace is a file, as --save makes it")
    try:
        run = load_run(directory)
        judged = judge_run(run, promise)
    except PromiseError as error:
        raise output.UsageProblem(str(error)) from error
    drawn = diagram_of_logs(run, judged, everything=everything)
    written = output.write_text("--svg", picture, svg(drawn)) if picture is not None else None
    if timelines != Timelines():
        whole = diagram_of_logs(run, judged, everything=everything, most=sys.maxsize)
        reports.draw(timelines, Shown(whole), "run")
    events = sum(map(len, run.events))
    if json:
        found = [{"outcome": judged.outcome(each)} | each.to_json() for each in judged.findings]
        document = documents.ShowRun(
            outcome=Outcome.HOLDS,
            directory=str(directory),
            processes=len(run.logs),
            events=events,
            findings=found,
            damage=[str(problem) for problem in run.problems],
            hints=list(judged.hints),
            written=written,
        )
        return output.finish(document)
    console = output.out()
    console.print(text_diagram(drawn, max(console.width, 60)), soft_wrap=True)
    for problem in run.problems[:SHOWN]:
        console.print(str(problem), style="yellow", soft_wrap=True, markup=False)
    for hint in judged.hints:
        console.print(hint, style="yellow", soft_wrap=True)
    worst = Outcome.worst(judged.outcomes.values())
    told = f"{words.counted(len(run.logs), 'process')}, {words.counted(events, 'event')}; {worst.value} by"
    console.print(f"{told.replace('processs', 'processes')} {', '.join(promise)}")
    if written:
        console.print(f"diagram written: {written}")
    return 0


def _foreign(file: Path, run: ForeignRun, picture: Path | None, *, everything: bool, json: bool) -> int:
    """Show the states of a run that another tool made."""
    if picture is not None:
        raise output.UsageProblem(_no_lanes("--svg", file))
    trace = foreign_document(run)
    if json:
        return output.finish(documents.Show(outcome=Outcome.HOLDS, file=str(file), trace=trace))
    console = output.out()
    source = f" of {run.source}" if run.source else ""
    console.print(
        f"a run{source}, made by another tool: {words.counted(len(run.states), 'state')}", style="bold"
    )
    for number, (action, changes) in enumerate(
        [("the initial state", _all(run)), *((step.step, step.changes) for step in trace.steps)]
    ):
        console.print(Text(f"{number:>4}  {action or 'a step'}", style="bold"))
        for change in changes if number or everything or len(changes) <= SHOWN else changes[:SHOWN]:
            console.print(Text(f"        {change}"))
        if not number and not everything and len(changes) > SHOWN:
            console.print(
                f"        and {len(changes) - SHOWN} more variables, with --all", style="bright_black"
            )
    if run.loop is not None:
        console.print(Text(f"   ↻  on with state {run.loop}", style="red"))
    return 0


def _no_lanes(option: str, file: Path) -> str:
    return (
        f"{option}: {file} is a trace of another tool, which says nothing of processes and messages; name "
        f"the specification: antiphon show {file} --as SPEC"
    )


def _all(run: ForeignRun) -> list[str]:
    return [f"{name} = {value}" for name, value in run.shown()[0].items()]
