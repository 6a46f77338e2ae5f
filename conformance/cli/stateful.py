"""`antiphon stateful`: random runs of specification and implementation, with a shortened difference."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import antiphon
from antiphon.conformance.cli import documents, exercised, options, output
from antiphon.conformance.cli.lockstep import bound_binding, print_difference
from antiphon.conformance.cli.options import Constants
from antiphon.conformance.compare.bindings import bound_protocol
from antiphon.conformance.coverage.document import exercise
from antiphon.conformance.report.words import counted
from antiphon.spec.lang.calls import drawn


def stateful(
    protocol: options.Bound,
    seed: options.Seed = None,
    runs: Annotated[int | None, options.RUNS] = None,
    steps: Annotated[int, options.STEPS] = 40,
    *,
    constants: Constants,
    max_seconds: options.MaxSeconds = None,
    max_memory: options.MaxMemory = None,
    fault: options.Fault = None,
    save: options.Save = None,
    coverage: options.Coverage = None,
    json: options.Json = False,
) -> int:
    """Run specification and implementation side by side at random, and shrink a run in which they differ."""
    if constants.as_settings:
        binding = bound_binding(protocol, constants, fault)
    else:
        binding = antiphon.binding(protocol, fault=fault, **bound_protocol(protocol).random)
    chosen = drawn() if seed is None else seed
    if not json:
        output.out().print(f"seed {chosen}")
    console = output.err()
    with (
        exercised.recorded(coverage, protocol, binding) as (run, recorder),
        console.status(f"{protocol}: {runs or 'random'} runs of up to {steps} steps")
        if console.is_terminal
        else nullcontext(),
    ):
        report = antiphon.stateful(
            run,
            runs=runs,
            steps=steps,
            seed=chosen,
            max_seconds=max_seconds,
            max_memory_mb=max_memory,
        )
    if recorder is not None:
        entry = exercise(
            "stateful", recorder.seen, constants=report.program.constants, runs=report.runs,
            actions=report.actions, transitions=exercised.names_of(report.program, report.taken),
        )  # fmt: skip
        exercised.write(coverage, protocol, recorder, entry)
    saved = output.saved(save, report.difference.trace if report.difference else None, "difference", protocol)
    outcome = report.outcome
    if json:
        return output.finish(
            documents.Stateful(
                outcome=outcome, protocol=protocol,
                constants=report.program.constants, seed=chosen, runs=report.runs, steps=report.steps,
                seconds=round(report.seconds, 3), met=report.met, transitions=report.transitions,
                stopped=None if report.stopped is None else str(report.stopped),
                difference=documents.difference_document(report.difference), saved=saved,
            )
        )  # fmt: skip
    print_difference(report.difference, saved, fault)
    reason = "specification and implementation agree" if report.difference is None else report.difference.what
    if report.stopped is not None:
        output.out().print(f"not every run was taken: {report.stopped}", style="yellow")
    if report.difference is None:
        reason += f" where they were; {report.share}"
        if report.transitions is not None and report.met < report.transitions:
            output.out().print(
                f"{report.transitions:,} transitions are few: `antiphon lockstep` takes every one of them",
                style="yellow",
            )
    output.last_line(
        outcome,
        f"{protocol}: {reason}; {counted(report.runs, 'run')}, {counted(report.steps, 'step')}, "
        f"{report.seconds:.1f} s, seed {chosen}; evidence: measured",
    )
    return outcome.exit_code
