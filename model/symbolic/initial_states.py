"""Initial states of runs: the reference lists them, and Z3 chooses one by its selector.

This file knows nothing of steps or properties.
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphon.model.ground import flatten
from antiphon.model.symbolic.circuit import FALSE, TRUE
from antiphon.model.symbolic.domains import exactly_one
from antiphon.model.symbolic.solver import Solver
from antiphon.model.symbolic.steps import Template
from antiphon.spec.lang import State


@dataclass(frozen=True)
class InitialStates:
    """Literals of the first state of a run, and the initial states, each with the literal that chooses it."""

    literals: list[int]
    states: tuple[tuple[State, int], ...]


def initial_states(template: Template, solver: Solver) -> InitialStates:
    """Return the initial states of the template's program, exactly one of which is chosen."""
    program, circuit = template.program, template.circuit
    states = list(program.reference.initial())
    rows = [template.cells.constant(flatten(program, state)) for state in states]
    if len(rows) == 1:
        return InitialStates(rows[0], ((states[0], TRUE),))
    selectors = [circuit.variable() for _ in rows]
    exactly_one(solver, selectors)
    literals: list[int] = []
    for column in zip(*rows, strict=True):
        if len(set(column)) <= 1:
            literals.append(column[0])
        else:
            chosen = zip(selectors, column, strict=True)
            literals.append(circuit.disjunction([selector for selector, value in chosen if value != FALSE]))
    return InitialStates(literals, tuple(zip(states, selectors, strict=True)))
