"""Counts that show why a state space is large: how often each action is enabled, how many states it found
first, how many values each variable takes.

The counts come from a walk of their own, with every step of every state, so they cost about as much as a
search; a bound ends it with the counts so far. This file knows nothing of properties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from antiphon.model.bounds import UNBOUNDED, Bounds, Progress
from antiphon.model.engines.choice import Engine, engine_named, transitions_by
from antiphon.model.engines.interface import Transitions
from antiphon.model.explore.explorer import Visitor, walk
from antiphon.model.ground.parts import Parts
from antiphon.spec.lang import Program


@dataclass(frozen=True)
class ActionCount:
    """Counts of an action: in how many states it is enabled, how many steps it takes in all, and how many
    states it found first.

    Which of several actions finds a state first depends on the engine; the sum does not.
    """

    action: str
    states: int
    steps: int
    found: int


@dataclass(frozen=True)
class VariableCount:
    """Counts of a variable: how many different values it has in the states, and how many bits it takes in a
    packed state.
    """

    variable: str
    values: int
    bits: int


@dataclass(frozen=True)
class Counts:
    """Counts over `states` states; these are all states when `complete`. Actions are in order of declaration;
    variables with the most values come first.
    """

    states: int
    complete: bool
    actions: tuple[ActionCount, ...]
    variables: tuple[VariableCount, ...]

    @property
    def never(self) -> tuple[str, ...]:
        """Return the actions that are enabled in none of these states."""
        return tuple(item.action for item in self.actions if not item.steps)


def count(
    program: Program,
    *,
    bounds: Bounds = UNBOUNDED,
    progress: Callable[[Progress], None] | None = None,
    engine: Engine | str = Engine.GENERATED,
) -> Counts:
    """Return counts over the reachable states of `program`, breadth-first, within the bounds; `engine`
    "reference" is CPython itself.

    Raises:
        SpecError: the specification has an error in a state on the way.
    """
    transitions = transitions_by(program, engine_named(engine))
    tally = _Tally(transitions)
    space, explorer = walk(transitions, tally, bounds, progress)
    if space.failure is not None:
        raise space.failure
    parts = Parts(program, transitions.packing)
    masks = {name: parts.mask(name) for name in program.variables}
    variables = [
        VariableCount(name, len({packed & mask for packed in space.packed}), mask.bit_count())
        for name, mask in masks.items()
    ]
    actions = tuple(
        ActionCount(*item) for item in zip(tally.names, tally.possible, tally.steps, tally.found, strict=True)
    )
    return Counts(
        len(space), explorer.complete, actions, tuple(sorted(variables, key=lambda item: -item.values))
    )


class _Tally(Visitor):
    """Counts of each action, by its position among the actions: in how many states it is enabled, how often
    it was taken, and how many states it was the first to find.
    """

    def __init__(self, transitions: Transitions) -> None:
        self.names = [
            method.name for method in transitions.program.declaration.marked("action", "environment")
        ]
        self.possible, self.steps, self.found = ([0] * len(self.names) for _ in range(3))
        self._step = transitions.step
        self._action_of: list[int] = []
        self._known = 0

    def states(self, _first: int, last: int) -> None:
        """Note how many states are known, now that the states first..last - 1 were found."""
        self._known = last

    def transitions(self, _state: int, moves: Sequence[tuple[int, int]]) -> None:
        """Count each step; a step that leads to a state with a new number was the first to find it."""
        here = 0
        for number, target in moves:
            while len(self._action_of) <= number:
                self._action_of.append(self.names.index(self._step(len(self._action_of)).action))
            action = self._action_of[number]
            here |= 1 << action
            self.steps[action] += 1
            if target == self._known:
                self._known += 1
                self.found[action] += 1
        for action in range(len(self.names)):
            self.possible[action] += here >> action & 1
