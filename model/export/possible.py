"""Bounds from above, found without exploring, for the values of each slot and the possible steps.

Sets of packets have huge element types of which few elements are ever sent. This pass starts with the initial
states and adds, until nothing is new, every value that a step could write if every slot held any of its known
values independently (constant propagation over sets of values). Other values cannot occur in any reachable
state, so that a model for another tool needs no room for them.

This file knows nothing of the languages that models are written in.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.model.export.estimate import Estimate, Values, every_value, joined, narrowed
from antiphon.model.ground import ground, ground_initial, layout
from antiphon.model.ground.form import Bits, GroundStep, Number, Operator
from antiphon.spec.lang import Program
from antiphon.spec.lang.declare import MethodDeclaration

MOST_ROUNDS = 16
"""Number of rounds after which a growing number may be anything in its declared interval (widening)."""


@dataclass(frozen=True)
class Possible:
    """States and steps of a program that may occur: the values of each slot by position, and the steps in the
    order of the reference.
    """

    slots: tuple[Values, ...]
    steps: tuple[GroundStep, ...]


def possible(program: Program, members: Mapping[int, int] | None = None) -> Possible:
    """Return bounds from above for the reachable states and steps of a program.

    `members` are masks by the positions of bit-set slots: they are taken as they are, instead of being
    computed. The caller must make sure that no step leads out of them (`escapes` is the condition for one).

    Raises:
        SpecError: a step or a state cannot be made finite.
    """
    return _Search(program, dict(members or {})).run()


class _Search:
    """Search that adds possible values until no step adds any."""

    def __init__(self, program: Program, members: dict[int, int]) -> None:
        self.program, self.members = program, members
        self.layout = layout(program)
        self.actions = program.declaration.marked("action", "environment")
        self.steps: dict[tuple[int, ...], GroundStep] = {}
        self.elements: dict[str, int] = {}
        initial = ground_initial(program)
        self.slots: list[Values] = []
        for position, slot in enumerate(self.layout.slots):
            column = [int(state[position]) for state in initial]
            if isinstance(slot.sort, Bits):
                mask = 0
                for value in column:
                    mask |= value
                self.slots.append(members.get(position, mask))
            else:
                self.slots.append(frozenset(column))

    def run(self) -> Possible:
        """Return the bounds; see `possible`."""
        for turn in itertools.count():
            self._ground_new()
            before = list(self.slots)
            for step in self.steps.values():
                self._apply(step)
            if self.slots == before:
                break
            if turn >= MOST_ROUNDS:
                for position, (old, new) in enumerate(zip(before, self.slots, strict=True)):
                    if old != new and not isinstance(new, int):
                        self.slots[position] = every_value(self.layout.slots[position].sort)
        alive = [self.steps[order] for order in sorted(self.steps) if self._enabled(self.steps[order])]
        return Possible(tuple(self.slots), tuple(alive))

    def _enabled(self, step: GroundStep) -> bool:
        whole = Estimate(self.slots)
        return whole(step.enabled) != frozenset((0,)) or any(
            whole(check.wrong) != frozenset((0,)) for check in step.checks
        )

    def _apply(self, step: GroundStep) -> None:
        if Estimate(self.slots)(step.enabled) == frozenset((0,)):
            return
        there = Estimate(narrowed(self.slots, step.enabled))
        if there(step.enabled) == frozenset((0,)):
            return
        for position, value in step.updates:
            if position in self.members:
                continue
            written = there(value)
            sort = self.layout.slots[position].sort
            if isinstance(sort, Number):
                assert not isinstance(written, int)
                inside = [item for item in written or () if sort.low <= item <= sort.high]
                written = every_value(sort) if written is None else frozenset(inside)
            self.slots[position] = joined(self.slots[position], written)

    def _ground_new(self) -> None:
        """Ground the steps that newly possible elements of sets bring."""
        fresh = dict(self.elements)
        for method in self.actions:
            for parameter in method.parameters:
                if parameter.within:
                    fresh[parameter.within] = self._set_of(parameter.within)
        for number, method in enumerate(self.actions):
            for ranks, arguments in self._arguments(method, fresh):
                order = (number, *ranks)
                if order not in self.steps:
                    step = ground(self.program, method.name, arguments)
                    if step.enabled.operator is not Operator.CONSTANT or step.enabled.value or step.checks:
                        self.steps[order] = step
        self.elements = fresh

    def _set_of(self, variable: str) -> int:
        found = next(
            values
            for slot, values in zip(self.layout.slots, self.slots, strict=True)
            if slot.variable == variable
        )
        assert isinstance(found, int)
        return found

    def _arguments(
        self, method: MethodDeclaration, elements: dict[str, int]
    ) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        ranges = []
        for parameter in method.parameters:
            domain = self.program.domain(parameter.type)
            if parameter.within:
                whole = self.program.domains[parameter.within].parts[0]
                mask = elements[parameter.within]
                values = [whole.value(rank) for rank in range(mask.bit_length()) if mask >> rank & 1]
                ranges.append([(domain.rank(value), value) for value in values if domain.contains(value)])
            else:
                ranges.append(list(enumerate(domain)))
        for chosen in itertools.product(*ranges):
            yield tuple(rank for rank, _ in chosen), tuple(value for _, value in chosen)
