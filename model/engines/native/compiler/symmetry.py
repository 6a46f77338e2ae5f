"""Symmetry: states that differ only in the names of interchangeable members are one orbit, and the least of
them in word order represents all.

The language lets no member of a symmetric index set be special (no literal, no order, no number), so that
exchanging two members maps steps to steps and changes no predicate. Exchanges of two neighbouring members are
enough: all n! orders of n members follow one another by such exchanges, in a round that ends where it began
(Steinhaus, Johnson, Trotter).

Often each part of the state concerns at most one member: the leaves and bits that concern one member are its
column. Then the state with its columns in order is the same for the whole orbit, and sorting by exchanges of
neighbours replaces the round.

This file makes the exchanges as ground steps; it knows nothing of tables or searching.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from antiphon.model.ground import make
from antiphon.model.ground.form import Bits, Boolean, Expression, GroundStep, Operator
from antiphon.model.ground.layout import layout, plan
from antiphon.model.ground.shape import Shape
from antiphon.spec.lang import Index, Map, Program, SpecError, State, types
from antiphon.spec.lang.assignment import frozen

MOST_ORDERS = 5_040
"""Largest number of orders of interchangeable members that are tried in search of the least state."""
MOST_MEMBERS = 20
"""Largest number of members whose orders can be counted in a word."""

Leaves = tuple[Expression, ...]


Place = tuple[int, int]
"""Place in a state: a slot, and a bit of it when it is a set, else -1."""
Column = tuple[Place, ...]


@dataclass(frozen=True)
class Exchange:
    """Exchange of two neighbouring members of a symmetric index set, those with the numbers `first` and
    `first + 1`.
    """

    index: types.IndexType
    first: int


def symmetric_sets(program: Program) -> dict[types.IndexType, int]:
    """Return the symmetric index sets with at least two members that occur in a program's variables, with
    their sizes.
    """
    found: dict[types.IndexType, int] = {}
    todo = [shape for shape, _ in plan(program).variables.values()]
    while todo:
        shape = todo.pop()
        if isinstance(shape.type, types.IndexType) and shape.type.symmetric and shape.domain.cardinality > 1:
            found[shape.type] = shape.domain.cardinality
        todo.extend(shape.parts)
    return dict(sorted(found.items(), key=lambda item: item[0].name))


def exchanges(program: Program) -> tuple[Exchange, ...]:
    """Return the exchanges of neighbours in each symmetric set.

    Raises:
        SpecError: the program has no symmetric set, or one that is too large.
    """
    sets = symmetric_sets(program)
    if not sets:
        raise SpecError(
            f"{program.name} has no symmetric index set of two members or more",
            instead="the search without symmetry",
        )
    many = sum(sets.values())
    if many > MOST_MEMBERS:
        raise SpecError(
            f"{program.name}: {many} members of symmetric sets are too many; at most {MOST_MEMBERS}",
            instead="fewer members",
        )
    return tuple(Exchange(index, first) for index, size in sets.items() for first in range(size - 1))


def orders(program: Program) -> int:
    """Return the number of orders that the members of all symmetric sets have."""
    return math.prod(math.factorial(size) for size in symmetric_sets(program).values())


def rounds(program: Program) -> tuple[int, ...]:
    """Return the numbers of the exchanges in an order that passes through all orders of all sets, back to the
    first.

    Raises:
        SpecError: there are too many orders.
    """
    many = orders(program)
    if many > MOST_ORDERS:
        raise SpecError(
            f"{program.name}: {many:,} orders of its symmetric sets are too many; at most {MOST_ORDERS:,}",
            instead="fewer members",
        )
    made = exchanges(program)
    steps: list[int] = []
    for index, size in symmetric_sets(program).items():
        base = made.index(Exchange(index, 0))
        own = [base + first for first in _round(size)]
        steps = own if not steps else [step for outer in own for step in (*steps[:-1], outer)]
    return tuple(steps)


def columns(program: Program, kept: Collection[int]) -> tuple[tuple[Column, Column], ...] | None:
    """Return for each exchange the columns of its two members, place by place, in the stored slots; None if a
    part of the state concerns two members at once.
    """
    found: list[tuple[Column, Column]] = []
    for index, size in symmetric_sets(program).items():
        owners = _owners(program, index)
        if owners is None:
            return None
        column = tuple(place for place, owner in owners.items() if owner == 0 and place[0] in kept)
        for first in range(size - 1):
            moved = _moved(program, Exchange(index, first))
            following = tuple(moved[place] for place in column)
            found.append((column, following))
            column = following
    return tuple(found)


def _owners(program: Program, index: types.IndexType) -> dict[Place, int] | None:
    """Return the member that each place of the state concerns; None if some place does not concern exactly
    one member of one symmetric set.
    """
    owners: dict[Place, int] = {}
    for shape, offset in plan(program).variables.values():
        if not _note_owners(shape, offset, index, owners):
            return None
    return owners


def _note_owners(shape: Shape, offset: int, index: types.IndexType, owners: dict[Place, int]) -> bool:
    """Record the member that each leaf of a value concerns; return True if each leaf concerns one."""
    if not _speaks_of(shape, index):
        return True
    match shape.type:
        case types.Record():
            parts = zip(shape.parts, shape.offsets, strict=True)
            return all(_note_owners(part, offset + begin, index, owners) for part, begin in parts)
        case types.SetOf():
            mentioned = [(rank, list(_members(value))) for rank, value in enumerate(shape.parts[0].domain)]
            places = [(offset, rank, members) for rank, members in mentioned]
        case types.MapOf() if not _speaks_of(shape.parts[1], index):
            key, value = shape.parts
            places = [
                (offset + rank * value.width + leaf, -1, list(_members(item)))
                for rank, item in enumerate(key.domain)
                for leaf in range(value.width)
            ]
        case _:
            return False
    for slot, bit, members in places:
        if len(members) > 1:
            return False
        if members and isinstance(members[0], index.python):
            owners[slot, bit] = members[0].index
    return True


def _members(value: object) -> Iterator[Index]:
    """Yield the members of symmetric sets that a value contains."""
    if isinstance(value, Index):
        if value._symmetric:
            yield value
    elif dataclasses.is_dataclass(value):
        for part in dataclasses.fields(value):
            yield from _members(getattr(value, part.name))
    elif isinstance(value, Map):
        yield from _members(tuple(value.order.positions))
        yield from _members(value.entries)
    elif isinstance(value, tuple | frozenset):
        for item in value:
            yield from _members(item)


def _moved(program: Program, exchange: Exchange) -> dict[Place, Place]:
    """Return, for states in columns, the place to which an exchange moves each place of the first member."""
    moved: dict[Place, Place] = {}
    for shape, offset in plan(program).variables.values():
        _move(shape, offset, exchange, moved)
    return moved


def _move(shape: Shape, offset: int, exchange: Exchange, moved: dict[Place, Place]) -> None:
    match shape.type:
        case types.Record():
            for part, begin in zip(shape.parts, shape.offsets, strict=True):
                _move(part, offset + begin, exchange, moved)
        case types.SetOf():
            moved |= {
                (offset, old): (offset, new)
                for old, new in enumerate(_ranks(shape.parts[0], exchange))
                if old != new
            }
        case types.MapOf() if _speaks_of(shape.parts[0], exchange.index):
            width = shape.parts[1].width
            for old, new in enumerate(_ranks(shape.parts[0], exchange)):
                moved |= {
                    (offset + old * width + leaf, -1): (offset + new * width + leaf, -1)
                    for leaf in range(width)
                    if old != new
                }


def comparisons(program: Program, pair: tuple[Column, Column]) -> tuple[Expression, Expression]:
    """Return two conditions on neighbouring members, as columns of the state: that the second column comes
    before the first, and that they are equal.
    """
    slots = layout(program).slots
    before, same = make.FALSE, make.TRUE
    for (slot, bit), (other_slot, other_bit) in reversed(list(zip(*pair, strict=True))):
        one, other = make.slot(slot, slots[slot].sort), make.slot(other_slot, slots[other_slot].sort)
        for left, right in reversed(_digits(one, other, bit, other_bit)):
            equal = make.equal(left, right)
            less = (
                make.conjunction(make.negation(right), left)
                if isinstance(left.sort, Boolean)
                else make.less(right, left)
            )
            before = make.disjunction(less, make.conjunction(equal, before))
            same = make.conjunction(equal, same)
    return before, same


def _digits(
    one: Expression, other: Expression, bit: int, other_bit: int
) -> list[tuple[Expression, Expression]]:
    """Return two places of one kind as pairs of booleans or numbers that can be compared."""
    if bit >= 0:
        return [(make.has(one, make.number(bit)), make.has(other, make.number(other_bit)))]
    if isinstance(one.sort, Bits):
        return [
            (make.has(one, make.number(rank)), make.has(other, make.number(rank)))
            for rank in range(one.sort.width)
        ]
    return [(one, other)]


def _round(size: int) -> list[int]:
    """Return the neighbours to exchange, one after the other, to pass through all orders of `size` members
    and back to the first.
    """
    if size == 2:
        return [0, 0]
    inner = _round(size - 1)[:-1]
    made: list[int] = []
    down = True
    for number in range(len(inner) + 1):
        made += list(range(size - 2, -1, -1)) if down else list(range(size - 1))
        if number < len(inner):
            made.append(inner[number] + (1 if down else 0))
        down = not down
    return [*made, 0]


def exchange_step(program: Program, exchange: Exchange) -> GroundStep:
    """Return the exchange as a step that is always enabled."""
    updates: list[tuple[int, Expression]] = []
    slots = layout(program).slots
    for shape, offset in plan(program).variables.values():
        before = tuple(
            make.slot(offset + position, slots[offset + position].sort) for position in range(shape.width)
        )
        after = _exchanged(shape, before, exchange)
        updates += [
            (offset + position, new)
            for position, (old, new) in enumerate(zip(before, after, strict=True))
            if new is not old
        ]
    return GroundStep("exchange", False, (), (), make.TRUE, (), (), tuple(updates), (), ())


def _exchanged(shape: Shape, leaves: Leaves, exchange: Exchange) -> Leaves:
    """Return the leaves of a value after the exchange, in canonical form like those before."""
    if not _speaks_of(shape, exchange.index):
        return leaves
    match shape.type:
        case types.IndexType():
            one, other = make.number(exchange.first), make.number(exchange.first + 1)
            [rank] = leaves
            return (
                make.choose(make.equal(rank, one), other, make.choose(make.equal(rank, other), one, rank)),
            )
        case types.Optional():
            [inner] = shape.parts
            return (leaves[0], *_where(leaves[0], _exchanged(inner, leaves[1:], exchange), inner))
        case types.Record():
            fields = zip(shape.parts, shape.offsets, strict=True)
            return tuple(
                leaf
                for part, begin in fields
                for leaf in _exchanged(part, leaves[begin : begin + part.width], exchange)
            )
        case types.Union():
            made = [leaves[0]]
            for number, (part, begin) in enumerate(zip(shape.parts, shape.offsets, strict=True)):
                chosen = make.equal(leaves[0], make.number(number))
                made += _where(chosen, _exchanged(part, leaves[begin : begin + part.width], exchange), part)
            return tuple(made)
        case types.SetOf():
            return (_exchanged_set(shape, leaves[0], exchange),)
        case types.MapOf():
            return _exchanged_map(shape, leaves, exchange)
        case types.SequenceOf():
            [item] = shape.parts
            kept = [leaves[0]]
            for position in range((len(leaves) - 1) // max(1, item.width)):
                begin = 1 + position * item.width
                inside = make.less(make.number(position), leaves[0])
                kept += _where(inside, _exchanged(item, leaves[begin : begin + item.width], exchange), item)
            return tuple(kept)
    return leaves


def _speaks_of(shape: Shape, index: types.IndexType) -> bool:
    return shape.type == index or any(_speaks_of(part, index) for part in shape.parts)


def _where(present: Expression, leaves: Sequence[Expression], shape: Shape) -> list[Expression]:
    """Return the given leaves where a value is present, else those of the least value."""
    return [make.choose(present, leaf, least) for leaf, least in zip(leaves, shape.zero, strict=True)]


def _ranks(shape: Shape, exchange: Exchange) -> list[int]:
    """Return, for each rank of a type, the rank of the value after the exchange."""
    return [shape.domain.rank(exchanged_value(shape, value, exchange)) for value in shape.domain]


def _exchanged_set(shape: Shape, members: Expression, exchange: Exchange) -> Expression:
    moved = [(old, new) for old, new in enumerate(_ranks(shape.parts[0], exchange)) if old != new]
    if not moved or not isinstance(members.sort, Bits):
        return members
    width = members.sort.width
    kept = make.difference(members, make.bits(width, sum(1 << old for old, _ in moved)))
    for old, new in moved:
        kept = make.union(
            kept,
            make.choose(make.has(members, make.number(old)), make.bits(width, 1 << new), make.bits(width, 0)),
        )
    return kept


def _exchanged_map(shape: Shape, leaves: Leaves, exchange: Exchange) -> Leaves:
    key, value = shape.parts
    made: list[Expression] = list(leaves)
    for old, new in enumerate(_ranks(key, exchange)):
        item = leaves[old * value.width : (old + 1) * value.width]
        made[new * value.width : (new + 1) * value.width] = _exchanged(value, item, exchange)
    return tuple(made)


def exchanged_value(shape: Shape, value: object, exchange: Exchange) -> object:
    """Return a value after the exchange, computed on the value itself; tests compare the leaves with it."""
    raw = tuple(shape.raw(value))
    folded = _exchanged(shape, shape.of_value(value), exchange)
    if any(leaf.operator is not Operator.CONSTANT for leaf in folded):
        raise TypeError("an exchange of constants that is no constant")
    after = tuple(leaf.value for leaf in folded)
    return value if after == raw else shape.value(after)


def exchanged_state(program: Program, state: State, exchange: Exchange) -> State:
    """Return a state after the exchange."""
    shapes = [shape for shape, _ in plan(program).variables.values()]
    return tuple(
        frozen(exchanged_value(shape, value, exchange), shape.domain)
        for shape, value in zip(shapes, state, strict=True)
    )
