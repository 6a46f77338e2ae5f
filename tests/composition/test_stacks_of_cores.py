"""The layers that run know the same calculus as the specification: the same rows, the same verdicts."""

from __future__ import annotations

from itertools import product

import pytest

from antiphon.impl.protocols.horus import calculus as impl
from antiphon.spec.composition import NAMES, Property, judge, layer_of
from antiphon.spec.composition.layers import NETWORKS

LAYERS_MAX = 4


def numbers(properties: frozenset[Property]) -> frozenset[int]:
    return frozenset(property.number for property in properties)


def test_properties_have_the_same_names() -> None:
    assert {f"P{number}": name for number, name in impl.PROPERTIES.items()} == {
        name: Property[name].value for name in NAMES
    }


@pytest.mark.parametrize("name", impl.LAYERS)
def test_a_layer_has_the_same_row(name: str) -> None:
    layer, row = layer_of(name), impl.LAYERS[name]
    wanted = (numbers(layer.requires), numbers(layer.provides), numbers(layer.inherits))
    assert tuple(row) == wanted


def test_every_stack_of_so_many_layers_is_judged_the_same() -> None:
    """All strings of up to four layers, and the paper's stack: 780 and one."""
    network = NETWORKS["ATM"]
    stacks = [names for size in range(1, LAYERS_MAX + 1) for names in product(impl.LAYERS, repeat=size)]
    stacks.append(("TOTAL", "MBRSHIP", "FRAG", "NAK", "COM"))
    well_formed = 0
    for stack in stacks:
        judged = judge([layer_of(name) for name in stack], network)
        assert (impl.flaw(stack) is None) is judged.well_formed, stack
        if judged.well_formed:
            well_formed += 1
            assert impl.properties(stack) == numbers(judged.properties), stack
        else:
            lowest = next(level for level in judged.levels if level.missing)
            told = impl.flaw(stack) or ""
            missing = sorted(numbers(lowest.missing))
            assert told.startswith(f"{lowest.layer.name} requires P{missing[0]} "), stack
            assert all(f"P{number} (" in told for number in missing), stack
    assert (len(stacks), well_formed) == (781, 12)
