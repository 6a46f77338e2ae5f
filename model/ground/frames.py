"""Frames of bodies: a body is entered with its own locals, its arguments checked against the declared domains
of its parameters.

This file knows nothing of the content of bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from antiphon.model.ground.expressions import evaluate
from antiphon.model.ground.leaves import Leaves, fit
from antiphon.model.ground.make import TRUE
from antiphon.model.ground.run import Frame, Run
from antiphon.model.ground.shape import Shape
from antiphon.spec.lang import ir


def arguments_of(run: Run, definition: ir.Definition, given: Sequence[ir.Expression]) -> dict[str, Leaves]:
    """Return the parameters of a call; every argument is evaluated before the first is checked."""
    shapes = run.world.shapes
    values = [(evaluate(run, argument), argument) for argument in given]
    bound: dict[str, Leaves] = {}
    for parameter, (leaves, argument) in zip(definition.parameters, values, strict=True):
        bound[parameter.name], right = fit(leaves, shapes[argument.type], shapes[parameter.type])
        if right is not TRUE:
            run.check(right, argument.at, f"{definition.name}({parameter.name}) leaves its domain")
    return bound


def in_frame(
    run: Run, bound: dict[str, Leaves], body: Callable[[], None], result: Shape | None = None
) -> Leaves | None:
    """Execute a body with these locals; return its value, in the shape `result`."""
    outer, run.frame = run.frame, Frame(bound, result)
    body()
    made, run.frame = run.frame, outer
    return made.value
