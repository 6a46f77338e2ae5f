"""`antiphon check`: every property of specifications, by an explicit engine or Z3; exits by the verdict."""

from __future__ import annotations

import dataclasses
import shlex
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated

import typer

import antiphon
from antiphon.conformance.cli import documents, output, reports, spark, state_directory
from antiphon.conformance.cli.options import Bounds, OnSpark, Reports, Showing, Storage, Variant, said
from antiphon.conformance.cli.progress import found_in, proving, searching
from antiphon.conformance.report.answers import Answer, of_report
from antiphon.model import explore as explicit
from antiphon.model.bounds import StopReason
from antiphon.model.engines import Refused
from antiphon.model.verdict import Outcome, Verdict
from antiphon.results import Report
from antiphon.spec.catalogue import names
from antiphon.spec.lang import Program, SpecError


@dataclass(frozen=True)
class Job:
    """Specification to check: its name, its constants and repairs, and the requested properties."""

    name: str
    variant: Variant = field(default_factory=Variant)
    properties: tuple[str, ...] = ()

    @property
    def program(self) -> Program:
        """Specification with its constants and repairs."""
        return self.variant.program(self.name)

    def command(self, *further: str, verb: str = "check") -> str:
        """Command that repeats this check."""
        return shlex.join(
            [
                "antiphon",
                verb,
                self.name,
                *self.variant.words(),
                *said({"--property": self.properties}),
                *further,
            ]
        )


def default_job() -> tuple[Job, ...]:
    """Return the checks to run when none is named: the repaired texts within small bounds, and an example."""
    return (
        _repaired("rbp", "processes=3", "messages=1", "losses=1", "unlimited=true", "urgent=true"),
        _repaired("rbp", "processes=2", "messages=2", "losses=1", "unlimited=true"),
        _repaired("moving-sequencer", "processes=2", "messages=2", "losses=1", "urgent=true"),
        _repaired("figure-2", "processes=3", "messages=1", "losses=1"),
        _repaired("figure-5", "processes=3", "messages=1", "losses=1"),
        Job("two-phase"),
    )


def _repaired(name: str, *settings: str) -> Job:
    return Job(name, Variant(settings=list(settings), repairs=["all"]))


@dataclass(frozen=True)
class Search:
    """Search options: the engine, its bounds, the storage of states, and whether to prove."""

    bounds: Bounds
    storage: Storage = field(default_factory=Storage)
    prove: bool = False
    every: tuple[str, ...] = ()
    stop_at_first: bool = False
    on_spark: OnSpark = field(default_factory=OnSpark)

    def words(self) -> list[str]:
        """Return the options with which a command repeats this search."""
        flags = {"--prove": self.prove, "--stop-at-first": self.stop_at_first}
        said = [*self.bounds.words(), *self.storage.words(), *self.on_spark.words()]
        return [*said, *(name for name, on in flags.items() if on), *self._every_words()]

    def _every_words(self) -> list[str]:
        return ["--every", ",".join(self.every)] if self.every else []


def check(
    specifications: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SPEC]...",
            help=f"{', '.join(names())}, file.py, file.py:Class, or module:Class. Without: a default set.",
        ),
    ] = None,
    *,
    variant: Variant,
    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="NAME",
            help="Judge only this property; may be repeated. `deadlock` is one too.",
        ),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Prove safety for runs of every length, by k-induction; --max-depth is the greatest k (1).",
        ),
    ] = False,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="NAME,NAME",
            help="With --prove: constants that stand for every number from 1, in a proof for every size.",
        ),
    ] = None,
    stop_at_first: Annotated[
        bool,
        typer.Option(
            "--stop-at-first", help="End with the first violation, and leave the other properties open."
        ),
    ] = False,
    bounds: Bounds,
    storage: Storage,
    on_spark: OnSpark,
    counts: Annotated[
        bool,
        typer.Option(
            "--counts",
            help="Count how often each action is possible, and how many values each variable takes.",
        ),
    ] = False,
    showing: Showing,
    reported: Reports,
) -> int:
    """Check every property of specifications, with shortest counterexamples."""
    search = dataclasses.replace(
        _search(bounds, storage, prove=prove, counts=counts, every=every),
        stop_at_first=stop_at_first,
        on_spark=on_spark,
    )
    spark.refuse_what_it_lacks(search)
    if stop_at_first and search.bounds.engine == "z3":
        raise output.UsageProblem("--stop-at-first is for explicit engines: z3 asks for each property alone")
    if not specifications and (variant.words() or properties):
        raise output.UsageProblem(
            "name the specification that these options are for: antiphon check rbp --processes 3"
        )
    jobs = [Job(name, variant, tuple(properties or ())) for name in specifications or ()] or list(
        default_job()
    )
    programs = [job.program for job in jobs]
    if len(jobs) > 1 and (storage.directory is not None or on_spark.wanted):
        option = "--lake" if on_spark.wanted else "--directory"
        raise output.UsageProblem(f"{option} holds the states of one specification; name one")
    shown: list[documents.ReportDocument] = []
    saving = output.Saving(showing.save, "counterexample")
    outcomes: list[Outcome] = []
    found: list[tuple[Job, Report, str]] = []
    for job, bound in zip(jobs, programs, strict=True):
        report = explore(job, bound, search, quiet=showing.json)
        counted = _counted(job, bound, search) if counts else None
        outcomes.append(report.outcome)
        saving.keep(report.counterexample)
        again = job.command(*search.words())
        found.append((job, report, again))
        if showing.json:
            shown.append(documents.report_document(job.name, report, again, counted))
        else:
            _print(job, report, again, picture=not showing.no_diagram, counted=counted)
        if _interrupted(report):
            raise KeyboardInterrupt
    outcome, saved = Outcome.worst(outcomes), saving.end()
    reports.write(reported, lambda: _answer(found, saved))
    if showing.json:
        return output.finish(documents.Check(outcome=outcome, reports=shown, saved=saved))
    if saved:
        output.out().print(f"counterexample saved: {saved}")
    _summary(jobs, outcomes, outcome)
    return outcome.exit_code


