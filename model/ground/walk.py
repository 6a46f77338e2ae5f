"""Walks over the nodes of an acyclic graph, such as expressions.

They need no recursion, however deep the graph is, and come to each node once, however often it is used.

This file knows nothing of what operators mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, MutableMapping
from typing import TypeVar

from antiphon.model.ground.form import Expression
from antiphon.spec.lang.watch import working

Node = TypeVar("Node", bound=Hashable)
Made = TypeVar("Made")


def parts(node: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression."""
    return node.operands


def fold(
    root: Node,
    known: MutableMapping[Node, Made],
    make: Callable[[Node], Made],
    needed: Callable[[Node], Iterable[Node]],
) -> Made:
    """Return the value of a node, made from the values of the nodes that it needs.

    Args:
        root: the node.
        known: the values that are known; those that are made are added.
        make: gives the value of a node; the values of what it needs are in `known` then.
        needed: what a node needs: its operands (`parts`), or some of them.
    """
    todo = [] if root in known else [root]
    while todo:
        node = todo[-1]
        if node in known:
            todo.pop()
        elif missing := [part for part in needed(node) if part not in known]:
            todo.extend(missing)
        else:
            todo.pop()
            working("compiling")
            known[node] = make(node)
    return known[root]


def reachable(roots: Iterable[Node], below: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """Return the roots and all nodes below them, each once; `below` returns the nodes directly
    below a node.
    """
    seen: set[Node] = set()
    todo = list(roots)
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            yield node
            todo.extend(below(node))


def uses(roots: Iterable[Expression]) -> Counter[Expression]:
    """Count how often each expression is a root, or an operand of an expression below a root."""
    todo = list(roots)
    counted = Counter(todo)
    seen: set[Expression] = set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo.extend(node.operands)
            for operand in node.operands:
                counted[operand] = counted.get(operand, 0) + 1
    return counted
