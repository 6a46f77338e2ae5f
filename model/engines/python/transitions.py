"""Transitions of a program by generated functions and cached results: fast enough for millions of states.

Results of steps are cached by the bits they read, so that most edges cost a look-up, one `and` and one `or`.

This file does not know what transitions are used for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from antiphon.model.engines.interface import Executable, StepError
from antiphon.model.engines.python.catalogue import Catalogue, Specialised
from antiphon.model.engines.python.groups import Group, make_groups
from antiphon.model.engines.python.source import compile_functions, events_source, predicate_source
from antiphon.model.ground import GroundPredicate, flatten, ground_formula, ground_predicate
from antiphon.model.ground.budgets import held_back_within
from antiphon.model.ground.footprint import footprint
from antiphon.model.ground.form import GroundStep
from antiphon.model.ground.layout import plan
from antiphon.model.ground.packing import Packing
from antiphon.model.ground.shape import Shape
from antiphon.model.verdict import InternalError
from antiphon.spec.lang import Program, SpecError, State, Step, ir
from antiphon.spec.lang.assignment import frozen

MOST_VALUES = 65_536
"""Largest number of cached values of a variable."""

Effect = tuple[int, int, int, tuple[str, ...]]
"""Effect of a step: its number, the mask of the bits that it keeps, the bits it adds, the properties it
breaks.
"""

Events = Callable[[int], tuple[tuple[int, int], ...]]


class PythonTransitions:
    """Transitions of a program by generated functions. The interface is that of `Transitions`."""

    name = "generated Python"

    def __init__(self, program: Program) -> None:
        self.program = program
        self._catalogue = Catalogue(program)
        self.packing = self._catalogue.packing
        self._variables = [
            _Variable(shape, self.packing, offset) for shape, offset in plan(program).variables.values()
        ]
        self._numbers: dict[Specialised, int] = {}
        self._steps: list[Specialised] = []
        self._emitters: dict[int, Events] = {}
        self._groups: list[_Memory] = []
        self._events: dict[tuple[int, tuple[tuple[int, int], ...]], tuple[Any, ...]] = {}
        self._predicates: dict[str, Callable[[int], bool]] = {}
        self._enabled: set[int] = set()
        self._breaking = False
        self._regroup()

    def pack(self, state: State) -> int:
        """Return a state as an integer."""
        return self.packing.pack(flatten(self.program, state))

    def unpack(self, packed: int) -> State:
        """Return the state that a packed integer stands for."""
        return tuple([variable.value(packed) for variable in self._variables])

    def met(self) -> list[GroundStep]:
        """Return the steps that were compiled so far: those whose arguments have occurred in a state."""
        return [step.ground for step in self._steps]

    def step(self, number: int) -> Step:
        """Return the step of this number."""
        return self._steps[number].step

    def order(self, number: int) -> tuple[int, ...]:
        """Return the key by which steps are sorted, as the reference enumerates them."""
        return self._steps[number].order

    def successors(self, packed: int) -> list[tuple[int, int]]:
        """Return every enabled step by number, with its successor. This is the only place where speed
        matters: most steps cost a look-up, one `and` and one `or`.
        """
        if packed & self._catalogue.unknown and self._catalogue.discover(packed):
            self._regroup()
        found: list[tuple[int, int]] = []
        for memory in self._groups:
            entry = memory.entries.get(packed & memory.mask)
            if entry is None:
                entry = memory.open(packed)
            for number, keep, add, _ in entry.always:
                found.append((number, packed & keep | add))
            present = packed & entry.alive
            while present:
                bit = present & -present
                present ^= bit
                effects = entry.by_trigger.get(bit)
                if effects is None:
                    effects = memory.detail(entry, packed, bit)
                for number, keep, add, _ in effects:
                    found.append((number, packed & keep | add))
        return found

    def broken(self, packed: int) -> list[tuple[int, tuple[str, ...]]]:
        """Return the steps that break properties in this state, with those properties."""
        found: list[tuple[int, tuple[str, ...]]] = []
        if self._breaking:
            for memory in self._groups:
                entry = memory.entries.get(packed & memory.mask) or memory.open(packed)
                effects = list(entry.always)
                present = packed & entry.alive
                while present:
                    bit = present & -present
                    present ^= bit
                    effects += entry.by_trigger.get(bit) or memory.detail(entry, packed, bit)
                found += [(number, properties) for number, _, _, properties in effects if properties]
        return found

    def executable(self, packed: int) -> Executable:
        """Return the steps that can be executed in this state, where some step cannot. The result is not
        cached.
        """
        moves: list[tuple[int, int]] = []
        broken: list[tuple[int, tuple[str, ...]]] = []
        for number, step in enumerate(self._steps):
            may = packed & step.trigger == step.trigger and packed & step.needs == step.has
            result = step.run(packed) if may else None
            if isinstance(result, tuple):
                moves.append((number, packed & result[0] | result[1]))
                if len(result) == 3:
                    broken.append((number, _properties(step, result[2])))
                self._enabled.add(number)
        return moves, broken

    def events(self, packed: int, number: int) -> tuple[Any, ...]:
        """Return the events of the step in this state."""
        step = self._steps[number].ground
        if not step.events:
            return ()
        if number not in self._emitters:
            text = events_source("events", step, self.packing)
            self._emitters[number] = cast("Events", compile_functions([("events", text)])["events"])
        raw = self._emitters[number](packed)
        events = self._events.get((number, raw))
        if events is None:
            types = [event.type for event in step.events]
            events = tuple(self.program.domain(types[position]).value(rank) for position, rank in raw)
            self._events[number, raw] = events
        return events

    def coverage(self) -> dict[str, int]:
        """Return for each action with how many different arguments it was enabled in at least one expanded
        state.
        """
        counts = dict.fromkeys(self._catalogue.actions, 0)
        for number in self._enabled:
            counts[self._steps[number].step.action] += 1
        return counts

    def run(self, packed: int, steps: Iterable[Specialised]) -> tuple[Effect, ...]:
        """Return the effects in this state of those of the given steps that are enabled."""
        effects: list[Effect] = []
        for step in steps:
            if packed & step.needs != step.has:
                continue
            result = step.run(packed)
            if isinstance(result, tuple):
                number, broken = self._numbers[step], tuple[str, ...]()
                self._enabled.add(number)
                if len(result) == 3:
                    broken = _properties(step, result[2])
                    self._breaking = True
                effects.append((number, result[0], result[1], broken))
            elif result is not None:
                try:
                    list(self.program.reference.enabled(self.unpack(packed)))
                except SpecError as error:
                    raise StepError(step.step, error) from error
                raise InternalError(
                    f"generated code finds an error of the specification in {step.step}, the reference none"
                )
        return tuple(effects)

    # Conditions ---------------------------------------------------------------------------------------------

    def predicate(self, name: str) -> Callable[[int], bool]:
        """Return the compiled predicate of this name."""
        if name not in self._predicates:

            def asked(state: State) -> object:
                return self.program.reference.holds(state, name)

            self._predicates[name] = self._condition(name, ground_predicate(self.program, name), asked)
        return self._predicates[name]

    def formula(self, call: ir.Call, values: Mapping[str, Any]) -> Callable[[int], bool]:
        """Return a compiled condition on states: a call of a helper or predicate with these values of its
        parameters.
        """
        if all(item.name != call.function for item in self.program.module.functions):
            return self.predicate(call.function)
        arguments = [values[item.name][1] for item in call.arguments if isinstance(item, ir.Name)]

        def asked(state: State) -> object:
            return self.program.reference.evaluate(state, call.function, *arguments)

        return self._condition(call.function, ground_formula(self.program, call, dict(values)), asked)

    def budget_limited(
        self, union: int, chosen: Callable[[Step], bool] | None = None, *, faults: bool = False
    ) -> Callable[[int], bool] | None:
        """Return the compiled condition that only a spent budget disables a step of the algorithm. `union` is
        the union of the packed states for which it is asked. None if no budget disables such a step.
        """
        condition = held_back_within(self.program, self.packing.unpack(union), chosen, faults=faults)
        if condition is None:
            return None
        text = predicate_source("holds", condition, (), self.packing)
        return cast("Callable[[int], bool]", compile_functions([("holds", text)])["holds"])

    def _condition(
        self, name: str, ground: GroundPredicate, asked: Callable[[State], object]
    ) -> Callable[[int], bool]:
        """Return the condition as a function that caches its value by the bits that it reads; where the
        condition has no value, the reference says why.
        """
        text = predicate_source("condition", ground.holds, ground.checks, self.packing)
        run = cast("Callable[[int], bool | int]", compile_functions([("condition", text)])["condition"])
        mask = footprint([ground.holds, *(check.wrong for check in ground.checks)], self.packing)
        known: dict[int, bool] = {}

        def holds(packed: int) -> bool:
            value = known.get(packed & mask)
            if value is None:
                result = run(packed)
                if result is not True and result is not False:
                    asked(self.unpack(packed))
                    raise InternalError(f"generated code finds an error in {name}, the reference none")
                value = known[packed & mask] = result
            return value

        return holds

    def _regroup(self) -> None:
        for step in self._catalogue.steps:
            if step not in self._numbers:
                self._numbers[step] = len(self._steps)
                self._steps.append(step)
        old = {(memory.group.mask, memory.group.fault): memory for memory in self._groups}
        groups = make_groups(self._catalogue.steps, self.packing)
        self._groups = [_Memory(group, self, old.get((group.mask, group.fault))) for group in groups]


class _Variable:
    """State variable within packed states. States differ in few of its values, so each value is made once for
    its bits.
    """

    __slots__ = ("_known", "_mask", "_packing", "_range", "_shape")

    def __init__(self, shape: Shape, packing: Packing, offset: int) -> None:
        self._shape, self._packing, self._range = shape, packing, slice(offset, offset + shape.width)
        self._mask = 0
        for place in packing.places[self._range]:
            self._mask |= place.mask
        self._known: dict[int, Any] = {}

    def value(self, packed: int) -> Any:
        """Return the value that the variable has in this packed state."""
        bits = packed & self._mask
        try:
            return self._known[bits]
        except KeyError:
            pass
        if len(self._known) == MOST_VALUES:
            self._known.clear()
        leaves = self._packing.unpack(bits, self._range)
        value = self._known[bits] = frozen(self._shape.value(leaves), self._shape.domain)
        return value


def _properties(step: Specialised, broken: Iterable[int]) -> tuple[str, ...]:
    """Return the properties that a step breaks, from the places that the generated function gives."""
    return tuple(dict.fromkeys(step.ground.breaks[place].property for place in broken))


class _Entry:
    """Effects of a group's steps where the group's bits have one value: those without a trigger, and those
    for each present trigger; `alive` are the triggers that may still have effects.
    """

    __slots__ = ("alive", "always", "by_trigger")

    def __init__(self, always: tuple[Effect, ...], alive: int) -> None:
        self.always, self.alive = always, alive
        self.by_trigger: dict[int, tuple[Effect, ...]] = {}


class _Memory:
    """Cache of the effects of the steps of one group, by the bits that they read."""

    def __init__(self, group: Group, transitions: PythonTransitions, old: _Memory | None) -> None:
        self.group, self.mask = group, group.mask
        self.entries: dict[int, _Entry] = {}
        self._transitions = transitions
        if old is not None and group.extends(old.group):
            fresh = group.triggers & ~old.group.triggers
            self.entries = old.entries
            for entry in self.entries.values():
                entry.alive |= fresh

    def open(self, packed: int) -> _Entry:
        """Run the group's steps that need no trigger in this state, and cache their effects."""
        entry = _Entry(self._transitions.run(packed, self.group.statics), self.group.triggers)
        self.entries[packed & self.mask] = entry
        return entry

    def detail(self, entry: _Entry, packed: int, bit: int) -> tuple[Effect, ...]:
        """Run the group's steps of one trigger in this state, and cache their effects."""
        effects = entry.by_trigger[bit] = self._transitions.run(packed, self.group.triggered[bit])
        if not effects:
            entry.alive &= ~bit
        return effects
