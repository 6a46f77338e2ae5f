"""`antiphon cluster`: real processes on real sockets under faults, judged by their logs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from antiphon.conformance.cli import documents, exercised, options, output, reports, systems
from antiphon.conformance.cli.options import Reports, said
from antiphon.conformance.cli.promised import Promise
from antiphon.conformance.report.answers import Answer
from antiphon.conformance.report.answers_of_runs import of_cluster
from antiphon.conformance.report.words import counted
from antiphon.conformance.run.cluster import ClusterResult, ClusterSettings, known_protocols, run_cluster
from antiphon.conformance.run.cluster.exercise import exercised_in
from antiphon.conformance.run.swarm import FaultKind, Settings, joins_always
from antiphon.impl.registry import LISTED

_OPTIONS = {
    "processes": "--processes", "messages": "--messages", "loss": "--loss-rate",
    "duplication": "--duplication-rate", "reordering": "--reordering-rate", "late_s": "--late",
    "stop_s": "--stop", "deadline_s": "--max-seconds", "only": "--only", "minutes": "--minutes",
}  # fmt: skip
"""Settings of a cluster by the options that make them."""


def cluster(
    protocol: Annotated[
        str | None,
        typer.Argument(
            metavar="PROTOCOL",
            show_default=False,
            help=f"What the processes run: {', '.join(known_protocols())}; or file.py:Name or module:Name of "
            f"what makes a member. With members that change: {', '.join(LISTED)}.",
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            "--system",
            help="Instead of a PROTOCOL, a group of another system on hosts of its own: corosync, jgroups.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    processes: Annotated[int, options.PROCESSES] = 3,
    messages: Annotated[int, options.MESSAGES] = 2000,
    loss: Annotated[float, typer.Option("--loss-rate", help="Probability that a datagram is lost.")] = 0.1,
    duplication: Annotated[
        float, typer.Option("--duplication-rate", help="Probability that a datagram is duplicated.")
    ] = 0.05,
    reordering: Annotated[
        float, typer.Option("--reordering-rate", help="Probability that a datagram is held back.")
    ] = 0.05,
    seed: Annotated[int, options.SEED] = 7,
    encrypted: Annotated[bool, options.ENCRYPTED] = False,
    late: Annotated[
        float, typer.Option("--late", help="The last process starts so many seconds after the others.")
    ] = 0.0,
    stop: Annotated[
        float,
        typer.Option(
            "--stop", help="One process after another is stopped by SIGSTOP for so many seconds, and goes on."
        ),
    ] = 0.0,
    join: Annotated[bool, options.JOIN] = False,
    only: Annotated[list[FaultKind] | None, options.ONLY] = None,
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes", help="With --join or --system, faults again and again for so long, else once."
        ),
    ] = 0.0,
    promise: Promise = None,
    coverage: options.Coverage = None,
    directory: Annotated[Path, options.LOG] = Path("runs"),
    max_seconds: Annotated[float, options.MAX_SECONDS] = 120.0,
    json: options.Json = False,
    *,
    reported: Reports,
) -> int:
    """Run a protocol on real processes that lose, duplicate and reorder datagrams.

    The logs of a run go into a new directory. Encrypted datagrams have a key of the run. Members of groups
    that change are killed, stopped and cut off besides, and come back; so are the hosts of another system.
    """
    if system is not None:
        if protocol is not None:
            raise output.UsageProblem(f"{protocol}: a PROTOCOL or --system, not both")
        if coverage is not None:
            raise output.UsageProblem("--coverage is of a PROTOCOL: nothing looks into another system")
        _make(directory)
        asked = (system, processes, seed, only or (), minutes, promise or (), directory, max_seconds)
        return systems.run(*asked, json=json, reported=reported)
    if protocol is None:
        raise output.UsageProblem(f"name a PROTOCOL ({', '.join(known_protocols())}), or --system")
    if promise:
        raise output.UsageProblem("--promise goes with --system; the promise of a protocol is known")
    try:
        ClusterSettings(
            protocol=protocol, processes=processes, messages=messages, loss=loss, duplication=duplication,
            reordering=reordering,
            seed=seed, encrypted=encrypted, late_s=late, stop_s=stop, deadline_s=max_seconds,
            join=join, only=tuple(only or ()), minutes=minutes,
        )  # fmt: skip
    except ValueError as error:
        raise output.of_options(error, _OPTIONS) from error
    if coverage is not None:
        exercised.known(coverage, protocol, _alike(protocol, join=join))
    if not json:
        output.out().print(f"seed {seed}")
    _make(directory)
    result = run_cluster(
        protocol,
        processes,
        messages,
        loss,
        duplication,
        reordering,
        seed,
        directory,
        encrypted=encrypted,
        late_s=late,
        stop_s=stop,
        deadline_s=max_seconds,
        join=join,
        only=only or (),
        minutes=minutes,
        record=coverage is not None,
        console=output.err(),
    )
    if coverage is not None:
        seen = exercised_in(result.directory)
        exercised.write_runs("cluster", coverage, protocol, _alike(protocol, join=join), seen, 1, None)
    reports.write(reported, lambda: Answer("cluster", (of_cluster(result, _repeating_command(result)),)))
    if json:
        record = msgspec.json.decode(result.record())
        return output.finish(
            documents.Cluster(outcome=result.outcome, directory=str(result.directory), record=record)
        )
    _print(result)
    return result.outcome.exit_code


def _alike(protocol: str, *, join: bool) -> Settings:
    """Return the settings of a swarm whose groups run the code that the processes run.

    Raises:
        UsageProblem: the protocol is none of the catalogue, so that nobody knows its code.
    """
    if protocol not in known_protocols() and protocol not in LISTED:
        raise output.UsageProblem(f"--coverage is of a protocol by its name, and {protocol} is none")
    return Settings(join=join or joins_always(protocol))


def _make(directory: Path) -> None:
    """Make the directory of the logs. Raises UsageProblem."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output.UsageProblem(f"--log {directory}: {error.strerror}") from error


