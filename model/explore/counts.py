"""What makes the state space grow shows in counts: how often each action is possible, how many states it found first, how many values each
variable takes.

The counts come from a walk of their own, with every step of every state, so they cost about as much as a search; a bound ends it with the counts so
far. This file knows nothing of properties.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from antiphon.model.bounds import UNBOUNDED, Bounds, Progress
from antiphon.model.engines.choice import Engine, engine_named, transitions_by
from antiphon.model.ground.parts import Parts
from antiphon.spec.lang import Program

LOOK = 4096


@dataclass(frozen=True)
class ActionCount:
    """An action: in how many states it is possible, how many steps it takes in all, and how many states were found by it first.

    Which of several actions finds a state first depends on the engine; the sum does not.
    """

    action: str
    states: int
    steps: int
    found: int


@dataclass(frozen=True)
class VariableCount:
    """A variable: how many different values it takes in the states, and how many bits it has in a packed state."""

    variable: str
    values: int
    bits: int


@dataclass(frozen=True)
class Counts:
    """The counts over `states` states, all of them when `complete`. Actions as declared; variables with the most values first."""

    states: int
    complete: bool
    actions: tuple[ActionCount, ...]
    variables: tuple[VariableCount, ...]

    @property
    def never(self) -> tuple[str, ...]:
        """The actions that are possible in none of these states."""
        return tuple(item.action for item in self.actions if not item.steps)


def count(
    program: Program,
    *,
    bounds: Bounds = UNBOUNDED,
    progress: Callable[[Progress], None] | None = None,
    engine: Engine | str = Engine.GENERATED,
) -> Counts:
    """Counts over the reachable states of `program`, breadth-first, within the bounds; `engine` "reference" is CPython itself.

    Raises:
        SpecError: the specification has an error in a state on the way.
    """
    began = time.monotonic()
    edges = transitions_by(program, engine_named(engine))
    known = {edges.pack(state): None for state in program.reference.initial()}
    states = list(known)
    names = [method.name for method in program.declaration.marked("action", "environment")]
    positions = {name: position for position, name in enumerate(names)}
    action_of: list[int] = []
    possible, steps, found = ([0] * len(names) for _ in range(3))
    level_end, depth, expanded, transitions = len(states), 0, 0, 0
    while expanded < len(states):
        if expanded == level_end:
            level_end, depth = len(states), depth + 1
        if bounds.too_deep(depth):
            break
        if expanded % LOOK == 0:
            if progress is not None:
                progress(Progress(len(states), transitions, depth, len(states) - expanded, time.monotonic() - began))
            if bounds.reached(len(states), time.monotonic() - began):
                break
        here = 0
        for number, after in edges.successors(states[expanded]):
            while len(action_of) <= number:
                action_of.append(positions[edges.step(len(action_of)).action])
            action = action_of[number]
            here |= 1 << action
            steps[action] += 1
            transitions += 1
            if after not in known:
                known[after] = None
                states.append(after)
                found[action] += 1
        for action in range(len(names)):
            possible[action] += here >> action & 1
        expanded += 1
    parts = Parts(program, edges.packing)
    masks = {name: parts.mask(name) for name in program.variables}
    variables = [VariableCount(name, len({packed & mask for packed in states}), mask.bit_count()) for name, mask in masks.items()]
    return Counts(
        len(states),
        expanded == len(states),
        tuple(ActionCount(*item) for item in zip(names, possible, steps, found, strict=True)),
        tuple(sorted(variables, key=lambda item: -item.values)),
    )
