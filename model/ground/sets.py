"""Sets as bits over the ranks of their elements; sequences as a length and items, with zeros beyond the end.

Handlers are registered as in `expressions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from antiphon.model.ground import make
from antiphon.model.ground.expressions import checked, evaluate, handles, value
from antiphon.model.ground.form import CONSTANT, Expression
from antiphon.model.ground.leaves import Leaves, choose_leaves, compare, convert, fit, rank
from antiphon.model.ground.make import FALSE, TRUE
from antiphon.model.ground.run import Run
from antiphon.model.ground.shape import Shape
from antiphon.spec.lang import ir, types


def set_of(items: Iterable[tuple[Expression, Leaves]], shape: Shape) -> Expression:
    """Return the set of the items whose conditions are true; conditions are first collected by rank, so that
    each rank occurs once.
    """
    element, width = shape.parts[0], shape.parts[0].domain.cardinality
    present: dict[Expression, list[Expression]] = {}
    for here, leaves in items:
        present.setdefault(rank(leaves, element), []).append(here)
    always, parts = 0, []
    for number, conditions in present.items():
        here = make.disjunction(*conditions)
        only = make.single(width, number)
        if here is TRUE and only.operator is CONSTANT:
            always |= int(only.value)
        else:
            parts.append(make.choose(here, only, make.bits(width, 0)))
    return make.union(_joined(parts, width), make.bits(width, always))


def _joined(parts: Sequence[Expression], width: int) -> Expression:
    """Return the union of the parts, as a balanced tree, since readers may walk it recursively."""
    if len(parts) < 2:
        return parts[0] if parts else make.bits(width, 0)
    middle = len(parts) // 2
    return make.union(_joined(parts[:middle], width), _joined(parts[middle:], width))


@handles(ir.SetLiteral)
def _set_literal(run: Run, node: ir.SetLiteral) -> Leaves:
    shape = run.world.shapes[node.type]
    items = [(TRUE, checked(run, item, shape.parts[0], "an element")) for item in node.items]
    return (set_of(items, shape),)


_SET_OPERATIONS = {
    ir.SetOperation.UNION: make.union,
    ir.SetOperation.INTERSECTION: make.intersection,
    ir.SetOperation.DIFFERENCE: make.difference,
    ir.SetOperation.SYMMETRIC_DIFFERENCE: make.symmetric_difference,
}


@handles(ir.SetBinary)
def _set_binary(run: Run, node: ir.SetBinary) -> Leaves:
    return (_SET_OPERATIONS[node.operator](evaluate(run, node.left)[0], evaluate(run, node.right)[0]),)


@handles(ir.Size)
def _size(run: Run, node: ir.Size) -> Leaves:
    leaves = evaluate(run, node.collection)
    if isinstance(node.collection.type, types.SetOf):
        return (make.count(leaves[0]),)
    return leaves[:1]


@handles(ir.Member)
def _member(run: Run, node: ir.Member) -> Leaves:
    shapes = run.world.shapes
    item, given = evaluate(run, node.item), shapes[node.item.type]
    leaves, shape = evaluate(run, node.collection), shapes[node.collection.type]
    element = shape.parts[0]
    if isinstance(shape.type, types.SetOf):
        fitted, right = fit(item, given, element)
        return (
            FALSE if right is FALSE else make.conjunction(right, make.has(leaves[0], rank(fitted, element))),
        )
    found = [
        make.conjunction(
            make.less(make.number(position), leaves[0]),
            compare(item, given, item_at(leaves, element, position), element),
        )
        for position in range(shape.domain.most)
    ]
    return (make.disjunction(*found),)


def item_at(leaves: Leaves, item: Shape, position: int) -> Leaves:
    """Return the leaves of the item at this position, from the leaves of the sequence."""
    return leaves[1 + position * item.width : 1 + (position + 1) * item.width]


@handles(ir.MakeSequence)
def _make_sequence(run: Run, node: ir.MakeSequence) -> Leaves:
    item = run.world.shapes[node.type].parts[0]
    made: list[Expression] = [make.number(len(node.items))]
    for part in node.items:
        made.extend(value(run, part, item))
    return tuple(made)


@handles(ir.Append)
def _append(run: Run, node: ir.Append) -> Leaves:
    shape = run.world.shapes[node.type]
    leaves = value(run, node.sequence, shape)
    added = value(run, node.item, shape.parts[0])
    made: list[Expression] = [make.add(leaves[0], make.number(1))]
    for position in range(shape.domain.most):
        here = make.equal(leaves[0], make.number(position))
        made.extend(choose_leaves(here, added, item_at(leaves, shape.parts[0], position)))
    return tuple(made)


@handles(ir.Item)
def _item(run: Run, node: ir.Item) -> Leaves:
    leaves, shape = evaluate(run, node.sequence), run.world.shapes[node.sequence.type]
    position = evaluate(run, node.position)[0]
    inside = make.conjunction(
        make.negation(make.less(position, make.number(0))), make.less(position, leaves[0])
    )
    run.check(inside, node.at, "the sequence has no item at this position")
    found = item_where(leaves, shape.parts[0], position, shape.domain.most)
    return convert(found, shape.parts[0], run.world.shapes[node.type])[0]


def item_where(leaves: Leaves, item: Shape, position: Expression, most: int) -> Leaves:
    """Return the leaves of the item of a sequence at a position; those of the least value if the sequence has
    no such item.
    """
    if position.operator is CONSTANT:
        return item_at(leaves, item, int(position.value)) if 0 <= position.value < most else item.zero
    found = item.zero
    for number in reversed(range(most)):
        found = choose_leaves(make.equal(position, make.number(number)), item_at(leaves, item, number), found)
    return found


@handles(ir.Slice)
def _slice(run: Run, node: ir.Slice) -> Leaves:
    leaves, shape = evaluate(run, node.sequence), run.world.shapes[node.sequence.type]
    target = run.world.shapes[node.type]
    none = make.number(0)
    lower = evaluate(run, node.lower)[0] if node.lower is not None else none
    upper = evaluate(run, node.upper)[0] if node.upper is not None else leaves[0]
    begin = make.choose(make.less(lower, none), none, lower)
    end = make.choose(make.less(upper, leaves[0]), upper, leaves[0])
    length = make.choose(make.less(end, begin), none, make.subtract(end, begin))
    made: list[Expression] = [length]
    for position in range(target.domain.most):
        source = make.add(begin, make.number(position))
        found = item_where(leaves, shape.parts[0], source, shape.domain.most)
        if node.upper is not None:
            found = choose_leaves(make.less(make.number(position), length), found, shape.parts[0].zero)
        made.extend(found)
    return tuple(made)


@handles(ir.Concatenate)
def _concatenate(run: Run, node: ir.Concatenate) -> Leaves:
    shape = run.world.shapes[node.type]
    left, right = value(run, node.left, shape), value(run, node.right, shape)
    item, most = shape.parts[0], shape.domain.most
    first, second = _length(run, node.left, left), _length(run, node.right, right)
    made: list[Expression] = [make.add(first, second)]
    for position in range(most):
        found = item_at(left, item, position)
        for length in range(max(0, make.interval(first).low), min(make.interval(first).high, position) + 1):
            here = make.equal(first, make.number(length))
            found = choose_leaves(here, item_at(right, item, position - length), found)
        made.extend(found)
    return tuple(made)


def _length(run: Run, node: ir.Expression, leaves: Leaves) -> Expression:
    """Return the length of a sequence, reduced to what its type allows: it can be longer only if a check has
    failed.

    Without that, lengths that no state has would double in every round of a loop.
    """
    most, length = run.world.shapes[node.type].domain.most, leaves[0]
    return length if make.interval(length).high <= most else make.modulo(length, make.number(most + 1))


@handles(ir.Reverse)
def _reverse(run: Run, node: ir.Reverse) -> Leaves:
    leaves, shape = evaluate(run, node.sequence), run.world.shapes[node.sequence.type]
    item, most = shape.parts[0], shape.domain.most
    made: list[Expression] = [leaves[0]]
    for position in range(most):
        from_end = make.subtract(leaves[0], make.number(position + 1))
        made.extend(item_where(leaves, item, from_end, most))
    return tuple(made)


@handles(ir.Range)
def _range(run: Run, node: ir.Range) -> Leaves:
    lower, upper = evaluate(run, node.lower)[0], evaluate(run, node.upper)[0]
    shape = run.world.shapes[node.type]
    length = make.choose(make.less(upper, lower), make.number(0), make.subtract(upper, lower))
    made: list[Expression] = [length]
    for position in map(make.number, range(shape.domain.most)):
        item = make.add(lower, position)
        made.append(make.choose(make.less(position, length), item, shape.parts[0].zero[0]))
    return tuple(made)
