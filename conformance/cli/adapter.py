"""`antiphon adapter`: programs in any language, which speak JSON lines on their standard streams."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer
from rich.text import Text

from antiphon.conformance.adapters.cases import CaseResult, check_adapter, outcome_of
from antiphon.conformance.adapters.child import CommandError
from antiphon.conformance.adapters.node import REPLY_SECONDS
from antiphon.conformance.cli import documents, exercised, options, output, reports
from antiphon.conformance.cli.lockstep import walked
from antiphon.conformance.cli.options import Limits, Reports, Variant, said
from antiphon.conformance.cli.progress import working
from antiphon.conformance.cli.promised import Promise
from antiphon.conformance.compare.bindings.foreign import Foreign, ForeignBinding
from antiphon.conformance.coverage.document import exercise
from antiphon.conformance.judge.history import RELIABLE_BROADCAST
from antiphon.conformance.report.answers import Answer
from antiphon.conformance.report.answers_of_runs import of_adapter_check, of_foreign
from antiphon.conformance.report.words import counted
from antiphon.conformance.run.foreign import KINDS, ForeignReport, ForeignRun, Settings, kept, run_foreign
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.conformance.run.swarm.words import entry_lines
from antiphon.model.bounds import runs_asked
from antiphon.model.verdict import Outcome
from antiphon.spec.lang.calls import drawn

_LINES_MAX = 20
"""Largest number of lines of a schedule that are printed."""

RUNS = 5
"""Number of runs, where neither a number nor a time is said."""

VERBS = ("check", "run", "lockstep")
"""Subcommands of `antiphon adapter`: functions of this module."""

SETTINGS = {"allow_interspersed_args": False}
"""Settings of the parser: what follows the program's name is the program's."""

Program = Annotated[
    list[str],
    typer.Argument(
        metavar="PROGRAM...",
        help="The command that starts a node, with its own arguments.",
        show_default=False,
    ),
]
ReplySeconds = Annotated[
    float, typer.Option("--reply-seconds", help="How long the program may take for a reply.", min=0.001)
]

_OPTIONS = {
    "nodes": "--processes", "messages": "--messages", "only": "--only", "settle_s": "--settle-seconds",
    "reply_s": "--reply-seconds",
}  # fmt: skip
"""Settings of runs by the options that make them."""


def adapter() -> None:
    """Check, run and walk a program in any language, by JSON lines on its standard streams."""


def check(
    program: Program,
    reply_seconds: ReplySeconds = REPLY_SECONDS,
    json: options.Json = False,
    *,
    reported: Reports,
) -> int:
    """Ask which messages of the protocol a program answers rightly.

    Options stand before PROGRAM.
    """
    began = time.monotonic()
    try:
        with working(f"asking {program[0]}", output.err()):
            results = check_adapter(program, reply_s=reply_seconds)
    except CommandError as error:
        raise output.UsageProblem(str(error)) from error
    outcome, seconds = outcome_of(results), time.monotonic() - began
    again = shlex.join(["antiphon", "adapter", "check", *program])
    reports.write(
        reported, lambda: Answer("adapter", (of_adapter_check(program, results, outcome, seconds, again),))
    )
    if json:
        cases = [msgspec.convert(result, documents.CaseDocument, from_attributes=True) for result in results]
        return output.finish(
            documents.AdapterCheck(
                outcome=outcome, program=program, cases=cases, seconds=round(seconds, 3), reproduce=again
            )
        )
    _print_cases(results)
    asked = [result for result in results if result.outcome is not None]
    right = sum(result.outcome is Outcome.HOLDS for result in asked)
    told = f"{right} of {len(asked)} cases right, {seconds:.1f} s; evidence: measured"
    output.last_line(outcome, f"{shlex.join(program)}: {told}")
    return outcome.exit_code


def _print_cases(results: list[CaseResult]) -> None:
    console = output.out()
    for result in results:
        if result.outcome is None:
            continue
        console.print(Text.assemble(output.mark(result.outcome), f"  {result.says}"), soft_wrap=True)
        if result.found:
            console.print(f"    {result.found}", style="red", soft_wrap=True)
        for line in result.dialogue:
            console.print(f"    {line}", style="bright_black", soft_wrap=True)
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result.outcome is None:
            reasons.setdefault(result.found, []).append(result.name)
    for reason, names in reasons.items():
        console.print(f"not asked: {', '.join(names)}: {reason}", style="bright_black", soft_wrap=True)


def run(
    program: Program,
    processes: Annotated[int, options.PROCESSES] = 3,
    messages: Annotated[int, options.MESSAGES] = 20,
    runs: Annotated[int | None, options.RUNS] = None,
    seed: options.Seed = None,
    promise: Promise = None,
    only: Annotated[
        list[FaultKind] | None,
        typer.Option(
            "--only",
            help=f"Only faults of this kind, in each run: {', '.join(KINDS)}; may be repeated.",
            show_default=False,
        ),
    ] = None,
    settle_seconds: Annotated[
        float,
        typer.Option(
            "--settle-seconds", help="How long after the last fault all must be delivered.", min=0.001
        ),
    ] = 10.0,
    reply_seconds: ReplySeconds = REPLY_SECONDS,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log", help="Where the logs of all runs are written; of a failing one in runs.", metavar="DIR",
            show_default=False,
        ),
    ] = None,
    max_seconds: options.MaxSeconds = None,
    coverage: options.Coverage = None,
    json: options.Json = False,
    *,
    reported: Reports,
) -> int:
    """Run a group of processes of a program under faults of the network and of processes, and judge it.

    The processes take steps in virtual time, if they can, else they run in real time. Options stand before
    PROGRAM.
    """
    try:
        settings = Settings(
            nodes=processes, messages=messages, only=tuple(only or ()), settle_s=settle_seconds,
            reply_s=reply_seconds, promise=tuple(promise or (RELIABLE_BROADCAST,)),
        )  # fmt: skip
    except ValueError as error:
        raise output.of_options(error, _OPTIONS) from error
    chosen = drawn() if seed is None else seed
    if not json:
        output.out().print(f"seed {chosen}")
    try:
        with (
            exercised.recorded_program(coverage, shlex.join(program)) as recorder,
            working(f"running {program[0]}", output.err()),
        ):
            report = run_foreign(
                program, runs=runs_asked(runs, RUNS, max_seconds), max_seconds=max_seconds, seed=chosen,
                settings=settings, watch=recorder,
            )  # fmt: skip
    except CommandError as error:
        raise output.UsageProblem(str(error)) from error
    if recorder is not None:
        entry = exercise("adapter run", recorder.seen, runs=len(report.runs))
        exercised.write(coverage, shlex.join(program), recorder, entry)
    homes = _kept(report, log)
    again = _again(report, chosen, len(report.runs) + report.untaken)
    reports.write(
        reported, lambda: Answer("adapter", (of_foreign(report, homes[-1] if homes else None, again),))
    )
    if json:
        return output.finish(_run_document(report, chosen, homes, again))
    _print_run(report, chosen, homes, again)
    return report.outcome.exit_code


def _kept(report: ForeignReport, log: Path | None) -> list[Path]:
    """Write the runs to be kept, and return their directories; that of the printed run is the last."""
    wanted: list[ForeignRun] = list(report.runs) if log is not None else []
    shown = report.shortened or report.failed
    if shown is not None:
        wanted = [run for run in wanted if run is not shown] + [shown]
    try:
        return [kept(run, log or Path("runs")) for run in wanted]
    except OSError as error:
        raise output.UsageProblem(f"--log {log or 'runs'}: {error.strerror}") from error


def _again(report: ForeignReport, seed: int, runs: int) -> str:
    """Return the command that makes these runs. Runs in real time differ from one time to the next."""
    settings, usual = report.settings, Settings()
    numbers = {
        option: f"{getattr(settings, name):g}"
        for name, option in _OPTIONS.items()
        if name != "only" and getattr(settings, name) != getattr(usual, name)
    }
    words = [word for option, number in numbers.items() for word in (option, number)]
    promise = settings.promise if settings.promise != usual.promise else ()
    words += said({"--promise": promise, "--only": [str(kind) for kind in settings.only]})
    counts = ["--runs", str(runs), "--seed", str(seed)]
    return shlex.join(["antiphon", "adapter", "run", *words, *counts, *report.command])


def _run_document(
    report: ForeignReport, seed: int, homes: list[Path], again: str
) -> documents.AdapterRun:
    shown = report.shortened or report.failed
    schedule = None if shown is None else msgspec.to_builtins(shown.schedule)
    judgements = [] if shown is None else [
        {"outcome": shown.judged.outcome(finding)} | finding.to_json() for finding in shown.judged.findings
    ]  # fmt: skip
    return documents.AdapterRun(
        outcome=report.outcome,
        program=list(report.command),
        seed=seed,
        runs=len(report.runs),
        processes=report.settings.nodes,
        messages=report.settings.messages,
        promise=list(report.settings.promise),
        happened={str(kind): count for kind, count in sorted(report.happened.items())},
        datagrams=sum(run.datagrams for run in report.runs),
        delivered=sum(run.delivered for run in report.runs),
        declined=sum(run.declined for run in report.runs),
        deterministic=all(run.deterministic for run in report.runs),
        reasons=list(report.reasons),
        judgements=judgements,
        schedule=schedule,
        kept=list(map(str, homes)),
        seconds=round(report.seconds, 3),
        reproduce=again,
    )


def _print_run(report: ForeignReport, seed: int, homes: list[Path], again: str) -> None:
    console, runs = output.out(), report.runs
    happened = ", ".join(f"{kind} {count:,}" for kind, count in sorted(report.happened.items())) or "no fault"
    told = counted(sum(run.datagrams for run in runs), "datagram")
    between = counted(report.settings.nodes, "node")
    console.print(f"{told} between {between}; happened: {happened}", soft_wrap=True)
    declined = sum(run.declined for run in runs)
    console.print(
        f"delivered {sum(run.delivered for run in runs):,}"
        + (f"; {counted(declined, 'broadcast')} declined" if declined else "")
        + ("; in virtual time" if all(run.deterministic for run in runs) else "; in real time")
    )
    for reason in report.reasons:
        style = "red" if report.outcome is Outcome.VIOLATED else "yellow"
        console.print(reason, style=style, soft_wrap=True)
    if (shown := report.shortened or report.failed) is not None and shown.outcome is Outcome.VIOLATED:
        lines = entry_lines(shown.schedule)
        what = "shortened" if report.shortened else f"its schedule, {len(lines)} lines"
        console.print(f"seed {shown.seed}, {what}: {counted(shown.schedule.members, 'node')}")
        for line in lines[:_LINES_MAX]:
            console.print(f"  {line}", soft_wrap=True)
        if len(lines) > _LINES_MAX:
            console.print("  and more in schedule.json, beside the logs")
    for home in homes:
        console.print(f"logs: {home} (antiphon show {home})", soft_wrap=True)
    console.print(f"again: {again}", soft_wrap=True)
    output.last_line(
        report.outcome,
        f"{shlex.join(report.command)}: {counted(len(runs), 'run')} from seed {seed}, "
        f"{' and '.join(report.settings.promise)}, {report.seconds:.1f} s; evidence: measured",
    )


def lockstep(
    specification: options.Specification,
    program: Program,
    nodes: Annotated[
        str,
        typer.Option(
            "--nodes",
            help="The index whose members are processes of the program; without, one is the whole system.",
            metavar="INDEX",
            show_default=False,
        ),
    ] = "",
    guarded: Annotated[
        list[str] | None,
        typer.Option(
            "--guarded",
            help="The program itself must refuse this action where it is not enabled; may be repeated.",
            metavar="ACTION",
            show_default=False,
        ),
    ] = None,
    exempt: Annotated[
        list[str] | None,
        typer.Option(
            "--exempt",
            help="Do not compare this variable, or `events`, for this reason; may be repeated.",
            metavar="NAME=REASON",
            show_default=False,
        ),
    ] = None,
    max_transitions: Annotated[
        int | None,
        typer.Option("--max-transitions", min=1, help="Greatest number of transitions.", show_default=False),
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", min=0, help="How many paths are run again from the start.")
    ] = 50,
    seed: Annotated[int, options.SEED] = 0,
    engine: Annotated[Literal["generated", "reference"], options.ENGINE] = "generated",
    reply_seconds: ReplySeconds = REPLY_SECONDS,
    save: options.Save = None,
    coverage: options.Coverage = None,
    json: options.Json = False,
    *,
    variant: Variant,
    limits: Limits,
    reported: Reports,
) -> int:
    """Walk a specification and a program that takes steps together, through every transition.

    Options stand before SPEC.
    """
    reasons = dict(_reason(text) for text in exempt or ())
    foreign = Foreign(tuple(program), nodes, reasons, frozenset(guarded or ()), reply_seconds)
    binding = ForeignBinding(variant.program(specification), foreign)
    most = [str(max_transitions)] if max_transitions is not None else ()
    words = said(
        {
            "--nodes": [nodes] if nodes else (),
            "--guarded": guarded,
            "--exempt": exempt,
            "--max-transitions": most,
            "--seed": [str(seed)],
        }
    )
    again = ["antiphon", "adapter", "lockstep", *words, *variant.words(), *limits.words()]
    try:
        return walked(
            shlex.join(program), binding, [*again, specification, *program], limits=limits,
            max_transitions=max_transitions, sample=sample, seed=seed, fault=None, engine=engine, save=save,
            json=json, reported=reported, coverage=coverage, foreign=specification,
        )  # fmt: skip
    finally:
        binding.close()


def _reason(text: str) -> tuple[str, str]:
    name, sign, reason = text.partition("=")
    if not sign:
        raise output.UsageProblem(f"--exempt {text}: write NAME=REASON, the reason in four words or more")
    return name, reason
