"""`antiphon explore`: walk a protocol, or a saved trace, step by step in a browser; or write that as one
file.
"""

from __future__ import annotations

import asyncio
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

import antiphon
from antiphon.conformance.cli import options, output
from antiphon.conformance.cli.observed import Observed
from antiphon.conformance.cli.options import Effort, Variant, said
from antiphon.conformance.cli.progress import working
from antiphon.conformance.compare.validation import ObservationError, Possible, validate
from antiphon.conformance.extras import needs_server
from antiphon.conformance.report.explorer import Walk, saved_page
from antiphon.conformance.report.explorer.beside import Beside
from antiphon.conformance.report.explorer.observed import ObservedLogs
from antiphon.conformance.report.explorer.walk import WalkError, options_of
from antiphon.model.bounds import Bounds
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
    observed: Observed,
    effort: Effort,
    traces: Annotated[
        list[Path] | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="A saved trace to jump to; may be repeated. Its specification and constants are taken.",
            show_default=False,
        ),
    ] = None,
    logs: Annotated[
        list[Path] | None,
        typer.Option(
            "--observed",
            metavar="FILE",
            help="A log, walked with the states in which the system may be, as `trace` reads it; may be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(
            "--watch",
            metavar="EXPRESSION",
            help="Show the value of this expression over self in every state; may be repeated.",
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
    """Walk a protocol, a trace or a log step by step in a browser."""
    if fault is not None and not binding:
        raise output.UsageProblem("--fault is a mistake of an implementation: name that with --binding")
    if binding and (html is not None or specification is not None or variant.words() or logs):
        raise output.UsageProblem(
            "--binding brings its own specification, and serves only: leave the others out"
        )
    if (observed != Observed() or effort != Effort()) and not logs:
        raise output.UsageProblem(
            "--map, --hidden, --from and the bounds are for logs: name them with --observed"
        )
    runs = _runs(traces or [], specification)
    walk = _beside(binding, fault, runs) if binding else _walk(specification, variant, list(runs.values()))
    for expression in watch or ():
        _watch(walk, expression)
    found = _logs(walk, logs, observed, effort, runs) if logs else None
    if html is not None:
        with working(f"writing {html}", output.err()) as tell:
            text, told = saved_page(walk, runs, found, tell=tell)
        output.write_text("--html", html, text)
        output.out().print(f"{html}: {len(text.encode()):,} bytes; {told}", soft_wrap=True)
        return 0
    _serve(walk, runs, found, port)
    return 0


def _watch(walk: Walk, expression: str) -> None:
    try:
        walk.watch(expression)
    except WalkError as error:
        raise output.UsageProblem(f"--watch {expression}: {error}") from error


def _runs(files: list[Path], specification: str | None) -> dict[str, Trace]:
    """Return the saved traces by the names of their files; of equal names by their paths."""
    names = [file.name for file in files]
    return {
        file.name if names.count(file.name) == 1 else str(file): antiphon.load(file, specification)
        for file in files
    }


def _logs(
    walk: Walk, files: list[Path], observed: Observed, effort: Effort, runs: dict[str, Trace]
) -> ObservedLogs:
    """Return the logs with the states in which the system may be; an explanation becomes one of the runs.

    Raises:
        UsageProblem: a log or its map cannot be read, or no line tells anything.
    """
    bounds = Bounds(effort.max_states, effort.max_seconds, None, effort.max_memory)
    given: dict[str, Any] = {"hidden": observed.budgets(), "start": observed.beginning(), "bounds": bounds}
    try:
        read = observed.logs(walk.program, files)
        with working(f"explaining {', '.join(map(str, files))}", output.err()):
            found = validate(walk.program, read, **given)
            if not found.lines:
                raise output.UsageProblem(f"--observed: {found.reason}")
            possible = Possible(walk.program, read, **given)
    except ObservationError as error:
        raise output.UsageProblem(str(error)) from error
    if found.trace is not None:
        runs["the explanation"] = Trace.of(found.trace)
    walk.options += [*said({"--observed": map(str, files)}), *observed.words(), *effort.words()]
    return ObservedLogs(possible, found)


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
    return Walk(program, called(program.spec), options_of(program))


def _serve(walk: Walk, runs: dict[str, Trace], logs: ObservedLogs | None, port: int) -> None:
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
            asyncio.run(serve(application(walk, token, runs, logs), port, ready))
        except OSError as error:
            raise output.UsageProblem(f"--port {port}: {error.strerror}") from error
