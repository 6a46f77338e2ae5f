"""The state graph of a small model for drawing programs, as GraphML or DOT.

A node is a state, with its variables in the short notation; an edge is a step. This file explores nothing.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from antiphon.model.changes import described
from antiphon.model.named import named_states, text
from antiphon.model.notation import compact_step
from antiphon.spec.lang import Program, State

if TYPE_CHECKING:
    from typing import Any

    import networkx

MOST_STATES = 2_000
"""Largest number of states of an exported graph; nobody could read a larger one."""


def labelled(program: Program, graph: networkx.MultiDiGraph[int]) -> networkx.MultiDiGraph[int]:
    """Return the state graph of a program, as explored, with texts in place of states and steps.

    A node has `label` (a line a part of the state), `initial`, `broken` (the invariants that are false there,
    joined by commas) and each variable as `variable.NAME`; an edge `label` (the step), `action`, `fault`, and
    `broken` (the properties that the step breaks).

    Raises:
        SpecError: an invariant cannot be evaluated in some state.
    """
    import networkx  # here, because loading it takes longer than most commands

    named = named_states(program)
    invariants = [method.mark.name for method in program.declaration.marked("invariant") if method.mark]
    made: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(name=program.name)
    for node, data in graph.nodes(data=True):
        state = named(data["state"])
        broken = ", ".join(name for name in invariants if not program.reference.holds(state, name))
        made.add_node(node, **_shown(program, state), initial=data["initial"], broken=broken)
    for source, target, data in graph.edges(data=True):
        step, broken = data["step"], ", ".join(data["broken"])
        label = compact_step(step)
        made.add_edge(source, target, label=label, action=step.action, fault=data["fault"], broken=broken)
    return made


def _shown(program: Program, state: State) -> dict[str, Any]:
    label = "\n".join(f"{where} = {value}" for where, value in described(program, state))
    values = zip(program.variables, state, strict=True)
    return {"label": label, **{f"variable.{name}": text(value) for name, value in values}}


def graphml(graph: networkx.MultiDiGraph[int]) -> str:
    """Return a labelled state graph as GraphML, which Gephi, yEd and Cytoscape open."""
    import networkx

    written = io.BytesIO()
    networkx.write_graphml(graph, written)
    return written.getvalue().decode("utf-8")


def dot(graph: networkx.MultiDiGraph[int]) -> str:
    """Return a labelled state graph for Graphviz: initial states bold, broken ones red, faults dashed."""
    styled = ["  node [shape=box, fontname=monospace];", "  edge [fontname=monospace];"]
    lines = [f"digraph {_quoted(graph.name)} {{", *styled]
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
    """Return a string of DOT; its lines are left-aligned."""
    return json.dumps(text + "\n" if "\n" in text else text, ensure_ascii=False).replace("\\n", "\\l")
