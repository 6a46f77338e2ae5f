"""Specialisation of a step to some arguments: its inputs are replaced by constants, and everything that
depends on them folds.

This file knows nothing of LLVM.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import is_
from typing import Any

from antiphon.model.ground import make
from antiphon.model.ground.form import (
    ADD,
    AND,
    CHOOSE,
    COUNT,
    DIFFERENCE,
    DIVIDE,
    EQUAL,
    HAS,
    INPUT,
    INTERSECTION,
    LESS,
    MODULO,
    MULTIPLY,
    NOT,
    OR,
    SINGLE,
    SLOT,
    SUBTRACT,
    SYMMETRIC_DIFFERENCE,
    UNION,
    Break,
    Check,
    Expression,
    GroundStep,
    Operator,
)
from antiphon.model.ground.walk import parts, reachable

_MAKERS: dict[Operator, Callable[..., Expression]] = {
    NOT: make.negation, AND: make.conjunction, OR: make.disjunction, CHOOSE: make.choose,
    EQUAL: make.equal, LESS: make.less, ADD: make.add, SUBTRACT: make.subtract,
    MULTIPLY: make.multiply, DIVIDE: make.divide, MODULO: make.modulo, HAS: make.has,
    UNION: make.union, INTERSECTION: make.intersection, DIFFERENCE: make.difference,
    SYMMETRIC_DIFFERENCE: make.symmetric_difference, COUNT: make.count,
}  # fmt: skip

_DECIDING = {AND: make.FALSE, OR: make.TRUE}
"""For a conjunction and a disjunction the operand that decides the value, whatever the others are."""


class Substitution:
    """Replacement of inputs and slots of an expression by other expressions. The nodes above them are made
    anew, so that constants fold.

    Args:
        inputs: new expressions for inputs, by position.
        slots: new expressions for slots, by position.
    """

    def __init__(
        self, inputs: Mapping[int, Expression], slots: Mapping[int, Expression] | None = None
    ) -> None:
        self._inputs, self._slots = inputs, slots or {}
        self._made: dict[Expression, Expression] = {}

    def __call__(self, root: Expression) -> Expression:
        """Return the expression with its parts replaced; a part that a constant decides is not visited."""
        made = self._made
        found = made.get(root)
        if found is not None:
            return found
        todo = [root]
        while todo:
            node = todo[-1]
            if node in made:
                todo.pop()
                continue
            waiting = len(todo)
            result = self._make(node, todo)
            if result is not None:
                made[node] = result
                del todo[waiting - 1 :]
        return made[root]

    def _make(self, node: Expression, todo: list[Expression]) -> Expression | None:
        """Return the new node, or None if some part of it must be made first; that part is then on the list
        `todo`.
        """
        operator, operands, made = node.operator, node.operands, self._made
        if not operands:
            return self._leaf(node)
        if operator is CHOOSE:
            return self._choose(node, todo)
        deciding = _DECIDING.get(operator)
        parts = []
        for part in operands:
            new = made.get(part)
            if new is None:
                todo.append(part)
                if deciding is not None:
                    return None
            elif new is deciding:
                return new
            else:
                parts.append(new)
        if len(parts) < len(operands):
            return None
        if all(map(is_, parts, operands)):
            return node
        if operator is SINGLE:
            width: Any = node.sort
            return make.single(width.width, parts[0])
        return _MAKERS[operator](*parts)

    def _leaf(self, node: Expression) -> Expression:
        if node.operator is INPUT:
            return self._inputs.get(int(node.value), node)
        return self._slots.get(int(node.value), node) if node.operator is SLOT else node

    def _choose(self, node: Expression, todo: list[Expression]) -> Expression | None:
        old_condition, old_then, old_otherwise = node.operands
        condition = self._made.get(old_condition)
        if condition is None:
            todo.append(old_condition)
            return None
        if condition is make.TRUE or condition is make.FALSE:
            chosen = old_then if condition is make.TRUE else old_otherwise
            found = self._made.get(chosen)
            if found is None:
                todo.append(chosen)
            return found
        then, otherwise = self._made.get(old_then), self._made.get(old_otherwise)
        if then is None or otherwise is None:
            todo.extend(part for part, new in ((old_then, then), (old_otherwise, otherwise)) if new is None)
            return None
        if condition is old_condition and then is old_then and otherwise is old_otherwise:
            return node
        return make.choose(condition, then, otherwise)

    def step(self, step: GroundStep) -> GroundStep:
        """Return the step with its parts replaced, without its separate guards and its events, which no
        kernel computes. The step keeps its inputs, although no part may depend on them any more.
        """
        return replace(
            step,
            enabled=self(step.enabled),
            guards=(),
            checks=tuple(Check(self(check.wrong), check.at, check.reason) for check in step.checks),
            updates=tuple((slot, self(value)) for slot, value in step.updates),
            breaks=tuple(Break(item.property, self(item.broken), item.at, item.text) for item in step.breaks),
            events=(),
        )


def roots_of(step: GroundStep) -> list[Expression]:
    """Return all expressions of a step that a kernel computes."""
    return [
        step.enabled,
        *(check.wrong for check in step.checks),
        *(value for _, value in step.updates),
        *(item.broken for item in step.breaks),
    ]


def size_of(step: GroundStep) -> int:
    """Return the number of nodes that a kernel computes for the step."""
    return len(reached(roots_of(step)))


def reached(roots: list[Expression]) -> set[Expression]:
    """Return all nodes that can be reached from these roots."""
    return set(reachable(roots, parts))


def has_nodes(root: Expression, many: int) -> bool:
    """Return True if the expression has at least `many` nodes, the root included."""
    return sum(1 for _ in itertools.islice(reachable([root], parts), many)) >= many


def inputs_of(*roots: Expression) -> frozenset[int]:
    """Return the positions of the inputs that expressions depend on."""
    return inputs_among(reached(list(roots)))


def inputs_among(nodes: Iterable[Expression]) -> frozenset[int]:
    """Return the positions of the inputs among these nodes."""
    return frozenset(int(node.value) for node in nodes if node.operator is INPUT)


def reads_state(root: Expression) -> bool:
    """Return True if an expression depends on the state, and not on inputs alone."""
    return any(node.operator is SLOT for node in reached([root]))
