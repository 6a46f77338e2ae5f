"""Values as leaves: converted between types, compared, ranked and bounded, without knowing the concrete
value.

A value is a tuple of ground expressions in the canonical form of its `Shape`. This file knows nothing of
statements and paths.
"""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.model.ground import make
from antiphon.model.ground.form import CONSTANT, Expression, Number
from antiphon.model.ground.make import FALSE, TRUE
from antiphon.model.ground.shape import Shape
from antiphon.spec.lang import ir, types

Leaves = tuple[Expression, ...]


def choose_leaves(condition: Expression, then: Leaves, otherwise: Leaves) -> Leaves:
    """Return `then` where the condition is true, else `otherwise`, leaf by leaf."""
    if then is otherwise or condition is TRUE:
        return then
    if condition is FALSE:
        return otherwise
    return tuple(
        [
            new if new is old else make.choose(condition, new, old)
            for new, old in zip(then, otherwise, strict=True)
        ]
    )


def equal_leaves(left: Leaves, right: Leaves) -> Expression:
    """Return the condition that two values of one shape are equal."""
    return make.conjunction(*map(make.equal, left, right))


def compare(left: Leaves, left_shape: Shape, right: Leaves, right_shape: Shape) -> Expression:
    """Return the condition that two values of types that may differ are equal."""
    converted, exists = convert(left, left_shape, right_shape)
    return FALSE if exists is FALSE else make.conjunction(exists, equal_leaves(converted, right))


def bounded(leaves: Leaves, shape: Shape) -> Expression:
    """Return the condition that every number lies in the interval that the type declares."""
    found: list[Expression] = []
    for position, sort in shape.numbers:
        leaf = leaves[position]
        given = leaf.sort
        if (
            given is not sort
            and isinstance(given, Number)
            and not (sort.low <= given.low and given.high <= sort.high)
        ):
            found.append(make.in_range(leaf, sort.low, sort.high))
    return make.conjunction(*found) if found else TRUE


def fit(leaves: Leaves, source: Shape, target: Shape) -> tuple[Leaves, Expression]:
    """Return the value in the form of the type of `target`, and the condition that it belongs to the target's
    domain.
    """
    converted, exists = (leaves, TRUE) if source is target else convert(leaves, source, target)
    inside = bounded(converted, target)
    return converted, inside if exists is TRUE else make.conjunction(exists, inside)


def convert(leaves: Leaves, source: Shape, target: Shape) -> tuple[Leaves, Expression]:
    """Return the value in the form of another type, and the condition that the value has such a form; bounds
    of integers are ignored.

    Each value has a form of a wider type (optional, union, longer sequence). It has a form of a narrower type
    only if it belongs to that type.
    """
    if source is target:
        return leaves, TRUE
    if isinstance(source.type, types.Optional) and not isinstance(target.type, types.Optional):
        if isinstance(target.type, ir.NoneType):
            return (), make.negation(leaves[0])
        inner, exists = convert(leaves[1:], source.parts[0], target)
        return inner, make.conjunction(leaves[0], exists)
    match target.type:
        case types.Optional():
            return _to_optional(leaves, source, target)
        case types.Record() | types.Union() if isinstance(source.type, types.Record | types.Union):
            return _to_records(leaves, source, target)
        case types.SequenceOf() if isinstance(source.type, types.SequenceOf):
            return _to_sequence(leaves, source, target)
        case types.MapOf() if isinstance(source.type, types.MapOf) and source.parts[0] is target.parts[0]:
            return _to_map(leaves, source, target)
        case types.Int() | ir.Integer() if isinstance(source.type, types.Int | ir.Integer):
            return leaves, TRUE
    return target.zero, FALSE


def _to_optional(leaves: Leaves, source: Shape, target: Shape) -> tuple[Leaves, Expression]:
    inner = target.parts[0]
    if isinstance(source.type, ir.NoneType):
        return target.zero, TRUE
    if not isinstance(source.type, types.Optional):
        converted, exists = convert(leaves, source, inner)
        return (TRUE, *converted), exists
    converted, exists = convert(leaves[1:], source.parts[0], inner)
    return (leaves[0], *choose_leaves(leaves[0], converted, inner.zero)), make.disjunction(
        make.negation(leaves[0]), exists
    )


