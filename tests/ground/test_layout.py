"""States go into slots and come back: an exact inverse on every value, one canonical form for each, every
leaf within its sort.
"""

from __future__ import annotations

import dataclasses
import enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.model.ground import Evaluator, flatten, ground_initial, layout, unflatten
from antiphon.model.ground.form import Bits, Boolean, Number, SlotInfo, Sort
from antiphon.model.ground.leaves import canonical, convert, rank
from antiphon.model.ground.make import step_input
from antiphon.model.ground.shape import Shapes
from antiphon.model.ground.words import WordPacking
from antiphon.spec.examples.two_phase import RM, Phase, Status, TwoPhase
from antiphon.spec.lang import Index, Map, Set, Spec, SpecError, everywhere, program, types


class Site(Index, size=3, ordered=True):
    """A place."""


class Light(enum.Enum):
    RED = 1
    GREEN = 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: object
    y: object


@dataclasses.dataclass(frozen=True)
class Nothing:
    pass


SITE = types.IndexType("Site", 3, True, False, Site)
LIGHT = types.Enumeration("Light", ("RED", "GREEN"), Light)
SIMPLE = st.sampled_from((types.Bool(), types.Int(-1, 1), types.Int(2, 3), SITE, LIGHT))
NOTHING = types.Record("Nothing", (), Nothing)
MOST = 5_000


def compound(inner: st.SearchStrategy[types.Type]) -> st.SearchStrategy[types.Type]:
    records = st.builds(lambda x, y: types.Record("Point", (("x", x), ("y", y)), Point), inner, inner)
    return st.one_of(
        inner.filter(lambda part: not isinstance(part, types.Optional)).map(types.Optional),
        records,
        records.map(lambda record: types.Union((NOTHING, record))),
        inner.map(types.SetOf),
        st.builds(types.SequenceOf, inner, st.integers(0, 2)),
    )


PARTS = st.recursive(SIMPLE, compound, max_leaves=4)
TYPES = st.one_of(PARTS, st.builds(types.MapOf, SIMPLE, PARTS)).filter(
    lambda made: types.bind(made, {}).cardinality <= MOST
)


def within(sort: Sort | None, raw: int | bool) -> bool:
    match sort:
        case Boolean():
            return isinstance(raw, bool)
        case Number(low=low, high=high):
            return low <= raw <= high
        case Bits(width=width):
            return 0 <= raw < 1 << width
    return False


@given(kind=TYPES, data=st.data())
def test_a_value_comes_back_from_its_leaves_in_canonical_form(kind: types.Type, data: st.DataObject) -> None:
    shape = Shapes({})[kind]
    position = data.draw(st.integers(0, shape.domain.cardinality - 1))
    value = shape.domain.value(position)
    raw = tuple(shape.raw(value))
    assert shape.value(raw) == value
    assert all(within(sort, part) for sort, part in zip(shape.sorts, raw, strict=True))
    assert len(list(shape.names("it"))) == shape.width
    leaves = tuple(step_input(number, sort or Boolean()) for number, sort in enumerate(shape.sorts))
    evaluate = Evaluator((), raw)
    assert evaluate(canonical(leaves, shape)) is True
    if not isinstance(kind, types.MapOf):
        assert evaluate(rank(leaves, shape)) == position


@given(kind=TYPES.filter(lambda kind: types.bind(kind, {}).cardinality <= 60))
def test_different_values_have_different_leaves_and_only_they_are_canonical(kind: types.Type) -> None:
    shape = Shapes({})[kind]
    known = {tuple(shape.raw(value)) for value in shape.domain}
    assert len(known) == shape.domain.cardinality
    leaves = tuple(step_input(number, sort or Boolean()) for number, sort in enumerate(shape.sorts))
    condition = canonical(leaves, shape)
    for raw in known:
        for position, sort in enumerate(shape.sorts):
            for other in (False, True) if isinstance(sort, Boolean) else (0, 1, 2, 3, -1):
                changed = (*raw[:position], other, *raw[position + 1 :])
                if all(
                    within(sort, part) for sort, part in zip(shape.sorts, changed, strict=True)
                ) and not isinstance(kind, types.MapOf):
                    assert Evaluator((), changed)(condition) == (changed in known)


@given(kind=PARTS.filter(lambda kind: not isinstance(kind, types.Optional)))
def test_a_value_becomes_optional_and_back(kind: types.Type) -> None:
    shapes = Shapes({})
    narrow, wide = shapes[kind], shapes[types.Optional(kind)]
    value = narrow.domain.value(narrow.domain.cardinality - 1)
    widened, exists = convert(narrow.of_value(value), narrow, wide)
    assert exists.value is True
    assert widened == wide.of_value(value)
    back, exists = convert(widened, wide, narrow)
    assert exists.value is True
    assert back == narrow.of_value(value)
    assert convert(wide.of_value(None), wide, narrow)[1].value is False


def test_slots_stand_in_the_order_of_declaration_with_names_for_people() -> None:
    bound = program(TwoPhase, managers=2)
    assert [slot.name for slot in layout(bound).slots] == [
        "status[RM(0)]",
        "status[RM(1)]",
        "phase",
        "prepared",
        "messages",
    ]
    assert [slot.sort for slot in layout(bound).slots] == [
        Number(0, 3),
        Number(0, 3),
        Number(0, 2),
        Bits(2),
        Bits(4),
    ]
    state = ((Status.WORKING, Status.ABORTED), Phase.COMMITTED, frozenset({RM(1)}), frozenset())
    assert flatten(bound, state) == (0, 3, 1, 0b10, 0)
    assert unflatten(bound, flatten(bound, state)) == state
    assert ground_initial(bound) == ((0, 0, 0, 0, 0),)


class Wide(Spec):
    """A set over more elements than can be compiled."""

    families: Set[Set[Site]] = Set()
    holders: Map[Site, Set[Set[Set[Set[Site]]]]] = everywhere(Set())


def test_a_set_over_too_many_elements_is_refused_by_name() -> None:
    with pytest.raises(SpecError, match=r"Wide\.holders: a set over \d+ possible elements is too wide"):
        layout(program(Wide))


def test_a_leaf_knows_the_first_key_under_which_it_stands() -> None:
    keys = {slot.name: slot.key for slot in layout(program(TwoPhase, managers=2)).slots}
    assert keys["status[RM(1)]"] == "RM(1)"
    assert set(keys.values()) == {"", "RM(0)", "RM(1)"}


def test_leaves_of_one_key_stand_together_in_a_state_of_more_than_two_words() -> None:
    """After what is wider than a word, whose last word is filled first. In two words nothing is moved."""

    def words(copies: int) -> dict[str, set[int]]:
        slots = [
            SlotInfo(f"{name}[{site}]", name, Bits(width))
            for name, width in {"queue": 30, "log": 20, "clock": 8}.items()
            for site in range(copies)
        ]
        packing = WordPacking([SlotInfo("network", "network", Bits(70)), *slots] if copies > 2 else slots)
        found: dict[str, set[int]] = {}
        for slot, place in zip(packing.slots, packing.places, strict=True):
            found.setdefault(slot.key, set()).add(place.word)
        return found

    assert words(2) == {"0": {0, 1}, "1": {0, 1}}
    assert words(4) == {"": {0}, "0": {1}, "1": {2}, "2": {3}, "3": {4}}
