"""`antiphon watch`: the logs of a folder are judged while they grow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.promised import Promise
from antiphon.conformance.extras import needs_spark
from antiphon.conformance.judge.history import TOTAL_ORDER
from antiphon.conformance.report.words import counted

if TYPE_CHECKING:  # Spark is an extra
    from antiphon.conformance.spark.pipeline import Standing


def watch(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Where logs grow: the directory of a run, or of runs (RUN/process-0.ndjson).",
            show_default=False,
        ),
    ],
    lake: Annotated[Path, options.LAKE],
    every: Annotated[float, typer.Option("--every", min=0.0, help="Look again after so many seconds.")] = 1.0,
    silence: Annotated[
        float, typer.Option("--silence", min=0.0, help="Give up a run that is silent for so many seconds.")
    ] = 600.0,
    promise: Promise = None,
    once: Annotated[bool, typer.Option("--once", help="End when what is there now was read.")] = False,
    master: Annotated[str, options.MASTER] = "local[*]",
    json: options.Json = False,
) -> int:
    """Judge the logs of unfinished runs, on Spark: a violation is reported as soon as it is in a log."""
    needs_spark("watch")
    from antiphon.conformance.spark import pipeline  # here: Spark is an extra

    if json and not once:
        raise output.UsageProblem("--json is one document, and a watch does not end: add --once")
    try:
        done = pipeline.watch(
            folder, lake, master=master, every_s=every, silence_s=silence, promise=promise or (TOTAL_ORDER,),
            once=once, tell=(lambda _: None) if json else _print_change,
        )  # fmt: skip
    except pipeline.InputError as error:
        raise output.UsageProblem(str(error)) from error
    if json:
        runs = [
            documents.WatchedRun(
                run=each.run, path=each.path, standing=each.standing, outcome=each.outcome,
                events=each.events, found=[found for *_, found in each.found],
            )
            for each in done.standings
        ]  # fmt: skip
        return output.finish(
            documents.Watch(outcome=done.outcome, path=str(folder), tables=done.place, runs=runs)
        )
    going = sum(each.standing == pipeline.GOES_ON for each in done.standings)
    output.out().print(f"tables: {done.place}", soft_wrap=True)
    output.last_line(
        done.outcome,
        f"{counted(len(done.standings), 'run')}, {going:,} of them going on; evidence: measured",
    )
    return done.outcome.exit_code


def _print_change(standing: Standing) -> None:
    """Print a change in the known state of a run."""
    head = f"{standing.run} {standing.standing}, {counted(standing.events, 'event')}"
    console = output.out()
    console.print(Text.assemble(output.mark(standing.outcome), f"  {head}"), soft_wrap=True)
    for name, _, _, _, told in standing.found:
        console.print(f"    {name}: {told}" if name else f"    {told}", soft_wrap=True, markup=False)
