"""`antiphon replay`: a saved trace, run again on the specification or the implementation, or turned into a
regression test.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

import antiphon
from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.options import Variant
from antiphon.conformance.compare.lockstep import LOCKSTEP
from antiphon.conformance.compare.replay import on_implementation, on_specification, regression_test
from antiphon.conformance.report.documents import trace_document
from antiphon.model.export import binding_in
from antiphon.model.notation import short_places
from antiphon.model.verdict import Outcome


class On(Enum):
    """The side that runs the trace."""

    SPECIFICATION = "specification"
    IMPLEMENTATION = "implementation"


def replay(
    file: options.TraceFile,
    specification: options.TraceSpecification = None,
    *,
    variant: Variant,
    on: Annotated[
        On, typer.Option("--on", help="What runs the trace; the implementation is compared step by step.")
    ] = On.SPECIFICATION,
    binding: options.Beside = "",
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
    """Run a saved trace again, exactly, or look for one of another tool in a specification."""
    if variant.words() and specification is None:
        raise output.UsageProblem(
            f"{shlex.join(variant.words())}: constants are of a specification that is named: "
            f"antiphon replay {file} SPEC; a trace of antiphon has its own"
        )
    subject = variant.program(specification) if specification and variant.words() else specification
    trace = antiphon.load(file, subject)
    binding = binding or binding_in(file)
    if trace.shows == LOCKSTEP or binding:
        on = On.IMPLEMENTATION
    replayed = on_implementation(trace, binding) if on is On.IMPLEMENTATION else on_specification(trace)
    written = None
    if pytest is not None:
        if replayed.outcome is Outcome.UNKNOWN:
            raise output.UsageProblem(f"--pytest: there is nothing to assert: {replayed.reason}")
        text = regression_test(
            trace,
            file,
            pytest,
            outcome=replayed.outcome.value,
            implementation=on is On.IMPLEMENTATION,
            binding=binding,
            specification=specification or "",
        )
        written = output.write_text("--pytest", pytest, text)
    if json:
        return output.finish(
            documents.Replay(
                outcome=replayed.outcome, file=str(file), on=on.value, reason=replayed.reason,
                trace=trace_document(trace),
                difference=documents.difference_document(replayed.difference), written=written,
            )
        )  # fmt: skip
    is_gone = on is On.IMPLEMENTATION and replayed.outcome is Outcome.HOLDS and trace.why
    output.print_trace(replace(trace, why=f"recorded, and gone now: {trace.why}") if is_gone else trace)
    if written:
        output.out().print(f"regression test written: {written}")
    output.last_line(replayed.outcome, short_places(replayed.reason))
    return replayed.outcome.exit_code
