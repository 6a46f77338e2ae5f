"""The composition calculus: the rule, on stacks that the Horus paper names and on others; and its names."""

from __future__ import annotations

import pytest

from antiphon.spec.composition import (
    LAYERS,
    Layer,
    Property,
    judge,
    layer_of,
    parse_stack,
    properties_above,
    property_of,
)
from antiphon.spec.lang import SpecError

NINE = {Property[f"P{number}"] for number in (3, 4, 6, 8, 9, 10, 11, 12, 15)}


def test_the_typical_stack_is_well_formed_and_has_nine_properties() -> None:
    """The paper's sentence on TOTAL:MBRSHIP:FRAG:NAK:COM:ATM has nine signs where the copy that was
    transcribed has blanks.
    """
    layers, network = parse_stack("TOTAL:MBRSHIP:FRAG:NAK:COM:ATM")
    assert network == {Property.P1}
    judgement = judge(layers, network)
    assert judgement.well_formed
    assert judgement.properties == NINE


def test_the_membership_layer_can_be_taken_apart() -> None:
    whole, _ = parse_stack("TOTAL:MBRSHIP:FRAG:NAK:COM")
    parts, _ = parse_stack("TOTAL:FLUSH:VSS:BMS:FRAG:NAK:COM")
    assert judge(whole, {Property.P1}).properties == judge(parts, {Property.P1}).properties
    assert judge(parts, {Property.P1}).well_formed


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("TOTAL:FRAG:NAK:COM", {"TOTAL": {"P8", "P9", "P15"}}),
        ("TOTAL:MBRSHIP:NAK:COM", {"TOTAL": {"P12"}, "MBRSHIP": {"P12"}}),
        ("FRAG:TOTAL:MBRSHIP:NAK:COM", {"TOTAL": {"P12"}, "MBRSHIP": {"P12"}}),
        ("FRAG:COM", {"FRAG": {"P3", "P4"}}),
        ("NAK", {"NAK": {"P10", "P11"}}),
    ],
)
def test_a_stack_is_refused_where_a_layer_lacks_something(text: str, lacking: dict[str, set[str]]) -> None:
    judgement = judge(parse_stack(text)[0], {Property.P1})
    assert not judgement.well_formed
    assert {
        level.layer.name: {item.name for item in level.missing} for level in judgement.levels if level.missing
    } == lacking


def test_a_layer_masks_what_it_neither_provides_nor_passes_on() -> None:
    (com, nak) = judge(parse_stack("NAK:COM")[0], {Property.P1}).levels
    assert com.masked == set()
    assert nak.masked == {Property.P1}


def test_what_holds_above_is_provided_or_inherited() -> None:
    layer = Layer(
        "MADE", frozenset(), frozenset({Property.P5}), frozenset({Property.P6}), "a layer of this test"
    )
    assert properties_above(layer, frozenset({Property.P6, Property.P7})) == {Property.P5, Property.P6}
    assert properties_above(layer, frozenset()) == {Property.P5}


def test_nothing_is_both_provided_and_required() -> None:
    """A layer that needed what it adds could never stand anywhere for the first time."""
    assert [layer.name for layer in LAYERS if layer.provides & layer.requires] == []


def test_names_are_found_in_any_case_and_guessed() -> None:
    assert property_of("p6") is property_of("6") is property_of("Totally ordered delivery") is Property.P6
    assert layer_of("total").name == "TOTAL"
    with pytest.raises(SpecError, match="did you mean 'totally ordered delivery'"):
        property_of("total ordered delivery")
    with pytest.raises(SpecError, match="did you mean 'MBRSHIP'"):
        layer_of("MEMBRSHIP")
    with pytest.raises(SpecError, match="names no layer"):
        parse_stack("ATM")
