"""Cone of influence: the leaves of the state on which the asked properties depend. A guard or an asked
property reads such a leaf, directly or through other leaves.

The other leaves are never stored. Two states that differ only in them take the same steps to states that
differ only in them, and every asked property, obligations and deadlock included, is the same in both. The
ground form shows what is read.

This file knows nothing of packing or searching.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from antiphon.model.engines.native.compiler.specialise import reached
from antiphon.model.ground import ground, ground_predicate, layout
from antiphon.model.ground.form import Expression, GroundStep, Operator
from antiphon.spec.lang import Program


@dataclass(frozen=True)
class Reduction:
    """The reductions of a kernel.

    Attributes:
        symmetric: one state stands for all that differ from it in the names of interchangeable members only.
        asked: the properties that are asked; leaves that do not matter to them are left out. None: everything
            is kept.
    """

    symmetric: bool = False
    asked: frozenset[str] | None = None

    def predicates(self, program: Program) -> tuple[str, ...]:
        """Return the predicates that the kernel computes, in the order of the program."""
        names = (predicate.name for predicate in program.module.predicates)
        return tuple(name for name in names if self.asked is None or name in self.asked)

    def properties(self, program: Program) -> tuple[str, ...]:
        """Return the properties that steps may break, in the order of the program."""
        return tuple(name for name in program.module.properties if self.asked is None or name in self.asked)

    def stored_slots(self, program: Program) -> frozenset[int]:
        """Return the positions of the slots that are stored."""
        every = frozenset(range(len(layout(program).slots)))
        return every if self.asked is None else _relevant(program, self.asked)

    def step(self, program: Program, step: GroundStep) -> GroundStep:
        """Return the step without the parts that are left out."""
        if self.asked is None:
            return step
        kept = self.stored_slots(program)
        updates = tuple((slot, value) for slot, value in step.updates if slot in kept)
        return replace(
            step, updates=updates, breaks=tuple(item for item in step.breaks if item.property in self.asked)
        )

    def key(self) -> str:
        """Return a text that is different for different reductions, for the cache of kernels."""
        return f"{self.symmetric} {'all' if self.asked is None else ' '.join(sorted(self.asked))}"


WHOLE = Reduction()
"""No reduction."""


@lru_cache(maxsize=16)
def _relevant(program: Program, asked: frozenset[str]) -> frozenset[int]:
    steps = [ground(program, method.name) for method in program.declaration.marked("action", "environment")]
    roots: list[Expression] = []
    sources: dict[int, list[Expression]] = defaultdict(list)
    for step in steps:
        roots += [step.enabled, *(check.wrong for check in step.checks)]
        roots += [item.broken for item in step.breaks if item.property in asked]
        for slot, value in step.updates:
            sources[slot].append(value)
    for predicate in program.module.predicates:
        if predicate.name in asked:
            question = ground_predicate(program, predicate.name)
            roots += [question.holds, *(check.wrong for check in question.checks)]
    found: set[int] = set()
    todo = sorted(_slots(roots))
    while todo:
        slot = todo.pop()
        if slot not in found:
            found.add(slot)
            todo += sorted(_slots(sources[slot]) - found)
    return frozenset(found)


def _slots(roots: Iterable[Expression]) -> set[int]:
    return {int(node.value) for node in reached(list(roots)) if node.operator is Operator.SLOT}
