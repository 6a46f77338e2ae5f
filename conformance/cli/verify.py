"""`antiphon verify`: the logs of many runs, judged in this process, or on Spark where there are too many."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.text import Text

from antiphon.conformance.cli import documents, options, output, reports
from antiphon.conformance.cli.options import Reports, said
from antiphon.conformance.cli.progress import working
from antiphon.conformance.cli.promised import Promise
from antiphon.conformance.judge.history import TOTAL_ORDER
from antiphon.conformance.judge.trace.members import MemberLogsError, member_logs, numbered
from antiphon.conformance.report.answers import Answer
from antiphon.conformance.report.answers_of_runs import of_logs
from antiphon.conformance.report.words import counted, in_logs
from antiphon.model.bounds import Bounds
from antiphon.model.verdict import Outcome
from antiphon.spec.services.views import VIEW_SYNCHRONY


def verify(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A lake, or logs: a directory of runs (RUN/process-0.ndjson), or what ingest takes; or of "
            "members that join (member-INCARNATION.ndjson).",
            show_default=False,
        ),
    ],
    spark: Annotated[bool, options.SPARK] = False,
    master: Annotated[str | None, options.MASTER] = None,
    promise: Promise = None,
    max_seconds: options.MaxSeconds = None,
    json: options.Json = False,
    *,
    reported: Reports,
) -> int:
    """Judge the logs of many runs.

    The logs are judged in this process, or on Spark: if Spark is asked for, or there are more than two
    million events. Both give the same result. Spark judges all, whatever --max-seconds says. Logs that are
    missing are unknown.
    """
    from antiphon.conformance.spark.pipeline.errors import InputError  # here: it takes long to load
    from antiphon.conformance.spark.pipeline.verification import verify as judge

    console, began = output.err(), time.monotonic()
    where = master or ("local[*]" if spark else None)
    try:
        with (
            _logs(path) as (logs, usual),
            working(f"judging {path}{f' on {where}' if where else ''}", console) as tell,
        ):
            bounds = Bounds(seconds=max_seconds)
            report = judge(logs, where, promise or usual, tell, jobs=os.cpu_count() or 1, bounds=bounds)
            seconds = () if max_seconds is None else [f"{max_seconds:g}"]
            words = said(
                {"--promise": promise, "--master": [where] if where else (), "--max-seconds": seconds}
            )
            again = shlex.join(["antiphon", "verify", path, *words])
            took = time.monotonic() - began
            reports.write(reported, lambda: _answer(path, logs, report, promise or usual, took, again))
    except (InputError, MemberLogsError) as error:
        raise output.UsageProblem(str(error)) from error
    if json:
        return output.finish(documents.Verify(outcome=report.outcome, path=path, report=report.to_dict()))
    _print(report)
    return report.outcome.exit_code


def _answer(
    path: str, logs: str, report: Any, promise: Collection[str], seconds: float, again: str
) -> Answer:
    """Return the verdicts for the report files, with the directories of the runs where they are known."""
    from antiphon.conformance.spark.pipeline.runs import find_runs, is_lake

    found = find_runs([logs]).runs if report.runs and not is_lake(Path(logs)) else ()
    runs = {run.name: run.path for run in found}
    return Answer("verify", (of_logs(path, report, runs, promise, seconds, again),))


@contextmanager
def _logs(path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Context that yields the directory of the logs to judge, and the promise that the logs themselves imply.
    Logs of members are converted to a temporary directory, with numbered processes.
    """
    if not member_logs(path):
        yield path, (TOTAL_ORDER,)
        return
    with TemporaryDirectory(prefix="antiphon-") as folder:
        run = Path(folder) / (Path(path).resolve().name or "run")
        run.mkdir()
        numbered(path, run)
        yield str(run), (VIEW_SYNCHRONY, TOTAL_ORDER)


def _print(report: Any) -> None:
    console = output.out()
    table = output.table("property", "holds", "violated", "unknown", "judged", "what was found")
    for name, counts, found in in_logs(report):
        others = [str(counts[outcome] or "-") for outcome in (Outcome.VIOLATED, Outcome.UNKNOWN)]
        judged = f"{report.judged[name]:,}" if report.judged.get(name) else "-"
        table.add_row(name, str(counts[Outcome.HOLDS] or "-"), *others, judged, Text(found))
    console.print(table)
    for hint in report.hints:
        console.print(hint, style="yellow", soft_wrap=True)
    for damage in report.damage:
        console.print(f"{damage}", style="yellow", soft_wrap=True)
    if report.faults > len(report.damage):
        console.print(f"and {report.faults - len(report.damage):,} faults more", style="yellow")
    if report.lake:
        console.print(f"lake: {report.lake}", soft_wrap=True)
    tally = ((report.runs, "run"), (report.events, "event"), (report.faults, "fault"))
    told = ", ".join(counted(count, what) for count, what in tally)
    output.last_line(report.outcome, f"{told} in the logs; evidence: measured")
