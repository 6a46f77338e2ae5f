"""The options that commands share, each declared once with its help text, and the groups in which they come.

A name in capitals is an option of any type and default, which a command sets. A name like `Seed` has a type,
too. A group is a frozen dataclass whose fields are options. A command takes a group as one parameter;
`ungrouped` shows typer a command with the fields in its place, under the heading of the group. A group knows
how its options become values, and how a command line repeats them.
"""

from __future__ import annotations

import dataclasses
import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_type_hints

import typer

from antiphon.conformance.cli import streams
from antiphon.conformance.cli.output import UsageProblem
from antiphon.conformance.compare.bindings import bound_protocols
from antiphon.conformance.report.words import settings as as_settings
from antiphon.model import bounds
from antiphon.model.files import check_writable
from antiphon.model.limits import count_from
from antiphon.programs import program, specification
from antiphon.spec.lang import Program, Spec, SpecError
from antiphon.spec.lang.declare import declare
from antiphon.spec.lang.hints import known_names

Value = int | bool | str
Engine = Literal["auto", "native", "generated", "reference", "z3"]


def writable(param: typer.CallbackParam, value: Path | None) -> Path | None:
    """Return the file of an option, after checking that it can be written.

    Raises:
        UsageProblem: it cannot be written.
    """
    if value is not None:
        see_writable(param.opts[-1], value)
    return value


def fresh(param: typer.CallbackParam, value: Path | None) -> Path | None:
    """Return the file of a report, after checking that it can be written; an earlier report is removed, so
    that it is not mistaken for this run's, however this one ends.

    Raises:
        UsageProblem: it cannot be written.
    """
    if writable(param, value) is not None and value is not None and value.is_file():
        value.unlink()
    return value


def see_writable(option: str, file: Path) -> None:
    """Check that the file can be written.

    Raises:
        UsageProblem: it cannot be written.
    """
    try:
        check_writable(file)
    except OSError as error:
        raise UsageProblem(f"{option} {file}: cannot be written: {error.strerror}") from error


def _option(*names: str, about: str, **more: Any) -> Any:
    """Return a typer option that shows no default in its help."""
    return typer.Option(*names, help=about, show_default=False, **more)


PROCESSES = typer.Option("--processes", help="Number of processes.")
MESSAGES = typer.Option("--messages", help="Number of messages that are broadcast, in all.")
ENCRYPTED = typer.Option("--encrypted", help="Encrypt every datagram.")
JOIN = typer.Option(
    "--join",
    help="Members join, leave, crash and come back, as with Group.join. irbp, rbp-reforming and vsc have no "
    "others.",
)
ONLY = typer.Option("--only", help="Only faults of this kind; may be repeated.", show_default=False)
RUNS = typer.Option(
    "--runs",
    help="Number of runs; unknown if a bound ends them before. With --max-seconds alone: as many as fit.",
    min=1,
    show_default=False,
)
STEPS = typer.Option("--steps", help="Greatest number of steps of a run.", min=1)
MAX_STATES = typer.Option("--max-states", help="Greatest number of states.", min=1)
MAX_SECONDS = typer.Option("--max-seconds", help="Stop after so many seconds.", min=0.0)
SEED = typer.Option(
    "--seed", help="The same number makes the same run; without it, the one that is taken is told."
)
ENGINE = typer.Option(
    "--engine",
    help="What explores: generated Python, machine code (native), CPython itself (reference), Z3.",
)
THREADS = typer.Option("--threads", help="Threads of the native engine; all processors.", min=1)
JOBS = typer.Option("--jobs", help="Processes that share the work; all processors.", min=1, metavar="N")
FRESH = typer.Option("--fresh", help="Explore everything, also what this code has explored before.")
KEYS = "The group's keys, which `node` reads again at a SIGHUP; without, nothing is encrypted."
LOG = typer.Option("--log", help="Where logs are written, for `antiphon verify`.", metavar="DIR")
LAKE = typer.Option("--lake", help="The lake: where Spark keeps what it has read and found.", metavar="DIR")
MASTER = typer.Option(
    "--master", help="Spark's master: local[4], spark://HOST:PORT, sc://HOST:PORT, yarn; it implies Spark."
)
SPARK = typer.Option("--spark", help="Spread the work over Spark.")


