"""Grounding of expressions: each becomes leaves, by one handler for each kind of node; partial operations
leave checks behind.

`HANDLERS` maps a node class to its handler; quantifiers, comprehensions and calls stand in `ranges` and
`calls`. A handler returns leaves in the shape of the node's static type. Handlers of expressions change
nothing but the checks of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from antiphon.model.ground import make
from antiphon.model.ground.form import CONSTANT, Expression
from antiphon.model.ground.leaves import (
    Leaves,
    bounded,
    choose_leaves,
    compare,
    convert,
    equal_leaves,
    fit,
    rank,
    records,
    written,
)
from antiphon.model.ground.make import FALSE, TRUE
from antiphon.model.ground.run import Run
from antiphon.model.ground.shape import Shape
from antiphon.spec.lang import ir, types

Handler = Callable[[Run, Any], Leaves]

HANDLERS: dict[type[ir.Expression], Handler] = {}


def evaluate(run: Run, node: ir.Expression) -> Leaves:
    """Return the value of an expression, in the shape of its type."""
    return HANDLERS[type(node)](run, node)


def truth(run: Run, node: ir.Expression) -> Expression:
    """Return the value of a boolean expression."""
    return HANDLERS[type(node)](run, node)[0]


def value(run: Run, node: ir.Expression, shape: Shape) -> Leaves:
    """Return the value of an expression in the shape of a type to which the expression's type is converted,
    and which has room for it.
    """
    return convert(evaluate(run, node), run.world.shapes[node.type], shape)[0]


def checked(run: Run, node: ir.Expression, shape: Shape, what: str) -> Leaves:
    """Return the value of an expression that must be in the domain of `shape`."""
    leaves, right = fit(evaluate(run, node), run.world.shapes[node.type], shape)
    if right is not TRUE:
        run.check(right, node.at, f"{what} leaves its domain")
    return leaves


def handles(kind: type[ir.Expression]) -> Callable[[Handler], Handler]:
    """Register a function as the handler of a node class (a decorator)."""

    def register(handler: Handler) -> Handler:
        HANDLERS[kind] = handler
        return handler

    return register


def constant(shape: Shape, given: object) -> Leaves:
    """Return the leaves of a literal of the specification."""
    if given is None:
        return shape.zero
    if isinstance(given, bool):
        return (make.boolean(given),)
    return (make.number(given if isinstance(given, int) else shape.domain.rank(given)),)


@handles(ir.Literal)
def _literal(run: Run, node: ir.Literal) -> Leaves:
    found = run.world.literals.get(id(node))
    if found is None:
        found = run.world.literals[id(node)] = constant(run.world.shapes[node.type], node.value)
    return found


@handles(ir.Constant)
def _constant(run: Run, node: ir.Constant) -> Leaves:
    return constant(run.world.shapes[node.type], run.world.shapes.constants[node.name])


@handles(ir.Name)
def _name(run: Run, node: ir.Name) -> Leaves:
    return run.frame.locals[node.name]


@handles(ir.Read)
def _read(run: Run, node: ir.Read) -> Leaves:
    return run.state[node.variable]


def key_of(run: Run, node: ir.Expression, shape: Shape) -> Leaves:
    """Return a key of a map of this shape, checked."""
    return checked(run, node, shape.parts[0], "a key")


@handles(ir.Lookup)
def _lookup(run: Run, node: ir.Lookup) -> Leaves:
    leaves, shape = evaluate(run, node.map), run.world.shapes[node.map.type]
    key = key_of(run, node.key, shape)
    width = shape.parts[1].width
    number = rank(key, shape.parts[0])
    if number.operator is CONSTANT:
        at = min(max(int(number.value), 0), shape.parts[0].domain.cardinality - 1) * width
        return leaves[at : at + width]
    keys = shape.parts[0].domain.cardinality
    found = leaves[(keys - 1) * width :]
    for position in reversed(range(keys - 1)):
        here = equal_leaves(key, shape.parts[0].of_rank(position))
        found = choose_leaves(here, leaves[position * width : (position + 1) * width], found)
    return found


@handles(ir.Field)
def _field(run: Run, node: ir.Field) -> Leaves:
    leaves, shape = evaluate(run, node.record), run.world.shapes[node.record.type]
    if isinstance(shape.type, types.Record):
        return part_of(leaves, shape, node.name)
    wanted = run.world.shapes[node.type]
    found, known = wanted.zero, FALSE
    for here, part, inner in records(shape, leaves):
        position = part.positions.get(node.name)
        if position is not None:
            chosen = convert(part_of(inner, part, node.name), part.parts[position], wanted)[0]
            found, known = choose_leaves(here, chosen, found), make.disjunction(known, here)
    run.check(known, node.at, f"the value is no record with a field {node.name}")
    return found


def part_of(leaves: Leaves, shape: Shape, name: str) -> Leaves:
    """Return the leaves of the field `name` of a record, from the leaves of the record."""
    position = shape.positions[name]
    begin = shape.offsets[position]
    return leaves[begin : begin + shape.parts[position].width]


@handles(ir.Compare)
def _compare(run: Run, node: ir.Compare) -> Leaves:
    shapes = run.world.shapes
    left, right = evaluate(run, node.left), evaluate(run, node.right)
    match node.operator:
        case ir.Comparison.EQUAL:
            return (compare(left, shapes[node.left.type], right, shapes[node.right.type]),)
        case ir.Comparison.UNEQUAL:
            return (make.negation(compare(left, shapes[node.left.type], right, shapes[node.right.type])),)
        case ir.Comparison.GREATER | ir.Comparison.AT_LEAST:
            left, right = right, left
    strict = node.operator in (ir.Comparison.LESS, ir.Comparison.GREATER)
    if isinstance(shapes[node.left.type].type, types.SetOf):
        inside = make.subset(left[0], right[0])
        return (make.conjunction(inside, make.negation(make.equal(left[0], right[0]))) if strict else inside,)
    return (make.less(left[0], right[0]) if strict else make.at_most(left[0], right[0]),)


_ARITHMETIC = {
    ir.Operation.ADD: make.add,
    ir.Operation.SUBTRACT: make.subtract,
    ir.Operation.MULTIPLY: make.multiply,
    ir.Operation.DIVIDE: make.divide,
    ir.Operation.MODULO: make.modulo,
}


@handles(ir.Arithmetic)
def _arithmetic(run: Run, node: ir.Arithmetic) -> Leaves:
    left, right = evaluate(run, node.left)[0], evaluate(run, node.right)[0]
    if node.operator in (ir.Operation.DIVIDE, ir.Operation.MODULO):
        run.check(make.negation(make.equal(right, make.number(0))), node.at, "division by zero")
    return (_ARITHMETIC[node.operator](left, right),)


@handles(ir.Not)
def _not(run: Run, node: ir.Not) -> Leaves:
    return (make.negation(truth(run, node.operand)),)


@handles(ir.Budget)
def _budget(run: Run, node: ir.Budget) -> Leaves:
    return (truth(run, node.condition),)


@handles(ir.And)
def _and(run: Run, node: ir.And) -> Leaves:
    mark, found = len(run.path), []
    for operand in node.operands:
        here = run.known(truth(run, operand))
        found.append(here)
        if here is FALSE:
            break
        run.push(here)
    del run.path[mark:]
    return (make.conjunction(*found),)


@handles(ir.Or)
def _or(run: Run, node: ir.Or) -> Leaves:
    mark, found = len(run.path), []
    for operand in node.operands:
        here = run.known(truth(run, operand))
        found.append(here)
        if here is TRUE:
            break
        run.push(make.negation(here))
    del run.path[mark:]
    return (make.disjunction(*found),)


@handles(ir.Choose)
def _choose(run: Run, node: ir.Choose) -> Leaves:
    shape = run.world.shapes[node.type]
    condition = run.known(truth(run, node.condition))
    if condition is TRUE or condition is FALSE:
        return value(run, node.then if condition is TRUE else node.otherwise, shape)
    mark = len(run.path)
    run.push(condition)
    then = value(run, node.then, shape)
    del run.path[mark:]
    run.push(make.negation(condition))
    otherwise = value(run, node.otherwise, shape)
    del run.path[mark:]
    return choose_leaves(condition, then, otherwise)


@handles(ir.IsRecord)
def _is_record(run: Run, node: ir.IsRecord) -> Leaves:
    leaves, shape = evaluate(run, node.value), run.world.shapes[node.value.type]
    found = [
        here
        for here, part, _ in records(shape, leaves)
        if isinstance(part.type, types.Record) and part.type.name in node.records
    ]
    return (make.disjunction(*found),)


@handles(ir.Present)
def _present(run: Run, node: ir.Present) -> Leaves:
    shapes = run.world.shapes
    leaves, right = convert(evaluate(run, node.value), shapes[node.value.type], shapes[node.type])
    run.check(right, node.at, "the value is absent, or another record")
    return leaves


@handles(ir.MakeRecord)
def _make_record(run: Run, node: ir.MakeRecord) -> Leaves:
    shape = run.world.shapes[node.type]
    fields = shape.type.fields if isinstance(shape.type, types.Record) else ()
    made: list[Expression] = []
    parts = [(evaluate(run, argument), argument) for argument in node.arguments]
    for (name, _), part, (leaves, argument) in zip(fields, shape.parts, parts, strict=True):
        fitted, right = fit(leaves, run.world.shapes[argument.type], part)
        run.check(right, node.at, f"field {name} leaves its domain")
        made.extend(fitted)
    return tuple(made)


@handles(ir.MakeIndex)
def _make_index(run: Run, node: ir.MakeIndex) -> Leaves:
    leaves = evaluate(run, node.number)
    run.check(bounded(leaves, run.world.shapes[node.type]), node.at, "no such member of the index set")
    return leaves


@handles(ir.IndexNumber)
def _index_number(run: Run, node: ir.IndexNumber) -> Leaves:
    return evaluate(run, node.index)


@handles(ir.Everywhere)
def _everywhere(run: Run, node: ir.Everywhere) -> Leaves:
    shape = run.world.shapes[node.type]
    return value(run, node.value, shape.parts[1]) * shape.parts[0].domain.cardinality


@handles(ir.MakeMap)
def _make_map(run: Run, node: ir.MakeMap) -> Leaves:
    shapes = run.world.shapes
    shape, keys = shapes[node.type], shapes[node.binder.type]
    made: list[Expression] = []
    for number in range(keys.domain.cardinality):
        run.frame.locals[node.binder.name] = keys.of_rank(number)
        made.extend(value(run, node.body, shape.parts[1]))
    return tuple(made)


@handles(ir.Update)
def _update(run: Run, node: ir.Update) -> Leaves:
    shape = run.world.shapes[node.type]
    leaves = value(run, node.map, shape)
    changes = [
        (key_of(run, key, shape), value(run, item, shape.parts[1]))
        for key, item in zip(node.keys, node.values, strict=True)
    ]
    for key, item in changes:
        leaves = written(leaves, shape, [key], item)
    return leaves
