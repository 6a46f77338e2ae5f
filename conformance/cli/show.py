"""`antiphon show`: a saved trace as text and as a space-time diagram, in the terminal or as an SVG file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import antiphon
from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.report.documents import trace_document
from antiphon.model.verdict import Outcome


def show(
    file: options.TraceFile,
    picture: Annotated[
        Path | None,
        typer.Option("--svg", metavar="OUT.svg", help="Draw the diagram into this file.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show the whole initial state too.")] = False,
    json: options.Json = False,
) -> int:
    """Show a saved trace: its steps, what each changed, and who sent what to whom."""
    trace = antiphon.load(file)
    written = output.write_text("--svg", picture, trace.svg()) if picture is not None else None
    if json:
        document = documents.Show(
            outcome=Outcome.HOLDS, file=str(file), trace=trace_document(trace), written=written
        )
        return output.finish(document)
    output.print_trace(trace, everything=everything)
    output.print_diagram(trace)
    if written:
        output.out().print(f"diagram written: {written}")
    return 0
