"""Commands by name, and the exit codes of their results and exceptions: an exception is wrong usage, our
failure or an interruption.

Typer's own code for wrong usage is 2 and Python's for a crash is 1; here 2 means unknown and 1 violated, so
both are mapped. Only the command that is asked for is loaded; the list of all is read from their files' text.
Exceptions are imported where they are caught, when the code that raised one has loaded its module already.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from importlib import import_module, resources
from typing import Annotated, Any

import typer

import antiphon
from antiphon.conformance.cli import streams
from antiphon.conformance.cli.renamed import now_called
from antiphon.spec.lang.calls import lost_s
from antiphon.spec.lang.foreign import alive

USAGE, FAILURE, INTERRUPTED = 64, 70, 130

PANELS: dict[str, tuple[str, ...]] = {
    "To begin": ("demo", "init"),
    "A specification": ("check", "find", "explore", "simulate", "explain", "refine", "export"),
    "An implementation beside its specification": ("lockstep", "stateful", "swarm", "cluster", "adapter"),
    "Logs": ("verify", "trace", "ingest", "watch", "coverage"),
    "Traces": ("show", "replay", "schema"),
    "The ledger of published documents": ("claims", "errata", "stack"),
    "The library": ("node", "members"),
}
"""Commands as `--help` groups them, those for newcomers first. A further command is one more name: the module
of that name has a function of that name, which prints and returns its exit code.
"""

HIDDEN = ("gate", "check-exports")
"""Commands that check this project itself; `--help` does not list them."""

COMMANDS = (*itertools.chain.from_iterable(PANELS.values()), *HIDDEN)

FAMILIES = ("adapter",)
"""Commands with subcommands; `VERBS` of a command's module names the functions that are its subcommands."""

ELSEWHERE = {"check-exports": "export"}
"""Commands without a module of their own, each with the command in whose module it stands."""


def commands(names: Iterable[str] = COMMANDS, *, loaded: bool = True) -> typer.Typer:
    """Return the command line with these commands, loaded, or with their names and documentation alone."""
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
    panels = {name: panel for panel, listed in PANELS.items() for name in listed}
    for name in names:
        if loaded and name in FAMILIES:
            app.add_typer(_family(name), name=name, rich_help_panel=panels.get(name))
            continue
        entry = app.command(name, hidden=name in HIDDEN, rich_help_panel=panels.get(name))
        entry(_loaded(name) if loaded else _outline_of(name))
    return app


_began: list[float] = []
"""Times (`time.monotonic`) at which the running commands began."""


def _loaded(name: str) -> Callable[..., Any]:
    from antiphon.conformance.cli.options import ungrouped

    module = import_module(f"antiphon.conformance.cli.{ELSEWHERE.get(name, name)}")
    return ungrouped(getattr(module, name.replace("-", "_")), *_began)


def _family(name: str) -> typer.Typer:
    """Return a command that only groups other commands."""
    from antiphon.conformance.cli.options import ungrouped

    module = import_module(f"antiphon.conformance.cli.{name}")
    family = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", add_completion=False)
    family.callback()(getattr(module, name))
    for verb in module.VERBS:
        settings = {"help_option_names": ["--help", "-h"], **module.SETTINGS}
        family.command(verb, context_settings=settings)(ungrouped(getattr(module, verb), *_began))
    return family


def _outline_of(name: str) -> Callable[..., Any]:
    """Return a function that does nothing and has the first paragraph of this command's docstring, read from
    the file without loading it.
    """
    file = resources.files("antiphon.conformance.cli") / f"{ELSEWHERE.get(name, name)}.py"

    def outline() -> None: ...

    told = next(
        ast.get_docstring(node)
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == name.replace("-", "_")
    )
    outline.__doc__ = " ".join((told or "").partition("\n\n")[0].split())  # as one line, however it is broken
    return outline


def _needed_commands(given: list[str]) -> typer.Typer:
    """Return a command line with the commands that these arguments can name, and no others loaded."""
    if given and given[0] in COMMANDS:
        return commands(given[:1])
    return commands(loaded=not set(given).isdisjoint(COMMANDS))


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
    """Take the options that stand before a command: `--version`."""


ENDLESS = {"watch", "node"}
"""Commands that run until somebody ends them, or stops reading their output."""


