"""Fairness is about kinds of steps: an action with any arguments, or with given values of the parameters it
is `per`.

A kind is weakly fair (it happens in the end if it stays possible) or strongly fair (if it becomes possible
again and again). Faults, and actions without a mark, are of no kind: they need never happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.spec.lang import Program, SpecError, Step, ir


@dataclass(frozen=True)
class Fairness:
    """What is promised of the actions of a program: for each fair one how, and the positions and names of the
    parameters it is fair per.
    """

    actions: Mapping[str, tuple[ir.Fairness, tuple[int, ...]]]
    names: Mapping[str, tuple[str, ...]]

    def kind(self, step: Step) -> tuple[str, tuple[Any, ...]] | None:
        """The kind of a step, by action and values; None when nothing is promised of it."""
        promised = self.actions.get(step.action)
        return (
            None
            if promised is None
            else (step.action, tuple(step.arguments[position] for position in promised[1]))
        )

    def is_strong(self, kind: tuple[str, tuple[Any, ...]]) -> bool:
        """Whether a kind is strongly fair, else weakly."""
        return self.actions[kind[0]][0] is ir.Fairness.STRONG

    def __str__(self) -> str:
        """In words: `weak: serve; strong per packet: receive`, or `no action is fair`."""
        groups: dict[str, list[str]] = {}
        for name, (how, _) in self.actions.items():
            per = f" per {', '.join(self.names[name])}" if self.names[name] else ""
            groups.setdefault(f"{how.value}{per}", []).append(name)
        return (
            "; ".join(f"{words}: {', '.join(names)}" for words, names in groups.items())
            or "no action is fair"
        )


def fair_on(
    program: Program, changes: Mapping[str, str | tuple[str, str | tuple[str, ...]]] | None = None
) -> Fairness:
    """What the marks of the program's actions promise, with `changes` by action: "none", "weak", "strong", or
    one of them with `per`.

    Raises:
        SpecError: a change names no action or parameter; the known ones are listed.
    """
    actions = {action.name: action for action in program.module.actions if not action.fault}
    made: dict[str, tuple[ir.Fairness, tuple[int, ...]]] = {}
    names = {name: action.per for name, action in actions.items()}
    for name, action in actions.items():
        made[name] = action.fairness, _positions(action, action.per)
    for name, change in (changes or {}).items():
        if name not in actions:
            raise SpecError(
                f"{program.name} has no action {name!r} that can be fair; known: {', '.join(actions)}"
            )
        how, per = (change, ()) if isinstance(change, str) else change
        if how not in [item.value for item in ir.Fairness]:
            raise SpecError(f"fairness of {name} is none, weak or strong, not {how!r}")
        names[name] = (per,) if isinstance(per, str) else per
        made[name] = ir.Fairness(how), _positions(actions[name], names[name])
    return Fairness(
        {name: promised for name, promised in made.items() if promised[0] is not ir.Fairness.NONE}, names
    )


def _positions(action: ir.Action, per: tuple[str, ...]) -> tuple[int, ...]:
    names = [parameter.name for parameter in action.parameters]
    for name in per:
        if name not in names:
            raise SpecError(f"{action.name} has no parameter {name!r}; known: {', '.join(names) or 'none'}")
    return tuple(names.index(name) for name in per)
