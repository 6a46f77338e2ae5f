"""Search for the steps between two states of a machine: the shortest sequence, breadth first, with the
successors of each state cached.

1. A sequence whose events differ from the given ones, or from their order at one process, is given up at
   once.
2. At most `MOST_STEPS` steps are tried: a transition of a protocol that needs more is no step of the machine.
3. If there is no sequence, the guard is named that disables the one step that would lead there.

This file knows no protocol and no mapping.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from antiphon.model.engines.python.machine import compiled_machine
from antiphon.model.notation import compact_step
from antiphon.spec.lang import Disabled, Program, SpecError, State, Step, Transition
from antiphon.spec.lang.reference import Reference

MOST_STEPS = 3
"""Largest number of steps of the machine for one transition of a protocol, where nobody proposes them."""

MOST_TRIED = 20_000
"""Largest number of steps that are tried without their guards, to name the one that was disabled."""

Events = tuple[tuple[Any, tuple[Any, ...]], ...]
"""Emitted events in groups, one for each process, and one (number -1) for all events without a process."""


def by_process(events: Iterable[Any]) -> Events:
    """Return the events of each process in their order, processes in that of their indices."""
    found: dict[Any, list[Any]] = {}
    for event in events:
        found.setdefault(getattr(getattr(event, "process", None), "index", -1), []).append(event)
    return tuple((process, tuple(found[process])) for process in sorted(found))


class StepSearch:
    """Search for sequences of steps of `abstract` that explain a change. `shared` selects the events that
    count. `look` is called from time to time, and ends the search if it raises an exception.
    """

    def __init__(
        self,
        abstract: Program,
        shared: Callable[[Iterable[Any]], tuple[Any, ...]],
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self.abstract, self._shared, self._look = abstract, shared, look
        self._machine = compiled_machine(abstract)
        self._known: dict[State, tuple[Transition, ...]] = {}

    def way(self, before: State, after: State, events: tuple[Any, ...]) -> tuple[Step, ...] | None:
        """Return the first of the shortest sequences of steps that leads from one state to the other with
        these events; None if no sequence of at most `MOST_STEPS` steps does.
        """
        wanted = by_process(events)
        if before == after and not wanted:
            return ()
        level: dict[tuple[State, Events], tuple[tuple[Step, ...], tuple[Any, ...]]] = {(before, ()): ((), ())}
        seen = set(level)
        for _ in range(MOST_STEPS):
            found: dict[tuple[State, Events], tuple[tuple[Step, ...], tuple[Any, ...]]] = {}
            for (state, _), (steps, emitted) in level.items():
                self._look()
                for move in self._moves(state):
                    told = (*emitted, *self._shared(move.events))
                    key = (move.state, by_process(told))
                    if key == (after, wanted):
                        return (*steps, move.step)
                    if key not in seen and _may_become(key[1], wanted):
                        seen.add(key)
                        found[key] = ((*steps, move.step), told)
            level = found
        return None

    def possible(self, state: State) -> tuple[Step, ...]:
        """Return the steps that the abstract machine can take in a state."""
        return tuple(move.step for move in self._moves(state))

    def kept_back(self, before: State, after: State) -> str:
        """Return a text: the step that would lead from one state to the other if its guard allowed it, and
        that guard; empty if there is none.
        """
        unguarded = _Unguarded(self.abstract)
        for step in itertools.islice(unguarded.steps(before), MOST_TRIED):
            self._look()
            try:
                leads_there = unguarded.apply(before, step).state == after
            except (SpecError, Disabled):
                continue
            if leads_there:
                try:
                    self.abstract.reference.apply(before, step)
                except Disabled as guard:
                    return (
                        f"{compact_step(step)} is not enabled in {self.abstract.name}: {guard.guard} is "
                        f"false ({guard.at})"
                    )
        return ""

    def _moves(self, state: State) -> tuple[Transition, ...]:
        found = self._known.get(state)
        if found is None:
            found = self._known[state] = tuple(
                self._machine.apply(state, step) for step in self._machine.enabled(state)
            )
        return found


def _may_become(told: Events, wanted: Events) -> bool:
    """Return True if, for each process, the events emitted so far are a prefix of the wanted ones."""
    whole = dict(wanted)
    return all(whole.get(process, ())[: len(events)] == events for process, events in told)


class _Unguarded(Reference):
    """Machine whose guards all count as true."""

    def require(self, condition: object, depth: int) -> None:
        """Accept a guard, whatever its condition is."""

    def steps(self, state: State) -> Iterable[Step]:
        """Yield every action with all its arguments."""
        for method in self._actions.values():
            for arguments in self._arguments(method, state):
                yield Step(method.name, arguments)
