"""Checks of arguments: a function reports which argument is wrong, why, and how it is written, before
anything is searched.

Python's own message for a superfluous argument names neither the known ones nor where a constant belongs; and
a text in place of a number fails deep inside, or not at all. The meaning of an argument is the function's own
affair.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from antiphon.spec.lang import Program
from antiphon.spec.lang.errors import ArgumentError, Told
from antiphon.spec.lang.hints import known_names

P = ParamSpec("P")
R = TypeVar("R")


class UnknownArgument(Told, TypeError):
    """Error: a function has no argument of this name."""


def question(*, also: Iterable[str] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function refuse unknown arguments, and arguments of a wrong type.

    Args:
        also: the names that its `**` takes; without any, a function that has `**` takes all.
    """

    def make(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters
        takes_all = not also and any(item.kind is item.VAR_KEYWORD for item in parameters.values())
        named = [name for name, item in parameters.items() if item.kind != item.VAR_KEYWORD]
        known = [*named[1:], *also]
        name = getattr(function, "__name__", "this")

        @functools.wraps(function)
        def asked(*args: P.args, **given: P.kwargs) -> R:
            if not takes_all:
                for word in given:
                    if word not in named and word not in also:
                        raise UnknownArgument(_unknown(name, word, args, known))
            for word, value in [*zip(named, args, strict=False), *given.items()]:
                _check(name, word, value)
            if given.get("max_seconds") is None:
                return function(*args, **given)
            from antiphon.model.limits import count_from, now  # here: most names need no model

            with count_from(now()):
                return function(*args, **given)

        return asked

    return make


def names_of(properties: str | Iterable[str] | None) -> list[str] | None:
    """Return the names of properties, one or several; None for all.

    Raises:
        ArgumentError: a name is no text.
    """
    if properties is None:
        return None
    names = [properties] if isinstance(properties, str) else list(properties)
    if strange := [name for name in names if str not in type(name).__mro__]:
        said = f"properties={properties!r}: {strange[0]!r} is no name"
        raise ArgumentError(f"{said}; write properties=['Agreement']")
    return names


def _unknown(name: str, word: str, args: tuple[Any, ...], known: list[str]) -> str:
    """Return the sentence that refuses an unknown argument `word` of the function `name`. If it is a constant
    of the specification, the sentence says how to pass it.
    """
    told = f"{name} has no argument {word!r}"
    subject = args[0] if args else None
    constants = _constants_of(name, subject)
    if word in constants:
        shown = repr(subject) if isinstance(subject, str) else "Spec"
        bound = f"antiphon.{'binding' if _is_bound(name) else 'program'}({shown}, {word}=...)"
        return f"{told}; it is a constant of the specification: antiphon.{name}({bound})"
    if word in ("processes", "messages", "repairs", "without", "fault"):
        more = f"; the constants of {subject!r}: {', '.join(constants) or 'none'}" if constants else ""
        maker = "antiphon.binding" if _is_bound(name) else "antiphon.program"
        return f"{told}; what changes a specification is said to {maker}{more}; {name} has {', '.join(known)}"
    return f"{told}; {known_names(word, known)}"


def _is_bound(name: str) -> bool:
    """Return True if the function `name` is a question about an implementation."""
    return name in ("lockstep", "stateful")


def _constants_of(name: str, subject: Any) -> list[str]:
    from antiphon.programs import program_of  # here: it says its own arguments with this module

    try:
        if _is_bound(name):
            from antiphon.conformance.compare.bindings import bound_protocol

            bound = bound_protocol(subject)
            return list(bound.bind(**bound.small).program.constants)
        return list((subject if isinstance(subject, Program) else program_of(subject)).constants)
    except Exception:  # noqa: BLE001 - whatever the subject is, the message is about the argument
        return []


_COUNTS = {
    "max_depth", "max_states", "max_memory_mb", "max_transitions", "threads", "walks", "steps", "runs",
    "sample", "seed",
}  # fmt: skip
_LEAST = {"threads": 1, "walks": 1, "steps": 1, "runs": 1, "sample": 0, "max_transitions": 1}
_FLAGS = {"prove", "stop_at_first", "swarm", "fingerprints", "whole", "symmetry", "cone"}
_CALLS = {"progress", "violated"}
_PATHS = {"directory", "file", "path"}
_OPTIONAL = {
    "max_depth", "max_states", "max_memory_mb", "max_transitions", "max_seconds", "threads", "walks", "runs",
}  # fmt: skip


def _check(name: str, word: str, value: Any) -> None:
    """Raise ArgumentError if the value of the argument `word` is of a wrong type."""
    if value is None and (word in _OPTIONAL or word in _CALLS):
        return
    wanted = ""
    if word in _COUNTS and (isinstance(value, bool) or not isinstance(value, Integral)):
        wanted = "an integer"
    elif value < _LEAST.get(word, value) if word in _COUNTS else False:
        wanted = f"at least {_LEAST[word]}"
    elif word == "max_seconds" and (
        isinstance(value, bool) or not isinstance(value, Real) or math.isnan(float(value))
    ):
        wanted = "a number of seconds"
    elif word in _FLAGS and not isinstance(value, bool):
        wanted = "True or False"
    elif word in _CALLS and not callable(value):
        wanted = "a function"
    elif word in _PATHS and not isinstance(value, str | Path | None):
        wanted = "a text or a pathlib.Path"
    elif word == "expression" and not isinstance(value, str):
        wanted = "a text, a boolean of the language: 'self.count == 3'"
    if wanted:
        raise ArgumentError(f"{name}: {word}={value!r}: {word} is {wanted}{_written(word, value)}")


def _written(word: str, value: Any) -> str:
    """Return a hint on how to write a number that was passed as a text; "" for any other value."""
    if isinstance(value, str) and value.strip().replace(".", "", 1).isdigit():
        return f"; write {word}={value.strip()}"
    return ""
