"""To other tools the state graph is a networkx multigraph: one node a state, one edge a transition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from antiphon.model.bounds import UNBOUNDED, Bounds
from antiphon.model.engines.choice import Engine, engine_named, open_space
from antiphon.model.engines.interface import NO_PARENT
from antiphon.model.engines.python.machine import CompiledMachine
from antiphon.model.explore.search import Search
from antiphon.spec.lang import Program, State

if TYPE_CHECKING:
    import networkx


def state_graph(
    program: Program,
    *,
    bounds: Bounds = UNBOUNDED,
    engine: Engine | str = Engine.GENERATED,
) -> networkx.MultiDiGraph:
    """The reachable states and transitions of `program` as a `networkx.MultiDiGraph`.

    Nodes are numbered in the order of discovery and have `state` (tuple of values) and `initial`; edges have `step`, `fault`, `events` and
    `broken` (names of properties). `graph.graph` has `program`, `variables`, `complete` and `stopped`; of states at a bound there are no edges.

    Raises:
        SpecError: the specification has an error on the explored part.
    """
    import networkx  # here, because loading it takes longer than most checks

    engine = engine_named(engine)
    space = open_space(program, engine)
    search = Search(space, bounds=bounds)
    search.run()
    machine = program.reference if engine is Engine.REFERENCE else CompiledMachine(program)
    faults = {method.name for method in program.declaration.marked("environment")}
    graph = networkx.MultiDiGraph(program=program.name, variables=program.variables, complete=search.complete, stopped=search.stopped)
    numbers: dict[State, int] = {}
    for number in range(len(space)):
        state = space.value(number)
        numbers[state] = number
        graph.add_node(number, state=state, initial=space.parent(number) == NO_PARENT)
    for number in range(search.expanded):
        for transition in machine.successors(graph.nodes[number]["state"]):
            broken = tuple(dict.fromkeys(refusal.property for refusal in transition.refused))
            step = transition.step
            graph.add_edge(
                number, numbers[transition.state], step=step, fault=step.action in faults, events=transition.events, broken=broken
            )  # fmt: skip
    return graph