Json = Annotated[
    bool,
    _option("--json", about="Print one JSON document (schema antiphon.report, version 1) instead of text."),
]
Save = Annotated[
    Path | None,
    _option(
        "--save",
        about="Save the trace that is shown as FILE, conventionally NAME.itf.json.",
        metavar="FILE",
        callback=writable,
    ),
]
Coverage = Annotated[
    Path | None,
    _option(
        "--coverage",
        about="Record what is exercised, and add it to FILE, for `antiphon coverage`.",
        metavar="FILE",
        callback=writable,
    ),
]
TraceFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A trace: *.itf.json, as --save makes it.", show_default=False)
]
TraceSpecification = Annotated[
    str | None,
    _option(
        "--as",
        about="The specification, where FILE names none (of Apalache or Quint) or one that has moved.",
        metavar="SPEC",
    ),
]
Specification = Annotated[
    str, typer.Argument(metavar="SPEC", help="A name as for `check`, file.py:Class or module:Class.")
]
Bound = Annotated[
    str,
    typer.Argument(
        metavar="PROTOCOL",
        help=f"A protocol whose implementation is bound: {', '.join(bound_protocols())}; or file.py:Name or "
        "module:Name of a binding.",
    ),
]
Beside = Annotated[
    str,
    _option(
        "--binding",
        about="The binding of the implementation that takes the same steps, as `lockstep` takes it.",
        metavar="NAME",
    ),
]
Seed = Annotated[int | None, SEED]
Fault = Annotated[
    str | None,
    _option("--fault", about="Plant this mistake in the implementation, to see it caught.", metavar="NAME"),
]


@dataclass(frozen=True)
class Constants:
    """Options that set the constants of a specification."""

    panel: ClassVar = "The constants"

    processes: Annotated[int | None, PROCESSES] = None
    messages: Annotated[int | None, MESSAGES] = None
    losses: Annotated[int | None, _option("--losses", about="How many packets may be lost.")] = None
    timeouts: Annotated[int | None, _option("--timeouts", about="How many timer rounds may pass.")] = None
    settings: Annotated[
        list[str] | None,
        _option("--set", about="Set a constant of the specification; may be repeated.", metavar="NAME=VALUE"),
    ] = None

    @property
    def as_settings(self) -> list[str]:
        """Return all settings, as `name=value`."""
        sizes = {name: getattr(self, name) for name in ("processes", "messages", "losses", "timeouts")}
        given = {name: size for name, size in sizes.items() if size is not None}
        return [*as_settings(given), *(self.settings or ())]

    def values(self, spec: type[Spec]) -> dict[str, Value]:
        """Return all settings, by the declared type of each constant.

        Raises:
            UsageProblem: a setting cannot be read, or is made twice with different values.
            SpecError: an unknown constant.
        """
        return _parsed(spec, self.as_settings)


