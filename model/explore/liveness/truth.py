"""In which states is the premise, or the goal, of a promise true? Asked of generated functions on packed states, or of the reference.

This file knows nothing of graphs, runs or verdicts.
"""

from __future__ import annotations

from typing import cast

from antiphon.model.engines.python.source import compile_functions, predicate_source
from antiphon.model.engines.python.transitions import PythonTransitions
from antiphon.model.explore.liveness.questions import Values
from antiphon.model.explore.liveness.walk import Walk
from antiphon.model.ground import ground_formula, ground_predicate
from antiphon.model.ground.footprint import footprint
from antiphon.spec.lang import Program, SpecError, State, ir


def truths(walk: Walk, expression: ir.Expression, values: Values) -> bytearray:
    """For each state of the walk 1 where the expression is true under these values of its parameters, else 0.

    Raises:
        SpecError: it cannot be evaluated in some state.
    """
    if not isinstance(walk.edges, PythonTransitions):
        return bytearray(is_true(walk.program, expression, values, walk.state(number)) for number in range(len(walk.packed)))
    program, packing = walk.program, walk.edges.packing
    if isinstance(expression, ir.Call) and all(item.name != expression.function for item in program.module.functions):
        ground = ground_predicate(program, expression.function)
    else:
        ground = ground_formula(program, expression, values)
    text = predicate_source("formula", ground.holds, ground.checks, packing)
    formula = compile_functions([("formula", text)])["formula"]
    mask = footprint([ground.holds, *(check.wrong for check in ground.checks)], packing)
    known: dict[int, bool] = {}
    found = bytearray(len(walk.packed))
    for number, packed in enumerate(walk.packed):
        value = known.get(packed & mask)
        if value is None:
            value = formula(packed)  # type: ignore[operator]
            if value is not True and value is not False:
                is_true(program, expression, values, walk.state(number))
                raise SpecError(f"generated code finds an error in {expression} where the reference finds none")
            known[packed & mask] = value
        found[number] = value
    return found


def is_true(program: Program, expression: ir.Expression, values: Values, state: State) -> bool:
    """Whether the expression, a call of a method of the specification, is true in a state, says the reference."""
    call = cast("ir.Call", expression)
    arguments = [values[cast("ir.Name", item).name][1] for item in call.arguments]
    return bool(program.reference.evaluate(state, call.function, *arguments))
