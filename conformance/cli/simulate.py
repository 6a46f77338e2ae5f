"""`antiphon simulate`: seeded random walks over a specification; what they showed is measured, not proved."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer
from rich.progress import Progress

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.check import Job
from antiphon.model import simulate as walks_of
from antiphon.model.explicit import compiled_machine
from antiphon.model.verdict import Outcome


def simulate(
    specification: Annotated[str, typer.Argument(metavar="SPEC", help="A name as for `check`, or module:Class.")],
    seed: Annotated[int | None, typer.Option("--seed", help="Number of the random run; chosen and printed if not given.", show_default=False)] = None,
    walks: Annotated[int, typer.Option("--walks", min=1, help="How many walks.")] = 100,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Greatest number of steps of a walk.")] = 100,
    processes: options.Processes = None,
    messages: options.Messages = None,
    losses: options.Losses = None,
    timeouts: options.Timeouts = None,
    settings: options.Settings = None,
    repairs: options.Repairs = None,
    without: options.Without = None,
    readings: options.Readings = None,
    save: options.Save = None,
    json: options.Json = False,
    no_diagram: options.Quiet = False,
) -> int:
    """Walk a specification at random and judge every step."""
    named = {"processes": processes, "messages": messages, "losses": losses, "timeouts": timeouts}
    told = [f"{name}={value}" for name, value in named.items() if value is not None] + [*(settings or ()), *(readings or ())]
    job = Job(specification, tuple(told), tuple(repairs or ()), without=tuple(without or ()))
    bound = job.program
    chosen = secrets.randbelow(10**6) if seed is None else seed
    if not json:
        output.out().print(f"seed {chosen}")
    console = output.err()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(specification, total=walks)
        report = walks_of.simulate(
            bound, compiled_machine(bound), seed=chosen, walks=walks, steps=steps, progress=lambda done, _: bar.update(task, completed=done)
        )
    again = job.command().replace("antiphon check", "antiphon simulate", 1) + f" --seed {chosen} --walks {walks} --steps {steps}"
    outcome = report.outcome
    bad = [verdict.trace for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED and verdict.trace is not None]
    worst = min(bad, key=len) if bad else None
    saved = output.keep(worst, save)
    if json:
        found = documents.report_document(specification, report, again)
        return output.finish(documents.Simulate(outcome=outcome.value, exit_code=outcome.exit_code, seed=chosen, report=found, saved=saved))
    output.print_report(specification, report)
    if worst is not None:
        output.print_trace(worst)
        if not no_diagram:
            output.print_diagram(worst)
    output.out().print(f"again:  {again}", soft_wrap=True)
    if saved:
        output.out().print(f"counterexample saved: {saved}")
    explored = report.exploration
    output.last_line(outcome, f"{walks:,} walks, {explored.transitions:,} steps, {explored.states:,} different states, seed {chosen}")
    return outcome.exit_code
