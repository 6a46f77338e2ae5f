"""`antiphon replay`: a saved trace, run again on the specification or the implementation, or turned into a
regression test.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

import antiphon
from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.options import Variant
from antiphon.conformance.cli.trace import failed_document, print_failure
from antiphon.conformance.compare.bindings import bound_protocols
from antiphon.conformance.compare.lockstep import LOCKSTEP
from antiphon.conformance.compare.replay import on_implementation, on_named, on_specification, regression_test
from antiphon.conformance.compare.validation import ObservationError, Validation, read_logs, validate
from antiphon.conformance.report.documents import trace_document
from antiphon.conformance.report.words import counted
from antiphon.impl.registry import LISTED
from antiphon.model.export import ForeignRun, binding_in, foreign_in, program_named_in
from antiphon.model.notation import short_places
from antiphon.model.verdict import Outcome
from antiphon.programs import called
from antiphon.spec.lang import Program
from antiphon.spec.lang.hints import did_you_mean

SPECIFICATION: Final = "specification"
IMPLEMENTATION: Final = "implementation"


def replay(
    file: options.TraceFile,
    specification: options.TraceSpecification = None,
    *,
    variant: Variant,
    on: Annotated[
        str,
        typer.Option(
            "--on",
            metavar="NAME",
            help=f"What runs the trace: {SPECIFICATION}; {IMPLEMENTATION}, the one that is bound to the "
            "trace's specification; or an implementation by its name or place, as `lockstep` takes it. It is "
            "compared step by step, or in virtual time where it takes other steps.",
            autocompletion=lambda: [SPECIFICATION, IMPLEMENTATION, *bound_protocols(), *LISTED],
        ),
    ] = SPECIFICATION,
    pytest: Annotated[
        Path | None,
        typer.Option(
            "--pytest",
            metavar="OUT.py",
            help="Write a regression test.",
            show_default=False,
            callback=options.writable,
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Run a saved trace again, exactly, or hold one of another tool against a specification."""
    if variant.words() and specification is None:
        raise output.UsageProblem(
            f"{shlex.join(variant.words())}: constants are of a specification that is named: "
            f"antiphon replay {file} --as SPEC; a trace of antiphon has its own"
        )
    if on == SPECIFICATION and (run := foreign_in(file)) is not None:
        named = program_named_in(file) if specification is None else variant.program(specification)
        if named is not None:
            return _held(file, run, named, specification or "", pytest, json=json)
    subject = variant.program(specification) if specification and variant.words() else specification
    trace = antiphon.load(file, subject)
    is_named = on not in (SPECIFICATION, IMPLEMENTATION)
    binding = on if is_named else binding_in(file)
    compares = on != SPECIFICATION or trace.shows == LOCKSTEP or bool(binding)
    if is_named:
        replayed = on_named(trace, on)
    else:
        replayed = on_implementation(trace, binding) if compares else on_specification(trace)
    written = None
    if pytest is not None:
        if replayed.outcome is Outcome.UNKNOWN:
            raise output.UsageProblem(f"--pytest: there is nothing to assert: {replayed.reason}")
        text = regression_test(
            trace,
            file,
            pytest,
            outcome=replayed.outcome.value,
            implementation=compares,
            binding=binding,
            specification=specification or "",
        )
        written = output.write_text("--pytest", pytest, text)
    if json:
        side: Literal["specification", "implementation"] = IMPLEMENTATION if compares else SPECIFICATION
        return output.finish(
            documents.Replay(
                outcome=replayed.outcome, file=str(file), on=side, reason=replayed.reason,
                trace=trace_document(trace),
                difference=documents.difference_document(replayed.difference), written=written,
            )
        )  # fmt: skip
    is_gone = trace.shows == LOCKSTEP and replayed.outcome is Outcome.HOLDS and trace.why
    output.print_trace(replace(trace, why=f"recorded, and gone now: {trace.why}") if is_gone else trace)
    if written:
        output.out().print(f"regression test written: {written}")
    output.last_line(replayed.outcome, short_places(replayed.reason))
    return replayed.outcome.exit_code


def _held(
    file: Path, run: ForeignRun, program: Program, specification: str, pytest: Path | None, *, json: bool
) -> int:
    """Hold a trace of another tool against a specification: it holds if every step is one of the
    specification, and no property is false.
    """
    try:
        found = validate(program, read_logs(program, [file]))
    except ObservationError as error:
        raise output.UsageProblem(str(error)) from error
    reason = _reason(found, run)
    written = None
    if pytest is not None:
        if found.trace is None:
            raise output.UsageProblem(f"--pytest: there is nothing to assert: {reason}")
        trace = antiphon.load(file, program)
        text = regression_test(trace, file, pytest, outcome=found.outcome.value, specification=specification)
        written = output.write_text("--pytest", pytest, text)
    if json:
        return output.finish(
            documents.Replay(
                outcome=found.outcome, file=str(file), on=SPECIFICATION, reason=reason,
                trace=None if found.trace is None else trace_document(found.trace),
                failure=None if found.failure is None else failed_document(found), written=written,
            )
        )  # fmt: skip
    if found.failure is not None:
        print_failure(found, found.failure)
    elif found.trace is not None:
        output.print_trace(found.trace)
    if written:
        output.out().print(f"regression test written: {written}")
    output.last_line(found.outcome, short_places(reason))
    return found.outcome.exit_code


def _reason(found: Validation, run: ForeignRun) -> str:
    """Return the result of holding a trace of another tool against a specification, in one sentence."""
    name, failed = called(found.program.spec), found.failure
    last = len(run.states)
    if failed is not None and found.outcome is Outcome.VIOLATED:
        (line, obstacles), *_ = failed.stuck[0].lines
        nearest = obstacles[0] if obstacles else "nothing is possible"
        if line.line == 0:
            return f"states[0] is no initial state of {name}: {nearest}"
        if line.line == last:
            return f"no step of {name} leads from states[{last - 1}] back to states[{run.loop}]: {nearest}"
        return f"no step of {name} leads from states[{line.line - 1}] to states[{line.line}]: {nearest}"
    if found.broken:
        return f"{', '.join(found.broken)} {'is' if len(found.broken) == 1 else 'are'} false; {found.reason}"
    if found.trace is None:
        return found.reason
    told = f"{counted(last - 1, 'step')} of the trace, each one of {name}, or none where nothing changes"
    if run.loop is not None:
        told += f", and one back to states[{run.loop}]"
    known = {item.name for item in found.program.declaration.marked("action", "environment")}
    unknown = sorted({action for action in run.actions[1:] if action} - known)
    if unknown:
        names = ", ".join(f"{action!r}{did_you_mean(action, known)}" for action in unknown)
        told += f"; {name} has no action {names}: any action was taken for these"
    return told
