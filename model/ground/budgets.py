"""Budget-blocked steps: a step is budget-blocked if it is disabled and would be enabled were every
`budget(...)` True.

A budget bounds the exploration, and is no part of the modelled protocol. An obligation is therefore not
judged where it is false and a step of the algorithm is budget-blocked, or where such a state can be reached
without faults: more budget might have fulfilled it. The same goes for a deadlock there, and for a run that is
fair only because a budget blocks a step that would have to happen. Faults do not count, since they are never
progress. For a state that was not reached they do: they might have led to it.

Engines use `held_back`: a condition on the state, grounded. The reference decides the same step by step
(`budget_blocked_step`).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from antiphon.model.ground import ground, make
from antiphon.model.ground.form import Expression
from antiphon.model.ground.intern import making
from antiphon.model.ground.layout import plan
from antiphon.spec.lang import Disabled, Program, SpecError, State, Step, ir
from antiphon.spec.lang.reference import Reference
from antiphon.spec.lang.types import SetOf
from antiphon.spec.lang.walk import nodes

MOST_STEPS = 20_000
"""Largest number of steps under a budget that are checked; with more, every state counts as one where a
budget may block a step.
"""


Leaves = tuple[int | bool, ...]
"""Leaves of a state, or of several states joined leaf by leaf."""

Chosen = Callable[[Step], bool]
"""Function that selects the steps to check."""


@lru_cache(maxsize=16)
def unspent(program: Program) -> Program | None:
    """Return the program with every budget replaced by True; None if the program has no budget."""
    module = program.module
    if not any(isinstance(node, ir.Budget) for node in nodes(module.actions, module)):
        return None
    made = Program(program.spec, program.constants)
    made.__dict__["module"] = _without(module)
    made.__dict__["reference"] = Reference(program, unspent=True)
    return made


@lru_cache(maxsize=16)
def held_back(program: Program) -> Expression | None:
    """Return the condition that some step of the algorithm is budget-blocked; None if none can be."""
    return held_back_among(program, None)


def held_back_among(
    program: Program, most: State | None, chosen: Chosen | None = None, *, faults: bool = False
) -> Expression | None:
    """Return the condition that only a spent budget disables a step, for states whose sets hold no elements
    but those of the sets of `most`. Steps for other elements are left out.

    Nothing else of `most` is read. `chosen` selects the steps; with `faults` steps of the environment count
    too.
    """
    unlimited = unspent(program)
    if unlimited is None:
        return None
    if len(list(itertools.islice(_steps(program, None, chosen, faults=faults), MOST_STEPS + 1))) > MOST_STEPS:
        return make.TRUE
    holders = _holders(program, unlimited)
    found = map(holders.of, _steps(program, most, chosen, faults=faults))
    parts = [part for part in found if part is not None]
    with making:
        return make.disjunction(*parts) if parts else None


class _Holders:
    """Condition, for each step of a program, that only a spent budget disables the step.

    The conditions are grounded once: a report asks for the same steps with faults and without.
    """

    def __init__(self, program: Program, unlimited: Program) -> None:
        self._free, self._bound = _only_guards(unlimited), _only_guards(program)
        self._known: dict[Step, Expression | None] = {}

    def of(self, step: Step) -> Expression | None:
        """Return the condition that only a spent budget disables the step; None if the step has no budget."""
        if step not in self._known:
            with making:
                possible = ground(self._free, step.action, step.arguments).enabled
                actual = ground(self._bound, step.action, step.arguments).enabled
                held = None if possible is actual else make.conjunction(possible, make.negation(actual))
            self._known[step] = held
        return self._known[step]


_holders = lru_cache(maxsize=4)(_Holders)


def held_back_within(
    program: Program, leaves: Leaves, chosen: Chosen | None = None, *, faults: bool = False
) -> Expression | None:
    """Return the condition that only a spent budget disables a step, for states whose sets hold no elements
    but those of `leaves`, the joined sets, leaf by leaf.
    """
    return held_back_among(program, _joined(program, leaves), chosen, faults=faults)


def budget_steps(program: Program, leaves: Leaves) -> list[Step]:
    """Return the steps of the algorithm that can be budget-blocked in states whose sets, leaf by leaf, hold
    no more than these; at most `MOST_STEPS` + 1.
    """
    if unspent(program) is None:
        return []
    return list(itertools.islice(_steps(program, _joined(program, leaves)), MOST_STEPS + 1))


def _joined(program: Program, leaves: Leaves) -> State:
    """Return a state with the sets of these leaves, and None for all other variables."""
    return tuple(
        shape.value(leaves[first : first + shape.width]) if isinstance(shape.type, SetOf) else None
        for shape, first in plan(program).variables.values()
    )


def budget_blocked_step(
    program: Program, state: State, chosen: Chosen | None = None, *, faults: bool = False
) -> tuple[Step, str] | None:
    """Return the first budget-blocked step of `budget_blocked_steps`, or None."""
    return next(budget_blocked_steps(program, state, chosen, faults=faults), None)


def budget_blocked_steps(
    program: Program, state: State, chosen: Chosen | None = None, *, faults: bool = False
) -> Iterator[tuple[Step, str]]:
    """Return the steps of the algorithm that only a spent budget disables in `state`, each with the text of
    the guard that disables it. The reference decides.
    """
    free = unspent(program)
    if free is None:
        return
    for step in _steps(program, state, chosen, faults=faults):
        try:
            program.reference.apply(state, step)
        except Disabled as guard:
            try:
                free.reference.apply(state, step)
            except Disabled:
                continue
            except (
                SpecError
            ):  # it is possible, and counts beyond what its variables hold: that is what the budget is for
                pass
            yield step, guard.guard
        except SpecError:
            continue


def short_of_budget(steps: int, held: tuple[Step, str] | None, what: str = "it is false") -> str:
    """Return the reason why an obligation that is false after `steps` steps is not judged; `what` may replace
    "it is false". `held` is a budget-blocked step in that state; None if the step is further on.
    """
    begin = f"not decided: after {steps} step{'' if steps == 1 else 's'} {what}"
    if held is None:
        return f"{begin}, and what could lead on is kept back by a spent budget only"
    return f"{begin}, and only a spent budget keeps {held[0]} from happening ({held[1]})"


def _only_guards(program: Program) -> Program:
    """Return the program with only those parts of each action that decide whether it is enabled: up to its
    last guard, and without handlers if no handler has a guard.
    """
    module = program.module

    def guards(part: object) -> bool:
        return any(isinstance(node, ir.Require) for node in nodes(part, module))

    handlers = module.handlers if guards(module.handlers) else ()

    def says(statement: ir.Statement) -> bool:
        return guards(statement) or (
            bool(handlers) and any(isinstance(node, ir.Emit) for node in nodes(statement, module))
        )

    def shortened(action: ir.Action) -> ir.Action:
        last = max((place for place, item in enumerate(action.body, 1) if says(item)), default=0)
        return dataclasses.replace(action, body=action.body[:last])

    made = Program(program.spec, program.constants)
    made.__dict__["module"] = dataclasses.replace(
        module, actions=tuple(map(shortened, module.actions)), handlers=handlers, step_invariants=()
    )
    return made


def _steps(
    program: Program, state: State | None = None, chosen: Chosen | None = None, *, faults: bool = False
) -> Iterator[Step]:
    """Yield the steps of the algorithm that execute a budget; parameters over a set take the elements of the
    state's set, or all that the set could have.
    """
    for action in program.module.actions:
        has_budget = any(isinstance(node, ir.Budget) for node in nodes((action,), program.module))
        if not has_budget or (action.fault and not faults):
            continue
        (method,) = [item for item in program.declaration.methods if item.name == action.name]
        ranges: list[list[Any]] = []
        for parameter in method.parameters:
            domain = program.domain(parameter.type)
            if parameter.within and state is not None:
                elements = state[program.variables.index(parameter.within)]
                ranges.append(sorted((item for item in elements if domain.contains(item)), key=domain.rank))
            else:
                ranges.append(list(domain))
        steps = (Step(action.name, arguments) for arguments in itertools.product(*ranges))
        yield from steps if chosen is None else filter(chosen, steps)


def _without(part: Any) -> Any:
    """Return the part of the form with True in the place of each budget."""
    if isinstance(part, ir.Budget):
        return ir.Literal(type=ir.BOOL, value=True, at=part.at)
    if isinstance(part, tuple):
        return tuple(map(_without, part))
    if isinstance(part, ir.Node | ir.Module):
        changed = {item.name: _without(getattr(part, item.name)) for item in dataclasses.fields(part)}
        return dataclasses.replace(part, **changed)
    return part
