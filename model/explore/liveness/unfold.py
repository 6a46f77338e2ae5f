"""Unfolding of a lasso of representatives of orbits to a run of the specification: the cycle is repeated
until it returns to the same state, and not only to another state of its orbit.

The repetition ends, since an orbit is finite. This file asks CPython for each step.
"""

from __future__ import annotations

from antiphon.model.explore.liveness.lasso import Lasso
from antiphon.model.explore.liveness.walk import FairGraph
from antiphon.model.verdict import InternalError
from antiphon.spec.lang import State, Step


def unfolded(graph: FairGraph, lasso: Lasso) -> tuple[State, list[Step], int]:
    """Return the state in which a lasso begins, its steps, and the number of steps before its cycle.

    Raises:
        InternalError: the specification has no such run.
    """
    if not graph.symmetric:
        steps = [graph.step(edge) for edge in (*lasso.stem, *lasso.cycle)]
        return graph.state(lasso.start), steps, len(lasso.stem)
    starts = graph.program.reference.initial()
    start = here = next(state for state in starts if graph.stands_for(lasso.start, state))
    taken: list[Step] = []
    for edge in lasso.stem:
        here = _followed(graph, edge, here, taken)
    seen: dict[State, int] = {}
    while here not in seen:
        seen[here] = len(taken)
        for edge in lasso.cycle:
            here = _followed(graph, edge, here, taken)
    return start, taken, seen[here]


def _followed(graph: FairGraph, edge: int, here: State, taken: list[Step]) -> State:
    """Return the state to which a step of this edge leads from `here`, and append the step to `taken`."""
    for transition in graph.program.reference.successors(here):
        if transition.state != here and graph.is_edge(edge, here, transition):
            taken.append(transition.step)
            return transition.state
    raise InternalError(f"no step of {here} is the one that was found between orbits: {graph.step(edge)}")
