"""Search for the smallest stack as a shortest path in the graph of property sets.

A node is a set of properties that layers can produce from those of the network. An edge is a layer, from the
properties below it to those above it. The search is exhaustive: a stack that it does not find does not exist,
with any number of layers. Layers that add and mask nothing make no edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

import networkx as nx

from antiphon.model.composition.found import Found, Stack
from antiphon.model.verdict import Outcome
from antiphon.spec.composition import LAYERS, Layer, Property, properties_above

Node = frozenset[Property]


def property_graph(given: Iterable[Property], layers: Sequence[Layer] = LAYERS) -> nx.DiGraph[Node]:
    """Return the graph of the sets that can hold above some stack over `given`; an edge has its layers as
    `layers`.
    """
    graph: nx.DiGraph[Node] = nx.DiGraph()
    waiting = [frozenset(given)]
    graph.add_node(waiting[0])
    while waiting:
        below = waiting.pop()
        for layer in layers:
            above = properties_above(layer, below)
            if layer.requires <= below and above != below:
                if above not in graph:
                    waiting.append(above)
                if graph.has_edge(below, above):
                    graph.edges[below, above]["layers"].append(layer)
                else:
                    graph.add_edge(below, above, layers=[layer])
    return graph


def smallest_on_graph(
    wanted: Iterable[Property], given: Iterable[Property], layers: Sequence[Layer] = LAYERS
) -> Found:
    """Return the well-formed stacks of the fewest layers above which all wanted properties hold."""
    goal, start = frozenset(wanted), frozenset(given)
    graph = property_graph(start, layers)
    distance = nx.single_source_shortest_path_length(graph, start)
    ends = [node for node in graph if goal <= node]
    if not ends:
        unreachable = sorted(
            (item.name for item in goal if not any(item in node for node in graph)),
            key=lambda name: int(name[1:]),
        )
        reason = (
            f"no layer can bring {', '.join(unreachable)}"
            if unreachable
            else "no stack has all of it at once"
        )
        return Found(
            Outcome.VIOLATED, (), f"{reason}; {graph.number_of_nodes()} sets of properties can be reached"
        )
    size = min(distance[node] for node in ends)
    order = {layer.name: place for place, layer in enumerate(layers)}
    stacks = {stack for node in ends if distance[node] == size for stack in _stacks(graph, start, node)}
    chosen = tuple(sorted(stacks, key=lambda stack: [order[layer.name] for layer in reversed(stack)]))
    return Found(
        Outcome.HOLDS, chosen, f"smallest of all: {graph.number_of_nodes()} sets of properties can be reached"
    )


def _stacks(graph: nx.DiGraph[Node], start: Node, end: Node) -> Iterator[Stack]:
    """Yield every stack along a shortest path; the last edge is the top layer."""
    for path in nx.all_shortest_paths(graph, start, end):
        choices = [graph.edges[below, above]["layers"] for below, above in pairwise(path)]
        for chosen in product(*choices):
            yield tuple(reversed(chosen))
