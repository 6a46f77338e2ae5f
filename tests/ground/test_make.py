"""Folding and simplifying never change a value: every expression made equals its plain reading, in every
state of a few slots.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.model.ground import Evaluator, intern, make
from antiphon.model.ground.bits import rank_bounds
from antiphon.model.ground.form import Bits, Boolean, Expression, Number, Operator

WIDTH = 4
SORTS = (Boolean(), Boolean(), Number(0, 2), Number(-2, 1), Bits(WIDTH), Bits(WIDTH))
VALUES: tuple[Sequence[int | bool], ...] = (
    (False, True),
    (False, True),
    (0, 1, 2),
    (-2, -1, 0, 1),
    (0, 5, 9, 15),
    (0, 2, 7, 8),
)
STATES = tuple(itertools.product(*VALUES))
SLOTS = tuple(make.slot(position, sort) for position, sort in enumerate(SORTS))

Plain = Callable[[tuple[int | bool, ...]], Any]
Pair = tuple[Expression, Plain]


def leaf(position: int) -> st.SearchStrategy[Pair]:
    return st.just((SLOTS[position], lambda state: state[position]))


def apply(build: Callable[..., Expression], plain: Callable[..., Any]) -> Callable[..., Pair]:
    def join(*operands: Pair) -> Pair:
        return build(*(made for made, _ in operands)), lambda state: plain(
            *(meaning(state) for _, meaning in operands)
        )

    return join


def floor_divide(left: int, right: int) -> int:
    return left // right if right else 0


def remainder(left: int, right: int) -> int:
    return left % right if right else 0


def has(members: int, rank: int) -> bool:
    return 0 <= rank < WIDTH and bool(members >> rank & 1)


def single(rank: int) -> int:
    return 1 << rank if 0 <= rank < WIDTH else 0


def booleans_from(inner: dict[type, st.SearchStrategy[Pair]]) -> list[st.SearchStrategy[Pair]]:
    boolean, number, members = inner[Boolean], inner[Number], inner[Bits]
    built = st.builds
    return [
        built(apply(make.negation, lambda a: not a), boolean),
        built(apply(make.conjunction, lambda *parts: all(parts)), boolean, boolean, boolean),
        built(apply(make.disjunction, lambda *parts: any(parts)), boolean, boolean, boolean),
        built(apply(make.choose, lambda c, a, b: a if c else b), boolean, boolean, boolean),
        built(apply(make.equal, lambda a, b: a == b), boolean, boolean),
        built(apply(make.equal, lambda a, b: a == b), number, number),
        built(apply(make.less, lambda a, b: a < b), number, number),
        built(apply(make.at_most, lambda a, b: a <= b), number, number),
        built(apply(lambda a: make.in_range(a, -1, 2), lambda a: -1 <= a <= 2), number),
        built(apply(make.has, has), members, number),
        built(apply(make.equal, lambda a, b: a == b), members, members),
        built(apply(make.subset, lambda a, b: a & ~b == 0), members, members),
    ]


def numbers_from(inner: dict[type, st.SearchStrategy[Pair]]) -> list[st.SearchStrategy[Pair]]:
    boolean, number, members = inner[Boolean], inner[Number], inner[Bits]
    return [
        st.builds(apply(make.choose, lambda c, a, b: a if c else b), boolean, number, number),
        st.builds(apply(make.add, lambda a, b: a + b), number, number),
        st.builds(apply(make.subtract, lambda a, b: a - b), number, number),
        st.builds(apply(make.multiply, lambda a, b: a * b), number, number),
        st.builds(apply(make.divide, floor_divide), number, number),
        st.builds(apply(make.modulo, remainder), number, number),
        st.builds(apply(make.indicator, int), boolean),
        st.builds(apply(make.count, int.bit_count), members),
    ]


def sets_from(inner: dict[type, st.SearchStrategy[Pair]]) -> list[st.SearchStrategy[Pair]]:
    boolean, number, members = inner[Boolean], inner[Number], inner[Bits]
    return [
        st.builds(apply(make.choose, lambda c, a, b: a if c else b), boolean, members, members),
        st.builds(apply(lambda rank: make.single(WIDTH, rank), single), number),
        st.builds(apply(make.union, lambda a, b: a | b), members, members),
        st.builds(apply(make.intersection, lambda a, b: a & b), members, members),
        st.builds(apply(make.difference, lambda a, b: a & ~b), members, members),
        st.builds(apply(make.symmetric_difference, lambda a, b: a ^ b), members, members),
    ]


LEAVES: dict[type, st.SearchStrategy[Pair]] = {
    Boolean: st.one_of(
        leaf(0), leaf(1), st.booleans().map(lambda value: (make.boolean(value), lambda _: value))
    ),
    Number: st.one_of(
        leaf(2), leaf(3), st.integers(-2, 3).map(lambda value: (make.number(value), lambda _: value))
    ),
    Bits: st.one_of(
        leaf(4), leaf(5), st.integers(0, 15).map(lambda value: (make.bits(WIDTH, value), lambda _: value))
    ),
}
BUILDERS = {Boolean: booleans_from, Number: numbers_from, Bits: sets_from}


def deeper(inner: dict[type, st.SearchStrategy[Pair]]) -> dict[type, st.SearchStrategy[Pair]]:
    return {sort: st.one_of(LEAVES[sort], *BUILDERS[sort](inner)) for sort in LEAVES}


ONE = deeper(LEAVES)
THREE = deeper(deeper(ONE))


def assert_means(made: Expression, plain: Plain) -> None:
    for state in STATES[:: 1 if made.operator is not Operator.CONSTANT else len(STATES)]:
        found, expected = Evaluator(state)(made), plain(state)
        assert found == expected, state
        if isinstance(made.sort, Number):
            assert made.sort.low <= expected <= made.sort.high
        if isinstance(made.sort, Bits):
            surely, possibly = rank_bounds(made)
            assert surely & ~expected == 0
            assert expected & ~possibly == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sort", [Boolean, Number, Bits])
@given(data=st.data())
def test_folding_never_changes_a_value(sort: type, data: st.DataObject) -> None:
    assert_means(*data.draw(THREE[sort]))


@given(pair=ONE[Boolean])
def test_a_condition_and_its_negation_are_decided(pair: Pair) -> None:
    condition = pair[0]
    assert make.conjunction(condition, make.negation(condition)) is make.FALSE
    assert make.disjunction(condition, make.negation(condition)) is make.TRUE


def test_equal_expressions_are_one_object() -> None:
    p, q, n, m, a, b = SLOTS
    assert make.conjunction(p, make.conjunction(q, p)) is make.conjunction(p, q)
    assert make.equal(n, m) is make.equal(m, n)
    assert make.add(make.add(n, make.number(1)), make.number(-1)) is n
    assert make.less(make.add(n, make.number(1)), make.number(3)) is make.less(n, make.number(2))
    assert make.negation(make.less(make.number(0), n)) is make.equal(n, make.number(0))
    assert make.union(make.union(a, make.bits(4, 1)), make.bits(4, 2)) is make.union(a, make.bits(4, 3))
    assert make.has(make.difference(a, make.bits(4, 1)), make.number(1)) is make.has(a, make.number(1))
    assert make.has(make.single(4, n), make.number(2)) is make.equal(n, make.number(2))
    assert make.choose(p, make.choose(p, n, m), m) is make.choose(p, n, m)
    assert make.choose(p, make.TRUE, q) is make.disjunction(p, q)
    assert make.intersection(a, make.bits(4, 0)) is make.bits(4, 0)
    assert make.equal(b, b) is make.TRUE


def test_a_leaf_with_one_value_is_a_constant() -> None:
    assert make.slot(9, Number(4, 4)) is make.number(4)
    assert make.step_input(0, Bits(0)) is make.bits(0, 0)


def test_nodes_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    before = make.make_room()
    first = make.add(SLOTS[2], SLOTS[3])
    assert make.add(SLOTS[2], SLOTS[3]) is first
    monkeypatch.setattr(intern, "MOST_NODES", 0)
    assert make.make_room() == before + 1
    again = make.add(SLOTS[2], SLOTS[3])
    assert again is not first
    assert make.slot(2, SORTS[2]) is SLOTS[2]


def test_sorts_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(TypeError, match="where a number is needed"):
        make.add(SLOTS[0], SLOTS[2])
    with pytest.raises(TypeError, match="where a set is needed"):
        make.count(SLOTS[2])
    with pytest.raises(TypeError, match="a choice between"):
        make.choose(SLOTS[0], SLOTS[2], SLOTS[4])
