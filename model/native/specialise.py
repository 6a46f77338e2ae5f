"""How is a step made for some arguments out of the step for all? Inputs are replaced by constants, and everything that depended on them folds.

This file knows nothing of LLVM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from antiphon.model.ground import make
from antiphon.model.ground.form import Break, Check, Expression, GroundEvent, GroundStep, Operator

_MAKERS: dict[Operator, Callable[..., Expression]] = {
    Operator.NOT: make.negation, Operator.AND: make.conjunction, Operator.OR: make.disjunction, Operator.CHOOSE: make.choose,
    Operator.EQUAL: make.equal, Operator.LESS: make.less, Operator.ADD: make.add, Operator.SUBTRACT: make.subtract,
    Operator.MULTIPLY: make.multiply, Operator.DIVIDE: make.divide, Operator.MODULO: make.modulo, Operator.HAS: make.has,
    Operator.UNION: make.union, Operator.INTERSECTION: make.intersection, Operator.DIFFERENCE: make.difference,
    Operator.SYMMETRIC_DIFFERENCE: make.symmetric_difference, Operator.COUNT: make.count,
}  # fmt: skip


class Substitution:
    """Replaces nodes by others; what is made of them is made anew, so that constants fold.

    Args:
        inputs: new expressions for inputs, by position.
        slots: new expressions for slots, by position.
    """

    def __init__(self, inputs: Mapping[int, Expression], slots: Mapping[int, Expression] | None = None) -> None:
        self._inputs, self._slots = inputs, slots or {}
        self._made: dict[Expression, Expression] = {}

    def __call__(self, root: Expression) -> Expression:
        """The expression with its parts replaced."""
        todo = [root]
        while todo:
            node = todo[-1]
            missing = [part for part in node.operands if part not in self._made]
            if missing:
                todo.extend(missing)
                continue
            todo.pop()
            if node not in self._made:
                self._made[node] = self._make(node)
        return self._made[root]

    def _make(self, node: Expression) -> Expression:
        if node.operator is Operator.INPUT:
            return self._inputs.get(int(node.value), node)
        if node.operator is Operator.SLOT:
            return self._slots.get(int(node.value), node)
        operands = [self._made[part] for part in node.operands]
        if all(new is old for new, old in zip(operands, node.operands, strict=True)):
            return node
        if node.operator is Operator.SINGLE:
            width: Any = node.sort
            return make.single(width.width, operands[0])
        return _MAKERS[node.operator](*operands)

    def step(self, step: GroundStep) -> GroundStep:
        """The step with its parts replaced; it keeps its inputs, though nothing may depend on them any more."""
        return replace(
            step,
            enabled=self(step.enabled),
            guards=(),
            checks=tuple(Check(self(check.wrong), check.at, check.reason) for check in step.checks),
            updates=tuple((slot, self(value)) for slot, value in step.updates),
            breaks=tuple(Break(item.property, self(item.broken), item.at, item.text) for item in step.breaks),
            events=tuple(GroundEvent(event.type, self(event.present), self(event.rank)) for event in step.events),
        )


def roots_of(step: GroundStep) -> list[Expression]:
    """Everything that a kernel computes of a step."""
    return [step.enabled, *(check.wrong for check in step.checks), *(value for _, value in step.updates), *(item.broken for item in step.breaks)]


def size_of(step: GroundStep) -> int:
    """How many nodes a kernel computes for the step."""
    return len(reached(roots_of(step)))


def reached(roots: list[Expression]) -> set[Expression]:
    """All nodes below these."""
    seen: set[Expression] = set()
    todo = list(roots)
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo.extend(node.operands)
    return seen


def has_nodes(root: Expression, many: int) -> bool:
    """Whether there are at least so many nodes below this one, itself included."""
    seen: set[Expression] = set()
    todo = [root]
    while todo and len(seen) < many:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo.extend(node.operands)
    return len(seen) >= many


def inputs_of(*roots: Expression) -> frozenset[int]:
    """The positions of the inputs that expressions depend on."""
    return frozenset(int(node.value) for node in reached(list(roots)) if node.operator is Operator.INPUT)


def reads_state(root: Expression) -> bool:
    """Whether an expression depends on the state."""
    return any(node.operator is Operator.SLOT for node in reached([root]))
