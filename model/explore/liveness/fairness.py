"""Fairness of kinds of steps: those of an action, or of several together, with any arguments or with given
values of the `per` parameters of a promise.

A kind is weakly fair (one of its steps happens in the end if some stays possible) or strongly fair (if some
becomes possible again and again). A step may be of several kinds. Faults, and actions without a promise, are
of no kind: they need never happen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from antiphon.spec.lang import Program, SpecError, State, Step, ir, types

Kind = tuple[str, tuple[Any, ...]]
"""Name of a promise of fairness, and the values of its `per` parameters."""
Values = dict[str, tuple[types.Type, Any]]
"""Parameters by name, each with its type and its value."""
Changes = Mapping[str, str | tuple[str, str | tuple[str, ...]]]
"""Changes of fairness by the name of an action or promise: "none", "weak", "strong", or one of them with
`per`.
"""


@dataclass(frozen=True)
class Condition:
    """Condition under which a step is of a kind: `call` is true under these values, in the state before the
    step.
    """

    call: ir.Call
    values: Values

    def holds(self, program: Program, state: State) -> bool:
        """Return True if the condition is true in a state, by the reference."""
        arguments = [self.values[cast("ir.Name", item).name][1] for item in self.call.arguments]
        return bool(program.reference.evaluate(state, self.call.function, *arguments))


@dataclass(frozen=True)
class Fairness:
    """Promised fairness of the steps of a program; `actions` gives the parameters of each action."""

    promises: tuple[ir.FairSteps, ...]
    actions: Mapping[str, tuple[ir.Parameter, ...]]

    def kinds(self, step: Step) -> Iterator[tuple[Kind, Condition | None]]:
        """Return the kinds of steps to which a step belongs, each with the condition in the state before the
        step under which it does.
        """
        for promise in self.promises:
            for part in promise.parts:
                if part.action == step.action:
                    values: Values = {
                        item.name: (item.type, value)
                        for item, value in zip(self.actions[step.action], step.arguments, strict=True)
                    }
                    kind = promise.name, tuple(values[name][1] for name in part.per)
                    yield kind, None if part.where is None else Condition(cast("ir.Call", part.where), values)

    def is_strong(self, kind: Kind) -> bool:
        """Return True if strong fairness is promised for a kind of steps, False if weak fairness is."""
        (promise,) = (promise for promise in self.promises if promise.name == kind[0])
        return promise.fairness is ir.Fairness.STRONG

    def __str__(self) -> str:
        """Return the fairness in words: `weak: serve; strong per packet: receive`, or `no action is fair`."""
        groups: dict[str, list[str]] = {}
        for promise in self.promises:
            per = promise.parts[0].per
            how = promise.fairness.value + (f" per {', '.join(per)}" if per else "")
            groups.setdefault(how, []).append(" or ".join(map(_in_words, promise.parts)))
        return (
            "; ".join(f"{words}: {', '.join(names)}" for words, names in groups.items())
            or "no action is fair"
        )


def _in_words(part: ir.FairPart) -> str:
    return part.action + (f" where {part.where.function}" if isinstance(part.where, ir.Call) else "")


def fair_on(program: Program, changes: Changes | None = None) -> Fairness:
    """Return the fairness that the marks of the program's actions and its `fair(...)` promise, with `changes`
    by name.

    Raises:
        SpecError: a change names no action, promise or parameter; the known ones are listed.
    """
    actions = {action.name: action for action in program.module.actions if not action.fault}
    promises = {
        name: ir.FairSteps(
            name=name, fairness=action.fairness, parts=(ir.FairPart(action=name, per=action.per),)
        )
        for name, action in actions.items()
    }
    promises |= {promise.name: promise for promise in program.module.fair}
    parameters = {name: action.parameters for name, action in actions.items()}
    for name, change in (changes or {}).items():
        if name not in promises:
            raise SpecError(
                f"{program.name} has no action {name!r} that can be fair; known: {', '.join(promises)}"
            )
        how, per = (change, ()) if isinstance(change, str) else change
        if how not in [item.value for item in ir.Fairness]:
            raise SpecError(f"fairness of {name} is none, weak or strong, not {how!r}")
        names = (per,) if isinstance(per, str) else per
        parts = promises[name].parts
        for part in parts:
            _refuse_unknown(part.action, parameters[part.action], names)
        promises[name] = ir.FairSteps(
            name=name,
            fairness=ir.Fairness(how),
            parts=tuple(ir.FairPart(action=part.action, per=names, where=part.where) for part in parts),
        )
    kept = tuple(promise for promise in promises.values() if promise.fairness is not ir.Fairness.NONE)
    return Fairness(kept, parameters)


def _refuse_unknown(action: str, parameters: tuple[ir.Parameter, ...], per: tuple[str, ...]) -> None:
    known = [parameter.name for parameter in parameters]
    for name in per:
        if name not in known:
            raise SpecError(f"{action} has no parameter {name!r}; known: {', '.join(known) or 'none'}")
