"""Plain Python explores fast when a state is one integer, and what generated functions did is remembered.

The loop in `expand` is the only hot place of the engine: for every state and every group of steps two look-ups, then one `and`, one `or`
and one set membership for a successor. See `groups` for why that is exact.

This file knows nothing of properties, bounds or verdicts.
"""

from __future__ import annotations

import functools
import operator
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from antiphon.model.engines.interface import NO_PARENT, Block, Finding, Future, PredicateError
from antiphon.model.engines.python.catalogue import Catalogue, Specialised
from antiphon.model.engines.python.groups import Group, Rare, make_groups
from antiphon.model.engines.python.source import compile_functions, predicate_source
from antiphon.model.engines.recovery import futures
from antiphon.model.ground import flatten, ground_predicate, unflatten
from antiphon.model.ground.footprint import footprint
from antiphon.model.ground.form import Expression
from antiphon.spec.lang import Program, State

HOPELESS_SHARE = 0.6
"""A group stops remembering when it met something new in more than this share of a long block."""
LONG_BLOCK = 2_000


class GeneratedSpace:
    """The states of a program as packed integers; see `StateSpace` for the interface."""

    engine = "explicit, generated Python"
    block = 4_096

    def __init__(self, program: Program, initial: Iterable[State]) -> None:
        """A space that begins with the states `initial`."""
        self.program = program
        self.catalogue = Catalogue(program)
        self._packing = self.catalogue.packing
        self._states: list[int] = []
        self._seen: set[int] = set()
        self._parents = array("I")
        self._enabled: set[Specialised] = set()
        self._muted: set[str] = set()
        self._groups: list[Group] = []
        self._numbers: dict[int, int] = {}
        self._predicates: dict[str, Predicate] = {}
        for state in initial:
            packed = self.pack(state)
            if packed not in self._seen:
                self._seen.add(packed)
                self._states.append(packed)
                self._parents.append(NO_PARENT)
        for packed in self._states:
            self.catalogue.discover(packed)
        self._regroup()

    def __len__(self) -> int:
        """How many states are known with their parents: an interruption may leave one without."""
        return len(self._parents)

    def pack(self, state: State) -> int:
        """A state as an integer."""
        return self._packing.pack(flatten(self.program, state))

    def unpack(self, packed: int) -> State:
        """An integer as a state."""
        return unflatten(self.program, self._packing.unpack(packed))

    def union(self) -> tuple[int | bool, ...]:
        """The leaves of all known states joined bit by bit."""
        return self._packing.unpack(functools.reduce(operator.or_, self._states, 0))

    def where(self, condition: Expression) -> bytearray:
        """For every known state 1 when the condition is true in it, else 0."""
        holds = compile_functions([("holds", predicate_source("holds", condition, (), self._packing))])["holds"]
        return bytearray(map(cast("Callable[[int], bool]", holds), self._states[: len(self)]))

    # Exploring ---------------------------------------------------------------------------------------------------------------------------

    def expand(self, first: int, last: int) -> Block:
        """The successors of a block of states, appended where they are new."""
        states, seen = self._states, self._seen
        know, keep_state, note_parent = seen.add, states.append, self._parents.append
        transitions = 0
        findings: list[Finding] = []
        unknown = self.catalogue.unknown
        groups = [(group.mask, group.cache.get, group.open, group.detail) for group in self._groups]
        for index in range(first, last):
            state = states[index]
            if state & unknown:
                groups = self._discover(state)
                unknown = self.catalogue.unknown
            for mask, remembered, open_entry, detail in groups:
                entry = remembered(state & mask) or open_entry(state)
                effective, idle, by_triggers, _ = entry
                moves = by_triggers.get(state & effective)
                if moves is None:
                    moves = detail(entry, state)
                    idle = entry[1]
                count, pairs, rare = moves
                transitions += count
                if idle:
                    transitions += (state & idle).bit_count()
                for keep, add in pairs:
                    after = state & keep | add
                    if after not in seen:
                        know(after)
                        keep_state(after)
                        note_parent(index)
                if rare:
                    findings.extend(self._findings(index, rare))
        self._forget_the_hopeless(last - first)
        return Block(transitions, tuple(findings))

    def _learn(self, state: int) -> None:
        """Make the steps that elements of this state bring for the first time."""
        if state & self.catalogue.unknown and self.catalogue.discover(state):
            self._regroup()

    def _discover(self, state: int) -> list[tuple[int, Any, Any, Any]]:
        self._learn(state)
        return [(group.mask, group.cache.get, group.open, group.detail) for group in self._groups]

    def _regroup(self) -> None:
        self._groups = make_groups(self.catalogue.steps, self._packing, self._enabled, self._groups)

    def _forget_the_hopeless(self, length: int) -> None:
        for group in self._groups:
            if length >= LONG_BLOCK and group.misses > HOPELESS_SHARE * length:
                group.hopeless = True
                group.cache.clear()
            group.misses = 0

    def _findings(self, index: int, rare: Sequence[Rare]) -> Iterator[Finding]:
        for step, broken in rare:
            if broken is None:
                yield Finding(index, step.step, error="a check fails")
                continue
            names = dict.fromkeys(step.ground.breaks[position].property for position in broken)
            properties = tuple(name for name in names if name not in self._muted)
            if properties:
                yield Finding(index, step.step, properties)

    def mute(self, property: str) -> None:
        """Report no more findings about this property."""
        self._muted.add(property)

    # Predicates --------------------------------------------------------------------------------------------------------------------------

    def predicate(self, name: str) -> Predicate:
        """The compiled predicate of this name."""
        if name not in self._predicates:
            self._predicates[name] = Predicate(self.program, name, self)
        return self._predicates[name]

    def screen(self, predicates: Sequence[str], first: int, last: int) -> Iterable[tuple[int, str, bool]]:
        """(state, predicate, value) where an invariant is false or a witness true."""
        found = []
        block = self._states[first:last]
        for name in predicates:
            predicate = self.predicate(name)
            wanted, mask, same = predicate.wanted, predicate.mask, predicate.uninteresting
            for offset, state in enumerate(block):
                if state & mask not in same and predicate(state, first + offset) is wanted:
                    found.append((first + offset, name, wanted))
        return sorted(found, key=lambda item: item[0])

    def truth(self, predicate: str) -> bytearray:
        """For every state whether the predicate is true in it."""
        test = self.predicate(predicate)
        mask, known = test.mask, dict[int, bool]()
        values = bytearray(len(self))
        for number, state in enumerate(self._states[: len(values)]):
            value = known.get(state & mask)
            if value is None:
                value = known[state & mask] = test(state, number)
            values[number] = value
        return values

    # Looking back ------------------------------------------------------------------------------------------------------------------------

    def successors(self, state: int) -> tuple[bool, list[int]]:
        """Whether only faults are enabled, and the numbers of the known states that other steps lead to."""
        if len(self._numbers) < len(self):
            self._numbers = {packed: number for number, packed in enumerate(self._states)}
        packed, number_of = self._states[state], self._numbers.get
        self._learn(packed)
        stuck = True
        found = []
        for group in self._groups:
            if group.fault:
                break
            entry = group.cache.get(packed & group.mask) or group.open(packed)
            count, pairs, _ = entry[2].get(packed & entry[0]) or group.detail(entry, packed)
            stuck = stuck and not count and not packed & entry[1]
            found += [number_of(packed & keep | add) for keep, add in pairs]
        return stuck, [number for number in found if number is not None]

    def futures(self, expanded: int, truths: Mapping[str, bytearray], *, complete: bool) -> dict[str, Future]:
        """What `obligations.futures` says of this space."""
        return futures(self, expanded, truths, complete=complete)

    def parent(self, state: int) -> int:
        """The state that this one was found from."""
        return self._parents[state]

    def value(self, state: int) -> State:
        """The state as a tuple of values."""
        return self.unpack(self._states[state])

    def stands_for(self, state: int, value: State) -> bool:
        """Whether this is the value of the state."""
        return self.value(state) == value

    def coverage(self) -> dict[str, int]:
        """For each action with how many argument tuples it was enabled somewhere."""
        counts = dict.fromkeys(self.catalogue.actions, 0)
        for step in self._enabled:
            counts[step.step.action] += 1
        return counts


class Predicate:
    """A compiled predicate. It remembers for which values of the bits it reads the answer is the usual one (`uninteresting`)."""

    def __init__(self, program: Program, name: str, space: GeneratedSpace) -> None:
        ground = ground_predicate(program, name)
        packing = space.catalogue.packing
        text = predicate_source("predicate", ground.holds, ground.checks, packing)
        self.name = name
        self.wanted = any(method.mark is not None and method.mark.name == name for method in program.declaration.marked("witness"))
        self.mask = footprint([ground.holds, *(check.wrong for check in ground.checks)], packing)
        self.uninteresting: set[int] = set()
        self._asked = 0
        self._run = cast("Callable[[int], bool | int]", compile_functions([("predicate", text)])["predicate"])

    def __call__(self, state: int, number: int) -> bool:
        """Its value in a packed state; `number` is named when it cannot be evaluated there (PredicateError)."""
        result = self._run(state)
        if result is True or result is False:
            self._asked += 1
            if result is not self.wanted and (self._asked < LONG_BLOCK or not self._asked & 15):
                self.uninteresting.add(state & self.mask)
            return result
        raise PredicateError(number, self.name)
