"""What does a state graph look like to other tools? A networkx multigraph: one node a state, one edge a transition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from antiphon.model.explicit.checking import open_space
from antiphon.model.explicit.compiled import CompiledMachine
from antiphon.model.explicit.search import Bounds, Search
from antiphon.model.explicit.space import NO_PARENT
from antiphon.spec.lang import Program, State

if TYPE_CHECKING:
    import networkx


def state_graph(
    program: Program,
    *,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_depth: int | None = None,
    engine: str = "generated",
) -> networkx.MultiDiGraph:
    """The reachable states and transitions of `program` as a `networkx.MultiDiGraph`.

    Nodes are numbered in the order of discovery and have `state` (tuple of values) and `initial`; edges have `step`, `fault`, `events` and
    `broken` (names of properties). `graph.graph` has `program`, `variables` and `complete`; of states at a bound there are no edges.

    Raises:
        SpecError: the specification has an error on the explored part.
    """
    import networkx  # here, because loading it takes longer than most checks

    space = open_space(program, engine)
    search = Search(space, bounds=Bounds(max_states, max_seconds, max_depth))
    search.run()
    machine = CompiledMachine(program) if engine == "generated" else program.reference
    faults = {method.name for method in program.declaration.marked("environment")}
    graph = networkx.MultiDiGraph(program=program.name, variables=program.variables, complete=search.complete)
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
