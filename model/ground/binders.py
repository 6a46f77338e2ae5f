"""Unrolling of a range into one round for each value, under the condition that the value is in the range;
impossible rounds are left out.

A type gives all its values; a set the elements that it can hold, in order of rank, each under "is in the
set"; a sequence its items, each under "is before the end". A range is evaluated once, before its first round;
an inner range once in each round of the outer one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from antiphon.model.ground import make
from antiphon.model.ground.bits import members, rank_bounds
from antiphon.model.ground.expressions import evaluate, truth
from antiphon.model.ground.form import CHOOSE, Expression
from antiphon.model.ground.leaves import Leaves, convert
from antiphon.model.ground.make import FALSE, TRUE
from antiphon.model.ground.run import Run
from antiphon.model.ground.sizes import MOST, number_of
from antiphon.spec.lang import SpecError, ir, types
from antiphon.spec.lang.watch import working


def elements(run: Run, binder: ir.Binder) -> Iterator[tuple[Expression, Leaves]]:
    """Yield the values over which a binder ranges, in order, each with the condition that the value is in the
    range.
    """
    shapes, source = run.world.shapes, binder.source
    wanted = shapes[binder.type]
    if isinstance(source, types.Type):
        for rank in range(wanted.domain.cardinality):
            yield TRUE, wanted.of_rank(rank)
        return
    shape, leaves = shapes[source.type], evaluate(run, source)
    item = shape.parts[0]
    if isinstance(shape.type, types.SetOf):
        for rank in members(rank_bounds(leaves[0])[1]):
            here = make.has(leaves[0], make.number(rank))
            if here is not FALSE:
                yield here, convert(item.of_rank(rank), item, wanted)[0]
        return
    length = make.interval(leaves[0])
    for position in range(min(shape.domain.most, length.high)):
        offset = 1 + position * item.width
        here = make.less(make.number(position), leaves[0])
        yield here, convert(given(here, leaves[offset : offset + item.width]), item, wanted)[0]


def given(condition: Expression, leaves: Leaves) -> Leaves:
    """Return the leaves as they are where the condition is true: a choice by that condition becomes its
    chosen part.
    """
    opposite = make.negation(condition)
    return tuple(
        leaf.operands[1]
        if leaf.operator is CHOOSE and leaf.operands[0] is condition
        else leaf.operands[2]
        if leaf.operator is CHOOSE and leaf.operands[0] is opposite
        else leaf
        for leaf in leaves
    )


def visit_all(run: Run, binders: Sequence[ir.Binder], visit: Callable[[], bool]) -> bool:
    """Call `visit` in each round of the binders, until it returns True. Meanwhile their names have the
    round's values, and the path contains the condition of the round.
    """
    if not binders:
        return visit()
    binder, inner = binders[0], binders[1:]
    mark = len(run.path)
    for here, leaves in elements(run, binder):
        here = run.known(here)
        if here is FALSE:
            continue
        working("unrolling")
        run.rounds += 1
        if run.rounds > MOST:
            raise _too_many(run, binder)
        run.frame.locals[binder.name] = leaves
        run.push(here)
        if binder.condition is not None:
            condition = run.known(truth(run, binder.condition))
            if condition is FALSE:
                del run.path[mark:]
                continue
            run.push(condition)
        stop = visit_all(run, inner, visit)
        del run.path[mark:]
        if stop:
            return True
    return False


def _too_many(run: Run, binder: ir.Binder) -> SpecError:
    """Return the error of a body with too many rounds; sets may hold anything of their type."""
    return SpecError(
        f"more than {MOST:,} rounds are unrolled, the last of them of {binder.name}, which has "
        f"{number_of(run.world.shapes[binder.type].domain)} possible values",
        binder.at,
        "smaller types or constants: a set may hold every value of its type; or an outer range as a "
        'parameter of the action: Annotated[T, In("variable")]',
    )
