"""Errors of a specification: one class, located, whose message names the culprit and the way to write it.

`SpecError` is the author's mistake (an unsupported construct, a type error, a value that leaves its domain);
it is never raised for a property that fails, which is a result, nor for a guard that is false, which is
`Disabled` and stays inside the machine.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Location:
    """A place in a source text. Lines count from 1, columns from 1."""

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Told(Exception):
    """Base of errors whose message is complete: a notebook shows the message alone, without the frames of
    this package.
    """

    def _render_traceback_(self) -> list[str]:
        """Return the text that IPython prints in place of a traceback."""
        return [f"{type(self).__name__}: {self}"]


class ArgumentError(Told, ValueError):
    """Error: an argument has a value that the function does not accept."""


class MissingKey(Told, KeyError):
    """Error: a mapping has no entry of this key; the message lists the keys."""

    def __str__(self) -> str:
        return str(self.args[0])


class SpecError(Told):
    """Error: a specification cannot be read or run as written.

    `at` is the place, `reason` what is wrong, `instead` the supported way to write it (empty when the reason
    says it).
    """

    def __init__(self, reason: str, at: Location | None = None, instead: str = "") -> None:
        self.reason, self.at, self.instead = reason, at, instead
        text = f"{at}: {reason}" if at else reason
        super().__init__(f"{text}\n  write instead: {instead}" if instead else text)


class Disabled(Told):
    """Signal that a `require` is false: the action is not enabled. `at` is the place of the guard, `guard`
    its text.
    """

    def __init__(self, at: Location, guard: str) -> None:
        self.at, self.guard = at, guard
        super().__init__(f"{at}: requires {guard}")
