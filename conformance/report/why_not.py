"""Explanation of a disabled action in a state: for every tuple of arguments, the false guard with its text
and place.

CPython executes one tuple after the other; tuples that fail at the same guard are one group.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from antiphon.model.notation import compact
from antiphon.spec.lang import Disabled, Location, Program, SpecError, State, Step
from antiphon.spec.lang.hints import did_you_mean


@dataclass(frozen=True)
class Reason:
    """Guard that is false, its place, and the steps that it disables (none: the parameter has no possible
    value).
    """

    guard: str
    at: Location
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class WhyNot:
    """Answer about one action in one state: the enabled steps, and the guards that disable the others."""

    action: str
    enabled: tuple[Step, ...]
    disabled: tuple[Reason, ...]


def why_not(program: Program, state: State, action: str, arguments: Iterable[str] = ()) -> WhyNot:
    """Return the guards that disable `action` in `state`.

    `arguments` are the first arguments in the compact notation (`p1`) or as in a specification
    (`Process(1)`); missing ones are all tried.

    Raises:
        SpecError: no such action, or an argument outside its parameter's domain; the message lists the known
            ones.
    """
    method = next(
        (item for item in program.declaration.marked("action", "environment") if item.name == action), None
    )
    if method is None:
        known = [item.name for item in program.declaration.marked("action", "environment")]
        hint = did_you_mean(action, known)
        raise SpecError(f"{program.name} has no action {action!r}; its actions are {', '.join(known)}{hint}")
    given = list(arguments)
    if len(given) > len(method.parameters):
        raise SpecError(f"{action} takes {len(method.parameters)} arguments, not {len(given)}", method.at)
    ranges: list[list[Any]] = []
    for number, parameter in enumerate(method.parameters):
        domain = program.domain(parameter.type)
        if parameter.within:
            elements = state[program.variables.index(parameter.within)]
            values = sorted((item for item in elements if domain.contains(item)), key=domain.rank)
        else:
            values = list(domain)
        chosen = (
            values
            if number >= len(given)
            else [value for value in values if given[number] in (compact(value), str(value))]
        )
        if not chosen and not parameter.within:
            raise SpecError(
                f"{action}: {parameter.name} cannot be {given[number]}; it is one of "
                f"{', '.join(map(compact, values[:20]))}"
            )
        if not chosen:
            wanted = (
                f"{given[number]} in self.{parameter.within}"
                if number < len(given)
                else f"{parameter.name} in self.{parameter.within}"
            )
            return WhyNot(action, (), (Reason(wanted, method.at, ()),))
        ranges.append(chosen)
    return _try(program, state, [Step(action, values) for values in itertools.product(*ranges)])


def _try(program: Program, state: State, steps: list[Step]) -> WhyNot:
    enabled: list[Step] = []
    disabled: dict[tuple[str, Location], list[Step]] = {}
    for step in steps:
        try:
            program.reference.apply(state, step)
        except Disabled as guard:
            disabled.setdefault((guard.guard, guard.at), []).append(step)
        else:
            enabled.append(step)
    reasons = tuple(Reason(guard, at, tuple(failing)) for (guard, at), failing in disabled.items())
    return WhyNot(steps[0].action, tuple(enabled), reasons)
