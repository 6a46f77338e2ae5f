"""The composition calculus of Horus as data, its rule, and which of its entries the models of the layers
confirm.
"""

from antiphon.spec.composition.calculus import Judgement, Level, judge, ordered, properties_above
from antiphon.spec.composition.evidence import EVIDENCE, Entry, Role
from antiphon.spec.composition.layers import LAYERS, Layer, layer_of, layers_of, parse_stack
from antiphon.spec.composition.properties import NAMES, Property, property_of

__all__ = [
    "EVIDENCE", "LAYERS", "NAMES", "Entry", "Judgement", "Layer", "Level", "Property", "Role", "judge",
    "layer_of", "layers_of", "ordered",
    "parse_stack", "properties_above", "property_of",
]  # fmt: skip