def run(given: list[str], began: float) -> int:
    """Run the command line with these arguments, and return the exit code. Seconds count from when it
    `began`, but for those of calls that have ended earlier processes which did the work.
    """
    _began[:] = [began + lost_s()]
    with alive(), streams.standing(endless=not ENDLESS.isdisjoint(given[:1])) as answer:
        return answer.code(_run(given))


def _run(given: list[str]) -> int:
    try:
        result = _needed_commands(given)(given, standalone_mode=False)
    except KeyboardInterrupt:
        return _complain(given, "interrupted", "interrupted", INTERRUPTED)
    except typer.Abort:
        return _complain(given, "interrupted", "interrupted", INTERRUPTED)
    except _WrongUsage as error:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        message = now_called(_command(given), getattr(error, "option_name", "")) or message
        return _complain(given, "usage", _plain(message, given) or "a command is missing", USAGE, hint=True)
    except (streams.NobodyReads, BrokenPipeError):
        return FAILURE
    except Exception as error:  # noqa: BLE001 - ours, unless it says otherwise: it must not look like a verdict
        return _complain(given, "usage", str(error), USAGE) if _is_refusal(error) else _fail(given, error)
    except BaseException as error:  # noqa: BLE001 - code that is not ours wants to end the process
        return _fail(given, error)
    if result == INTERRUPTED:
        return _complain(given, "interrupted", "interrupted", INTERRUPTED)
    return result if isinstance(result, int) else 0


_REASONS = (
    (r"'.*' is not a valid int(?:eger)?(?: range)?\.", "it is an integer"),
    (r"'.*' is not a valid float(?: range)?\.", "it is a number"),
    (r".* is not in the range x>=(\S+?)\.", r"it is at least \1"),
    (r".* is not in the range x<=(\S+?)\.", r"it is at most \1"),
    (r".* is not in the range (\S+?)<=x<=(\S+?)\.", r"it is from \1 to \2"),
    (r"'.*' is not one of (.*?)\.?", r"it is one of \1"),
)
"""The meaning of typer's complaints about a value."""


def _plain(message: str, given: list[str]) -> str:
    """Return a complaint about the value of an option as option, value and reason; return any other complaint
    unchanged.
    """
    found = re.fullmatch(r"Invalid value for (.*?): (.*)", message, re.DOTALL)
    if found is None:
        return message
    names, reason = re.findall(r"'(--?[\w-]+)'", found[1]), found[2]
    for pattern, meaning in _REASONS:
        if matched := re.fullmatch(pattern, reason, re.DOTALL):
            reason = matched.expand(meaning)
    for word, following in itertools.pairwise([*given, ""]):
        option, sign, value = word.partition("=")
        if option in names:
            value = value if sign else following
            choices = re.findall(r"'([^']+)'", reason)
            return f"{option} {value}: {reason}{_near(value, choices)}"
    return message


def _near(value: str, choices: list[str]) -> str:
    from antiphon.spec.lang.hints import did_you_mean

    return did_you_mean(value, choices)


def _is_refusal(error: BaseException) -> bool:
    """Return True if the exception refuses the user's request; False if it is a failure of our code."""
    from antiphon.conformance.cli.output import UsageProblem
    from antiphon.conformance.compare.replay import NotBound
    from antiphon.conformance.extras import MissingExtra
    from antiphon.model.export import TraceFileError
    from antiphon.spec.lang import SpecError
    from antiphon.spec.lang.foreign import Raised

    refusals = UsageProblem | MissingExtra | TraceFileError | SpecError | NotBound | Raised
    return isinstance(error, refusals)


def _command(given: list[str]) -> str:
    """Return the name of the command in these arguments, or ""."""
    return next((word for word in given if word in COMMANDS), "")


def _complain(given: list[str], kind: Any, message: str, code: int, *, hint: bool = False) -> int:
    streams.restore()
    if "--json" in given:
        from antiphon.conformance.cli.documents import Error
        from antiphon.conformance.cli.output import print_json

        print_json(Error(antiphon=antiphon.__version__, kind=kind, message=message, exit_code=code))
    sys.stderr.write(f"antiphon: {message}\n")
    if hint:
        command = _command(given)
        sys.stderr.write(f"Try: antiphon {command + ' ' if command else ''}--help\n")
    return code


def _fail(given: list[str], error: BaseException) -> int:
    """Report an unexpected exception of our code: print its traceback, and what the user can do with it.
    Return the exit code.
    """
    from antiphon.model.verdict import InternalError

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
