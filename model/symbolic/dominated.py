"""Dominated steps: those after which no more is possible than before; a shortest run needs none.

A literal of the state *helps* when it occurs only positively in guards and in the target, directly or through
other literals that help; a packet in flight is one, as long as no guard needs its absence. If a step only
takes such literals away (a lost packet, a packet received in vain, one more round counted), then everything
that is possible after it is possible before it, one step earlier: simulation, ordered by the helpful
literals. The same holds for literals that hinder (they occur only negatively), the other way round.

The judgement needs every instance that a run within the bound may take; `closure` finds a superset by letting
each literal that some possible instance changes have any value. This file knows nothing of Z3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from antiphon.model.ground.form import Number
from antiphon.model.symbolic.circuit import FALSE, TRUE, Circuit
from antiphon.model.symbolic.steps import Change, Instance, Template
from antiphon.spec.lang.watch import working

HELPS = 1
HINDERS = 2
BOTH = HELPS | HINDERS
_OPPOSITE = {0: 0, HELPS: HINDERS, HINDERS: HELPS, BOTH: BOTH}


@dataclass(frozen=True)
class Closure:
    """Superset of what runs of bounded length may do: the instances that they may take, and the state's
    literals, each a constant if no run changes it, else its variable.
    """

    literals: Sequence[int]
    instances: Sequence[Instance]

    def values(self, template: Template) -> dict[int, int]:
        """Return the literal for each variable of the template, as a memo for substitution."""
        return {1: TRUE, **dict(zip(template.variables, self.literals, strict=True))}


def closure(template: Template, first: Sequence[int], depth: int, *, faults: bool = True) -> Closure:
    """Return a superset of the instances and changes of runs of at most `depth` steps from `first`.

    Without `faults` runs have no steps of the environment.
    """
    circuit = template.circuit
    pairs = zip(first, template.variables, strict=True)
    literals = [literal if literal in (TRUE, FALSE) else own for literal, own in pairs]

    def possible(memo: dict[int, int]) -> list[Instance]:
        allowed = (item for item in template.possible(literals) if faults or not item.fault)
        return [item for item in allowed if _may(circuit, item, memo)]

    for _ in range(depth + 1):
        memo = {1: TRUE, **dict(zip(template.variables, literals, strict=True))}
        freed = {
            change.cell
            for instance in possible(memo)
            for change in instance.changes
            if (now := literals[change.cell]) in (TRUE, FALSE) and _next(circuit, change, now, memo) != now
        }
        if not freed:
            break
        for cell in freed:
            literals[cell] = template.variables[cell]
    memo = {1: TRUE, **dict(zip(template.variables, literals, strict=True))}
    return Closure(literals, possible(memo))


def _may(circuit: Circuit, instance: Instance, memo: dict[int, int]) -> bool:
    return any(
        circuit.substitute(literal, {}, memo) != FALSE for literal in (instance.enabled, instance.wrong)
    )


def _next(circuit: Circuit, change: Change, now: int, memo: dict[int, int]) -> int:
    given = circuit.substitute(change.literal, {}, memo)
    return circuit.disjunction((now, given)) if change.adds else given


class Roles:
    """Role of each literal of the state for the runs of a closure: it helps, hinders, both, or (0) nothing.

    Args:
        template: whose instances and literals they are.
        found: the closure.
        wanted: literals of the target; each counts positively.
    """

    def __init__(self, template: Template, found: Closure, wanted: Iterable[int]) -> None:
        self.template, self.circuit = template, template.circuit
        self._memo = found.values(template)
        self.of: list[int] = [0] * len(template.cells)
        self._cell = {variable: cell for cell, variable in enumerate(template.variables)}
        for literal in wanted:
            self._read(literal, HELPS)
        for instance in found.instances:
            self._read(instance.runs, HELPS)
        self._settle(found.instances)

    def _occurrences(self, literal: int) -> Mapping[int, int]:
        working("translating")
        moved = self.circuit.substitute(literal, {}, self._memo)
        return {self._cell[variable]: role for variable, role in self.circuit.polarity(moved).items()}

    def _read(self, literal: int, role: int) -> None:
        for cell, polarity in self._occurrences(literal).items():
            self.of[cell] |= _through(role, polarity)

    def _settle(self, instances: Sequence[Instance]) -> None:
        """Spread the roles, helps and hinders, until nothing changes; then find the literals to keep.

        The literals from which a step computes the next value of a literal get the role of that literal, or
        the opposite one where they occur negated.
        """
        changes = [change for instance in instances for change in instance.changes]
        made = [(change.cell, self._occurrences(change.literal)) for change in changes]
        self._spread(made)
        self._keep(made)

    def _spread(self, made: Sequence[tuple[int, Mapping[int, int]]]) -> None:
        settled = False
        while not settled:
            settled = True
            for cell, occurrences in made:
                for source, polarity in occurrences.items():
                    role = self.of[source] | _through(self.of[cell], polarity)
                    if role != self.of[source]:
                        self.of[source], settled = role, False

    def _keep(self, made: Sequence[tuple[int, Mapping[int, int]]]) -> None:
        """Collect in `kept` the literals with a role, all values of a number of which one is kept, and the
        literals from which kept ones are made.
        """
        sources: dict[int, set[int]] = {}
        for cell, occurrences in made:
            sources.setdefault(cell, set()).update(occurrences)
        self.kept: set[int] = set()
        pending = [cell for cell, role in enumerate(self.of) if role]
        cells = self.template.cells
        while pending:
            cell = pending.pop()
            if cell not in self.kept:
                self.kept.add(cell)
                pending.extend(sources.get(cell, ()))
                slot = cells.cells[cell].slot
                if isinstance(cells.layout.slots[slot].sort, Number):
                    pending.extend(cells.of[slot])

    def trim(self, instance: Instance) -> Instance:
        """Return the instance without changes that nothing reads; if it is dominated, it is never taken."""
        changes = tuple(change for change in instance.changes if change.cell in self.kept)
        gains = self.circuit.disjunction([self._gain(change) for change in changes])
        return self.template.with_changes(instance, changes, self.circuit.conjunction((instance.runs, gains)))

    def _gain(self, change: Change) -> int:
        own, role = self.template.variables[change.cell], self.of[change.cell]
        gains: list[int] = []
        if role & HELPS:
            gains.append(self.circuit.conjunction((change.literal, -own)))
        if role & HINDERS and not change.adds:
            gains.append(self.circuit.conjunction((-change.literal, own)))
        return self.circuit.disjunction(gains)


def _through(role: int, polarity: int) -> int:
    """Return the role of an operand that occurs with this polarity in a literal with this role."""
    found = 0
    if polarity & HELPS:
        found |= role
    if polarity & HINDERS:
        found |= _OPPOSITE[role]
    return found
