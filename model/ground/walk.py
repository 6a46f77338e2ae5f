"""Walks over the nodes of a graph without circles, such as expressions.

They need no recursion, however deep the graph is, and come to each node once, however often it is used.

This file knows nothing of what operators mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, MutableMapping
from typing import TypeVar

from antiphon.model.ground.form import Expression
from antiphon.spec.lang.watch import working

Node = TypeVar("Node", bound=Hashable)
Made = TypeVar("Made")


def parts(node: Expression) -> tuple[Expression, ...]:
    """The operands of an expression."""
    return node.operands


def operands_first(
    root: Node, done: Container[Node], needed: Callable[[Node], Iterable[Node]]
) -> Iterator[Node]:
    """A node and what it needs, each after what it needs itself.

    Args:
        root: the node, which comes last.
        done: what is left out; the caller adds each node that it was given before it asks for the next.
        needed: what a node needs: its operands (`parts`), or some of them.
    """
    todo = [root]
    while todo:
        node = todo[-1]
        missing = [] if node in done else [part for part in needed(node) if part not in done]
        if missing:
            todo.extend(missing)
            continue
        todo.pop()
        if node not in done:
            working("compiling")
            yield node


def fold(
    root: Node,
    known: MutableMapping[Node, Made],
    make: Callable[[Node], Made],
    needed: Callable[[Node], Iterable[Node]],
) -> Made:
    """The value of a node, made from the values of what it needs.

    Args:
        root: the node.
        known: the values that are known; those that are made are added.
        make: gives the value of a node; the values of what it needs are in `known` then.
        needed: what a node needs, as in `operands_first`.
    """
    if root not in known:
        for node in operands_first(root, known, needed):
            known[node] = make(node)
    return known[root]


def reachable(roots: Iterable[Node], below: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """The roots and all that is below them, each once; `below` says what is directly below a node."""
    seen: set[Node] = set()
    todo = list(roots)
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            yield node
            todo.extend(below(node))


def uses(roots: Iterable[Expression]) -> Counter[Expression]:
    """How often each expression is a root, or an operand of something below one."""
    roots = list(roots)
    counted = Counter(roots)
    for node in reachable(roots, parts):
        counted.update(node.operands)
    return counted
