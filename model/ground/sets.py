"""A set becomes bits over the ranks of its elements; a sequence its length and its items, zeros beyond the
end.

Handlers as in `expressions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from antiphon.model.ground import make
from antiphon.model.ground.expressions import checked, evaluate, handles, value
from antiphon.model.ground.form import Expression, Operator
from antiphon.model.ground.leaves import Leaves, choose_leaves, compare, convert, fit, rank
from antiphon.model.ground.make import FALSE, TRUE
from antiphon.model.ground.run import Run
from antiphon.model.ground.shape import Shape
from antiphon.spec.lang import ir, types


def set_of(items: Iterable[tuple[Expression, Leaves]], shape: Shape) -> Expression:
    """The set of the items whose conditions are true; their ranks are collected so that each stands in it
    once.
    """
    element, width = shape.parts[0], shape.parts[0].domain.cardinality
    present: dict[Expression, list[Expression]] = {}
    for here, leaves in items:
        present.setdefault(rank(leaves, element), []).append(here)
    always, parts = 0, []
    for number, conditions in present.items():
        here = make.disjunction(*conditions)
        only = make.single(width, number)
        if here is TRUE and only.operator is Operator.CONSTANT:
            always |= int(only.value)
        else:
            parts.append(make.choose(here, only, make.bits(width, 0)))
    return make.union(_joined(parts, width), make.bits(width, always))


def _joined(parts: Sequence[Expression], width: int) -> Expression:
    """The union of the parts, as a balanced tree: readers may walk it recursively."""
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
    """The leaves of the item of a sequence at this position."""
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
    item = shape.parts[0]
    found = item.zero
    for number in reversed(range(shape.domain.most)):
        found = choose_leaves(make.equal(position, make.number(number)), item_at(leaves, item, number), found)
    return convert(found, item, run.world.shapes[node.type])[0]


@handles(ir.DropFirst)
def _drop_first(run: Run, node: ir.DropFirst) -> Leaves:
    leaves, shape = evaluate(run, node.sequence), run.world.shapes[node.sequence.type]
    empty = make.equal(leaves[0], make.number(0))
    shorter = make.choose(empty, make.number(0), make.add(leaves[0], make.number(-1)))
    rest = leaves[1 + shape.parts[0].width :] + (shape.parts[0].zero if shape.domain.most else ())
    return convert((shorter, *rest), shape, run.world.shapes[node.type])[0]
