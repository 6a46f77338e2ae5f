"""Whether the premise, or the goal, of a liveness property is true in a state, the reference says."""

from __future__ import annotations

from typing import cast

from antiphon.model.explore.liveness.questions import Values
from antiphon.spec.lang import Program, State, ir


def is_true(program: Program, expression: ir.Expression, values: Values, state: State) -> bool:
    """Whether the expression, a call of a method of the specification, is true in a state, says the
    reference.
    """
    call = cast("ir.Call", expression)
    arguments = [values[cast("ir.Name", item).name][1] for item in call.arguments]
    return bool(program.reference.evaluate(state, call.function, *arguments))
