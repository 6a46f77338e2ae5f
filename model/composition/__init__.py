"""The smallest stack of layers that yields wanted properties: on the graph of property sets, or by Z3."""

from antiphon.model.composition.found import Found
from antiphon.model.composition.graph import property_graph, smallest_on_graph
from antiphon.model.composition.solver import smallest_by_z3

__all__ = ["Found", "property_graph", "smallest_by_z3", "smallest_on_graph"]
