"""The options that say how logs are read: `antiphon trace` and `antiphon explore` have them in common."""

from __future__ import annotations

import json as codec
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from antiphon.conformance.cli import output
from antiphon.conformance.cli.options import said
from antiphon.conformance.compare.validation import Log, read_logs
from antiphon.spec.lang import Program
from antiphon.spec.places import Kind, stands_at

_MAP = Kind("map", callable, "a function that takes a line")


@dataclass(frozen=True)
class Observed:
    """Options that say what the lines of logs mean: which action or which part of the state each one
    shows.
    """

    panel: ClassVar = "What the logs tell"

    map_: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="FILE.py",
            help="A file whose function observe says what a line tells, or file.py:Name; without, lines are "
            "observations as they stand.",
            show_default=False,
        ),
    ] = None
    hidden: Annotated[
        list[str] | None,
        typer.Option(
            "--hidden",
            metavar="ACTION:N",
            help="An action that no line tells of may be taken so often; may be repeated.",
            show_default=False,
        ),
    ] = None
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="STATE",
            help="The logs begin here: variables with values as JSON, or a file of it; the others are as "
            "initially.",
            show_default=False,
        ),
    ] = None

    def logs(self, program: Program, files: Iterable[Path]) -> list[Log]:
        """Read logs as observations of a program.

        Raises:
            ObservationError: a file cannot be read, or a line means nothing.
        """
        place = self.map_
        observe = None if place is None else stands_at(place if ":" in place else f"{place}:observe", _MAP)
        return read_logs(program, list(files), observe)

    def budgets(self) -> dict[str, int]:
        """Return how often each hidden action may be taken.

        Raises:
            UsageProblem: a word is no action with a number.
        """
        found = {}
        for word in self.hidden or ():
            name, sign, number = word.partition(":")
            if not sign or not number.isdecimal():
                raise output.UsageProblem(f"--hidden {word}: write ACTION:N, how often it may be taken")
            found[name] = int(number)
        return found

    def beginning(self) -> dict[str, Any] | None:
        """Return the state in which the logs begin, as values of variables; None for the initial state.

        Raises:
            UsageProblem: they cannot be read.
        """
        if self.start is None:
            return None
        text = self.start
        if not text.lstrip().startswith("{"):
            try:
                text = Path(text).read_text(encoding="utf-8")
            except OSError as error:
                raise output.UsageProblem(f"--from {self.start}: {error.strerror}") from error
        try:
            found = codec.loads(text)
        except ValueError as error:
            raise output.UsageProblem(f"--from: not JSON: {error}") from error
        if not isinstance(found, dict):
            raise output.UsageProblem("--from: a state is an object, each variable with its value")
        return found

    def words(self) -> list[str]:
        """Return the options that repeat these settings."""
        return said(
            {
                "--map": None if self.map_ is None else [self.map_],
                "--hidden": self.hidden,
                "--from": None if self.start is None else [self.start],
            }
        )
