"""Reference engine: it takes steps through `enabled` and `apply`, one state at a time; slow, literal, and the
engine with which the fast ones are compared.

Any machine can be used in place of the reference. States that pack to one integer are checked to be equal, so
that the comparison does not rest on packing.

This file knows nothing of generated code, properties or bounds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from antiphon.model.engines.interface import Executable
from antiphon.model.ground import flatten, layout, unflatten
from antiphon.model.ground.budgets import budget_blocked_step, unspent
from antiphon.model.ground.packing import Packing
from antiphon.model.verdict import InternalError
from antiphon.spec.lang import Disabled, Machine, Program, SpecError, State, Step, Transition, ir
from antiphon.spec.lang.watch import working

Seen = tuple[tuple[Any, ...], tuple[str, ...]]
"""Events of a step, and the properties that it breaks."""


class MachineTransitions:
    """Transitions of a program by an executing machine, the reference unless another is given. The interface
    is that of `Transitions`.
    """

    name = "reference"

    def __init__(self, program: Program, machine: Machine | None = None) -> None:
        self.program = program
        self.packing = Packing(layout(program).slots)
        self._machine: Machine = machine or program.reference
        self._states: dict[int, State] = {}
        self._numbers: dict[Step, int] = {}
        self._steps: list[Step] = []
        self._latest: tuple[int, dict[int, Seen]] = (-1, {})

    def pack(self, state: State) -> int:
        """Return a state as an integer."""
        packed = self.packing.pack(flatten(self.program, state))
        if self._states.setdefault(packed, state) != state:
            raise InternalError(f"{state} and {self._states[packed]} are packed into one integer")
        return packed

    def unpack(self, packed: int) -> State:
        """Return the state that an integer packs."""
        state = self._states.get(packed)
        return unflatten(self.program, self.packing.unpack(packed)) if state is None else state

    def successors(self, packed: int) -> list[tuple[int, int]]:
        """Return every enabled step by number, with its successor."""
        state = self.unpack(packed)
        found: list[tuple[int, int]] = []
        seen: dict[int, Seen] = {}
        for step in self._machine.enabled(state):
            working("taking steps")
            transition = self._machine.apply(state, step)
            number = self._number(step)
            seen[number] = transition.events, _broken(transition)
            found.append((number, self.pack(transition.state)))
        self._latest = packed, seen
        return found

    def executable(self, packed: int) -> Executable:
        """Return the steps of a state that can be executed, where some other step has an error."""
        state = self.unpack(packed)
        moves: list[tuple[int, int]] = []
        seen: dict[int, Seen] = {}
        for step in self.program.reference.candidates(state):
            working("taking steps")
            with contextlib.suppress(Disabled, SpecError):
                transition = self._machine.apply(state, step)
                number = self._number(step)
                seen[number] = transition.events, _broken(transition)
                moves.append((number, self.pack(transition.state)))
        self._latest = packed, seen
        return moves, self.broken(packed)

    def _number(self, step: Step) -> int:
        number = self._numbers.setdefault(step, len(self._steps))
        if number == len(self._steps):
            self._steps.append(step)
        return number

    def step(self, number: int) -> Step:
        """Return the step of this number."""
        return self._steps[number]

    def events(self, packed: int, number: int) -> tuple[Any, ...]:
        """Return the events of the step in this state."""
        return self._seen(packed)[number][0]

    def broken(self, packed: int) -> list[tuple[int, tuple[str, ...]]]:
        """Return the steps that break properties in this state, with those properties."""
        return [(number, broken) for number, (_, broken) in self._seen(packed).items() if broken]

    def _seen(self, packed: int) -> dict[int, Seen]:
        if self._latest[0] != packed:
            self.successors(packed)
        return self._latest[1]

    def predicate(self, name: str) -> Callable[[int], bool]:
        """Return the predicate with this name as a function of packed states."""
        return lambda packed: self._machine.holds(self.unpack(packed), name)

    def formula(self, call: ir.Call, values: Mapping[str, Any]) -> Callable[[int], bool]:
        """Return a condition on states: a call of a helper or predicate with these values of its
        parameters.
        """
        arguments = [values[item.name][1] for item in call.arguments if isinstance(item, ir.Name)]
        return lambda packed: bool(
            self.program.reference.evaluate(self.unpack(packed), call.function, *arguments)
        )

    def budget_limited(
        self, _: int, chosen: Callable[[Step], bool] | None = None, *, faults: bool = False
    ) -> Callable[[int], bool] | None:
        """Return a function that is true where only a spent budget disables a step of the algorithm; None if
        no step has a budget.
        """
        if unspent(self.program) is None:
            return None
        return lambda packed: (
            budget_blocked_step(self.program, self.unpack(packed), chosen, faults=faults) is not None
        )

    def coverage(self) -> dict[str, int]:
        """Return for each action with how many different arguments it was enabled in at least one expanded
        state.
        """
        counts = {method.name: 0 for method in self.program.declaration.marked("action", "environment")}
        for step in self._steps:
            counts[step.action] += 1
        return counts


def _broken(transition: Transition) -> tuple[str, ...]:
    return tuple(dict.fromkeys(refusal.property for refusal in transition.refused))