def _records(shape: Shape, leaves: Leaves) -> list[tuple[Expression, Shape, Leaves]]:
    """Return, for each record that the value may be, the condition that it is this record, and the record's
    shape and leaves.
    """
    if isinstance(shape.type, types.Record):
        return [(TRUE, shape, leaves)]
    tag = leaves[0]
    return [
        (make.equal(tag, make.number(number)), part, leaves[offset : offset + part.width])
        for number, (part, offset) in enumerate(zip(shape.parts, shape.offsets, strict=True))
    ]


def records(shape: Shape, leaves: Leaves) -> list[tuple[Expression, Shape, Leaves]]:
    """Return one entry for each record that a value of a record or union type (perhaps optional) may be: the
    condition that it is this record, the record's shape and its leaves.
    """
    if not isinstance(shape.type, types.Optional):
        return _records(shape, leaves)
    return [
        (make.conjunction(leaves[0], here), part, inner)
        for here, part, inner in _records(shape.parts[0], leaves[1:])
    ]


def _to_records(leaves: Leaves, source: Shape, target: Shape) -> tuple[Leaves, Expression]:
    wanted = (target,) if isinstance(target.type, types.Record) else target.parts
    known: list[Expression] = []
    tag, values = make.number(0), [part.zero for part in wanted]
    for here, part, inner in _records(source, leaves):
        for number, other in enumerate(wanted):
            if other is part:
                known.append(here)
                tag = make.choose(here, make.number(number), tag)
                values[number] = choose_leaves(here, inner, other.zero)
    joined = tuple(leaf for value in values for leaf in value)
    exists = make.disjunction(*known)
    return (joined if isinstance(target.type, types.Record) else (tag, *joined)), exists


def _to_sequence(leaves: Leaves, source: Shape, target: Shape) -> tuple[Leaves, Expression]:
    item, inner = source.parts[0], target.parts[0]
    length, most = leaves[0], target.domain.most
    exists = [make.at_most(length, make.number(most))]
    made: list[Expression] = [length]
    for position in range(most):
        if position >= source.domain.most:
            made.extend(inner.zero)
            continue
        given = leaves[1 + position * item.width : 1 + (position + 1) * item.width]
        converted, fits = convert(given, item, inner)
        there = make.less(make.number(position), length)
        made.extend(converted if item is inner else choose_leaves(there, converted, inner.zero))
        exists.append(make.disjunction(make.negation(there), fits))
    return tuple(made), make.conjunction(*exists)


def _to_map(leaves: Leaves, source: Shape, target: Shape) -> tuple[Leaves, Expression]:
    value, wanted = source.parts[1], target.parts[1]
    made: list[Expression] = []
    exists: list[Expression] = []
    for item in items_of(leaves, source):
        converted, fits = convert(item, value, wanted)
        made.extend(converted)
        exists.append(fits)
    return tuple(made), make.conjunction(*exists)


def written(leaves: Leaves, shape: Shape, keys: Sequence[Leaves], stored: Leaves) -> Leaves:
    """Return a map's leaves with `stored` at these keys, one for each level of maps."""
    if not keys:
        return stored
    key, rest = keys[0], keys[1:]
    key_shape, inner = shape.parts
    position, width = rank(key, key_shape), inner.width
    made: list[Expression] = []
    for number in range(key_shape.domain.cardinality):
        part = leaves[number * width : (number + 1) * width]
        if position.operator is CONSTANT:
            made.extend(written(part, inner, rest, stored) if position.value == number else part)
        else:
            here = equal_leaves(key, key_shape.of_rank(number))
            made.extend(choose_leaves(here, written(part, inner, rest, stored), part))
    return tuple(made)


def items_of(leaves: Leaves, shape: Shape) -> list[Leaves]:
    """Return the leaves of each value of a map, in key order."""
    keys, value = shape.parts
    return [leaves[at * value.width : (at + 1) * value.width] for at in range(keys.domain.cardinality)]


