"""`antiphon simulate`: seeded random walks over a specification; their results are measured, not proved."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

import typer

import antiphon
from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.check import Job
from antiphon.conformance.cli.options import Effort, Showing, Variant
from antiphon.conformance.cli.progress import found_in, runs_bar
from antiphon.model.bounds import runs_asked
from antiphon.questions import WALKS
from antiphon.spec.lang.calls import drawn


def simulate(
    specification: options.Specification,
    seed: options.Seed = None,
    walks: Annotated[
        int | None,
        typer.Option(
            "--walks", min=1, show_default=False,
            help="How many walks (100); unknown if a bound ends them before. With --max-seconds alone: as "
            "many as fit.",
        ),
    ] = None,
    steps: Annotated[int, options.STEPS] = 100,
    swarm: Annotated[
        bool,
        typer.Option(
            "--swarm", help="Each walk draws which faults may happen at all, and a weight for each action."
        ),
    ] = False,
    engine: Annotated[
        Literal["auto", "native", "generated", "reference"], options.ENGINE
    ] = "auto",
    threads: Annotated[int | None, options.THREADS] = None,
    *,
    variant: Variant,
    effort: Effort,
    showing: Showing,
) -> int:
    """Walk a specification at random and judge every step.

    The walks are the same with every engine.
    """
    job = Job(specification, variant)
    bound = job.program
    chosen = drawn() if seed is None else seed
    if not showing.json:
        output.out().print(f"seed {chosen}")
    console = output.err()
    with runs_bar(specification, runs_asked(walks, WALKS, effort.max_seconds), console) as show:
        report = antiphon.simulate(
            bound,
            seed=chosen,
            walks=walks,
            steps=steps,
            swarm=swarm,
            engine=engine,
            threads=threads,
            progress=show,
            violated=None if showing.json else found_in(specification, console),
            **effort.asked(),
        )
    explored = report.exploration
    taken = explored.states - explored.transitions
    again = job.command(
        *("--seed", str(chosen), "--walks", str(walks or max(taken, 1)), "--steps", str(steps)),
        *(["--swarm"] if swarm else []),
        *(effort if walks else dataclasses.replace(effort, max_seconds=None)).words(),
        verb="simulate",
    )
    outcome, worst = report.outcome, report.counterexample
    saved = output.saved(showing.save, worst, "counterexample")
    if showing.json:
        found = documents.report_document(specification, report, again)
        return output.finish(documents.Simulate(outcome=outcome, seed=chosen, report=found, saved=saved))
    output.print_report(specification, report)
    if worst is not None:
        output.print_trace(worst)
        if not showing.no_diagram:
            output.print_diagram(worst)
    output.out().print(f"again:  {again}", soft_wrap=True)
    if saved:
        output.out().print(f"counterexample saved: {saved}")
    output.last_line(outcome, f"{taken:,} walks, {explored.transitions:,} steps, seed {chosen}")
    return outcome.exit_code
