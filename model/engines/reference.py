"""The reference explores state by state through `enabled` and `apply`: slow, literal, and the yardstick for the fast engines.

This file knows nothing of generated code, properties or bounds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from antiphon.model.engines.interface import NO_PARENT, Block, Finding, Future, PredicateError
from antiphon.model.engines.recovery import futures
from antiphon.model.ground import flatten, layout, unflatten
from antiphon.model.ground.packing import Packing
from antiphon.spec.lang import Machine, Program, SpecError, State, Step, Transition


class ReferenceSpace:
    """The states of a program as its reference gives them; see `StateSpace` for the interface."""

    engine = "explicit, reference"
    block = 64

    def __init__(self, program: Program, initial: Iterable[State]) -> None:
        """A space that begins with the states `initial`."""
        self.program = program
        self.machine: Machine = program.reference
        declaration = program.declaration
        self._faults = {method.name for method in declaration.marked("environment")}
        self._witnesses = {method.mark.name for method in declaration.marked("witness") if method.mark}
        self._numbers: dict[State, int] = {}
        self._parents = array("I")
        self._states: list[State] = []
        self._muted: set[str] = set()
        self._enabled: dict[Step, None] = {}
        for state in initial:
            self._know(state, NO_PARENT)

    def __len__(self) -> int:
        return len(self._states)

    def _know(self, state: State, parent: int) -> None:
        if state not in self._numbers:
            self._numbers[state] = len(self._states)
            self._states.append(state)
            self._parents.append(parent)

    def _transitions(self, state: State) -> Iterator[Transition]:
        for step in self.machine.enabled(state):
            yield self.machine.apply(state, step)

    def expand(self, first: int, last: int) -> Block:
        """The successors of a block of states, appended where they are new."""
        transitions = 0
        findings: list[Finding] = []
        for index in range(first, last):
            try:
                for transition in self._transitions(self._states[index]):
                    transitions += 1
                    self._enabled.setdefault(transition.step)
                    self._know(transition.state, index)
                    names = dict.fromkeys(refusal.property for refusal in transition.refused)
                    broken = tuple(name for name in names if name not in self._muted)
                    if broken:
                        findings.append(Finding(index, transition.step, broken))
            except SpecError as error:
                findings.append(Finding(index, None, error=str(error)))
        return Block(transitions, tuple(findings))

    def screen(self, predicates: Sequence[str], first: int, last: int) -> Iterable[tuple[int, str, bool]]:
        """(state, predicate, value) where an invariant is false or a witness true."""
        for number in range(first, last):
            for name in predicates:
                wanted = name in self._witnesses
                if self._holds(number, name) is wanted:
                    yield number, name, wanted

    def _holds(self, number: int, name: str) -> bool:
        try:
            return self.machine.holds(self._states[number], name)
        except SpecError as error:
            raise PredicateError(number, name) from error

    def truth(self, predicate: str) -> bytearray:
        """For every state whether the predicate is true in it."""
        return bytearray(self._holds(number, predicate) for number in range(len(self._states)))

    def successors(self, state: int) -> tuple[bool, list[int]]:
        """Whether only faults are enabled, and the numbers of the known states that other steps lead to."""
        moves = [transition for transition in self._transitions(self._states[state]) if transition.step.action not in self._faults]
        numbers = (self._numbers.get(transition.state) for transition in moves)
        return not moves, [number for number in numbers if number is not None]

    def futures(self, expanded: int, truths: Mapping[str, bytearray], *, complete: bool) -> dict[str, Future]:
        """What `obligations.futures` says of this space."""
        return futures(self, expanded, truths, complete=complete)

    def parent(self, state: int) -> int:
        """The state that this one was found from."""
        return self._parents[state]

    def value(self, state: int) -> State:
        """The state as a tuple of values."""
        return self._states[state]

    def stands_for(self, state: int, value: State) -> bool:
        """Whether this is the value of the state."""
        return self.value(state) == value

    def mute(self, property: str) -> None:
        """Report no more findings about this property."""
        self._muted.add(property)

    def coverage(self) -> dict[str, int]:
        """For each action with how many argument tuples it was enabled somewhere."""
        counts = {method.name: 0 for method in self.program.declaration.marked("action", "environment")}
        for step in self._enabled:
            counts[step.action] += 1
        return counts


class MachineTransitions:
    """The transitions of any machine, one state at a time; see `Transitions` for the interface."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.program = program
        self.packing = Packing(layout(program).slots)
        self._machine = machine
        self._numbers: dict[Step, int] = {}
        self._steps: list[Step] = []
        self._latest: tuple[int, dict[int, tuple[Any, ...]]] = (-1, {})

    def pack(self, state: State) -> int:
        """A state as an integer."""
        return self.packing.pack(flatten(self.program, state))

    def unpack(self, packed: int) -> State:
        """An integer as a state."""
        return unflatten(self.program, self.packing.unpack(packed))

    def step(self, number: int) -> Step:
        """The step of this number."""
        return self._steps[number]

    def successors(self, packed: int) -> list[tuple[int, int]]:
        """Every enabled step by number, with its successor."""
        state = self.unpack(packed)
        found: list[tuple[int, int]] = []
        events: dict[int, tuple[Any, ...]] = {}
        for step in self._machine.enabled(state):
            transition = self._machine.apply(state, step)
            number = self._numbers.setdefault(step, len(self._steps))
            if number == len(self._steps):
                self._steps.append(step)
            events[number] = transition.events
            found.append((number, self.pack(transition.state)))
        self._latest = packed, events
        return found

    def events(self, packed: int, number: int) -> tuple[Any, ...]:
        """What the step emits in this state."""
        if self._latest[0] != packed:
            self.successors(packed)
        return self._latest[1][number]
