"""The commands by name, and what becomes of whatever they raise: results are exit codes; exceptions are
usage, failure or interruption.

Typer's own code for wrong usage is 2 and Python's for a crash is 1; here 2 means unknown and 1 violated, so
both are mapped. One file a command, and only the command that is asked for is loaded.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

import antiphon
from antiphon.conformance.cli.documents import Error
from antiphon.conformance.cli.options import ungrouped
from antiphon.conformance.cli.output import FAILURE, INTERRUPTED, USAGE, UsageProblem, print_json
from antiphon.conformance.replay import NotBound
from antiphon.model.export import TraceFileError
from antiphon.model.verdict import InternalError
from antiphon.spec.lang import SpecError

COMMANDS: tuple[str, ...] = (
    "gate", "check", "claims", "errata", "refine", "find", "simulate", "lockstep", "stateful", "swarm",
    "cluster", "node", "verify", "replay", "show", "explain", "stack", "export", "check-exports",
)  # fmt: skip
"""A further command is one more name: the module of that name has a function of that name, which prints and
returns its exit code."""

ELSEWHERE = {"check-exports": "export"}
"""A command that shares its module with another."""


def commands(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands, loaded."""
    app = typer.Typer(
        name="antiphon",
        help="A formal model calls, a real implementation answers, and the two must sing the same.",
        epilog="Exit codes: 0 holds, 1 violated, 2 unknown, 64 wrong usage, 70 our own failure, "
        "130 interrupted.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_options)
    for name in names:
        module = import_module(f"antiphon.conformance.cli.{ELSEWHERE.get(name, name)}")
        app.command(name)(ungrouped(getattr(module, name.replace("-", "_"))))
    return app


_WrongUsage: type[Exception] = typer.BadParameter.__mro__[1]
"""The base of typer's complaints about arguments, wherever this version of typer keeps it."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"antiphon {antiphon.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """A formal model calls, a real implementation answers, and the two must sing the same."""


def run(given: list[str]) -> int:
    """Run the command line with these arguments; the exit code."""
    try:
        result = commands(given[:1] if given[:1] and given[0] in COMMANDS else COMMANDS)(
            given, standalone_mode=False
        )
    except KeyboardInterrupt:
        return _complain(given, "interrupted", "interrupted", INTERRUPTED)
    except typer.Abort:
        return _complain(given, "interrupted", "interrupted", INTERRUPTED)
    except _WrongUsage as error:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        return _complain(given, "usage", message or "a command is missing", USAGE, hint=True)
    except (UsageProblem, TraceFileError, SpecError, NotBound) as error:
        return _complain(given, "usage", str(error), USAGE)
    except BrokenPipeError:
        _silence()
        return FAILURE
    except Exception as error:  # noqa: BLE001 - our failure, which must not look like a verdict
        return _fail(given, error)
    if result == INTERRUPTED:
        return _complain(given, "interrupted", "interrupted", INTERRUPTED)
    return result if isinstance(result, int) else 0


def _complain(given: list[str], kind: Any, message: str, code: int, *, hint: bool = False) -> int:
    if "--json" in given:
        print_json(Error(antiphon=antiphon.__version__, kind=kind, message=message, exit_code=code))
    sys.stderr.write(f"antiphon: {message}\n")
    if hint:
        command = next((word for word in given if word in COMMANDS), "")
        sys.stderr.write(f"Try: antiphon {command + ' ' if command else ''}--help\n")
    return code


def _fail(given: list[str], error: Exception) -> int:
    """Our own failure: the traceback, and what to do with it."""
    if not isinstance(error, InternalError):
        traceback.print_exception(error)
    message = (
        f"{type(error).__name__}: {error}\n"
        "This is a failure of antiphon or of the machine it runs on; "
        "it says nothing about what was checked.\n"
        f"Please report it with the text above, the command `antiphon {' '.join(given)}`, "
        f"and the versions: antiphon {antiphon.__version__}, Python {sys.version.split()[0]}."
    )
    return _complain(given, "failure", message, FAILURE)


def _silence() -> None:
    """Nobody reads our output any more: let Python not complain about it at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