@dataclass(frozen=True)
class Variant(Constants):
    """Options that set the constants of a specification, its repairs and its readings."""

    panel: ClassVar = "The constants, repairs and readings"

    repairs: Annotated[
        list[str] | None,
        _option(
            "--repair",
            about="Switch on a named repair, or all of them; may be repeated. Without: the literal text.",
            metavar="NAME",
        ),
    ] = None
    without: Annotated[
        list[str] | None,
        _option(
            "--without", about="Leave this repair out of `--repair all`; may be repeated.", metavar="NAME"
        ),
    ] = None
    readings: Annotated[
        list[str] | None,
        _option(
            "--reading",
            about="Choose a reading of an ambiguous sentence; may be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None

    @property
    def as_settings(self) -> list[str]:
        """Return all settings of constants and readings, as `name=value`."""
        return [*super().as_settings, *(self.readings or ())]

    def program(self, subject: str | type[Spec], otherwise: Mapping[str, Value] | None = None) -> Program:
        """Return the program of a specification, given by name or as a class, with these settings; without
        any setting, with the constants of `otherwise`.

        Raises:
            UsageProblem: a setting cannot be read, or is made twice with different values.
            SpecError: no such specification, constant, repair or reading.
        """
        spec = specification(subject) if isinstance(subject, str) else subject
        chosen = self.values(spec) if self.as_settings else dict(otherwise or {})
        return program(spec, repairs=self.repairs or (), without=self.without or (), **chosen)

    def words(self) -> list[str]:
        """Return the options that select the same program."""
        return said({"--set": self.as_settings, "--repair": self.repairs, "--without": self.without})


MaxSeconds = Annotated[float | None, MAX_SECONDS]
MaxMemory = Annotated[
    int | None,
    _option("--max-memory", about="Stop at this size of the process.", min=1, metavar="MIB"),
]


@dataclass(frozen=True)
class Effort:
    """Options that limit an exploration or a walk in states, time and memory."""

    panel: ClassVar = "Where it stops"

    max_states: Annotated[int | None, MAX_STATES] = None
    max_seconds: MaxSeconds = None
    max_memory: MaxMemory = None

    def asked(self) -> dict[str, Any]:
        """Return the bounds as arguments of the functions of `antiphon`."""
        return {
            "max_states": self.max_states, "max_seconds": self.max_seconds, "max_memory_mb": self.max_memory,
        }  # fmt: skip

    def words(self) -> list[str]:
        """Return the options with which a command line repeats these bounds."""
        limits = {
            "--max-states": self.max_states,
            "--max-seconds": self.max_seconds,
            "--max-memory": self.max_memory,
        }
        return said({option: [f"{value:.15g}"] for option, value in limits.items() if value is not None})


@dataclass(frozen=True)
class Limits(Effort):
    """Options that limit an exploration, its depth too."""

    max_depth: Annotated[
        int | None, _option("--max-depth", about="Look no further than so many steps.", min=0)
    ] = None

    @property
    def explicit(self) -> bounds.Bounds:
        """Return the bounds as arguments of an exploration."""
        return bounds.Bounds(self.max_states, self.max_seconds, self.max_depth, self.max_memory)

    def asked(self) -> dict[str, Any]:
        """Return the bounds as arguments of the functions of `antiphon`."""
        return {"max_depth": self.max_depth, **super().asked()}

    def words(self) -> list[str]:
        """Return the options with which a command line repeats these bounds."""
        deepest = None if self.max_depth is None else [str(self.max_depth)]
        return [*said({"--max-depth": deepest}), *super().words()]


@dataclass(frozen=True)
class Bounds(Limits):
    """Options for the engine of an exploration and for its bounds."""

    panel: ClassVar = "What explores, and where it stops"

    engine: Annotated[Engine, ENGINE] = "auto"

    def refuse_what_z3_lacks(self) -> None:
        """Raise UsageProblem when Z3 is used without its bound, or with one that it does not have."""
        if self.engine != "z3":
            return
        if self.max_depth is None:
            raise UsageProblem("--engine z3 looks up to a depth; say which, for example --max-depth 10")
        if self.max_states is not None:
            raise UsageProblem(
                "--max-states bounds an explicit search; z3 is bounded by --max-depth and --max-seconds"
            )
        if self.max_memory is not None:
            raise UsageProblem(
                "--max-memory bounds an explicit search; z3 is bounded by --max-depth and --max-seconds"
            )

    def asked(self) -> dict[str, Any]:
        """Return the engine and the bounds as arguments of the functions of `antiphon`."""
        return {"engine": self.engine, **super().asked()}

    def words(self) -> list[str]:
        """Return the options with which a command line repeats the engine and the bounds."""
        return [*said({"--engine": None if self.engine == "auto" else [self.engine]}), *super().words()]


@dataclass(frozen=True)
class Storage:
    """Options for the way in which an explicit engine keeps states."""

    panel: ClassVar = "How states are kept"

    threads: Annotated[int | None, THREADS] = None
    fingerprints: Annotated[
        bool, _option("--fingerprints", about="Keep 64 bits of a state; what may be missed is said.")
    ] = False
    whole: Annotated[
        bool,
        _option("--whole", about="Keep wide states whole, not as trees: faster, three times the memory."),
    ] = False
    symmetry: Annotated[
        bool,
        _option("--symmetry", about="One state for all that differ in the names of interchangeable members."),
    ] = False
    cone: Annotated[
        bool,
        _option("--cone", about="Keep only what matters to the properties asked, their cone of influence."),
    ] = False
    directory: Annotated[
        Path | None,
        _option(
            "--directory",
            about="Keep states in files here, beyond --max-memory too, and go on where an earlier run ended.",
            metavar="DIR",
        ),
    ] = None

    def asked(self) -> dict[str, Any]:
        """Return the options that were given, as `antiphon.check` takes them."""
        return {name: value for name, value in vars(self).items() if value not in (None, False)}

    def words(self) -> list[str]:
        """Return the options with which a command line repeats these storage settings."""
        return [
            word
            for name, value in self.asked().items()
            for word in ([f"--{name}"] if value is True else [f"--{name}", str(value)])
        ]


@dataclass(frozen=True)
class OnSpark:
    """Options to explore on Spark, and for the place of the states."""

    panel: ClassVar = "On Spark, level by level, for what no machine holds"

    spark: Annotated[bool, SPARK] = False
    master: Annotated[str | None, MASTER] = None
    lake: Annotated[Path | None, LAKE] = None
    partitions: Annotated[
        int | None, _option("--partitions", about="Parts of a new lake; 8.", min=1)
    ] = None

    @property
    def wanted(self) -> bool:
        """Return True if any of these options was given."""
        return self != OnSpark()

    def words(self) -> list[str]:
        """Return the options with which a command line repeats the search on Spark."""
        given = {"--master": self.master, "--lake": self.lake, "--partitions": self.partitions}
        return [
            *(["--spark"] if self.spark else []),
            *said({name: None if value is None else [str(value)] for name, value in given.items()}),
        ]


@dataclass(frozen=True)
class Showing:
    """Options for showing and saving the answer."""

    panel: ClassVar = "What becomes of the answer"

    save: Save = None
    json: Json = False
    no_diagram: Annotated[bool, _option("--no-diagram", about="Leave out the space-time diagram.")] = False


@dataclass(frozen=True)
class Timelines:
    """Options that write a run for other viewers."""

    panel: ClassVar = "For other viewers"

    shiviz: Annotated[
        Path | None,
        _option("--shiviz", about="Write the run that is shown for ShiViz.", metavar="FILE", callback=fresh),
    ] = None
    perfetto: Annotated[
        Path | None,
        _option(
            "--perfetto",
            about="Write it as trace events (JSON), which Perfetto opens.",
            metavar="FILE",
            callback=fresh,
        ),
    ] = None


@dataclass(frozen=True)
class Reports(Timelines):
    """Options that write the answer as files: for a CI server, for GitHub's code scanning, and for a browser;
    and a run for other viewers.
    """

    panel: ClassVar = "Reports for others"

    junit: Annotated[
        Path | None,
        _option("--junit", about="Write the verdicts as JUnit's XML.", metavar="FILE", callback=fresh),
    ] = None
    sarif: Annotated[
        Path | None,
        _option("--sarif", about="Write what does not hold as SARIF 2.1.0.", metavar="FILE", callback=fresh),
    ] = None
    html: Annotated[
        Path | None,
        _option("--html", about="Write one page with verdicts and pictures.", metavar="FILE", callback=fresh),
    ] = None


def said(options: Mapping[str, Iterable[str] | None]) -> list[str]:
    """Return the words of a command line: each option before each of its values."""
    return [word for option, values in options.items() for value in values or () for word in (option, value)]


def ungrouped(command: Callable[..., int], began: float | None = None) -> Callable[..., int]:
    """Return the command in typer's form: the options of a group in the place of the group.

    The seconds in the answer count from `began`, a time of `time.monotonic`.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            parameters += _options(groups[parameter.name])
        else:
            parameters.append(
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
            )

    def call(**given: Any) -> int:
        is_document = bool(given.get("json"))
        made = {
            name: group(**{item.name: given.pop(item.name) for item in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        started = time.monotonic() if began is None else began
        with streams.only_documents() if is_document else nullcontext(), count_from(started):
            return command(**given, **made)

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def _options(group: Any) -> list[inspect.Parameter]:
    """Return the fields of a group as parameters for typer, each under the group's heading in the help."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            item.name, inspect.Parameter.KEYWORD_ONLY, default=item.default,
            annotation=_under(group.panel, hints[item.name]),
        )
        for item in dataclasses.fields(group)
    ]  # fmt: skip


