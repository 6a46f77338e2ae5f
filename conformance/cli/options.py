"""The options that several commands share, each declared once with its help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document (schema antiphon.report, version 1) instead of text.")]
Processes = Annotated[int | None, typer.Option("--processes", help="Number of processes.", show_default=False)]
Messages = Annotated[int | None, typer.Option("--messages", help="Number of messages that are broadcast, in all.", show_default=False)]
Losses = Annotated[int | None, typer.Option("--losses", help="How many packets may be lost.", show_default=False)]
Timeouts = Annotated[int | None, typer.Option("--timeouts", help="How many timer rounds may pass.", show_default=False)]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Set a constant of the specification; may be repeated.")]
Repairs = Annotated[
    list[str] | None,
    typer.Option("--repair", metavar="NAME", help="Switch on a named repair, or all of them; may be repeated. Without: the literal text."),
]
Without = Annotated[list[str] | None, typer.Option("--without", metavar="NAME", help="Leave this repair out of `--repair all`; may be repeated.")]
Readings = Annotated[
    list[str] | None, typer.Option("--reading", metavar="NAME=VALUE", help="Choose a reading of an ambiguous sentence; may be repeated.")
]
Save = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Save the counterexample as FILE, conventionally NAME.itf.json.", show_default=False)
]
TraceFile = Annotated[Path, typer.Argument(metavar="FILE", help="A trace: *.itf.json, as --save makes it.", show_default=False)]
Bound = Annotated[str, typer.Argument(metavar="PROTOCOL", help="A protocol whose implementation is bound: rbp.")]
Quiet = Annotated[bool, typer.Option("--no-diagram", help="Leave out the space-time diagram.")]
Fault = Annotated[
    str | None, typer.Option("--fault", metavar="NAME", help="Plant this mistake in the implementation, to see it caught.", show_default=False)
]
