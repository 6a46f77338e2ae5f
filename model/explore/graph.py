"""State graph for other tools, as a networkx multigraph: a node for each state, an edge for each
transition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from antiphon.model.bounds import UNBOUNDED, Bounds
from antiphon.model.engines.choice import Engine, engine_named, transitions_by
from antiphon.model.engines.interface import NO_PARENT
from antiphon.model.explore.explorer import Visitor, walk
from antiphon.spec.lang import Program

if TYPE_CHECKING:
    import networkx


def state_graph(
    program: Program,
    *,
    bounds: Bounds = UNBOUNDED,
    engine: Engine | str = Engine.GENERATED,
) -> networkx.MultiDiGraph[int]:
    """Return the reachable states and transitions of `program` as a `networkx.MultiDiGraph`.

    Nodes are numbered in the order of discovery and have `state` (tuple of values) and `initial`; edges have
    `step`, `fault`, `events` and `broken` (names of properties). `graph.graph` has `program`, `variables`,
    `complete` and `stopped`; states at a bound have no edges.

    Raises:
        SpecError: the specification has an error on the explored part.
    """
    import networkx  # here, because loading it takes longer than most checks

    transitions = transitions_by(program, engine_named(engine))
    edges = _Edges()
    space, explorer = walk(transitions, edges, bounds)
    if space.failure is not None:
        raise space.failure
    faults = {action.name for action in program.module.actions if action.fault}
    graph: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(
        program=program.name,
        variables=program.variables,
        complete=explorer.complete,
        stopped=explorer.stopped,
    )
    for number in range(len(space)):
        graph.add_node(number, state=space.value(number), initial=space.parent(number) == NO_PARENT)
    for state, moves in enumerate(edges.moves):
        packed = space.packed[state]
        broken = dict(transitions.broken(packed))
        for number, target in moves:
            step, events = transitions.step(number), transitions.events(packed, number)
            graph.add_edge(
                state,
                target,
                step=step,
                fault=step.action in faults,
                events=events,
                broken=broken.get(number, ()),
            )
    return graph


class _Edges(Visitor):
    """Visitor that collects the transitions of each expanded state."""

    def __init__(self) -> None:
        self.moves: list[Sequence[tuple[int, int]]] = []

    def transitions(self, _state: int, moves: Sequence[tuple[int, int]]) -> None:
        """Keep the transitions of a state."""
        self.moves.append(moves)
