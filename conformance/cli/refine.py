"""`antiphon refine`: is every transition of a protocol a step of the abstract machine that it refines, or none? Exits by the verdict."""

from __future__ import annotations

import shlex
from typing import Annotated, Literal

import typer

from antiphon.conformance.cli import documents, options, output, registry
from antiphon.model.explicit import progress_bar
from antiphon.model.refinement import check_refinement
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.catalogue import refined, refinement_named
from antiphon.spec.refinement import Refinement


def refine(
    protocols: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PROTOCOL]...", help=f"{', '.join(refined())}. Without: all of them, repaired, within small bounds."),
    ] = None,
    processes: options.Processes = None,
    messages: options.Messages = None,
    losses: options.Losses = None,
    timeouts: options.Timeouts = None,
    settings: options.Settings = None,
    repairs: options.Repairs = None,
    without: options.Without = None,
    readings: options.Readings = None,
    engine: Annotated[
        Literal["generated", "reference"], typer.Option("--engine", help="What executes the protocol: generated Python, or CPython itself.")
    ] = "generated",
    max_states: Annotated[int | None, typer.Option("--max-states", min=1, help="Stop after so many states.", show_default=False)] = None,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", min=0.0, help="Stop after this time.", show_default=False)] = None,
    save: options.Save = None,
    json: options.Json = False,
    no_diagram: options.Quiet = False,
) -> int:
    """Check that a protocol refines its abstract machine: every transition, through a stated mapping.

    Without any constant the protocol is explored within the bounds that its mapping states.
    """
    sizes = {"processes": processes, "messages": messages, "losses": losses, "timeouts": timeouts}
    told = [f"{name}={value}" for name, value in sizes.items() if value is not None] + [*(settings or ()), *(readings or ())]
    if not protocols and (told or repairs or without):
        raise output.UsageProblem("name the protocol that these options are for: antiphon refine rbp --processes 3")
    chosen = [(name, refinement_named(name)) for name in protocols or refined()]
    wanted = list(repairs or ()) if protocols else ["all"]
    shown: list[documents.ReportDocument] = []
    outcomes: list[Outcome] = []
    saved: str | None = None
    for name, refinement in chosen:
        report = _run(name, refinement, told, wanted, list(without or ()), engine, max_states, max_seconds)
        outcomes.append(report.outcome)
        saved = saved or output.keep(report.verdicts[0].trace, save)
        again = _command(name, told, wanted, without or ())
        if json:
            shown.append(documents.report_document(name, report, again))
        else:
            _print(name, report, again, picture=not no_diagram)
    outcome = Outcome.worst(outcomes)
    if json:
        return output.finish(documents.Refine(outcome=outcome.value, exit_code=outcome.exit_code, reports=shown, saved=saved))
    if saved:
        output.out().print(f"counterexample saved: {saved}")
    output.last_line(outcome, ", ".join(name for (name, _), found in zip(chosen, outcomes, strict=True) if found is outcome))
    return outcome.exit_code


def _run(
    name: str,
    refinement: Refinement,
    told: list[str],
    repairs: list[str],
    without: list[str],
    engine: str,
    max_states: int | None,
    max_seconds: float | None,
) -> Report:
    spec = refinement.concrete
    usual = [f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in refinement.bounds.items()]
    bound = registry.bind(f"{spec.__module__}:{spec.__qualname__}", settings=told or usual, repairs=repairs, without=without)
    with progress_bar(name, output.err()) as progress:
        return check_refinement(bound, refinement, max_states=max_states, max_seconds=max_seconds, engine=engine, progress=progress)


def _command(name: str, told: list[str], repairs: list[str], without: list[str] | tuple[str, ...]) -> str:
    words = ["antiphon", "refine", name]
    for option, values in (("--set", told), ("--repair", repairs), ("--without", without)):
        words += [word for value in values for word in (option, value)]
    return shlex.join(words)


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
