"""Constructors of ground expressions, the only ones: every function folds constants, simplifies cheaply, and
returns equal expressions as one object.

The parts stand in `logic`, `numbers`, `bits` and `intern`; this module collects them, by the names of
`form.Operator`. All functions are total: a number that leaves its interval, a division by zero or a rank
outside its set occurs only where a check has failed.

This file knows nothing of the intermediate form.
"""

from __future__ import annotations

from antiphon.model.ground.bits import (
    count,
    difference,
    equal_bits,
    has,
    intersection,
    single,
    subset,
    symmetric_difference,
    union,
)
from antiphon.model.ground.form import Bits, Boolean, Expression
from antiphon.model.ground.intern import (
    FALSE,
    TRUE,
    bits,
    boolean,
    constant,
    make_room,
    number,
    slot,
    step_input,
)
from antiphon.model.ground.logic import choose, conjunction, disjunction, equal_booleans, indicator, negation
from antiphon.model.ground.numbers import (
    add,
    at_most,
    divide,
    equal_numbers,
    in_range,
    interval,
    less,
    modulo,
    multiply,
    subtract,
)

__all__ = [
    "FALSE",
    "TRUE",
    "add",
    "at_most",
    "bits",
    "boolean",
    "choose",
    "conjunction",
    "constant",
    "count",
    "difference",
    "disjunction",
    "divide",
    "equal",
    "has",
    "in_range",
    "indicator",
    "intersection",
    "interval",
    "less",
    "make_room",
    "modulo",
    "multiply",
    "negation",
    "number",
    "single",
    "slot",
    "step_input",
    "subset",
    "subtract",
    "symmetric_difference",
    "union",
]  # fmt: skip


def equal(left: Expression, right: Expression) -> Expression:
    """Return the condition that two expressions of one sort have the same value."""
    if isinstance(left.sort, Boolean):
        return equal_booleans(left, right)
    return equal_bits(left, right) if isinstance(left.sort, Bits) else equal_numbers(left, right)
