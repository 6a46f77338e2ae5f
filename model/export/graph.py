"""The state graph of a small model: a networkx graph of states and steps, written as GraphML or DOT.

A node is a state, with its variables in the short notation; an edge is a step. Graphs that nobody could read
are refused, not drawn.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from antiphon.model.changes import described
from antiphon.model.notation import compact, compact_step
from antiphon.spec.lang import Program, SpecError, State

if TYPE_CHECKING:
    from typing import Any

    import networkx

MOST_STATES = 2_000


def state_graph(program: Program, most: int = MOST_STATES) -> networkx.MultiDiGraph[int]:
    """The reachable states and all steps between them; nodes are numbered breadth-first, from 0.

    A node has `label` (a line a part of the state), `initial`, `broken` (the invariants that are false there,
    joined by commas) and each variable under its name; an edge `label` (the step), `action`, `fault`, and
    `broken` (the properties that the step breaks).

    Raises:
        SpecError: there are more than `most` states, or the specification has an error.
    """
    import networkx  # here, because loading it takes longer than most commands

    machine = program.reference
    invariants = [method.mark.name for method in program.declaration.marked("invariant") if method.mark]
    faults = {action.name: action.fault for action in program.module.actions}
    graph: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(name=program.name)
    numbers: dict[State, int] = {}

    def number(state: State, *, initial: bool = False) -> int:
        if state not in numbers:
            if len(numbers) == most:
                raise SpecError(f"{program.name} has more than {most:,} states: too many to be drawn", instead="smaller constants, or a higher limit")
            numbers[state] = len(numbers)
            broken = [name for name in invariants if not machine.holds(state, name)]
            graph.add_node(numbers[state], **_shown(program, state), initial=initial, broken=", ".join(broken))
        return numbers[state]

    for state in machine.initial():
        number(state, initial=True)
    waiting = list(numbers)
    for state in waiting:
        for transition in machine.successors(state):
            known = len(numbers)
            target = number(transition.state)
            if len(numbers) > known:
                waiting.append(transition.state)
            step = transition.step
            broken = dict.fromkeys(refusal.property for refusal in transition.refused)
            graph.add_edge(
                numbers[state], target, label=compact_step(step), action=step.action, fault=faults[step.action], broken=", ".join(broken)
            )
    return graph


def _shown(program: Program, state: State) -> dict[str, Any]:
    label = "\n".join(f"{where} = {value}" for where, value in described(program, state))
    values = {f"variable.{name}": compact(value) for name, value in zip(program.variables, state, strict=True)}
    return {"label": label, **values}


def graphml(program: Program, most: int = MOST_STATES) -> str:
    """The state graph as GraphML, which Gephi, yEd and Cytoscape open."""
    import networkx

    written = io.BytesIO()
    networkx.write_graphml(state_graph(program, most), written)
    return written.getvalue().decode("utf-8")


def dot(program: Program, most: int = MOST_STATES) -> str:
    """The state graph in the language of Graphviz: initial states bold, broken ones red, faults dashed."""
    graph = state_graph(program, most)
    lines = [f"digraph {_quoted(program.name)} {{", "  node [shape=box, fontname=monospace];", "  edge [fontname=monospace];"]
    for node, data in graph.nodes(data=True):
        styles = ["style=bold"] if data["initial"] else []
        styles += ["color=red"] if data["broken"] else []
        lines.append(f"  {node} [{', '.join([_label(data), *styles])}];")
    for source, target, data in graph.edges(data=True):
        styles = ["style=dashed"] if data["fault"] else []
        styles += ["color=red"] if data["broken"] else []
        lines.append(f"  {source} -> {target} [{', '.join([_label(data), *styles])}];")
    return "\n".join([*lines, "}", ""])


def _label(data: dict[str, Any]) -> str:
    return f"label={_quoted(data['label'])}"


def _quoted(text: str) -> str:
    """A string of DOT; lines end on the left."""
    return json.dumps(text + "\n" if "\n" in text else text, ensure_ascii=False).replace("\\n", "\\l")
