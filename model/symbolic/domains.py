"""Constraints that make a row of literals a state: numbers have one value, and absent parts their least form.

Runs from initial states need none of this: flattened states satisfy it and steps keep it. Induction begins
anywhere, and needs it.

This file knows nothing of steps or properties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.model.ground.form import Number
from antiphon.model.ground.layout import plan
from antiphon.model.ground.shape import Shape
from antiphon.model.symbolic.circuit import FALSE, TRUE, Circuit
from antiphon.model.symbolic.solver import Solver
from antiphon.model.symbolic.translate import Cells
from antiphon.spec.lang import Program, types


def assume_state(program: Program, cells: Cells, literals: Sequence[int], solver: Solver) -> None:
    """Assert that `literals`, one for each cell, are a state of the program's domains."""
    for slot, info in enumerate(cells.layout.slots):
        if isinstance(info.sort, Number):
            exactly_one(solver, [literals[cell] for cell in cells.of[slot]])
    form = _Form(cells, literals, solver.circuit)
    for shape, offset in plan(program).variables.values():
        for claim in form.claims(shape, offset):
            solver.require(claim)


def exactly_one(solver: Solver, literals: Sequence[int]) -> list[int]:
    """Assert that exactly one of `literals` is true.

    Return for each position a literal that is true when one of `literals` up to this position is true.
    """
    solver.clause(literals)
    prefixes: list[int] = []
    before = FALSE
    for literal in literals:
        prefix = literal if before == FALSE else solver.circuit.variable()
        if before != FALSE:
            solver.clause((-literal, prefix))
            solver.clause((-before, prefix))
            solver.clause((-prefix, literal, before))
            solver.clause((-literal, -before))
        prefixes.append(prefix)
        before = prefix
    return prefixes


class _Form:
    """Canonical form that flattening gives to absent values, over one row of literals."""

    def __init__(self, cells: Cells, literals: Sequence[int], circuit: Circuit) -> None:
        self.cells, self.literals, self.circuit = cells, literals, circuit

    def claims(self, shape: Shape, offset: int) -> Iterator[int]:
        """Yield, for each part of a value whose leaves begin at `offset`, the literal that the part is
        present or has its least form.
        """
        for present, part, begin in self._parts(shape, offset):
            if present != TRUE:
                least = [self._holds(begin + place, raw) for place, raw in enumerate(part.least)]
                yield self.circuit.disjunction((present, self.circuit.conjunction(least)))
            yield from self.claims(part, begin)

    def _parts(self, shape: Shape, offset: int) -> Iterator[tuple[int, Shape, int]]:
        match shape.type:
            case types.Optional():
                yield self._holds(offset, True), shape.parts[0], offset + 1
            case types.Union():
                for number, (part, at) in enumerate(zip(shape.parts, shape.offsets, strict=True)):
                    yield self._holds(offset, number), part, offset + at
            case types.SequenceOf():
                item, most = shape.parts[0], shape.domain.most
                for place in range(most):
                    longer = self.circuit.disjunction(
                        [self._holds(offset, length) for length in range(place + 1, most + 1)]
                    )
                    yield longer, item, offset + 1 + place * item.width
            case types.MapOf():
                value = shape.parts[1]
                for place in range(shape.parts[0].domain.cardinality):
                    yield TRUE, value, offset + place * value.width
            case types.Record():
                for part, at in zip(shape.parts, shape.offsets, strict=True):
                    yield TRUE, part, offset + at

    def _holds(self, slot: int, raw: int | bool) -> int:
        """Return the literal that the slot has this raw value."""
        cells = [(self.cells.cells[cell].value, self.literals[cell]) for cell in self.cells.of[slot]]
        if isinstance(self.cells.layout.slots[slot].sort, Number):
            return next(literal for value, literal in cells if value == raw)
        return self.circuit.conjunction(
            [literal if int(raw) >> value & 1 else -literal for value, literal in cells]
        )
