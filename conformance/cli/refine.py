"""`antiphon refine`: every transition of a protocol is a step of its abstract machine, or none."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.check import Job
from antiphon.conformance.cli.options import Limits, Showing, Variant
from antiphon.conformance.cli.progress import progress_bar
from antiphon.model.bounds import StopReason
from antiphon.model.refinement import check_refinement
from antiphon.model.verdict import Outcome, Report
from antiphon.programs import refinement
from antiphon.spec.catalogue import refined


def refine(
    protocols: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROTOCOL]...",
            help=f"{', '.join(refined())}, file.py, file.py:Class or module:Class of a class that says "
            "refines=. Without: all of the catalogue, repaired, within small bounds.",
        ),
    ] = None,
    *,
    variant: Variant,
    engine: Annotated[
        Literal["generated", "reference", "native"], options.ENGINE
    ] = "generated",
    limits: Limits,
    showing: Showing,
) -> int:
    """Check that a protocol refines its abstract machine: every transition, through a stated mapping.

    Without any constant the protocol is explored within the bounds that its mapping states. Machine code
    explores a protocol that states a monitor.
    """
    if not protocols and variant.words():
        raise output.UsageProblem(
            "name the protocol that these options are for: antiphon refine rbp --processes 3"
        )
    jobs = [Job(name, variant if protocols else Variant(repairs=["all"])) for name in protocols or refined()]
    refinements = [refinement(job.name) for job in jobs]
    shown: list[documents.ReportDocument] = []
    outcomes: list[Outcome] = []
    saving = output.Saving(showing.save, "counterexample")
    for job, stated in zip(jobs, refinements, strict=True):
        bound = job.variant.program(stated.concrete, otherwise=stated.bounds)
        with progress_bar(job.name) as progress:
            report = check_refinement(bound, stated, bounds=limits.explicit, engine=engine, progress=progress)
        outcomes.append(report.outcome)
        interrupted = report.exploration.stopped is StopReason.INTERRUPTED
        saving.keep(report.verdicts[0].trace)
        again = job.command(*limits.words(), verb="refine")
        if showing.json:
            shown.append(documents.report_document(job.name, report, again))
        else:
            _print(job.name, report, again, picture=not showing.no_diagram)
        if interrupted:
            raise KeyboardInterrupt
    outcome, saved = Outcome.worst(outcomes), saving.end()
    if showing.json:
        return output.finish(documents.Refine(outcome=outcome, reports=shown, saved=saved))
    if saved:
        output.out().print(f"counterexample saved: {saved}")
    output.last_line(
        outcome, ", ".join(job.name for job, found in zip(jobs, outcomes, strict=True) if found is outcome)
    )
    return outcome.exit_code


def _print(name: str, report: Report, again: str, *, picture: bool) -> None:
    output.print_report(name, report)
    trace = report.verdicts[0].trace
    if trace is None:
        return
    output.print_trace(trace)
    if picture:
        output.print_diagram(trace)
    output.out().print(f"again:  {again}", soft_wrap=True)
    output.out().print()
