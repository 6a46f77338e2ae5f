"""Formulas before Z3 sees them: the nodes of one shared and-inverter graph.

A node is named by an integer, whose sign is negation.

1. `TRUE` is 1 and `FALSE` is -1; `-literal` negates. Node 1 is the constant, a variable is a node without
   operands, every other node is the conjunction of its operands.
2. Equal conjunctions are one node; constants, doubles and complements are folded as nodes are made. So a
   literal that is constant in a small model, such as a packet that nobody can have sent yet, never reaches
   the solver.
3. Nodes are numbered as they are made, operands before the conjunction.

This file knows nothing of specifications, states, time or Z3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from antiphon.model.ground.walk import fold, reachable
from antiphon.spec.lang.watch import working

TRUE = 1
FALSE = -1
_SMALL = 8


class Circuit:
    """Circuit of and-nodes and inverters. Nodes are only added, never removed."""

    def __init__(self) -> None:
        self._operands: list[tuple[int, ...]] = [(), ()]
        self._known: dict[tuple[int, ...], int] = {}

    def __len__(self) -> int:
        return len(self._operands) - 1

    def operands(self, literal: int) -> tuple[int, ...]:
        """Return the operands of the node of `literal`; empty for the constant and for a variable."""
        return self._operands[abs(literal)]

    def variable(self) -> int:
        """Return a new variable."""
        self._operands.append(())
        return len(self._operands) - 1

    def conjunction(self, literals: Iterable[int]) -> int:
        """Return the literal that is true when all `literals` are."""
        working("translating")
        members = self._flat(literals)
        if members is None:
            return FALSE
        if len(members) > 1:
            reduced = self._reduce(members)
            if reduced is None:
                return FALSE
            members = reduced
        if not members:
            return TRUE
        if len(members) == 1:
            return next(iter(members))
        key = tuple(sorted(members))
        node = self._known.get(key)
        if node is None:
            self._operands.append(key)
            node = self._known[key] = len(self._operands) - 1
        return node

    def _flat(self, literals: Iterable[int]) -> set[int] | None:
        """Return the conjuncts, with small inner conjunctions flattened; None if two of them contradict."""
        members: set[int] = set()
        for literal in literals:
            if literal == FALSE:
                return None
            inner = self._operands[literal] if literal > 1 else ()
            if inner and len(inner) <= _SMALL:
                members.update(inner)
            else:
                members.add(literal)
        members.discard(TRUE)
        for literal in members:
            if -literal in members:
                return None
        return members

    def _reduce(self, members: set[int]) -> set[int] | None:
        """Drop disjunctions that another conjunct makes true, and disjuncts that another conjunct makes
        false.
        """
        dropped: list[int] = []
        shorter: list[int] = []
        for literal in members:
            if literal > 0:
                continue
            inner = self._operands[-literal]
            if not inner or len(inner) > _SMALL:
                continue
            if any(-item in members for item in inner):
                dropped.append(literal)
            elif any(item in members for item in inner):
                dropped.append(literal)
                shorter.append(-self.conjunction(item for item in inner if item not in members))
        if not dropped:
            return members
        return self._flat([literal for literal in members if literal not in dropped] + shorter)

    def disjunction(self, literals: Iterable[int]) -> int:
        """Return the literal that is true when one of `literals` is."""
        return -self.conjunction([-literal for literal in literals])

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        """Return `then` where `condition` is true, `otherwise` elsewhere."""
        if condition == TRUE or then == otherwise:
            return then
        if condition == FALSE:
            return otherwise
        if then == TRUE:
            return self.disjunction((condition, otherwise))
        if then == FALSE:
            return self.conjunction((-condition, otherwise))
        if otherwise == TRUE:
            return self.disjunction((-condition, then))
        if otherwise == FALSE:
            return self.conjunction((condition, then))
        first, second = self.conjunction((condition, then)), self.conjunction((-condition, otherwise))
        return self.disjunction((first, second))

    def equal(self, left: int, right: int) -> int:
        """Return the literal that is true when `left` and `right` are both true or both false."""
        if left == right:
            return TRUE
        if left == -right:
            return FALSE
        return self.choose(left, right, -right)

    def support(self, literals: Iterable[int]) -> set[int]:
        """Return the variables that `literals` are made of."""
        nodes = reachable(map(abs, literals), self._below)
        return {node for node in nodes if node != TRUE and not self._operands[node]}

    def polarity(self, literal: int) -> dict[int, int]:
        """Return how each variable occurs in `literal`: 1 only without negation, 2 only negated, 3 both."""
        found: dict[int, int] = {}
        for item in reachable([literal], self._signed):
            if abs(item) != TRUE and not self._operands[abs(item)]:
                found[abs(item)] = found.get(abs(item), 0) | (1 if item > 0 else 2)
        return found

    def _below(self, node: int) -> list[int]:
        """Return the nodes of the operands of a node."""
        return [abs(item) for item in self._operands[node]]

    def _signed(self, literal: int) -> list[int]:
        """Return the operands of a literal, each negated if the literal is."""
        return [operand if literal > 0 else -operand for operand in self._operands[abs(literal)]]

    def evaluate(self, literal: int, leaf: Callable[[int], bool], memo: dict[int, bool]) -> bool:
        """Return the value of `literal`, where `leaf` gives the value of each variable.

        `memo` caches the values of nodes under the same `leaf`.
        """

        def value(node: int) -> bool:
            inner = self._operands[node]
            if not inner:
                return node == TRUE or leaf(node)
            return all(memo[abs(item)] == (item > 0) for item in inner)

        return fold(abs(literal), memo, value, self._below) == (literal > 0)

    def substitute(self, literal: int, values: Mapping[int, int], memo: dict[int, int]) -> int:
        """Return `literal` with the literals of `values`, by node, in place of variables.

        `memo` caches the results under the same `values`.
        """

        def replaced(node: int) -> int:
            inner = self._operands[node]
            if not inner:
                return TRUE if node == TRUE else values.get(node, node)
            return self.conjunction([memo[item] if item > 0 else -memo[-item] for item in inner])

        made = fold(abs(literal), memo, replaced, self._below)
        return made if literal > 0 else -made
