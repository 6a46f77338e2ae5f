"""`antiphon swarm`: whole groups of the real cores in virtual time, under faults that a seed draws."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.text import Text

from antiphon.conformance.cli import documents, exercised, options, output, reports, streams
from antiphon.conformance.cli.options import Reports
from antiphon.conformance.cli.progress import runs_bar, working
from antiphon.conformance.compare.bindings import bound_protocol, bound_protocols
from antiphon.conformance.extras import needs_spark
from antiphon.conformance.report.answers import Answer, Suite, code_place
from antiphon.conformance.report.answers_of_runs import of_run_of_swarm, of_swarm
from antiphon.conformance.report.diagram import Diagram
from antiphon.conformance.report.terminal import text_diagram
from antiphon.conformance.report.words import counted
from antiphon.conformance.run.swarm import (
    BLOCK,
    SCHEDULE,
    Around,
    Deliver,
    FaultKind,
    RunResult,
    Schedule,
    ScheduleError,
    Settings,
    SwarmReport,
    command_of,
    core_of,
    joins_always,
    keep,
    observed,
    pictured,
    read_schedule,
    run_schedule,
    run_seed,
    run_swarm,
    schedule_lines,
    shortened,
    within_model,
)
from antiphon.impl.registry import LISTED
from antiphon.model.bounds import runs_asked
from antiphon.model.files import write_whole
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Location
from antiphon.spec.lang.calls import drawn

if TYPE_CHECKING:  # Spark is an extra
    from antiphon.conformance.spark.pipeline import Swarmed

_RUNS = 1_000
"""Number of runs, where neither a number nor a time is said."""

_SEEDS_TOLD = 10
_KINDS_SHOWN = 4
_USUAL = Settings()
_DRAWN = (_USUAL.members, _USUAL.messages, (), _USUAL.layers, _USUAL.deliver)

_OPTIONS = {
    "members": "--processes", "messages": "--messages", "bound_ms": "--bound-ms", "steps_max": "--steps",
    "deliver": "--deliver", "layers": "--layers", "faults": "--only", "sealed": "--encrypted",
    "multicast": "--multicast", "planted": "--fault",
}  # fmt: skip
"""Settings of a swarm by the options that make them."""


def swarm(
    protocol: Annotated[
        str,
        typer.Argument(
            metavar="PROTOCOL",
            help=f"A protocol whose implementation is bound: {', '.join(bound_protocols())}; or file.py:Name "
            f"or module:Name of a binding. With members that change: {', '.join(LISTED)}.",
            show_default=False,
        ),
    ],
    seed: options.Seed = None,
    runs: Annotated[int | None, options.RUNS] = None,
    jobs: Annotated[int | None, options.JOBS] = None,
    processes: Annotated[int, options.PROCESSES] = _USUAL.members,
    messages: Annotated[int, options.MESSAGES] = _USUAL.messages,
    join: Annotated[bool, options.JOIN] = False,
    only: Annotated[list[FaultKind] | None, options.ONLY] = None,
    layers: Annotated[
        Around, typer.Option("--layers", help="Whether layers stand around the core; it may need them.")
    ] = "drawn",
    deliver: Annotated[
        Deliver,
        typer.Option(
            "--deliver",
            help="How many members have what is delivered: drawn, as each message asks, or as usual.",
        ),
    ] = "drawn",
    within: Annotated[
        bool,
        typer.Option(
            "--within-model",
            help="Draw runs that the model of lockstep could have: its processes, messages and losses.",
        ),
    ] = False,
    sealed: Annotated[bool, options.ENCRYPTED] = False,
    multicast: Annotated[
        bool, typer.Option("--multicast", help="What goes to all others is one datagram.")
    ] = False,
    bound: Annotated[
        float, typer.Option("--bound-ms", help="When faults are over, something is delivered in each.")
    ] = 20_000.0,
    steps: Annotated[int, options.STEPS] = 20_000,
    schedule: Annotated[
        Path | None,
        typer.Option("--schedule", metavar="FILE", help="Take the run of this schedule.", show_default=False),
    ] = None,
    directory: Annotated[Path, options.LOG] = Path("runs"),
    *,
    spark: Annotated[bool, options.SPARK] = False,
    master: Annotated[str | None, options.MASTER] = None,
    lake: Annotated[Path | None, options.LAKE] = None,
    sample: Annotated[
        int, typer.Option("--sample", min=0, help="Logs of so many runs go into the lake, failing or not.")
    ] = 100,
    fault: options.Fault = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="DIR",
            help="Write what the applications see in a failing run, or in the first run if none fails, as a "
            "trace for `antiphon replay`; of groups whose members change.",
            show_default=False,
        ),
    ] = None,
    max_seconds: options.MaxSeconds = None,
    steer: Annotated[
        bool,
        typer.Option(
            "--steer", help="Begin half of the runs as an earlier one that saw something new, and go on."
        ),
    ] = False,
    coverage: options.Coverage = None,
    json: options.Json = False,
    reported: Reports,
) -> int:
    """Run whole groups in virtual time under faults that a seed draws, and shrink a failing run.

    Runs have seeds in a row. The first that fails is kept with its logs. With --lake, on Spark, results, the
    logs of failing runs and of a sample go into a lake.
    """
    join = join or joins_always(protocol)
    if within and (processes, messages, only or (), layers, deliver) != _DRAWN:
        raise output.UsageProblem(
            "--within-model has the processes, messages and faults of the model: leave out --processes, "
            "--messages, --only, --layers and --deliver"
        )
    elsewhere = spark or master is not None or lake is not None or schedule is not None
    _see_kind(join=join, within=within, save=save, limited=max_seconds is not None, elsewhere=elsewhere)
    _see_steered(steer=steer, recorded=coverage is not None, join=join, within=within, elsewhere=elsewhere)
    settings = _settings(
        protocol, within=within, join=join, members=processes, messages=messages,
        faults=tuple(only or FaultKind), layers=layers, deliver=deliver, sealed=sealed, multicast=multicast,
        planted=fault, bound_ms=bound, steps_max=steps,
    )  # fmt: skip
    if schedule is not None:
        return _replayed(protocol, schedule, settings, save, reported, json=json)
    output.see_reachable("--log", directory)
    until = math.inf if max_seconds is None else time.monotonic() + max_seconds
    before = exercised.known(coverage, protocol, settings) if coverage is not None else None
    chosen = drawn() if seed is None else seed
    if not json:
        output.out().print(f"seed {chosen}")
    there, asked = None, runs_asked(runs, _RUNS, max_seconds)
    if elsewhere:
        if jobs is not None:
            raise output.UsageProblem("--jobs are processes without Spark; say --master local[N] instead")
        there = _on_spark(protocol, asked or _RUNS, chosen, settings, master, lake, sample)
        report = there.report
    else:
        with runs_bar(protocol, asked, output.err()) as show:
            report = run_swarm(
                protocol, runs=asked, seed=chosen, settings=settings, jobs=jobs or os.cpu_count() or 1,
                steer=steer, known=before, max_seconds=max_seconds, progress=show,
            )  # fmt: skip
    _keep_coverage(coverage, protocol, report, within=within)
    first = next((result for result in report.failed if result.schedule is not None), None)
    short = _shortened(first, settings, until) if first is not None and first.symptoms else first
    homes = _write_failing(first, short, directory)
    others = [
        (other, home)
        for other in _of_other_kinds(report, (first, short), until)
        for home in _write_failing(other, other, directory)
    ]
    again = f"{command_of(protocol, settings)}{' --steer' * steer}"
    failing = [*([] if short is None else [(short, homes[-1] if homes else None)]), *others]
    whole = f"{again} --runs {asked or report.runs} --seed {chosen}"
    reports.write(reported, lambda: _answer(report, failing, settings, whole))
    saved = _saved_runs(protocol, chosen, settings, [result for result, _ in failing], save)
    if json:
        places = [*homes, *(home for _, home in others)]
        return output.finish(_document(report, short, places, saved, there))
    _print(report)
    if there is not None and there.batch is not None:
        kept = f"{counted(there.batch.runs, 'run')} with logs in batch {there.batch.id} of {lake}"
        output.out().print(kept if there.is_new else f"{kept}, which was there already", soft_wrap=True)
    alone = command_of(protocol, settings)
    if first is not None and short is not None:
        _print_run(short, settings)
        knows = before is not None and bool(before.branches)
        _print_again(again, first, chosen, steer=steer, knows=knows)
        if homes:
            output.out().print(f"short:  {alone} --schedule {homes[-1] / SCHEDULE}", soft_wrap=True)
            output.out().print(f"logs:   {', '.join(map(str, homes))}", soft_wrap=True)
    for other, home in others:
        output.out().print(f"another kind, seed {other.seed}: {other.reasons[0]}", soft_wrap=True)
        output.out().print(f"short:  {alone} --schedule {home / SCHEDULE}", soft_wrap=True)
    _print_saved(saved)
    if report.untaken and max_seconds is not None:
        left = f"{report.untaken:,} of {asked:,} runs not taken: --max-seconds {max_seconds:g} are over"
        output.out().print(Text.assemble(output.mark(Outcome.UNKNOWN), f"  {left}"), soft_wrap=True)
    wrong = f", {len(report.failed):,} of them fail" if report.failed else ""
    each_ms = report.processor_ns / report.runs / 1e6
    output.last_line(
        report.outcome,
        f"{protocol}: {report.runs:,} runs{wrong}; {report.seconds:.1f} s, {each_ms:.1f} ms of processor "
        f"each, seed {chosen}; evidence: measured",
    )
    return report.outcome.exit_code


def _settings(protocol: str, *, within: bool, **given: Any) -> Settings:
    """Return settings of these values; `within` the model of lockstep, those of the model count more.

    Raises:
        UsageProblem: values do not go together.
    """
    try:
        settings = Settings(**given)
        if not within:
            return settings
        of_model = within_model(protocol)
        return msgspec.structs.replace(
            settings, members=of_model.members, messages=of_model.messages, faults=of_model.faults,
            within=of_model.within,
        )  # fmt: skip
    except ValueError as error:
        raise output.of_options(error, _OPTIONS) from error


def _see_kind(*, join: bool, within: bool, save: Path | None, limited: bool, elsewhere: bool) -> None:
    """Raise UsageProblem if an option is of the other kind of groups, or of runs that are taken elsewhere."""
    if within and join:
        raise output.UsageProblem("--within-model is of groups whose members stay; leave it out")
    if save is not None:
        if not join:
            raise output.UsageProblem("--save is of groups whose members change: add --join")
        output.see_reachable("--save", save)
    if limited and elsewhere:
        raise output.UsageProblem("--max-seconds ends runs that this command takes by seeds, and shortening")


def _see_steered(*, steer: bool, recorded: bool, join: bool, within: bool, elsewhere: bool) -> None:
    """Raise UsageProblem if the runs of these options cannot be steered or recorded."""
    if steer and (join or within):
        whose = "--join" if join else "--within-model"
        raise output.UsageProblem(f"--steer is not for {whose}: leave one of them out")
    if (steer or recorded) and elsewhere:
        raise output.UsageProblem(
            "--steer and --coverage are for runs that this command takes by seeds: leave out --spark, "
            "--master, --lake and --schedule; `antiphon coverage --lake` reads the swarms of a lake"
        )


def _keep_coverage(file: Path | None, protocol: str, report: SwarmReport, *, within: bool) -> None:
    """Add what the runs of a swarm have exercised to the file of `--coverage`, if there is one."""
    if file is not None and report.seen is not None:
        seeds = range(report.seed, report.seed + report.runs)
        model = _transitions(protocol, seeds, report.settings) if within else None
        exercised.write_runs("swarm", file, protocol, report.settings, report.seen, report.runs, model)


def _print_again(again: str, first: RunResult, seed: int, *, steer: bool, knows: bool) -> None:
    """Print the command that takes a failing run again: steered, with all runs of its block before it; not if
    a file has steered them, which has more in it now.
    """
    if steer and not knows and first.seed is not None:
        begin = seed + (first.seed - seed) // BLOCK * BLOCK
        told = f"{again} --runs {first.seed - begin + 1} --seed {begin}"
        output.out().print(f"again:  {told}", soft_wrap=True)
    elif not steer:
        output.out().print(f"again:  {again} --runs 1 --seed {first.seed}", soft_wrap=True)


def _transitions(
    protocol: str, seeds: range, settings: Settings
) -> tuple[Mapping[str, int | bool | str], Mapping[str, int], set[tuple[str, str]]] | None:
    """Return the constants of the model of lockstep, how often runs within it took each action, and the
    transitions; None for a binding whose messages stand for no packets.
    """
    from antiphon.conformance.coverage.paths import transitions_of_swarm  # here: it takes the runs again

    bound = bound_protocol(protocol)
    constants = bound.bind(**bound.small).program.constants
    try:
        return constants, *transitions_of_swarm(protocol, constants, seeds, settings)
    except TypeError:
        return None


def _on_spark(
    protocol: str,
    runs: int,
    seed: int,
    settings: Settings,
    master: str | None,
    lake: Path | None,
    sample: int,
) -> Swarmed:
    """Run the groups as tasks on Spark, and return the report."""
    needs_spark("--spark")
    from antiphon.conformance.spark import pipeline  # here: Spark is an extra

    where = master or "local[*]"
    try:
        with working(f"{protocol}: {runs:,} runs on {where}", output.err()) as tell:
            return pipeline.swarm(
                protocol, runs=runs, seed=seed, settings=settings, master=where, lake=lake, sample=sample,
                tell=tell,
            )  # fmt: skip
    except pipeline.InputError as error:
        raise output.UsageProblem(str(error)) from error


def _shortened(result: RunResult, settings: Settings, until: float) -> RunResult:
    """Return a failing run as short as it becomes until this monotonic time."""
    left = None if until == math.inf else max(0.0, until - time.monotonic())
    return shortened(result, settings, max_seconds=left)


def _saved_runs(
    protocol: str, seed: int, settings: Settings, failing: list[RunResult], directory: Path | None
) -> list[Path]:
    """Write what applications see in the failing runs, or in the run of the seed if none fails, as traces;
    return the files.
    """
    if directory is None:
        return []
    kept = [result for result in failing if result.schedule is not None]
    kept = kept or [run_seed(protocol, seed, msgspec.structs.replace(settings, logs=True))]
    return [_saved(result, settings, directory) for result in kept]


def _print_saved(files: list[Path]) -> None:
    """Print the command that replays each saved trace."""
    for file in files:
        output.out().print(f"trace:  antiphon replay {file}", soft_wrap=True)


def _saved(result: RunResult, settings: Settings, directory: Path) -> Path:
    """Write what applications see in a run as a trace; return the file."""
    text = msgspec.json.format(msgspec.json.encode(observed(result, settings)), indent=1)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / f"{result.name}.itf.json"
        write_whole(file, text + b"\n")
    except OSError as error:
        raise output.UsageProblem(f"--save {directory}: {error.strerror}") from error
    return file


def _of_other_kinds(report: SwarmReport, told: Iterable[RunResult | None], until: float) -> list[RunResult]:
    """Return one shortened run for each other way to fail, apart from those in `told`; at most `_KINDS_SHOWN`
    runs.
    """
    kinds = {result.symptoms[0] for result in told if result is not None and result.symptoms}
    shown: list[RunResult] = []
    for result in report.failed:
        if len(shown) == _KINDS_SHOWN:
            break
        if result.seed is None or not result.symptoms or result.symptoms[0] in kinds:
            continue
        again = run_seed(report.core, result.seed, report.settings)
        short = _shortened(again, report.settings, until)
        if short.symptoms[0] not in kinds:
            shown.append(short)
        kinds |= {again.symptoms[0], short.symptoms[0]}
    return shown


def _write_failing(first: RunResult | None, short: RunResult | None, directory: Path) -> list[Path]:
    """Write the first failing run and its shortened form to directories; return the directories."""
    if first is None or short is None:
        return []
    try:
        homes = [keep(first, directory)]
        return homes if short is first else [*homes, keep(short, directory)]
    except OSError as error:
        streams.unwritten("--log", directory, error)
        return []


def _answer(
    report: SwarmReport,
    failing: list[tuple[RunResult, Path | None]],
    settings: Settings,
    again: str,
) -> Answer:
    """Return the answer for the report files: one run for each way to fail, with its picture and its
    schedule.
    """
    shown = [
        (result, pictured(result, settings), None if home is None else home / SCHEDULE)
        for result, home in failing
    ]
    code = _code_of(report.core, settings)
    return Answer("swarm", (of_swarm(report, shown, code, again),))


def _code_of(protocol: str, settings: Settings) -> Location:
    """Return the place of the function that makes the cores of a protocol, else of the binding."""
    core = core_of(protocol, settings.planted, join=settings.join)
    return code_place(core.core) or Location(protocol.partition(":")[0], 1)


def _replayed(
    protocol: str, file: Path, settings: Settings, save: Path | None, reported: Reports, *, json: bool
) -> int:
    """Run a group under the saved schedule in a file, and print the result."""
    try:
        result = run_schedule(protocol, read_schedule(file), settings)
    except ScheduleError as error:
        raise output.UsageProblem(f"--schedule {error}") from error
    again = f"{command_of(protocol, settings)} --schedule {file}"
    saved = [] if save is None else [_saved(result, settings, save)]
    reports.write(reported, lambda: _answer_of(result, pictured(result, settings), file, again))
    if json:
        return output.finish(
            documents.Swarm(
                outcome=result.outcome, protocol=protocol, seed=None, runs=1, failed=_failed([result]),
                schedule=_data(result.schedule), kept=[], traces=list(map(str, saved)),
            )
        )  # fmt: skip
    _print_run(result, settings)
    _print_saved(saved)
    output.last_line(result.outcome, f"{protocol}: the run of {file}; evidence: measured")
    return result.outcome.exit_code


def _answer_of(result: RunResult, drawn: Diagram, file: Path, again: str) -> Answer:
    """Return the answer for the report files about one run that was repeated from a schedule."""
    case = of_run_of_swarm(result, drawn if result.outcome is not Outcome.HOLDS else None, file)
    return Answer(
        "swarm", (Suite(result.core, result.outcome, (case,), reproduce=again, at=Location(str(file), 1)),)
    )


def _document(
    report: SwarmReport,
    short: RunResult | None,
    homes: list[Path],
    saved: list[Path],
    there: Swarmed | None,
) -> documents.Swarm:
    batch = None if there is None else there.batch
    return documents.Swarm(
        outcome=report.outcome, protocol=report.core, seed=report.seed, runs=report.runs,
        untaken=report.untaken, failed=_failed(report.failed),
        met={str(kind): count for kind, count in sorted(report.met.items())},
        sent=report.sent, lost=report.lost, duplicated=report.duplicated, reordered=report.reordered,
        delivered=report.delivered, messages=dict(sorted(report.messages.items())),
        never_sent=report.never_sent, actions=dict(sorted(report.actions.items())),
        seconds=round(report.seconds, 3),
        schedule=None if short is None else _data(short.schedule), kept=list(map(str, homes)),
        traces=list(map(str, saved)),
        batch=None if batch is None else batch.id, runs_in_lake=0 if batch is None else batch.runs,
    )  # fmt: skip


def _data(schedule: Schedule | None) -> dict[str, Any] | None:
    """Return a schedule as JSON data, or None."""
    return msgspec.json.decode(msgspec.json.encode(schedule), type=dict[str, Any] | None)


def _failed(results: list[RunResult]) -> list[documents.FailedRun]:
    return [
        documents.FailedRun(seed=result.seed, outcome=result.outcome, reasons=list(result.reasons))
        for result in results
        if result.outcome is not Outcome.HOLDS
    ]


def _print(report: SwarmReport) -> None:
    console = output.out()
    console.print(
        f"{report.sent:,} datagrams: {report.lost:,} lost, {report.duplicated:,} duplicated, "
        f"{report.reordered:,} reordered; {report.delivered:,} deliveries"
    )
    kinds = [kind for kind in FaultKind.of(join=report.settings.join) if kind in report.settings.faults]
    met = ", ".join(f"{kind} {report.met[kind]:,}" for kind in kinds)
    console.print(f"runs that had: {met}", soft_wrap=True)
    never = f"; never {', '.join(report.never_sent)}" if report.never_sent else ""
    console.print(f"messages sent: {_counted(report.messages)}{never}", soft_wrap=True)
    console.print(f"steps of the cores' own: {_counted(report.actions) or 'none'}", soft_wrap=True)
    for kind in report.never_met:
        told = f"  {kind} was asked for, and no run has met it"
        console.print(Text.assemble(output.mark(Outcome.UNKNOWN), told), soft_wrap=True)
    for result in report.failed[:_SEEDS_TOLD]:
        told = f"  seed {result.seed}: {'; '.join(result.reasons[:1])}"
        console.print(Text.assemble(output.mark(result.outcome), told), soft_wrap=True)
    if len(report.failed) > _SEEDS_TOLD:
        console.print(f"and {len(report.failed) - _SEEDS_TOLD:,} seeds more")


def _counted(counts: Mapping[str, int]) -> str:
    """Return counts as text, the most frequent first."""
    return ", ".join(f"{what} {n:,}" for what, n in sorted(counts.items(), key=lambda item: (-item[1], item)))


def _print_run(result: RunResult, settings: Settings) -> None:
    """Print the events of a run, and its picture."""
    assert result.schedule is not None
    console = output.out()
    console.print()
    for line in schedule_lines(result.schedule):
        console.print(line, soft_wrap=True)
    console.print()
    console.print(text_diagram(pictured(result, settings), max(console.width, 60)), soft_wrap=True)
    for reason in result.reasons:
        console.print(f"✗ {reason}", style="red", soft_wrap=True)
    console.print()