def _repeating_command(result: ClusterResult) -> str:
    """Return the command that makes a run with the same settings. The runs differ, since the operating system
    schedules the processes.
    """
    settings, usual = result.settings, ClusterSettings(protocol=result.settings.protocol)
    words = [
        word
        for name, option in _OPTIONS.items()
        if name not in ("only", "seed") and getattr(settings, name) != getattr(usual, name)
        for word in (option, f"{getattr(settings, name):g}")
    ]
    flags = {"--encrypted": settings.encrypted, "--join": settings.join}
    words += [flag for flag, on in flags.items() if on]
    words += said({"--only": [str(kind) for kind in settings.only], "--seed": [str(settings.seed)]})
    return shlex.join(["antiphon", "cluster", settings.protocol, *words])


def _print(result: ClusterResult) -> None:
    console = output.out()
    counts = result.counts
    console.print(
        f"the relay passed {counts.offered:,} datagrams: {counts.dropped:,} dropped, {counts.duplicated:,} "
        f"duplicated, {counts.reordered:,} reordered"
    )
    told = ", ".join(f"process {process} {count:,}" for process, count in enumerate(result.delivered))
    console.print(f"delivered: {told}; {result.seconds:.1f} s")
    if result.settings.join:
        seen = counted(result.acknowledged, "message")
        console.print(f"{counted(result.views, 'view')}; {seen} delivered at their senders")
    if result.happened:
        told = ", ".join(f"{what} {count:,}" for what, count in result.happened.items())
        console.print(f"happened: {told}", soft_wrap=True)
    if any(result.stops):
        told = ", ".join(f"process {process} {count:,} times" for process, count in enumerate(result.stops))
        console.print(f"stopped: {told}")
    table = output.table("property", "verdict", "judged", "what was found")
    for finding in result.judged.findings:
        outcome = result.judged.outcome(finding)
        found = Text(result.judged.sentence(finding))
        table.add_row(finding.property, output.mark(outcome), f"{finding.judged:,}", found)
    console.print(table)
    for loss in result.lost:
        console.print(f"lost: {loss}", style="red", soft_wrap=True)
    for fault in result.faults:
        console.print(f"the run itself: {fault}", style="yellow", soft_wrap=True)
    console.print(f"logs: {result.directory}")
    settings = result.settings
    output.last_line(
        result.outcome,
        f"{settings.protocol}: {settings.processes} processes, {settings.messages:,} messages, "
        f"{'encrypted, ' if settings.encrypted else ''}seed {settings.seed}; evidence: measured",
    )