def _under(panel: str, hint: Any) -> Any:
    """Return the type of an option with the heading under which the help shows it."""
    option = copy(hint.__metadata__[0])
    option.rich_help_panel = panel
    return Annotated[hint.__origin__, option]


def _parsed(spec: type[Spec], settings: Iterable[str]) -> dict[str, Value]:
    """Parse settings of the form `name=value` to the declared types of the constants."""
    defaults = {item.name: item.default for item in declare(spec).constants}
    found: dict[str, Value] = {}
    for setting in settings:
        name, sign, text = setting.partition("=")
        if not sign or not name:
            raise UsageProblem(f"{setting!r} is no setting; write name=value, for example losses=2")
        if name not in defaults:
            raise SpecError(f"{spec.__name__} has no constant {name!r}; {known_names(name, defaults)}")
        value = _value(name, text, defaults[name])
        if found.setdefault(name, value) != value:
            raise UsageProblem(f"{name} is set twice: {found[name]} and {value}")
    return found


def _value(name: str, text: str, default: Value) -> Value:
    """Parse the text of a constant as a value of the type of its default."""
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise UsageProblem(f"{name}={text}: {name} is true or false")
        return text.lower() == "true"
    if isinstance(default, int):
        if not text.removeprefix("-").isdigit():
            further = "; --set stands before each constant again" if "," in text else ""
            raise UsageProblem(f"{name}={text}: {name} is an integer{further}")
        return int(text)
    return text
