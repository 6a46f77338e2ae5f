"""Sequences as logs: their items stand at positions, which are in the order of the integers.

A log has a first position and an end, the position after its last item, and a function from a position to an
item. To append is to put an item at the end, and the end becomes the least greater position. A log that only
grows begins at position 0, so that its end is its length; the first position of one that also loses its first
item is unknown.

Whether there is room for one more item is a count, which first-order logic does not have. Two conditions show
it without counting: the end is not beyond the room of a log that begins at 0; or no two items have the same
member of an index, and there is room for as many items as the index has members.

This file knows nothing of expressions or steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from antiphon.model.proofs.formula import (
    FALSE,
    TRUE,
    App,
    Formula,
    Term,
    conjunction,
    disjunction,
    equal,
    forall,
    implication,
    negation,
    variable,
)
from antiphon.model.proofs.theory import Theory
from antiphon.model.proofs.values import (
    Outside,
    RecordLeaf,
    Scalar,
    SequenceValue,
    SetValue,
    Sorts,
    Value,
    as_term,
    at_most,
    chosen,
    chosen_of,
    known,
    less,
    literal,
)
from antiphon.spec.lang import types
from antiphon.spec.lang.errors import Location

Body = Callable[[Term, Value], Formula]
"""Function that gives a formula about a position and the item that stands there."""


def is_from_zero(log: SequenceValue) -> bool:
    """Return True if the first position of a log is 0, so that its end is its length."""
    return log.first.cases == Scalar.of(0).cases


def is_inside(log: SequenceValue, position: Term) -> Formula:
    """Return the condition that an item stands at a position."""
    return conjunction(
        *(implication(condition, at_most(term, position)) for condition, term in numbers(log.first)),
        *(implication(condition, less(position, term)) for condition, term in numbers(log.end)),
    )


def is_empty(log: SequenceValue) -> Formula:
    """Return the condition that a log has no item."""
    return disjunction(
        *(
            conjunction(here, there, _same(one, other))
            for here, one in numbers(log.first)
            for there, other in numbers(log.end)
        )
    )


def numbers(value: Scalar) -> list[tuple[Formula, Term]]:
    """Return the terms that an integer can be, each with its condition."""
    found = [(condition, as_term(leaf)) for condition, leaf in value.cases]
    return [(condition, term) for condition, term in found if term is not None]


def _same(one: Term, other: Term) -> Formula:
    if one == other:
        return TRUE
    return FALSE if known(one) is not None and known(other) is not None else equal(one, other)


def item_at(log: SequenceValue, position: Scalar, at: Location | None) -> Value:
    """Return the item at a position; any value where there is none."""
    return chosen_of([(condition, log.item(term)) for condition, term in numbers(position)], at)


def members(log: SequenceValue, sorts: Sorts, at: Location | None) -> SetValue:
    """Return the set of the items."""

    def member(value: Value) -> Formula:
        if log.items is not None:
            return disjunction(*(sorts.same(item, value, at) for item in log.items))
        return somewhere(log, lambda _, item: sorts.same(item, value, at), at)

    return SetValue(log.of, member)


def somewhere(log: SequenceValue, body: Body, at: Location | None) -> Formula:
    """Return the condition that the body is true of some position and its item."""
    return negation(everywhere(log, lambda position, item: negation(body(position, item)), at))


def everywhere(log: SequenceValue, body: Body, at: Location | None) -> Formula:
    """Return the condition that the body is true of every position and its item."""
    if log.items is not None:
        return conjunction(*(body(literal(number), item) for number, item in enumerate(log.items)))
    position = variable("i", Sorts.INTEGERS)
    inside = is_inside(log, position)
    return forall((position,), implication(inside, body(position, log.item(position))), at)


def made_of(of: types.Type, items: tuple[Value, ...], nothing: Value) -> SequenceValue:
    """Return the sequence of some items; `nothing` stands where none of them does."""

    def item(position: Term) -> Value:
        found = nothing
        for number, value in reversed(list(enumerate(items))):
            found = chosen(_same(position, literal(number)), value, found)
        return found

    return SequenceValue(of, Scalar.of(0), Scalar.of(len(items)), item, items=items)


def appended(log: SequenceValue, value: Value, theory: Theory, at: Location | None) -> SequenceValue:
    """Return a log with one more item at its end."""
    ends = numbers(log.end)

    def item(position: Term) -> Value:
        is_new = disjunction(*(conjunction(condition, _same(position, end)) for condition, end in ends))
        return chosen(is_new, value, log.item(position), at)

    items = None if log.items is None else (*log.items, value)
    return replace(log, end=moved(log.end, theory, at), item=item, items=items, most=None)


def without_first(log: SequenceValue, theory: Theory, at: Location | None) -> SequenceValue:
    """Return a log without its first item; an empty one stays empty."""
    first = chosen(is_empty(log), log.first, moved(log.first, theory, at), at)
    assert isinstance(first, Scalar)
    return replace(log, first=first, items=None)


def moved(position: Scalar, theory: Theory, at: Location | None) -> Scalar:
    """Return the position after another."""
    return Scalar(
        tuple(
            (condition, leaf + 1 if isinstance(leaf, int) else theory.offset(term, 1, at))
            for condition, leaf in position.cases
            if (term := as_term(leaf)) is not None
        )
    )


def is_within(log: SequenceValue, kind: types.SequenceOf, sorts: Sorts) -> Formula:
    """Return the condition that a log is not longer than its type allows, as far as its end says it: true of
    one that does not begin at 0.
    """
    if not is_from_zero(log):
        return TRUE
    most = sorts.number(kind.most)
    return conjunction(*(implication(here, at_most(end, most)) for here, end in numbers(log.end)))


def has_room(log: SequenceValue, kind: types.SequenceOf, theory: Theory, at: Location | None) -> Formula:
    """Return a condition under which a sequence is not longer than its type allows.

    Raises:
        Outside: only a count would show it.
    """
    if log.most == kind.most or (log.items is not None and not log.items):
        return TRUE
    sorts = theory.sorts
    shown: list[Formula] = []
    if is_from_zero(log):
        shown.append(is_within(log, kind, sorts))
    for key in _keys(kind, theory):
        position, other = variable("i", Sorts.INTEGERS), variable("j", Sorts.INTEGERS)
        both = conjunction(is_inside(log, position), is_inside(log, other), less(position, other))
        same = sorts.same(_part(log.item(position), key), _part(log.item(other), key), at)
        shown.append(forall((position, other), implication(both, negation(same)), at))
    if not shown:
        raise Outside(
            "whether a sequence that also loses its first item has room for one more is a count", at,
            instead="items with a field of an index, and room for each of its members",
        )  # fmt: skip
    return disjunction(*shown)


def _keys(kind: types.SequenceOf, theory: Theory) -> list[str]:
    """Return the fields of an item that are members of an index which has no more members than there is room
    for items; the empty name is the item itself.
    """
    of, sorts = kind.of, theory.sorts
    fields = of.fields if isinstance(of, types.Record) else (("", of),)
    return [
        name
        for name, part in fields
        if isinstance(part, types.IndexType) and sorts.is_open(part)
        if _is_enough(part, kind, theory)
    ]


def _is_enough(index: types.IndexType, kind: types.SequenceOf, theory: Theory) -> bool:
    base, more = _with_offset(theory.sorts.number(kind.most), theory)
    own, own_more = _with_offset(theory.sorts.number(index.size), theory)
    return base == own and own_more <= more


def _with_offset(term: Term, theory: Theory) -> tuple[Term, int]:
    return theory.offsets.get(term, (term, 0)) if isinstance(term, App) else (term, 0)


def _part(item: Value, name: str) -> Value:
    if not name:
        return item
    assert isinstance(item, Scalar)
    found = [
        (condition, value)
        for condition, leaf in item.cases
        if isinstance(leaf, RecordLeaf) and (value := leaf.field(name)) is not None
    ]
    return chosen_of(found)