def _answer(found: list[tuple[Job, Report, str]], saved: str | None) -> Answer:
    """Return the verdicts of `antiphon check` for the report files. `saved` is the file with the first
    counterexample.
    """
    suites, kept = [], saved or ""
    for job, report, again in found:
        suites.append(of_report(job.name, report, again, kept))
        kept = "" if report.counterexample is not None else kept
    return Answer("check", tuple(suites))


def _search(
    bounds: Bounds, storage: Storage, *, prove: bool, counts: bool, every: str | None = None
) -> Search:
    """Build the search; raise UsageProblem for options that exclude each other."""
    names = tuple(name.strip() for name in (every or "").split(",") if name.strip())
    if every is not None and not (prove and names):
        raise output.UsageProblem(
            "--every names the constants of a proof: antiphon check SPEC --prove --every n"
        )
    if names:
        if bounds.engine not in ("auto", "z3") or bounds.max_depth is not None:
            raise output.UsageProblem("--every: a proof for every size has no --engine and no --max-depth")
        bounds = dataclasses.replace(bounds, engine="z3")
    elif prove:
        if bounds.engine not in ("auto", "z3"):
            raise output.UsageProblem(f"--prove is done by z3, not by {bounds.engine}: leave --engine out")
        if bounds.max_depth == 0:
            raise output.UsageProblem(
                "--prove --max-depth 0: induction begins with a state; say the greatest k, at least 1"
            )
        bounds = dataclasses.replace(bounds, engine="z3", max_depth=bounds.max_depth or 1)
    if bounds.engine == "z3" and counts:
        raise output.UsageProblem("--counts counts states; z3 has none")
    if bounds.engine == "z3" and storage != Storage():
        raise output.UsageProblem(
            "--threads, --fingerprints, --whole, --symmetry, --cone and --directory are for explicit engines"
        )
    if not names:
        bounds.refuse_what_z3_lacks()
    return Search(bounds, storage, prove, names)


def explore(job: Job, bound: Program, search: Search, *, quiet: bool = True) -> Report:
    """Return the report about the properties of a job; unless `quiet`, each violation is printed when it is
    found.
    """
    console = output.err()
    if search.every:
        told = None if quiet else found_in(job.name, console)
        with proving(job.name, console) as progress:
            return antiphon.check(
                bound,
                properties=job.properties or None,
                prove=True,
                every=search.every,
                progress=progress,
                violated=told,
                max_seconds=search.bounds.max_seconds,
            )
    with (
        searching(job.name, search.bounds.engine, console) as progress,
        state_directory.kept_in(search.storage.directory),
    ):
        told = None if quiet else found_in(job.name, console)
        if search.on_spark.wanted:
            return spark.explore(bound, search, job.properties or None, progress=progress, violated=told)
        try:
            return antiphon.check(
                bound,
                properties=job.properties or None,
                prove=search.prove,
                progress=progress,
                violated=told,
                stop_at_first=search.stop_at_first,
                **search.bounds.asked(),
                **search.storage.asked(),
            )
        except Refused as error:
            raise output.UsageProblem(f"--directory: {error}") from error


def _counted(job: Job, bound: Program, search: Search) -> explicit.Counts | None:
    with (
        searching(job.name, search.bounds.engine) as progress,
        suppress(SpecError),
    ):  # an error of the specification stands in the report
        bounds = search.bounds
        return explicit.count(bound, progress=progress, engine=bounds.engine, bounds=bounds.explicit)
    return None


def _interrupted(report: Report) -> bool:
    """Return True if Ctrl-C ended the search; the engine reports what it had."""
    return report.exploration.stopped is StopReason.INTERRUPTED


def _unproved(verdict: Verdict) -> bool:
    """Return True if the verdict's trace is a counterexample to induction, which begins in no initial
    state.
    """
    return verdict.trace is not None and not verdict.trace.initial


def _print(job: Job, report: Report, again: str, *, picture: bool, counted: explicit.Counts | None) -> None:
    output.print_report(job.name, report)
    output.print_obligations(report.obligations)
    if counted is not None:
        output.print_counts(counted)
    worst = report.counterexample
    alike = report.wrong if worst is not None else tuple(filter(_unproved, report.verdicts))
    if not alike:
        return
    shown = worst or alike[0].trace
    assert shown is not None
    if report.obligations and worst is None and shown.transitions:
        output.print_two_states(shown)
    else:
        output.print_trace(shown)
    if picture and worst is not None:
        output.print_diagram(worst)
    others = [
        f"{verdict.property} ({len(verdict.trace or ())} steps)"
        for verdict in alike
        if verdict.property != shown.shows
    ]
    if others:
        told = "violated" if worst is not None else "not proved"
        output.out().print(f"{told} too: {', '.join(others)}; show one with --property NAME")
    output.out().print(f"again:  {again}", soft_wrap=True)
    output.out().print()


def _summary(jobs: list[Job], outcomes: list[Outcome], outcome: Outcome) -> None:
    groups = []
    for kind in Outcome:
        names = [job.name for job, found in zip(jobs, outcomes, strict=True) if found is kind]
        if names:
            groups.append((kind.value, ", ".join(names)))
    output.last_line(
        outcome, groups[0][1] if len(groups) == 1 else "; ".join(f"{kind}: {names}" for kind, names in groups)
    )
