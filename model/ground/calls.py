"""Calls of value helpers: a helper is called by unrolling its body in a frame of its own, once for each value
of its arguments.

Its result and its failing checks depend only on its arguments and on the variables that it reads. So both are
cached and used again, in this step and in later ones: the checks under the condition of the place of the
call. Handlers are registered as in `expressions`.
"""

from __future__ import annotations

from antiphon.model.ground.expressions import handles
from antiphon.model.ground.form import Check
from antiphon.model.ground.frames import arguments_of, in_frame
from antiphon.model.ground.leaves import Leaves, convert
from antiphon.model.ground.run import Run
from antiphon.model.ground.shape import Shape
from antiphon.model.ground.statements import execute_all
from antiphon.spec.lang import SpecError, ir


@handles(ir.Call)
def _call(run: Run, node: ir.Call) -> Leaves:
    function = run.world.functions[node.function]
    return _result(run, node, function, arguments_of(run, function, node.arguments))


@handles(ir.Before)
def _before(run: Run, node: ir.Before) -> Leaves:
    if isinstance(node.value, ir.Read):
        return run.before[node.value.variable]
    function = run.world.functions[node.value.function]
    bound = arguments_of(run, function, node.value.arguments)
    after, run.state = run.state, dict(run.before)
    found = _result(run, node.value, function, bound)
    run.state = after
    return found


def _result(run: Run, node: ir.Call, function: ir.Function, bound: dict[str, Leaves]) -> Leaves:
    shape = run.world.shapes[function.type]
    key = (function.name, *bound.values(), *(run.state[name] for name in run.world.reads(function.name)))
    known = run.world.results.get(key)
    if known is None:
        known = run.world.results[key] = _unrolled(run, function, bound, shape)
    result, checks = known
    if checks:
        here = run.condition(run.horizon)
        for check in checks:
            run.fails(here, check.wrong, check.at, check.reason)
    return convert(result, shape, run.world.shapes[node.type])[0]


def _unrolled(
    run: Run, function: ir.Function, bound: dict[str, Leaves], shape: Shape
) -> tuple[Leaves, tuple[Check, ...]]:
    """Return the result of a helper, and its checks, by unrolling its body."""
    mark, outer = len(run.path), (run.horizon, run.pure, run.checks)
    run.horizon, run.pure, run.checks = mark, True, {}
    result = in_frame(run, bound, lambda: execute_all(run, function.body), shape)
    checks = tuple(run.checks.values())
    run.horizon, run.pure, run.checks = outer
    del run.path[mark:]
    if result is None:
        raise SpecError(f"{function.name} ends without a value", function.at)
    return result, checks
