"""Evaluator of the ground form, one node at a time, for concrete slots and inputs: it defines the form's
meaning.

It is literal and slow: tests compare it with the reference machine, engines are compared with either.
Operations are total: division by zero is 0, a rank outside its set is in no set.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.model.ground.form import Bits, Break, Check, Expression, GroundStep, Operator, Sort
from antiphon.model.ground.walk import fold, parts
from antiphon.spec.lang import types

Raw = int | bool

_OPERATIONS: dict[Operator, Callable[..., Any]] = {
    Operator.NOT: operator.not_,
    Operator.AND: lambda *operands: all(operands),
    Operator.OR: lambda *operands: any(operands),
    Operator.CHOOSE: lambda condition, then, otherwise: then if condition else otherwise,
    Operator.EQUAL: operator.eq,
    Operator.LESS: operator.lt,
    Operator.ADD: operator.add,
    Operator.SUBTRACT: operator.sub,
    Operator.MULTIPLY: operator.mul,
    Operator.DIVIDE: lambda left, right: left // right if right else 0,
    Operator.MODULO: lambda left, right: left % right if right else 0,
    Operator.HAS: lambda members, rank: rank >= 0 and bool(members >> rank & 1),
    Operator.UNION: operator.or_,
    Operator.INTERSECTION: operator.and_,
    Operator.DIFFERENCE: lambda left, right: left & ~right,
    Operator.SYMMETRIC_DIFFERENCE: operator.xor,
    Operator.COUNT: int.bit_count,
}


class Evaluator:
    """Evaluator of expressions in one state, under given inputs; values in `known` are taken as given."""

    def __init__(
        self,
        slots: Sequence[Raw],
        inputs: Sequence[Raw] | Mapping[int, Raw] = (),
        known: Mapping[Expression, Raw] | None = None,
    ) -> None:
        self._slots, self._inputs = slots, inputs
        self._values: dict[Expression, Raw] = dict(known or {})

    def __call__(self, expression: Expression) -> Raw:
        """Return the value of an expression: bool, int, or the bits of a set."""
        return fold(expression, self._values, self._compute, parts)

    def _compute(self, node: Expression) -> Raw:
        match node.operator:
            case Operator.CONSTANT:
                return node.value
            case Operator.SLOT:
                return self._slots[node.value]
            case Operator.INPUT:
                return self._inputs[node.value]
            case Operator.SINGLE:
                return _single(node.sort, self._values[node.operands[0]])
        result: Raw = _OPERATIONS[node.operator](*(self._values[part] for part in node.operands))
        return result


def _single(sort: Sort, rank: int) -> int:
    return 1 << rank if isinstance(sort, Bits) and 0 <= rank < sort.width else 0


@dataclass(frozen=True)
class Taken:
    """The effect of a ground step in one state.

    `wrong` is the first failing check, and then nothing else counts; `slots` is the next state, None when the
    step is not enabled; `events` are pairs of the record type and the rank in its domain.
    """

    wrong: Check | None
    slots: tuple[Raw, ...] | None
    breaks: tuple[Break, ...] = ()
    events: tuple[tuple[types.Record, int], ...] = ()


def step(ground_step: GroundStep, slots: Sequence[Raw], inputs: Sequence[Raw] = ()) -> Taken:
    """Return the effect of a step in the state with these slots, for these values of its inputs."""
    value = Evaluator(slots, inputs)
    for check in ground_step.checks:
        if value(check.wrong):
            return Taken(check, None)
    if not value(ground_step.enabled):
        return Taken(None, None)
    following = list(slots)
    for position, expression in ground_step.updates:
        following[position] = value(expression)
    breaks = tuple(broken for broken in ground_step.breaks if value(broken.broken))
    events = tuple(
        (event.type, int(value(event.rank))) for event in ground_step.events if value(event.present)
    )
    return Taken(None, tuple(following), breaks, events)