def rank(leaves: Leaves, shape: Shape) -> Expression:
    """Return the rank of a value in its domain (`types.Domain.rank`), a number."""
    match shape.type:
        case types.Bool():
            return make.indicator(leaves[0])
        case types.Int():
            return make.subtract(leaves[0], make.number(shape.domain.low))
        case types.IndexType() | types.Enumeration():
            return leaves[0]
        case types.Optional():
            return make.choose(
                leaves[0], make.add(rank(leaves[1:], shape.parts[0]), make.number(1)), make.number(0)
            )
        case types.Record():
            return _radix(
                [
                    (leaves[at : at + part.width], part)
                    for part, at in zip(shape.parts, shape.offsets, strict=True)
                ]
            )
        case types.Union():
            before, found = 0, make.number(0)
            for here, part, inner in _records(shape, leaves):
                found = make.choose(here, make.add(rank(inner, part), make.number(before)), found)
                before += part.domain.cardinality
            return found
        case types.SetOf():
            members = [
                make.has(leaves[0], make.number(element))
                for element in range(shape.parts[0].domain.cardinality)
            ]
            return _sum(
                [
                    make.choose(member, make.number(1 << element), make.number(0))
                    for element, member in enumerate(members)
                ]
            )
        case types.SequenceOf():
            return _rank_of_sequence(leaves, shape)
        case types.MapOf():
            return _radix([(item, shape.parts[1]) for item in items_of(leaves, shape)])
    raise TypeError(f"a value of {shape.type} has no rank")


def _rank_of_sequence(leaves: Leaves, shape: Shape) -> Expression:
    item = shape.parts[0]
    shorter, found = 0, make.number(0)
    items = (
        [(leaves[at : at + item.width], item) for at in range(1, len(leaves), item.width)]
        if item.width
        else []
    )
    for length in range(shape.domain.most + 1):
        here = make.equal(leaves[0], make.number(length))
        found = make.choose(here, make.add(_radix(items[:length]), make.number(shorter)), found)
        shorter += item.domain.cardinality**length
    return found


def _radix(digits: Sequence[tuple[Leaves, Shape]]) -> Expression:
    found = make.number(0)
    for leaves, shape in digits:
        found = make.add(make.multiply(found, make.number(shape.domain.cardinality)), rank(leaves, shape))
    return found


def _sum(numbers: Sequence[Expression]) -> Expression:
    found = make.number(0)
    for term in numbers:
        found = make.add(found, term)
    return found


def canonical(leaves: Leaves, shape: Shape) -> Expression:
    """Return the condition that some value has exactly these leaves: unused parts of optional values, unions
    and sequences are zero.
    """
    match shape.type:
        case types.Optional():
            return make.choose(
                leaves[0],
                canonical(leaves[1:], shape.parts[0]),
                equal_leaves(leaves[1:], shape.parts[0].zero),
            )
        case types.Record():
            return make.conjunction(
                *(
                    canonical(leaves[at : at + part.width], part)
                    for part, at in zip(shape.parts, shape.offsets, strict=True)
                )
            )
        case types.Union():
            return make.conjunction(
                *(
                    make.choose(here, canonical(inner, part), equal_leaves(inner, part.zero))
                    for here, part, inner in _records(shape, leaves)
                )
            )
        case types.SequenceOf():
            item = shape.parts[0]
            found = []
            for position in range(shape.domain.most):
                inner = leaves[1 + position * item.width : 1 + (position + 1) * item.width]
                there = make.less(make.number(position), leaves[0])
                found.append(make.choose(there, canonical(inner, item), equal_leaves(inner, item.zero)))
            return make.conjunction(*found)
        case types.MapOf():
            return make.conjunction(*(canonical(item, shape.parts[1]) for item in items_of(leaves, shape)))
        case types.Bool() | types.SetOf():
            return TRUE
    return make.boolean(shape.domain.cardinality > 0)


def is_constant(leaves: Leaves) -> bool:
    """Return True if every leaf is a constant."""
    return all(leaf.operator is CONSTANT for leaf in leaves)
