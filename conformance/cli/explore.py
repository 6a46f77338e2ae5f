"""`antiphon explore`: walk a protocol, or a saved trace, step by step in a browser; or write that as one
file.
"""

from __future__ import annotations

import asyncio
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import antiphon
from antiphon.conformance.cli import options, output
from antiphon.conformance.cli.options import Variant
from antiphon.conformance.extras import needs_server
from antiphon.conformance.report.explorer import Walk, saved_page
from antiphon.conformance.report.explorer.beside import Beside
from antiphon.conformance.report.words import settings
from antiphon.programs import called
from antiphon.results import Trace


def explore(
    specification: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC]",
            help="A name as for `check`, file.py:Class or module:Class; not needed with --trace.",
            show_default=False,
        ),
    ] = None,
    *,
    variant: Variant,
    traces: Annotated[
        list[Path] | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="A saved trace to jump to; may be repeated. Its specification and constants are taken.",
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="OUT.html",
            help="Write one file that needs no network, and serve nothing.",
            show_default=False,
            callback=options.writable,
        ),
    ] = None,
    binding: options.Beside = "",
    fault: options.Fault = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port on 127.0.0.1; 0: any that is free.")
    ] = 0,
) -> int:
    """Walk a protocol or a trace step by step in a browser."""
    if fault is not None and not binding:
        raise output.UsageProblem("--fault is a mistake of an implementation: name that with --binding")
    if binding and (html is not None or specification is not None or variant.words()):
        raise output.UsageProblem(
            "--binding brings its own specification, and serves only: leave the others out"
        )
    runs = {file.name: antiphon.load(file, specification) for file in traces or ()}
    walk = _beside(binding, fault, runs) if binding else _walk(specification, variant, list(runs.values()))
    if html is not None:
        text, told = saved_page(walk, runs)
        output.write_text("--html", html, text)
        output.out().print(f"{html}: {len(text):,} bytes; {told}", soft_wrap=True)
        return 0
    _serve(walk, runs, port)
    return 0


def _beside(protocol: str, fault: str | None, runs: dict[str, Trace]) -> Walk:
    """Return a walk with the implementation of a protocol beside it, at the constants of the traces if any.

    Raises:
        UsageProblem: the traces are of another specification than the binding's.
    """
    constants = next((dict(run.program.constants) for run in runs.values()), {})
    binding = antiphon.binding(protocol, fault=fault, **constants)
    if any(run.program.digest != binding.program.digest for run in runs.values()):
        raise output.UsageProblem(f"the traces are not of the specification of {protocol} as it is bound")
    words = ["--binding", protocol, *(("--fault", fault) if fault is not None else ())]
    return Walk(binding.program, protocol, words, Beside(binding))


def _walk(specification: str | None, variant: Variant, runs: list[Trace]) -> Walk:
    """Return the walk of the specification, or of that of the traces.

    Raises:
        UsageProblem: nothing names a specification, or the traces are of several programs.
    """
    if not runs:
        if specification is None:
            raise output.UsageProblem("say what to explore: antiphon explore SPEC, or --trace FILE")
        return Walk(variant.program(specification), specification, variant.words())
    if variant.words():
        raise output.UsageProblem("--trace names its own constants and repairs: leave the others out")
    program = runs[0].program
    if any(run.program.digest != program.digest for run in runs):
        raise output.UsageProblem("the traces are of different programs: explore one after the other")
    return Walk(program, called(program.spec), _words(runs[0]))


def _words(run: Trace) -> list[str]:
    """Return the options that make the program of a trace again."""
    repairs = {item.name for item in run.program.declaration.constants if item.repair}
    words = [word for name in repairs if run.program.constants[name] for word in ("--repair", name)]
    others = {name: value for name, value in run.program.constants.items() if name not in repairs}
    return [*words, *(word for text in settings(others) for word in ("--set", text))]


def _serve(walk: Walk, runs: dict[str, Trace], port: int) -> None:
    needs_server("explore")
    from antiphon.conformance.report.explorer.server import (  # here: it is an extra
        application,
        new_token,
        serve,
    )

    token = new_token()

    def ready(taken: int) -> None:
        console = output.out()
        console.print(f"exploring {walk.name} {shlex.join(walk.options)}".rstrip(), soft_wrap=True)
        console.print(f"http://127.0.0.1:{taken}/{token}/", soft_wrap=True)
        console.print("Ctrl-C ends it.")

    with suppress(KeyboardInterrupt):
        try:
            asyncio.run(serve(application(walk, token, runs), port, ready))
        except OSError as error:
            raise output.UsageProblem(f"--port {port}: {error.strerror}") from error
