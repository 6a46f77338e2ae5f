"""`antiphon ingest`: logs are read into a lake, once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.progress import working
from antiphon.conformance.extras import needs_spark
from antiphon.conformance.report.words import counted
from antiphon.model.verdict import Outcome


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Logs, directories of one run or of runs, or patterns of those; compressed or not.",
            show_default=False,
        ),
    ],
    lake: Annotated[Path, options.LAKE],
    master: Annotated[str, options.MASTER] = "local[*]",
    json: options.Json = False,
) -> int:
    """Read the logs of many runs into a lake, which `antiphon verify` judges; runs that are there are
    skipped.
    """
    needs_spark("ingest")
    from antiphon.conformance.spark import pipeline  # here: Spark is an extra

    console = output.err()
    began = time.perf_counter()
    try:
        with working(f"reading into {lake} on {master}", console) as tell:
            done = pipeline.ingest(paths, lake, master, tell=tell)
    except pipeline.InputError as error:
        raise output.UsageProblem(str(error)) from error
    seconds = time.perf_counter() - began
    tally = {name: done.total(name) for name in ("runs", "lines", "events", "faults")}
    if json:
        document = documents.Ingest(
            outcome=Outcome.HOLDS,
            lake=done.lake,
            runs=tally["runs"],
            lines=tally["lines"],
            events=tally["events"],
            faults=tally["faults"],
            known=done.known,
            seconds=seconds,
        )
        return output.finish(document)
    told = ", ".join(counted(count, name.removesuffix("s")) for name, count in tally.items())
    output.out().print(
        f"{told} read in {seconds:.1f} s; {counted(done.known, 'run')} there already; lake: {done.lake}",
        soft_wrap=True,
    )
    return 0
