"""State space over any `Transitions`: states are found by taking every step, one state after the other.

CPython and generated Python explore in this way. A tool can observe each transition: `visit` is called once
for every expanded state with all its transitions.

This file knows nothing of properties, bounds, verdicts or how steps are executed.
"""

from __future__ import annotations

import functools
import operator
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence

from antiphon.model.engines.interface import (
    NO_PARENT,
    Block,
    Executable,
    Finding,
    Future,
    PredicateError,
    StepError,
    Transitions,
)
from antiphon.model.engines.recovery import futures
from antiphon.model.ground.shape import Raw
from antiphon.spec.lang import SpecError, State, Step
from antiphon.spec.lang.watch import working

Visit = Callable[[int, Sequence[tuple[int, int]]], None]
"""Function of the number of a state and its transitions: for each the number of the step, and of the next
state.
"""


class TransitionSpace:
    """Space of the states to which transitions lead, one state after the other.

    Args:
        transitions: the object that takes steps.
        initial: the states to begin with; None for the initial ones of the program.
        visit: called for every state that is expanded.
        faults: whether steps of the environment are taken.
    """

    block = 256

    def __init__(
        self,
        transitions: Transitions,
        initial: Iterable[State] | None = None,
        *,
        visit: Visit | None = None,
        faults: bool = True,
    ) -> None:
        self.transitions, self._visit, self._with_faults = transitions, visit, faults
        self.engine = f"explicit, {transitions.name}"
        self.packed: list[int] = []
        self.numbers: dict[int, int] = {}
        self.failure: SpecError | None = None
        self._parents, self._via = array("I"), array("I")
        self._muted: set[str] = set()
        program = transitions.program
        self._faults = {action.name for action in program.module.actions if action.fault}
        self._witnesses = {
            method.mark.name for method in program.declaration.marked("witness") if method.mark
        }
        for state in program.reference.initial() if initial is None else initial:
            self._find(transitions.pack(state), NO_PARENT, 0)

    def __len__(self) -> int:
        """Return the number of states that are recorded completely. An interruption may leave a last state
        without its parent, which does not count.
        """
        return len(self._via)

    def _find(self, packed: int, parent: int, step: int) -> int:
        number = self.numbers.setdefault(packed, len(self.packed))
        if number == len(self.packed):
            self.packed.append(packed)
            self._parents.append(parent)
            self._via.append(step)
        return number

    # Exploring ----------------------------------------------------------------------------------------------

    def expand(self, first: int, last: int) -> Block:
        """Expand a block of states, and append the new successors."""
        take, broken_in, number_of, visit = (
            self.transitions.successors,
            self.transitions.broken,
            self.numbers.get,
            self._visit,
        )
        judged = bool(set(self.transitions.program.module.properties) - self._muted)
        seen = 0
        findings: list[Finding] = []
        for index in range(first, last):
            packed = self.packed[index]
            broken: Sequence[tuple[int, tuple[str, ...]]] | None = None
            working("searching")
            try:
                steps = take(packed) if self._with_faults else self._without_faults(packed)
            except SpecError as error:
                self.failure = self.failure or error
                step = error.step if isinstance(error, StepError) else None
                findings.append(Finding(index, step, error=str(error)))
                steps, broken = self._beside_error(packed)
            seen += len(steps)
            moves: list[tuple[int, int]] | None = [] if visit is not None else None
            for step_number, after in steps:
                target = number_of(after)
                if target is None:
                    target = self._find(after, index, step_number)
                if moves is not None:
                    moves.append((step_number, target))
            if judged:
                findings.extend(self._broken(index, broken_in(packed) if broken is None else broken))
            if visit is not None and moves is not None:
                visit(index, moves)
        return Block(seen, tuple(findings))

    def _broken(self, index: int, steps: Iterable[tuple[int, tuple[str, ...]]]) -> Iterable[Finding]:
        for number, properties in steps:
            told = tuple(name for name in properties if name not in self._muted)
            if told:
                yield Finding(index, self.transitions.step(number), told)

    def _beside_error(self, packed: int) -> Executable:
        """Return the steps of a state that can be executed, although one of its steps has an error; so an
        error hides no other finding.
        """
        moves, broken = self.transitions.executable(packed)
        if self._with_faults:
            return moves, broken
        step = self.transitions.step
        faults = {number for number, _ in moves if step(number).action in self._faults}
        return (
            [move for move in moves if move[0] not in faults],
            [item for item in broken if item[0] not in faults],
        )

    def _without_faults(self, packed: int) -> list[tuple[int, int]]:
        step = self.transitions.step
        return [
            move for move in self.transitions.successors(packed) if step(move[0]).action not in self._faults
        ]

    def mute(self, property: str) -> None:
        """Report no more findings about this property."""
        self._muted.add(property)

    def screen(self, predicates: Sequence[str], first: int, last: int) -> Iterable[tuple[int, str, bool]]:
        """Yield (state, predicate, value) where an invariant is false or a witness true."""
        found = []
        for name in predicates:
            wanted, test = name in self._witnesses, self.transitions.predicate(name)
            for number in range(first, last):
                try:
                    value = test(self.packed[number])
                except SpecError as error:
                    raise PredicateError(number, name) from error
                if value is wanted:
                    found.append((number, name, wanted))
                    break
        return sorted(found)

    def truth(self, predicate: str) -> bytearray:
        """Return a byte for every state: 1 where the predicate is true."""
        test, values = self.transitions.predicate(predicate), bytearray(len(self))
        for number in range(len(values)):
            working("judging states")
            try:
                values[number] = test(self.packed[number])
            except SpecError as error:
                raise PredicateError(number, predicate) from error
        return values

    def budget_limited(self, *, faults: bool = False) -> bytearray | None:
        """Return a byte for every state: 1 where only a spent budget disables a step of the algorithm (with
        `faults` also of the environment); None if no budget disables such a step.
        """
        packed = self.packed[: len(self)]
        test = self.transitions.budget_limited(functools.reduce(operator.or_, packed, 0), faults=faults)
        if test is None:
            return None
        values = bytearray(len(packed))
        for number, state in enumerate(packed):
            working("judging states")
            values[number] = test(state)
        return values

    def together(self, slots: Sequence[int], *, quiet: bool = False) -> frozenset[tuple[Raw, ...]]:
        """Return the combinations of values that some slots have in the known states; with `quiet` only in
        states where nothing but faults can happen.
        """
        packing = self.transitions.packing
        mask = functools.reduce(operator.or_, (packing.places[slot].mask for slot in slots), 0)
        numbers = (number for number in range(len(self)) if not quiet or self.successors(number)[0])
        unpacked = map(packing.unpack, {self.packed[number] & mask for number in numbers})
        return frozenset(tuple(values[slot] for slot in slots) for values in unpacked)

    # Looking back -------------------------------------------------------------------------------------------

    def successors(self, state: int) -> tuple[bool, list[int]]:
        """Return whether only faults are enabled in a state, and the numbers of the known states to which its
        other steps lead.
        """
        steps = self._without_faults(self.packed[state])
        numbers = (self.numbers.get(after) for _, after in steps)
        return not steps, [number for number in numbers if number is not None]

    def futures(self, expanded: int, truths: Mapping[str, bytearray], *, complete: bool) -> dict[str, Future]:
        """Return the result of `recovery.futures` for this space: when each property can still become
        true.
        """
        return futures(self, expanded, truths, complete=complete)

    def parent(self, state: int) -> int:
        """Return the number of the state from which state `state` was found."""
        return self._parents[state]

    def way_to(self, state: int) -> tuple[State, list[Step]]:
        """Return the initial state and the steps that lead to the state with this number."""
        steps = []
        while self._parents[state] != NO_PARENT:
            steps.append(self.transitions.step(self._via[state]))
            state = self._parents[state]
        return self.value(state), steps[::-1]

    def value(self, state: int) -> State:
        """Return the state as a tuple of values."""
        return self.transitions.unpack(self.packed[state])

    def stands_for(self, state: int, value: State) -> bool:
        """Return True if `value` is the value of the state with this number."""
        return self.value(state) == value

    def coverage(self) -> dict[str, int]:
        """Return for each action with how many different arguments it was enabled in at least one expanded
        state.
        """
        return self.transitions.coverage()
