"""`antiphon check`: every property of one or more specifications, by the explicit checker or by Z3; exits by the verdict."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from antiphon.conformance.cli import documents, options, output, registry, states
from antiphon.model import explicit
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome, Report, Verdict
from antiphon.spec.catalogue import names
from antiphon.spec.lang import Program, SpecError

if TYPE_CHECKING:
    from antiphon.model import symbolic


class Engine(Enum):
    """What explores: machine code, generated Python, CPython itself, Z3; auto takes generated Python for small spaces, else machine code."""

    AUTO = "auto"
    NATIVE = "native"
    GENERATED = "generated"
    REFERENCE = "reference"
    Z3 = "z3"


@dataclass(frozen=True)
class Job:
    """One specification to check: its name, what `antiphon check` was told about it, and which properties are asked."""

    name: str
    settings: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def program(self) -> Program:
        """The specification with its constants."""
        return registry.bind(self.name, settings=self.settings, repairs=self.repairs, without=self.without)

    def command(self, *further: str) -> str:
        """The command that checks this again."""
        words = ["antiphon", "check", self.name]
        told = (("--set", self.settings), ("--repair", self.repairs), ("--without", self.without), ("--property", self.properties))
        for option, values in told:
            words += [word for value in values for word in (option, value)]
        return shlex.join([*words, *further])


def default_job() -> tuple[Job, ...]:
    """What is checked when no specification is named: the repaired texts within small bounds, and an example."""
    return (
        Job("rbp", ("processes=3", "messages=1", "losses=1", "unlimited=true", "urgent=true"), ("all",)),
        Job("rbp", ("processes=2", "messages=2", "losses=1", "unlimited=true"), ("all",)),
        Job("moving-sequencer", ("processes=2", "messages=2", "losses=1", "urgent=true"), ("all",)),
        Job("figure-2", ("processes=3", "messages=1", "losses=1"), ("all",)),
        Job("figure-5", ("processes=3", "messages=1", "losses=1"), ("all",)),
        Job("two-phase"),
    )


@dataclass(frozen=True)
class Limits:
    """What explores, and where it stops."""

    engine: Engine
    depth: int | None
    max_states: int | None
    max_seconds: float | None
    max_memory: int | None = None
    threads: int | None = None
    fingerprints: bool = False
    symmetry: bool = False
    cone: bool = False
    directory: Path | None = None
    prove: bool = False
    reports: list[Report] = field(default_factory=list)

    def words(self) -> list[str]:
        """The options that a command needs to repeat this."""
        words = [] if self.engine is Engine.AUTO else ["--engine", self.engine.value]
        given = {"--depth": self.depth, "--max-states": self.max_states, "--max-seconds": self.max_seconds, "--max-memory": self.max_memory}
        for option, value in {**given, "--threads": self.threads}.items():
            words += [option, f"{value:.15g}"] if value is not None else []
        words += ["--fingerprints"] if self.fingerprints else []
        words += [option for option, given in (("--symmetry", self.symmetry), ("--cone", self.cone)) if given]
        words += ["--prove"] if self.prove else []
        return words + (["--directory", str(self.directory)] if self.directory is not None else [])


def check(
    specifications: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SPEC]...", help=f"{', '.join(names())}, or module:Class. Without: a default set."),
    ] = None,
    processes: options.Processes = None,
    messages: options.Messages = None,
    losses: options.Losses = None,
    timeouts: options.Timeouts = None,
    settings: options.Settings = None,
    repairs: options.Repairs = None,
    without: options.Without = None,
    readings: options.Readings = None,
    properties: Annotated[
        list[str] | None, typer.Option("--property", metavar="NAME", help="Judge only this property; may be repeated. `deadlock` is one too.")
    ] = None,
    engine: Annotated[Engine, typer.Option("--engine", help="What explores.")] = Engine.AUTO,
    prove: Annotated[
        bool, typer.Option("--prove", help="Prove safety for runs of every length by k-induction with Z3; --depth is the greatest k, else 1.")
    ] = False,
    depth: Annotated[int | None, typer.Option("--depth", min=0, help="Greatest number of steps; z3 needs it.", show_default=False)] = None,
    max_states: Annotated[int | None, typer.Option("--max-states", min=1, help="Stop after so many states.", show_default=False)] = None,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", "--time", min=0.0, help="Stop after this time.", show_default=False)] = None,
    max_memory: Annotated[
        int | None, typer.Option("--max-memory", "--memory", min=1, metavar="MIB", help="Stop, or use --directory, at this size.", show_default=False)
    ] = None,
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="Threads of the native engine; all processors.", show_default=False)] = None,
    fingerprints: Annotated[bool, typer.Option("--fingerprints", help="Keep 64 bits of a state; what may be missed is said.")] = False,
    symmetry: Annotated[bool, typer.Option("--symmetry", help="One state for all that differ in the names of interchangeable members.")] = False,
    cone: Annotated[bool, typer.Option("--cone", help="Keep only what matters to the properties asked, their cone of influence.")] = False,
    directory: Annotated[
        Path | None, typer.Option("--directory", help="Keep states in files here, and go on where an earlier run ended.", show_default=False)
    ] = None,
    counts: Annotated[
        bool, typer.Option("--counts", help="Count how often each action is possible, and how many values each variable takes.")
    ] = False,
    save: options.Save = None,
    json: options.Json = False,
    no_diagram: options.Quiet = False,
) -> int:
    """Check every property of specifications, with shortest counterexamples."""
    if prove:
        engine, depth = _prover(engine, depth)
    if engine is Engine.Z3 and depth is None:
        raise output.UsageProblem("--engine z3 checks up to a depth; say which, for example --depth 10")
    if engine is Engine.Z3 and counts:
        raise output.UsageProblem("--counts counts states; z3 has none")
    if engine is Engine.Z3 and (fingerprints or symmetry or cone or directory is not None or threads is not None or max_memory is not None):
        raise output.UsageProblem("--threads, --max-memory, --fingerprints, --symmetry, --cone and --directory are for explicit engines")
    if engine is Engine.Z3 and max_states is not None:
        raise output.UsageProblem("--max-states bounds an explicit search; z3 is bounded by --depth and --max-seconds")
    named = {"processes": processes, "messages": messages, "losses": losses, "timeouts": timeouts}
    told = [f"{name}={value}" for name, value in named.items() if value is not None]
    told += [*(settings or ()), *(readings or ())]
    if not specifications and (told or repairs or without or properties):
        raise output.UsageProblem("name the specification that these options are for: antiphon check rbp --processes 3")
    jobs = [Job(name, tuple(told), tuple(repairs or ()), tuple(properties or ()), tuple(without or ())) for name in specifications or ()] or list(
        default_job()
    )
    programs = [job.program for job in jobs]
    bounds = Limits(engine, depth, max_states, max_seconds, max_memory, threads, fingerprints, symmetry, cone, directory, prove)
    if directory is not None and len(jobs) > 1:
        raise output.UsageProblem("--directory holds the states of one specification; name one")
    shown: list[documents.ReportDocument] = []
    saved: str | None = None
    outcomes: list[Outcome] = []
    for job, bound in zip(jobs, programs, strict=True):
        report = explore(job, bound, bounds)
        counted = _counted(job, bound, bounds) if counts else None
        outcomes.append(report.outcome)
        worst = _first(report)
        saved = saved or output.keep(worst, save)
        again = job.command(*bounds.words())
        if json:
            shown.append(documents.report_document(job.name, report, again, counted))
        else:
            _print(job, report, worst, again, picture=not no_diagram, counted=counted)
        if _interrupted(report):
            raise KeyboardInterrupt
    outcome = Outcome.worst(outcomes)
    if json:
        return output.finish(documents.Check(outcome=outcome.value, exit_code=outcome.exit_code, reports=shown, saved=saved))
    if saved:
        output.out().print(f"counterexample saved: {saved}")
    _summary(jobs, outcomes, outcome)
    return outcome.exit_code


def _prover(engine: Engine, depth: int | None) -> tuple[Engine, int]:
    """Z3, which is what proves, and the greatest k: 1 where nothing is said."""
    if engine not in (Engine.AUTO, Engine.Z3):
        raise output.UsageProblem(f"--prove is done by z3, not by {engine.value}: leave --engine out")
    if depth == 0:
        raise output.UsageProblem("--prove --depth 0: induction needs a state to begin with; --depth is the greatest k, at least 1")
    return Engine.Z3, depth or 1


def explore(job: Job, bound: Program, bounds: Limits) -> Report:
    """The report about the properties that a job asks of a program."""
    properties = job.properties or None
    with _progress(job.name, bounds.engine) as progress, states.kept_in(bounds.directory):
        if bounds.engine is Engine.Z3:
            from antiphon.model import symbolic  # here, because loading Z3 takes longer than most checks

            judge = symbolic.prove if bounds.prove else symbolic.check_bounded
            return judge(bound, depth=bounds.depth or 0, properties=properties, max_seconds=bounds.max_seconds, progress=_deeper(progress))
        try:
            return explicit.check(
                bound,
                properties=properties,
                max_states=bounds.max_states,
                max_seconds=bounds.max_seconds,
                max_depth=bounds.depth,
                max_memory_mb=bounds.max_memory,
                progress=progress,
                engine=bounds.engine.value,
                threads=bounds.threads,
                fingerprints=bounds.fingerprints,
                symmetry=bounds.symmetry,
                cone=bounds.cone,
                directory=bounds.directory,
            )
        except explicit.Refused as error:
            raise output.UsageProblem(f"--directory: {error}") from error


def _counted(job: Job, bound: Program, bounds: Limits) -> explicit.Counts | None:
    with _progress(job.name, bounds.engine) as progress, suppress(SpecError):  # an error of the specification stands in the report
        return explicit.count(
            bound,
            max_states=bounds.max_states,
            max_seconds=bounds.max_seconds,
            max_depth=bounds.depth,
            progress=progress,
            engine=bounds.engine.value,
        )
    return None


@contextmanager
def _progress(name: str, engine: Engine) -> Iterator[Callable[[explicit.Progress], None] | None]:
    if engine is Engine.Z3:
        yield None
        return
    with explicit.progress_bar(name, output.err()) as show:
        yield show


def _deeper(_: object) -> Callable[[symbolic.Progress], None] | None:
    """On a terminal, a line a depth."""
    console = output.err()
    if not console.is_terminal:
        return None

    def show(progress: symbolic.Progress) -> None:
        console.print(f"depth {progress.depth}: {progress.clauses:,} clauses, {progress.seconds:.1f} s", style="bright_black")

    return show


def _interrupted(report: Report) -> bool:
    """Whether Ctrl-C ended the search; the engine reports what it had."""
    return any(note.endswith(": interrupted") for note in report.notes)


def _first(report: Report) -> Trace | None:
    """The shortest counterexample of a report."""
    traces = [verdict.trace for verdict in report.verdicts if verdict.trace is not None and _violated(verdict)]
    return min(traces, key=len) if traces else None


def _violated(verdict: Verdict) -> bool:
    """Whether its trace is a counterexample, or the way to an error of the specification."""
    return verdict.trace is not None and (verdict.outcome is Outcome.VIOLATED or verdict.kind == "specification")


def _unproved(verdict: Verdict) -> bool:
    """Whether its trace is a counterexample to induction."""
    return verdict.trace is not None and not verdict.trace.initial


def _print(job: Job, report: Report, worst: Trace | None, again: str, *, picture: bool, counted: explicit.Counts | None) -> None:
    output.print_report(job.name, report)
    if counted is not None:
        output.print_counts(counted)
    unproved = [verdict.trace for verdict in report.verdicts if _unproved(verdict)]
    shown = worst if worst is not None or not unproved else unproved[0]
    if shown is None:
        return
    output.print_trace(shown)
    if picture and worst is not None:
        output.print_diagram(worst)
    alike = _unproved if worst is None else _violated
    others = [verdict for verdict in report.verdicts if alike(verdict) and verdict.property != shown.shows]
    if others:
        told = ", ".join(f"{verdict.property} ({len(verdict.trace or ())} steps)" for verdict in others)
        output.out().print(f"{'violated' if worst is not None else 'not proved'} too: {told}; show one with --property NAME")
    output.out().print(f"again:  {again}", soft_wrap=True)
    output.out().print()


def _summary(jobs: list[Job], outcomes: list[Outcome], outcome: Outcome) -> None:
    groups = []
    for kind in Outcome:
        names = [job.name for job, found in zip(jobs, outcomes, strict=True) if found is kind]
        if names:
            groups.append((kind.value, ", ".join(names)))
    output.last_line(outcome, groups[0][1] if len(groups) == 1 else "; ".join(f"{kind}: {names}" for kind, names in groups))
