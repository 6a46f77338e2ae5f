"""Comparison of two programs up to stuttering: whether they differ only in steps that change nothing, and in
the names of steps.

Everything that is true of a state, of a step that changes something, or of a run without regard to repeated
states, is then the same for both: Lamport's "invariant under stuttering".

This file knows nothing of properties.
"""

from __future__ import annotations

from antiphon.model.bounds import Bounds
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.engines.python.transitions import PythonTransitions
from antiphon.model.explore.search import Search
from antiphon.spec.lang import Program


def differs_by_stuttering(program: Program, other: Program, bounds: Bounds) -> bool:
    """Return True if both programs have the same states, and in each state the same steps to other states;
    False if they differ, or if the bounds leave no time to decide.
    """
    if program.variables != other.variables:
        return False
    ways = _ways(program, bounds)
    return ways is not None and ways == _ways(other, bounds)


def _ways(program: Program, bounds: Bounds) -> dict[int, frozenset[int]] | None:
    """Return, for each state, the other states to which a step leads; None if that exceeds the bounds."""
    transitions = PythonTransitions(program)
    space = TransitionSpace(transitions)
    search = Search(space, bounds=bounds)
    search.run()
    if not search.walk.complete:
        return None
    return {
        packed: frozenset(after for _, after in transitions.successors(packed)) - {packed}
        for packed in space.packed
    }
