"""`antiphon cluster --system NAME`: a group of another system on hosts under faults, judged by its logs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.text import Text

from antiphon.conformance.cli import documents, output, reports
from antiphon.conformance.cli.options import Reports, said
from antiphon.conformance.judge.history import PromiseError, properties_of
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.report.answers import Answer
from antiphon.conformance.report.answers_of_runs import of_system
from antiphon.conformance.report.logs import diagram_of_logs
from antiphon.conformance.report.svg import svg
from antiphon.conformance.run.swarm import FaultKind
from antiphon.conformance.run.systems import (
    SYSTEMS,
    NoHosts,
    SystemMissing,
    SystemResult,
    SystemSettings,
    run_system,
)
from antiphon.model.files import write_whole
from antiphon.spec.lang.hints import known_names

PICTURE = "violation.svg"
"""Drawing of the first violation, beside the logs."""

_OPTIONS = {"processes": "--processes", "minutes": "--minutes", "only": "--only"}


def run(
    name: str,
    processes: int,
    seed: int,
    only: Sequence[FaultKind],
    minutes: float,
    promise: Sequence[str],
    directory: Path,
    max_seconds: float,
    *,
    json: bool,
    reported: Reports,
) -> int:
    """Run a group of another system and print the result; return the exit code. A run that breaks a promise
    is run again with fewer faults for `max_seconds`.

    Raises:
        UsageProblem: the system is unknown or not on this machine, or it has no such fault or promise.
    """
    system = SYSTEMS.get(name)
    if system is None:
        raise output.UsageProblem(f"--system: unknown system {name!r}; {known_names(name, SYSTEMS)}")
    words = tuple(promise) or system.promise
    try:
        properties_of(words)
        settings = SystemSettings(name, processes, minutes, seed, tuple(only), words)
    except PromiseError as error:
        raise output.UsageProblem(f"--promise: {error}") from error
    except ValueError as error:
        raise output.of_options(error, _OPTIONS) from error
    if not json:
        output.out().print(f"seed {seed}")
    console = output.err()
    try:
        result = run_system(
            settings,
            system,
            directory,
            lambda news: console.print(news, highlight=False),
            shorten_s=max_seconds,
        )
    except (SystemMissing, NoHosts) as error:
        raise output.UsageProblem(f"--system {name}: {error}") from error
    again = _repeating_command(settings)
    picture = _drawn(result)
    reports.write(reported, lambda: Answer("cluster", (of_system(result, again),)))
    if json:
        record = msgspec.json.decode(msgspec.json.encode(result.record()))
        return output.finish(
            documents.Cluster(outcome=result.outcome, directory=str(result.directory), record=record)
        )
    _print(result, again, picture)
    return result.outcome.exit_code


def _drawn(result: SystemResult) -> Path | None:
    """Draw the first violation beside the logs; return the file."""
    if not result.violated:
        return None
    picture = result.directory / PICTURE
    write_whole(picture, svg(diagram_of_logs(load_run(result.directory), result.judged)).encode())
    return picture


def _repeating_command(settings: SystemSettings) -> str:
    usual = SystemSettings(settings.system)
    words = [
        word
        for name in ("processes", "minutes")
        if getattr(settings, name) != getattr(usual, name)
        for word in (_OPTIONS[name], f"{getattr(settings, name):g}")
    ]
    words += said({"--only": [str(kind) for kind in settings.only], "--seed": [str(settings.seed)]})
    if settings.promise != SYSTEMS[settings.system].promise:
        words += said({"--promise": settings.promise})
    return shlex.join(["antiphon", "cluster", "--system", settings.system, *words])


def _print(result: SystemResult, again: str, picture: Path | None) -> None:
    console = output.out()
    settings = result.settings
    told = f"{settings.system}: {result.version}; promise: {' '.join(settings.promise)}"
    console.print(told, soft_wrap=True, highlight=False)
    console.print("faults that happened:" if result.faults else "no fault happened")
    for fault in result.faults:
        console.print(f"  {fault}", highlight=False)
    if result.tried is not None:
        console.print(f"shortened from {result.tried} faults to {len(result.faults)}", highlight=False)
    table = output.table("property", "verdict", "judged", "what was found")
    for finding in result.judged.findings:
        found = Text(result.judged.sentence(finding))
        outcome = result.judged.outcome(finding)
        table.add_row(finding.property, output.mark(outcome), f"{finding.judged:,}", found)
    console.print(table)
    for reason in result.missing:
        console.print(f"the run itself: {reason}", style="yellow", soft_wrap=True)
    for problem in result.judged.problems:
        console.print(f"the logs: {problem}", style="yellow", soft_wrap=True)
    console.print(f"logs: {result.directory}", soft_wrap=True)
    if picture is not None:
        console.print(f"drawn: {picture}", soft_wrap=True)
    console.print(f"again, with times of its own: {again}", soft_wrap=True)
    output.last_line(
        result.outcome,
        f"{settings.system}: {settings.processes} hosts, seed {settings.seed}; evidence: measured",
    )
