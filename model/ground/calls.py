"""A value helper is called by unrolling its body in a frame of its own; one that left no check is not
unrolled twice.

The result of such a helper depends only on its arguments and on the variables that it reads, so it is kept
and used again, in this step and in later ones. Handlers as in `expressions`.
"""

from __future__ import annotations

from antiphon.model.ground.expressions import handles
from antiphon.model.ground.frames import arguments_of, in_frame
from antiphon.model.ground.leaves import Leaves, convert
from antiphon.model.ground.run import Run
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
    result = run.world.results.get(key)
    if result is None:
        attempts, mark = run.attempts, len(run.path)
        outer = run.horizon, run.pure
        run.horizon, run.pure = mark, True
        found = in_frame(run, bound, lambda: execute_all(run, function.body), shape)
        run.horizon, run.pure = outer
        del run.path[mark:]
        if found is None:
            raise SpecError(f"{function.name} ends without a value", function.at)
        result = found
        if run.attempts == attempts:
            run.world.results[key] = result
    return convert(result, shape, run.world.shapes[node.type])[0]
