"""`antiphon lockstep`: specification and implementation, walked together through every transition."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

import antiphon
from antiphon.conformance.cli import documents, exercised, options, output, reports
from antiphon.conformance.cli.options import Constants, Limits, Reports, said
from antiphon.conformance.cli.progress import walk_bar
from antiphon.conformance.compare import lockstep as room
from antiphon.conformance.compare.bindings import Binding
from antiphon.conformance.compare.lockstep import LOCKSTEP
from antiphon.conformance.compare.lockstep.report import ONE_WAY
from antiphon.conformance.coverage.document import exercise
from antiphon.conformance.report.answers import Answer, of_lockstep
from antiphon.conformance.report.words import settings
from antiphon.spec.lang import Program


def bound_binding(protocol: str, constants: Constants, fault: str | None) -> Binding:
    """Return the binding of a protocol with the constants of the command line, and with the requested planted
    fault.

    Without any constant the small model of the protocol is bound.

    Raises:
        SpecError: no such protocol, constant or fault.
        UsageProblem: a setting cannot be read.
    """
    if not constants.as_settings:
        return antiphon.binding(protocol, fault=fault)
    return antiphon.binding(
        protocol, fault=fault, **constants.values(antiphon.binding(protocol).program.spec)
    )


def lockstep(
    protocol: options.Bound,
    *,
    constants: Constants,
    limits: Limits,
    max_transitions: Annotated[
        int | None,
        typer.Option("--max-transitions", min=1, help="Greatest number of transitions.", show_default=False),
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", min=0, help="How many paths are run again from the start.")
    ] = 50,
    seed: Annotated[int, options.SEED] = 0,
    fault: options.Fault = None,
    engine: Annotated[Literal["generated", "reference"], options.ENGINE] = "generated",
    save: options.Save = None,
    coverage: options.Coverage = None,
    json: options.Json = False,
    reported: Reports,
) -> int:
    """Walk specification and implementation together; every transition, every variable, every event."""
    binding = bound_binding(protocol, constants, fault)
    again = said(
        {
            "--set": constants.as_settings,
            "--max-transitions": [str(max_transitions)] if max_transitions is not None else (),
            "--seed": [str(seed)],
            "--fault": [fault] if fault is not None else (),
        }
    )
    words = ["antiphon", "lockstep", protocol, *again, *limits.words()]
    return walked(
        protocol, binding, words, limits=limits, max_transitions=max_transitions, sample=sample, seed=seed,
        fault=fault, engine=engine, save=save, json=json, reported=reported, coverage=coverage,
    )  # fmt: skip


def walked(
    protocol: str,
    binding: antiphon.Binding,
    again: list[str],
    *,
    limits: Limits,
    max_transitions: int | None,
    sample: int,
    seed: int,
    fault: str | None,
    engine: Literal["generated", "reference"],
    save: Path | None,
    json: bool,
    reported: Reports,
    coverage: Path | None = None,
    foreign: str = "",
) -> int:
    """Walk a binding, print and report the result, and return the exit code.

    Args:
        protocol: the name of the implementation in texts.
        binding: the binding.
        again: the words of the command that walks it again.
        limits: the bounds.
        max_transitions: the greatest number of transitions.
        sample: how many paths are run again from the start.
        seed: the seed of the sample.
        fault: the planted fault, if there is one.
        engine: the engine of the specification.
        save: the file for the trace of a difference.
        json: True to print a document.
        reported: the reports that are asked for.
        coverage: the file to which what is exercised is added.
        foreign: the specification of a program behind an adapter, which `protocol` starts; empty where
            `protocol` names the binding, so that a saved trace can be run on it again.
    """
    if not json:
        output.out().print(f"seed {seed} (of the sample)")
    with exercised.recorded(coverage, protocol, binding) as (run, recorder), walk_bar(protocol) as show:
        report = antiphon.lockstep(
            run,
            engine=engine,
            max_transitions=max_transitions,
            sample=sample,
            seed=seed,
            progress=show,
            **limits.asked(),
        )
    if recorder is not None:
        entry = exercise(
            "adapter lockstep" if foreign else "lockstep", recorder.seen, constants=report.program.constants,
            specification=foreign, complete=report.complete, actions=report.fired,
            transitions=exercised.names_of(report.program, report.taken),
        )  # fmt: skip
        exercised.write(coverage, protocol, recorder, entry)
    trace = report.difference.trace if report.difference else None
    saved = output.saved(save, trace, "difference", "" if foreign else protocol)
    command = shlex.join(again)
    plain = getattr(getattr(binding, "binding", None), "cls", None)
    reports.write(
        reported, lambda: Answer("lockstep", (of_lockstep(protocol, report, command, saved or "", plain),))
    )
    if json:
        return output.finish(_document(protocol, report, saved))
    return _print(protocol, report, saved, fault, replays=not foreign)


def _document(protocol: str, report: room.LockstepReport, saved: str | None) -> documents.Lockstep:
    return documents.Lockstep(
        outcome=report.outcome,
        protocol=protocol,
        constants=report.program.constants,
        transitions=report.transitions,
        states=report.states,
        pairs=report.pairs,
        compared=report.compared,
        executed=report.executed,
        repeated=report.repeated,
        complete=report.complete,
        seconds=round(report.seconds, 3),
        replayed=report.replayed,
        seed=report.seed,
        exempt=report.exempt,
        fired=report.fired,
        one_way=report.one_way,
        difference=documents.difference_document(report.difference),
        saved=saved,
    )


def _repaired(program: Program) -> str:
    """Return the words for the repairs that the specification has."""
    repairs = [item.name for item in program.declaration.constants if item.repair]
    without = [name for name in repairs if not program.constants[name]]
    if not repairs:
        return ""
    return f"; all repairs but {', '.join(without)}" if without else "; all repairs"


def _print(
    protocol: str, report: room.LockstepReport, saved: str | None, fault: str | None, *, replays: bool
) -> int:
    console = output.out()
    numbers = {name: value for name, value in report.program.constants.items() if type(value) is int}
    console.print(f"{protocol}: {', '.join(settings(numbers))}{_repaired(report.program)}", style="bold")
    rate = report.transitions / report.seconds if report.seconds else 0.0
    share = "all transitions" if report.complete else "a part of the transitions"
    console.print(
        f"{report.transitions:,} transitions taken on both sides: {share}; "
        f"{report.seconds:.1f} s, {rate:,.0f}/s"
    )
    console.print(
        f"{report.states:,} states, {report.pairs:,} pairs of state and implementation; "
        f"{report.compared:,} comparisons"
    )
    console.print(
        f"{report.executed:,} different local steps executed on the code, "
        f"{report.repeated:,} transitions once more; {report.replayed} paths run again from the start"
    )
    for action, count in sorted(report.fired.items(), key=lambda item: -item[1]):
        console.print(f"  {count:>12,}  {action}")
    for name, reason in report.exempt.items():
        console.print(f"not compared: {name}: {reason}", style="bright_black")
    print_difference(report.difference, saved, fault, replays=replays)
    everywhere = f"they agree in every transition, {ONE_WAY}" if report.one_way else "they agree everywhere"
    reason = everywhere if report.difference is None else report.difference.what
    if report.difference is None and not report.complete:
        reason = f"they agree as far as was walked; {report.stopped or 'the bound'} ended the walk"
    output.last_line(report.outcome, f"{protocol}: {reason}")
    return report.outcome.exit_code


def print_difference(
    difference: room.Difference | None,
    saved: str | Path | None,
    fault: str | None = None,
    *,
    replays: bool = True,
) -> None:
    """Print the difference, with the trace and its picture."""
    if difference is None:
        return
    assert difference.trace.shows == LOCKSTEP
    output.out().print()
    output.print_trace(difference.trace)
    output.print_diagram(difference.trace)
    output.out().print(str(difference), style="red", soft_wrap=True)
    if saved and not replays:
        output.out().print(f"trace saved: {saved}; antiphon show {saved} draws it", soft_wrap=True)
    elif saved:
        without = " without the planted fault" if fault else ""
        output.out().print(
            f"trace saved: {saved}; run it again{without} with antiphon replay {saved}", soft_wrap=True
        )
