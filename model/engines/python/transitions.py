"""Every transition of a program by generated functions and memory: the way to walk millions.

What steps do is remembered by the bits they read, so that most edges cost a look-up, one `and` and one `or`.

This file knows nothing of what is done with a transition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from antiphon.model.engines.python.catalogue import Catalogue, Specialised
from antiphon.model.engines.python.groups import Group, make_groups
from antiphon.model.engines.python.source import compile_functions, events_source
from antiphon.model.ground import flatten, unflatten
from antiphon.model.verdict import InternalError
from antiphon.spec.lang import Program, State, Step

Effect = tuple[int, int, int]
"""The number of a step, the mask of what it keeps of a state, the bits it adds."""

Events = Callable[[int], tuple[tuple[int, int], ...]]


class PythonTransitions:
    """See `Transitions` for the interface."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._catalogue = Catalogue(program)
        self.packing = self._catalogue.packing
        self._numbers: dict[Specialised, int] = {}
        self._steps: list[Specialised] = []
        self._emitters: list[Events | None] = []
        self._groups: list[_Memory] = []
        self._events: dict[tuple[int, tuple[tuple[int, int], ...]], tuple[Any, ...]] = {}
        self._regroup()

    def pack(self, state: State) -> int:
        """A state as an integer."""
        return self.packing.pack(flatten(self.program, state))

    def unpack(self, packed: int) -> State:
        """An integer as a state."""
        return unflatten(self.program, self.packing.unpack(packed))

    def step(self, number: int) -> Step:
        """The step of this number."""
        return self._steps[number].step

    def successors(self, packed: int) -> list[tuple[int, int]]:
        """Every enabled step by number, with its successor."""
        if packed & self._catalogue.unknown and self._catalogue.discover(packed):
            self._regroup()
        found: list[tuple[int, int]] = []
        for memory in self._groups:
            entry = memory.entries.get(packed & memory.mask)
            if entry is None:
                entry = memory.open(packed)
            for number, keep, add in entry.always:
                found.append((number, packed & keep | add))
            present = packed & entry.alive
            while present:
                bit = present & -present
                present ^= bit
                effects = entry.by_trigger.get(bit)
                if effects is None:
                    effects = memory.detail(entry, packed, bit)
                for number, keep, add in effects:
                    found.append((number, packed & keep | add))
        return found

    def events(self, packed: int, number: int) -> tuple[Any, ...]:
        """What the step emits in this state."""
        emitter = self._emitters[number]
        if emitter is None:
            return ()
        raw = emitter(packed)
        events = self._events.get((number, raw))
        if events is None:
            types = [event.type for event in self._steps[number].ground.events]
            events = tuple(self.program.domain(types[position]).value(rank) for position, rank in raw)
            self._events[number, raw] = events
        return events

    def run(self, packed: int, steps: Iterable[Specialised]) -> tuple[Effect, ...]:
        """What these steps do in this state, where they are enabled."""
        effects: list[Effect] = []
        for step in steps:
            result = step.run(packed)
            if isinstance(result, tuple):
                effects.append((self._numbers[step], result[0], result[1]))
            elif result is not None:
                list(self.program.reference.enabled(self.unpack(packed)))
                raise InternalError(f"generated code finds an error of the specification in {step.step}, the reference none")
        return tuple(effects)

    def _regroup(self) -> None:
        texts = []
        for step in self._catalogue.steps:
            if step not in self._numbers:
                number = self._numbers[step] = len(self._steps)
                self._steps.append(step)
                self._emitters.append(None)
                if step.ground.events:
                    texts.append((f"events_{number}", events_source(f"events_{number}", step.ground, self.packing)))
        for name, function in compile_functions(texts).items():
            self._emitters[int(name.removeprefix("events_"))] = cast("Events", function)
        old = {(memory.mask, memory.fault): memory for memory in self._groups}
        groups = make_groups(self._catalogue.steps, self.packing, set())
        self._groups = [_Memory(group, self, old.get((group.mask, group.fault))) for group in groups]


class _Entry:
    """What a group's steps do where the group's bits have one value: always, and when a trigger is present; `alive` are triggers to ask."""

    __slots__ = ("alive", "always", "by_trigger")

    def __init__(self, always: tuple[Effect, ...], alive: int) -> None:
        self.always, self.alive = always, alive
        self.by_trigger: dict[int, tuple[Effect, ...]] = {}


class _Memory:
    """What the steps of one group did, by the bits that they read."""

    def __init__(self, group: Group, transitions: PythonTransitions, old: _Memory | None) -> None:
        self.mask, self.fault = group.mask, group.fault
        self.entries: dict[int, _Entry] = {}
        self.group, self._transitions = group, transitions
        self.triggered = {bit: tuple(steps) for bit, steps in group.triggered.items()}
        if old is not None and old.group.statics == group.statics and old.triggered.items() <= self.triggered.items():
            fresh = group.triggers & ~old.group.triggers
            self.entries = old.entries
            for entry in self.entries.values():
                entry.alive |= fresh

    def open(self, packed: int) -> _Entry:
        """Run the steps that need no trigger, and remember."""
        entry = _Entry(self._transitions.run(packed, self.group.statics), self.group.triggers)
        self.entries[packed & self.mask] = entry
        return entry

    def detail(self, entry: _Entry, packed: int, bit: int) -> tuple[Effect, ...]:
        """Run the steps of one trigger, and remember."""
        effects = entry.by_trigger[bit] = self._transitions.run(packed, self.group.triggered[bit])
        if not effects:
            entry.alive &= ~bit
        return effects
