"""Planted mistranslations: for every node kind a grounder that is wrong about it, as a handler to put in the
place of the right one.

Each is a mistake that somebody could make: operands swapped, a check forgotten, one off, `or` for `and`, a
branch not taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from antiphon.model.ground import binders, calls, expressions, frames, make, run, statements
from antiphon.model.ground.form import Expression
from antiphon.model.ground.leaves import Leaves, rank
from antiphon.model.ground.make import TRUE
from antiphon.model.ground.run import Run, World
from antiphon.spec.lang import ir, types

Handler = Callable[[Run, Any], Any]
Mutation = Callable[[Handler], Handler]


def unchecked(right: Handler) -> Handler:
    """Every check inside is forgotten."""

    def wrong(here: Run, node: Any) -> Any:
        before = dict(here.checks)
        made = right(here, node)
        here.checks = before
        return made

    return wrong


def rewritten(change: Callable[[Any], Any]) -> Mutation:
    """Another node is translated instead; of the same kind, or of one that is handled in the same table."""

    def mutate(right: Handler) -> Handler:
        def wrong(here: Run, node: Any) -> Any:
            other = change(node)
            if type(other) is type(node):
                return right(here, other)
            return expressions.HANDLERS[type(other)](here, other)

        return wrong

    return mutate


def changed(change: Callable[[Run, Any, Leaves], Leaves]) -> Mutation:
    """The right value is changed afterwards."""

    def mutate(right: Handler) -> Handler:
        return lambda here, node: change(here, node, right(here, node))

    return mutate


def instead(wrong: Handler) -> Mutation:
    """Mutation that replaces a handler."""
    return lambda _right: wrong


def replaced(**fields: Any) -> Mutation:
    """Fields of the node are computed otherwise; each value is a function of the node."""
    return rewritten(
        lambda node: dataclasses.replace(node, **{name: compute(node) for name, compute in fields.items()})
    )


def swapped(node: Any) -> Any:
    return dataclasses.replace(node, left=node.right, right=node.left)


def without_conditions(node: Any) -> tuple[ir.Binder, ...]:
    return tuple(dataclasses.replace(binder, condition=None) for binder in node.binders)


def without_condition(node: ir.Collect) -> ir.Binder:
    return dataclasses.replace(node.binder, condition=None)


def moved(position: ir.Expression | None, by: int) -> ir.Expression | None:
    number = ir.Literal(type=ir.INTEGER, value=by)
    return position and ir.Arithmetic(type=ir.INTEGER, operator=ir.Operation.ADD, left=position, right=number)


def another_local(here: Run, node: ir.Name, leaves: Leaves) -> Leaves:
    """The local bound before it that looks the same."""
    sorts = [leaf.sort for leaf in leaves]
    alike = [
        other
        for name, other in here.frame.locals.items()
        if name != node.name and [leaf.sort for leaf in other] == sorts
    ]
    return alike[-1] if alike else leaves


def stale(right: Handler) -> Handler:
    """A variable is read as it was when it was read first."""
    first: dict[tuple[int, str], tuple[Run, Leaves]] = {}
    return lambda here, node: first.setdefault((id(here), node.variable), (here, right(here, node)))[1]


def flip(_run: Run, _node: Any, leaves: Leaves) -> Leaves:
    return (make.negation(leaves[0]),)


def one_more(_run: Run, _node: Any, leaves: Leaves) -> Leaves:
    return (make.add(leaves[0], make.number(1)), *leaves[1:])


def literal(_run: Run, node: ir.Literal, leaves: Leaves) -> Leaves:
    return one_more(_run, node, leaves) if isinstance(node.type, ir.Integer) else leaves


def constant(here: Run, node: ir.Constant, leaves: Leaves) -> Leaves:
    return flip(here, node, leaves) if isinstance(node.type, types.Bool) else leaves


def least(here: Run, node: ir.Expression, _leaves: Leaves) -> Leaves:
    return here.world.shapes[node.type].zero


def first_key_only(here: Run, node: ir.Everywhere | ir.MakeMap, leaves: Leaves) -> Leaves:
    part = here.world.shapes[node.type].parts[1]
    return leaves[: part.width] + part.zero * (len(leaves) // part.width - 1)


def eager(here: Run, node: ir.And | ir.Or) -> Leaves:
    """All operands are evaluated, whatever those before them say."""
    join = make.conjunction if isinstance(node, ir.And) else make.disjunction
    return (join(*(expressions.truth(here, operand) for operand in node.operands)),)


def nothing(_run: Run, _node: Any) -> None:
    return None


def no_handlers(right: Handler) -> Handler:
    """Events are recorded, and nobody hears of them."""

    def wrong(here: Run, node: ir.Emit) -> None:
        outer = here.world
        here.world = World(dataclasses.replace(outer.module, handlers=()), outer.shapes)
        right(here, node)
        here.world = outer

    return wrong


def goes_on(right: Handler) -> Handler:
    """A `return` without a value ends nothing."""

    def wrong(here: Run, node: ir.Return) -> None:
        right(here, node)
        if node.value is None:
            here.frame.running = TRUE

    return wrong


def first_return_lost(_right: Handler) -> Handler:
    """The last `return` wins."""

    def wrong(here: Run, node: ir.Return) -> None:
        if node.value is not None and here.frame.result is not None:
            here.frame.value = expressions.value(here, node.value, here.frame.result)

    return wrong


def added_at_front(here: Run, node: ir.Append) -> Leaves:
    """The new item overwrites the first."""
    shape = here.world.shapes[node.type]
    leaves = expressions.value(here, node.sequence, shape)
    added = expressions.value(here, node.item, shape.parts[0])
    return (make.add(leaves[0], make.number(1)), *added, *leaves[1 + len(added) :])


_LESS, _AT_MOST = ir.Comparison.LESS, ir.Comparison.AT_MOST
BLURRED = {
    _LESS: _AT_MOST,
    _AT_MOST: _LESS,
    ir.Comparison.GREATER: ir.Comparison.AT_LEAST,
    ir.Comparison.AT_LEAST: ir.Comparison.GREATER,
}
OPPOSITE = {ir.Quantifier.ANY: ir.Quantifier.ALL, ir.Quantifier.ALL: ir.Quantifier.ANY}
OTHER_END = {
    ir.Reduction.MINIMUM: ir.Reduction.MAXIMUM, ir.Reduction.MAXIMUM: ir.Reduction.MINIMUM,
    ir.Reduction.SUM: ir.Reduction.SUM,
}  # fmt: skip

EXPRESSIONS: tuple[tuple[type[ir.Expression], str, Mutation], ...] = (
    (ir.Literal, "one more", changed(literal)),
    (ir.Constant, "inverted", changed(constant)),
    (ir.Name, "another local", changed(another_local)),
    (ir.Read, "the value before the step", stale),
    (ir.Lookup, "key not checked", unchecked),
    (ir.Lookup, "always the first key", changed(least)),
    (ir.Field, "the least value", changed(least)),
    (
        ir.Compare,
        "strict for weak",
        replaced(operator=lambda node: BLURRED.get(node.operator, node.operator)),
    ),
    (ir.Compare, "swapped", rewritten(swapped)),
    (ir.Arithmetic, "swapped", rewritten(swapped)),
    (ir.Arithmetic, "divisor not checked", unchecked),
    (ir.Not, "forgotten", changed(flip)),
    (
        ir.Budget,
        "never spent",
        rewritten(
            lambda node: ir.Or(
                type=node.type, operands=(node.condition, ir.Literal(type=node.type, value=True))
            )
        ),
    ),
    (ir.And, "or", rewritten(lambda node: ir.Or(type=node.type, operands=node.operands))),
    (ir.And, "does not stop", instead(eager)),
    (ir.Or, "and", rewritten(lambda node: ir.And(type=node.type, operands=node.operands))),
    (ir.Or, "does not stop", instead(eager)),
    (ir.Choose, "swapped", replaced(then=lambda node: node.otherwise, otherwise=lambda node: node.then)),
    (ir.Member, "negated", changed(flip)),
    (ir.SetLiteral, "without the first", replaced(items=lambda node: node.items[1:])),
    (ir.SetLiteral, "elements not checked", unchecked),
    (ir.SetBinary, "swapped", rewritten(swapped)),
    (ir.Size, "one more", changed(one_more)),
    (ir.Quantify, "the other quantifier", replaced(quantifier=lambda node: OPPOSITE[node.quantifier])),
    (ir.Quantify, "conditions ignored", replaced(binders=without_conditions)),
    (ir.Gather, "conditions ignored", replaced(binders=without_conditions)),
    (ir.Gather, "elements not checked", unchecked),
    (ir.Reduce, "the other end", replaced(reduction=lambda node: OTHER_END[node.reduction])),
    (ir.Reduce, "nothing is not checked", unchecked),
    (ir.First, "conditions ignored", replaced(binders=without_conditions)),
    (ir.First, "nothing is not checked", unchecked),
    (ir.MakeRecord, "fields not checked", unchecked),
    (ir.IsRecord, "negated", changed(flip)),
    (ir.Present, "not checked", unchecked),
    (ir.MakeIndex, "not checked", unchecked),
    (ir.IndexNumber, "from one", changed(one_more)),
    (ir.MakeSequence, "empty", changed(least)),
    (ir.Append, "in front", instead(added_at_front)),
    (ir.Item, "end not checked", unchecked),
    (ir.Slice, "nothing dropped", rewritten(lambda node: node.sequence)),
    (ir.Slice, "one item too few", replaced(upper=lambda node: moved(node.upper, -1))),
    (ir.Concatenate, "swapped", rewritten(swapped)),
    (ir.Reverse, "forgotten", rewritten(lambda node: node.sequence)),
    (ir.Collect, "condition ignored", replaced(binder=without_condition)),
    (ir.Range, "from one", replaced(lower=lambda node: moved(node.lower, 1))),
    (ir.Everywhere, "the first key only", changed(first_key_only)),
    (ir.MakeMap, "the first key only", changed(first_key_only)),
    (ir.Update, "nothing changed", rewritten(lambda node: node.map)),
    (ir.Update, "keys not checked", unchecked),
    (ir.Call, "arguments not checked", unchecked),
    (ir.Before, "as it is after the step", rewritten(lambda node: node.value)),
)

STATEMENTS: tuple[tuple[type[ir.Statement], str, Mutation], ...] = (
    (ir.Let, "not evaluated", unchecked),
    (ir.Assign, "not checked", unchecked),
    (ir.Assign, "lost", instead(nothing)),
    (ir.When, "no else", replaced(otherwise=lambda _node: ())),
    (ir.Each, "every round twice", replaced(body=lambda node: node.body + node.body)),
    (ir.Require, "ignored", instead(nothing)),
    (ir.Emit, "not heard", no_handlers),
    (ir.Emit, "lost", instead(nothing)),
    (ir.Expect, "ignored", instead(nothing)),
    (ir.Expect, "negated", replaced(condition=lambda node: ir.Not(type=ir.BOOL, operand=node.condition))),
    (ir.Perform, "arguments not checked", unchecked),
    (ir.Return, "does not end the body", goes_on),
    (ir.Return, "the last one wins", first_return_lost),
)


def last_round_lost(right: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    return lambda *arguments: iter(list(right(*arguments))[:-1])


def plant(patch: pytest.MonkeyPatch, kind: type[ir.Node], mutation: Mutation) -> None:
    """Puts the mistake in the place of the right handler."""
    table: dict[Any, Handler] = (
        expressions.HANDLERS if issubclass(kind, ir.Expression) else statements.HANDLERS
    )  # type: ignore[assignment]
    patch.setitem(table, kind, mutation(table[kind]))


def backwards(bound: dict[str, Leaves]) -> dict[str, Leaves]:
    return dict(zip(bound, reversed(bound.values()), strict=True))


def plant_in_definition(patch: pytest.MonkeyPatch, kind: type[ir.Node]) -> None:
    """A mistake about a definition, a parameter or a binder, which have no handler of their own."""
    if kind is ir.Binder:
        for module in (binders, statements):
            patch.setattr(module, "elements", last_round_lost(binders.elements))
    elif kind is ir.Parameter:
        for module in (calls, statements):
            patch.setattr(module, "arguments_of", lambda *given: backwards(frames.arguments_of(*given)))
    elif kind is ir.Function:
        patch.setattr(World, "reads", lambda _world, _function: ())
    elif kind is ir.Procedure:
        patch.setitem(statements.HANDLERS, ir.Perform, nothing)
    elif kind is ir.Handler:
        patch.setattr(statements, "_handle", nothing_handled)


def nothing_handled(here: Run, handler: ir.Handler, *event: object) -> None:
    """Run only the first handler of an event."""
    if handler is next(item for item in here.world.module.handlers if item.event == handler.event):
        return
    ORIGINAL_HANDLE(here, handler, *event)


ORIGINAL_HANDLE = statements._handle
DEFINITIONS: tuple[type[ir.Node], ...] = (ir.Binder, ir.Parameter, ir.Function, ir.Procedure, ir.Handler)

# Mistakes of the grounder that belong to no node.
PARTS: tuple[tuple[str, Any, str, Any], ...] = (
    (
        "checks do not know their path",
        run.Run,
        "check",
        lambda here, right, at, reason: unpathed(here, right, at, reason),
    ),
    (
        "ranks are one off",
        expressions,
        "rank",
        lambda leaves, shape: make.add(rank(leaves, shape), make.number(1)),
    ),
    (
        "branches are joined the wrong way round",
        run,
        "choose_leaves",
        lambda _condition, _then, otherwise: otherwise,
    ),
)


def unpathed(here: Run, right: Expression, at: Any, reason: str) -> None:
    """A check that counts on every path."""
    path, here.path = here.path, []
    ORIGINAL_CHECK(here, right, at, reason)
    here.path = path


ORIGINAL_CHECK = run.Run.check
