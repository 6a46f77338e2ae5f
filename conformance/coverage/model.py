"""Bounded model as its transitions, with a shortest path to each.

A model lets a process wait before each internal step, while a core takes its steps at once. A transition is
*prompt* if it is on a path on which processes take their steps at once: runs take only such transitions.

This module knows no run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from antiphon.conformance.compare.bindings import Binding
from antiphon.model.bounds import UNBOUNDED, Bounds
from antiphon.model.engines import Transitions, transitions_of
from antiphon.model.explore.explorer import Visitor, path, walk
from antiphon.model.notation import compact_step
from antiphon.model.trace import Trace, replay
from antiphon.spec.lang import Program

__all__ = ["Model", "Row", "key"]


class Row(NamedTuple):
    """Transition of a model: the packed state, the step in short notation, its action, the number of steps to
    the state, the state's number in the order of discovery, and `prompt` (no process waits before internal
    steps).
    """

    before: bytes
    step: str
    action: str
    depth: int
    state: int
    prompt: bool


def key(packed: int) -> bytes:
    """Return a packed state as the bytes that tables have for it."""
    return packed.to_bytes(-(-packed.bit_length() // 8) or 1, "little")


class Model:
    """All states and transitions of a program, or of a binding's, within bounds; `complete` is True if there
    are no others.
    """

    def __init__(self, binding: Binding | Program, bounds: Bounds = UNBOUNDED) -> None:
        """Explore the model.

        Raises:
            SpecError: the specification has an error on the explored part.
        """
        program = self.program = binding if isinstance(binding, Program) else binding.program
        self._binding = None if isinstance(binding, Program) else binding
        self._edges, moves = transitions_of(program), _Moves()
        self._space, explorer = walk(self._edges, moves, bounds)
        if self._space.failure is not None:
            raise self._space.failure
        self._moves, self._levels = moves.found, explorer.position.levels
        self.complete, self.states = explorer.complete, len(self._space)

    @property
    def id(self) -> str:
        """Return a name of the model by its specification, its constants and its bounds."""
        constants, moves = dict(self.program.constants), len(self._moves)
        asked = [self.program.name, constants, self.states, moves, list(Row._fields)]
        return hashlib.blake2b(json.dumps(asked, sort_keys=True).encode(), digest_size=8).hexdigest()

    def rows(self, *, prompt: bool = True) -> Iterator[Row]:
        """Return all transitions, in the order of their states; without `prompt` all count as prompt, as of a
        program alone, and of a binding that does not say which process takes a step.
        """
        step, told = self._edges.step, dict[int, tuple[str, str]]()
        soon = None
        if prompt and self._binding is not None:
            soon = _Prompt(self._edges, self._moves, self._binding).found
        depth = 0
        for state, moves in enumerate(self._moves):
            while depth + 1 < len(self._levels) and self._levels[depth + 1] <= state:
                depth += 1
            before = key(self._space.packed[state])
            for number, _ in moves:
                if number not in told:
                    told[number] = (compact_step(step(number)), step(number).action)
                yield Row(before, *told[number], depth, state, soon is None or (state, number) in soon)

    def trace(self, state: int, step: str) -> Trace:
        """Return a trace, executed by CPython, of a shortest path to a state and of this step from it."""
        states = path(self._space, state)
        steps = [next(n for n, after in self._moves[a] if after == b) for a, b in pairwise(states)]
        steps.append(next(n for n, _ in self._moves[state] if compact_step(self._edges.step(n)) == step))
        return replay(
            self.program, self._space.value(states[0]), [self._edges.step(number) for number in steps],
            why=f"no run has taken {step} here",
        )  # fmt: skip


class _Moves(Visitor):
    """Visitor that stores the transitions of each expanded state."""

    def __init__(self) -> None:
        self.found: list[Sequence[tuple[int, int]]] = []

    def transitions(self, _state: int, moves: Sequence[tuple[int, int]]) -> None:
        """Store the transitions of a state."""
        self.found.append(moves)


class _Prompt:
    """Search for the transitions `found` that occur if each process takes its enabled internal steps at
    once.
    """

    def __init__(
        self, edges: Transitions, moves: Sequence[Sequence[tuple[int, int]]], binding: Binding
    ) -> None:
        self.found: set[tuple[int, int]] = set()
        self._moves, self._binding, self._edges = moves, binding, edges
        self._known: dict[int, tuple[bool, int | None]] = {}
        rest = {0}
        for process in range(binding.members):
            rest = self._settled(rest, process)
        left = list(rest)
        while left:
            for after in self._after(left.pop()) - rest:
                rest.add(after)
                left.append(after)

    def _out(self, state: int) -> Iterator[tuple[int, int, bool, int | None]]:
        """Yield the steps from a state: its number, its target, whether it is an internal step, and the
        process that it concerns.
        """
        for number, after in self._moves[state] if state < len(self._moves) else ():
            if number not in self._known:
                step = self._edges.step(number)
                own = step.action in self._binding.internal
                self._known[number] = own, self._binding.stimulus(step).process
            yield number, after, *self._known[number]

    def _after(self, state: int) -> set[int]:
        """Return the states after one event. If it is an event at a process, the process then takes its
        enabled internal steps.
        """
        ends: set[int] = set()
        for number, after, own, process in self._out(state):
            if not own:
                self.found.add((state, number))
                ends |= {after} if process is None else self._settled({after}, process)
        return ends

    def _settled(self, states: set[int], me: int) -> set[int]:
        """Return the states that follow from these when process `me` has taken all its enabled internal
        steps.
        """
        ends: set[int] = set()
        passed, left = set(states), list(states)
        while left:
            state = left.pop()
            moves = [(n, after) for n, after, own, process in self._out(state) if own and process == me]
            if not moves:
                ends.add(state)
            for number, after in moves:
                self.found.add((state, number))
                if after not in passed:
                    passed.add(after)
                    left.append(after)
        return ends
