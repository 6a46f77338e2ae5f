"""Values survive the way through JSON, and JSON that is no value is refused with the place."""

import enum
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.model.export.encoding import DecodingError, decode, encode
from antiphon.spec.lang import Index, record, types


class Node(Index, size=3):
    """A member of three."""


class Colour(enum.Enum):
    """Two names."""

    RED = 1
    BLUE = 2


@record
class Plain:
    """A record of two fields."""

    to: Node
    number: int


@record
class Empty:
    """A record without fields."""


@record
class Tagged:
    """A record whose fields are called as those of a variant."""

    tag: bool
    value: Colour


NODE = types.IndexType("Node", 3, False, False, Node)
COLOUR = types.Enumeration("Colour", ("RED", "BLUE"), Colour)
PLAIN = types.Record("Plain", (("to", NODE), ("number", types.Int(-2, 2))), Plain)
EMPTY = types.Record("Empty", (), Empty)
TAGGED = types.Record("Tagged", (("tag", types.Bool()), ("value", COLOUR)), Tagged)
SIMPLE = (
    types.Bool(),
    types.Int(-3, 40),
    COLOUR,
    NODE,
    PLAIN,
    EMPTY,
    TAGGED,
    types.Union((PLAIN, EMPTY, TAGGED)),
)
SETS = tuple(
    types.SetOf(of)
    for of in (*SIMPLE, types.Optional(NODE), types.SequenceOf(types.Bool(), 2), types.SetOf(NODE))
)
"""Not sets of anything: the number of values of a set of sets of sets has more digits than memory."""


def larger(inner: st.SearchStrategy[types.Type]) -> st.SearchStrategy[types.Type]:
    return st.one_of(
        inner.map(types.Optional),
        inner.map(lambda of: types.MapOf(NODE, of)),
        inner.map(lambda of: types.MapOf(COLOUR, of)),
        inner.map(lambda of: types.SequenceOf(of, 2)),
    )


@st.composite
def domains_and_values(draw: st.DrawFn) -> tuple[types.Domain, Any]:
    domain = types.bind(draw(st.recursive(st.sampled_from((*SIMPLE, *SETS)), larger, max_leaves=3)), {})
    return domain, domain.value(draw(st.integers(0, min(domain.cardinality, 10**30) - 1)))


@given(domains_and_values())
def test_a_value_survives_the_way_through_json(case: tuple[types.Domain, Any]) -> None:
    domain, value = case
    assert decode(json.loads(json.dumps(encode(value, domain))), domain) == value


@given(
    domains_and_values(),
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3), lambda inner: st.lists(inner)
    ),
)
def test_json_that_is_no_value_is_refused_and_nothing_else_happens(
    case: tuple[types.Domain, Any], data: Any
) -> None:
    domain, _ = case
    try:
        value = decode(data, domain)
    except DecodingError:
        return
    assert domain.contains(value)


@pytest.mark.parametrize(
    ("kind", "data", "says"),
    [
        (types.Bool(), 1, "1 where true or false must stand"),
        (types.Int(0, 2), {"#bigint": "3"}, "leaves the domain of an integer from 0 to 2"),
        (types.Int(0, 2), True, "where an integer from 0 to 2 must stand"),
        (NODE, "Node(3)", "leaves the domain of a value of Node"),
        (NODE, "Other(1)", '"Node(0)" or another number'),
        (COLOUR, {"tag": "GREEN", "value": {}}, "tags: RED, BLUE"),
        (types.SetOf(NODE), {"#set": ["Node(0)", "Node(0)"]}, "holds an element twice"),
        (types.SetOf(NODE), {"#set": ["Node(0)", 7]}, "[1]: 7"),
        (types.MapOf(NODE, types.Bool()), {"#map": [["Node(0)", True]]}, "without the keys Node(1), Node(2)"),
        (
            types.MapOf(NODE, types.Bool()),
            {"#map": [["Node(0)", True], ["Node(0)", True]]},
            "the key Node(0) twice",
        ),
        (types.MapOf(NODE, types.Bool()), {"#map": [["Node(0)"]]}, "a pair of key and value"),
        (PLAIN, {"to": "Node(0)"}, "has the fields to, number, not to"),
        (types.SequenceOf(types.Bool(), 1), [True, False], "leaves the domain of a sequence"),
    ],
)
def test_what_is_wrong_is_named(kind: types.Type, data: Any, says: str) -> None:
    with pytest.raises(DecodingError) as refused:
        decode(data, types.bind(kind, {}))
    assert says in str(refused.value)


def test_the_forms_are_those_of_itf_and_quint() -> None:
    empty = {"#tup": list[Any]()}
    message = types.Union((PLAIN, EMPTY))
    assert encode(2, types.bind(types.Int(0, 2), {})) == {"#bigint": "2"}
    assert encode(None, types.bind(types.Optional(NODE), {})) == {"tag": "None", "value": empty}
    assert encode(Plain(Node(1), 2), types.bind(message, {})) == {
        "tag": "Plain",
        "value": {"to": "Node(1)", "number": {"#bigint": "2"}},
    }
    assert encode((True, False, False), types.bind(types.MapOf(NODE, types.Bool()), {})) == {
        "#map": [["Node(0)", True], ["Node(1)", False], ["Node(2)", False]]
    }
