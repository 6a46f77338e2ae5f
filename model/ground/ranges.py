"""Quantifiers and comprehensions as unrolled rounds; `any`, `all` and `next` stop as Python does.

A round is evaluated only where no earlier round has decided: that matters for the checks inside it.
Handlers are registered as in `expressions`.
"""

from __future__ import annotations

from antiphon.model.ground import make
from antiphon.model.ground.binders import visit_all
from antiphon.model.ground.expressions import checked, evaluate, handles, truth, value
from antiphon.model.ground.form import CONSTANT, Expression
from antiphon.model.ground.leaves import Leaves, choose_leaves
from antiphon.model.ground.make import FALSE, TRUE
from antiphon.model.ground.run import Run
from antiphon.model.ground.sets import set_of
from antiphon.spec.lang import ir


@handles(ir.Quantify)
def _quantify(run: Run, node: ir.Quantify) -> Leaves:
    wanted = node.quantifier is ir.Quantifier.ANY
    decided: list[Expression] = []
    mark = len(run.path)
    run.path.append(decided)
    begin = len(run.path)

    def visit() -> bool:
        found = run.known(truth(run, node.body))
        deciding = make.conjunction(run.condition(begin), found if wanted else make.negation(found))
        if deciding is not FALSE:
            decided.append(deciding)
        return deciding is TRUE

    visit_all(run, node.binders, visit)
    del run.path[mark:]
    result = make.disjunction(*decided)
    return (result if wanted else make.negation(result),)


@handles(ir.Gather)
def _gather(run: Run, node: ir.Gather) -> Leaves:
    shape = run.world.shapes[node.type]
    items: list[tuple[Expression, Leaves]] = []
    begin = len(run.path)

    def visit() -> bool:
        items.append((run.condition(begin), checked(run, node.body, shape.parts[0], "an element")))
        return False

    visit_all(run, node.binders, visit)
    return (set_of(items, shape),)


@handles(ir.Collect)
def _collect(run: Run, node: ir.Collect) -> Leaves:
    shape = run.world.shapes[node.type]
    item, most = shape.parts[0], shape.domain.most
    made = [item.zero] * most
    length = make.number(0)
    begin = len(run.path)

    def visit() -> bool:
        nonlocal length
        here, leaves = run.condition(begin), value(run, node.body, item)
        before = make.interval(length)
        for position in range(before.low, min(before.high + 1, most)):
            at_end = make.conjunction(here, make.equal(length, make.number(position)))
            made[position] = choose_leaves(at_end, leaves, made[position])
        length = make.add(length, make.indicator(here))
        return False

    visit_all(run, (node.binder,), visit)
    return (length, *(leaf for leaves in made for leaf in leaves))


@handles(ir.First)
def _first(run: Run, node: ir.First) -> Leaves:
    shape = run.world.shapes[node.type]
    found = None if node.default is None else value(run, node.default, shape)
    earlier: list[Expression] = []
    items: list[tuple[Expression, Leaves]] = []
    mark = len(run.path)
    run.path.append(earlier)
    begin = len(run.path)

    def visit() -> bool:
        here = run.condition(begin)
        items.append((here, value(run, node.body, shape)))
        earlier.append(here)
        return here is TRUE

    visit_all(run, node.binders, visit)
    del run.path[mark:]
    if found is None:
        run.check(make.disjunction(*earlier), node.at, "next(...) finds nothing")
        found = shape.zero
    for here, leaves in reversed(items):
        found = choose_leaves(here, leaves, found)
    return found


@handles(ir.Reduce)
def _reduce(run: Run, node: ir.Reduce) -> Leaves:
    default = None if node.default is None else evaluate(run, node.default)[0]
    conditions: dict[Expression, list[Expression]] = {}
    begin = len(run.path)

    def visit() -> bool:
        here = run.condition(begin)
        conditions.setdefault(evaluate(run, node.body)[0], []).append(here)
        return False

    visit_all(run, node.binders, visit)
    if node.reduction is ir.Reduction.SUM:
        total = make.number(0)
        for term, places in conditions.items():
            for here in places:
                total = make.add(total, make.choose(here, term, make.number(0)))
        return (total,)
    there = [(make.disjunction(*places), term) for term, places in conditions.items()]
    some = make.disjunction(*(here for here, _ in there))
    if default is None:
        run.check(some, node.at, f"{node.reduction.value}(...) of nothing")
    best = extreme(there, smallest=node.reduction is ir.Reduction.MINIMUM)
    if best is None:
        return (default if default is not None else make.number(0),)
    return (best if default is None else make.choose(some, best, default),)


def extreme(terms: list[tuple[Expression, Expression]], *, smallest: bool) -> Expression | None:
    """Return the least or greatest of the terms whose conditions are true, at least one of which is; None if
    there are no terms.

    Constants are taken in order, so that a better one replaces the best so far without a comparison.
    """
    constants = [term for term in terms if term[1].operator is CONSTANT]
    constants.sort(key=lambda term: int(term[1].value), reverse=smallest)
    others = [term for term in terms if term[1].operator is not CONSTANT]
    found, best = FALSE, None
    for here, term in constants + others:
        if best is None:
            found, best = here, term
            continue
        better = make.at_most(term, best) if smallest else make.at_most(best, term)
        best = make.choose(make.conjunction(here, make.disjunction(make.negation(found), better)), term, best)
        found = make.disjunction(found, here)
    return best
