"""The parts of an expression are looked at without recursion, however deep it is, and each once, however
often it is used.

This file knows nothing of what operators mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator

from antiphon.model.ground.form import Expression
from antiphon.spec.lang.watch import working


def operands_first(
    root: Expression,
    done: Container[Expression],
    needed: Callable[[Expression], Iterable[Expression]] = lambda node: node.operands,
) -> Iterator[Expression]:
    """An expression and what it needs, each after what it needs itself.

    Args:
        root: the expression, which comes last.
        done: what is left out; the caller adds each expression that it was given before it asks for the next.
        needed: what an expression needs: its operands, or some of them.
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


def uses(roots: Iterable[Expression]) -> Counter[Expression]:
    """How often each expression is a root, or an operand of something below one."""
    todo = list(roots)
    counted = Counter(todo)
    seen: set[Expression] = set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            counted.update(node.operands)
            todo.extend(node.operands)
    return counted
