"""Interning: nodes live in tables, by their operands, so that equal expressions are one object.

Leaves (constants, slots, inputs) are kept for ever. Other nodes are kept until there are `MOST_NODES`;
`make_room` then forgets them all, so that a long exploration does not keep every step it ever grounded. Hence
`is` is equality among the expressions of one ground step, and between steps only mostly.

Nodes are made by one thread at a time: a thread that makes those of a step holds `making` for as long as it
compares them.

This file knows nothing of the meaning of operators.
"""

from __future__ import annotations

import threading
from typing import Any

from antiphon.model.ground.form import Bits, Boolean, Expression, Number, Operator, Sort

MOST_NODES = 1_500_000

Table = dict[tuple[Expression, ...], Expression]

BOOLEAN = Boolean()

making = threading.RLock()
"""Lock that is held while the nodes of a step are made."""

_tables: list[dict[Any, Any]] = []
_numbers: dict[int, Expression] = {}
_bits: dict[tuple[int, int], Expression] = {}
_variables: dict[tuple[Operator, int, Sort], Expression] = {}
_generation = 0

TRUE = Expression(Operator.CONSTANT, BOOLEAN, (), True)
FALSE = Expression(Operator.CONSTANT, BOOLEAN, (), False)


def table() -> Table:
    """Return a new table of nodes. `make_room` empties it together with all other tables of nodes."""
    made: Table = {}
    _tables.append(made)
    return made


def forget_too(entries: dict[Any, Any]) -> None:
    """Register a dictionary that mentions nodes, so that `make_room` empties it together with the tables of
    nodes.
    """
    _tables.append(entries)


def make_room() -> int:
    """Forget all nodes if there are too many; return how often all nodes were forgotten so far. Call it only
    between two steps.
    """
    if node_count() > MOST_NODES:
        forget()
    return _generation


def forget() -> None:
    """Forget all nodes, so that later ones are made as in a new process. Call it only between two steps."""
    global _generation
    for entries in _tables:
        entries.clear()
    _generation += 1


def node_count() -> int:
    """Return the number of interned nodes."""
    return sum(map(len, _tables))


def boolean(value: bool) -> Expression:
    """Return the constant False or True."""
    return TRUE if value else FALSE


def number(value: int) -> Expression:
    """Return a constant integer."""
    made = _numbers.get(value)
    if made is None:
        made = _numbers.setdefault(value, Expression(Operator.CONSTANT, Number(value, value), (), value))
    return made


def bits(width: int, members: int) -> Expression:
    """Return a constant set of ranks below `width`; bit k of `members` says whether k is in it."""
    made = _bits.get((width, members))
    if made is None:
        made = _bits.setdefault((width, members), Expression(Operator.CONSTANT, Bits(width), (), members))
    return made


def constant(sort: Sort, value: int | bool) -> Expression:
    """Return the constant of this sort."""
    if isinstance(sort, Boolean):
        return boolean(bool(value))
    return bits(sort.width, int(value)) if isinstance(sort, Bits) else number(int(value))


def slot(position: int, sort: Sort) -> Expression:
    """Return the expression of a leaf of the state. A leaf that can have only one value is that constant."""
    return _variable(Operator.SLOT, position, sort)


def step_input(position: int, sort: Sort) -> Expression:
    """Return the expression of a leaf of a parameter. A leaf that can have only one value is that
    constant.
    """
    return _variable(Operator.INPUT, position, sort)


def _variable(operator: Operator, position: int, sort: Sort) -> Expression:
    if isinstance(sort, Number) and sort.low == sort.high:
        return number(sort.low)
    if isinstance(sort, Bits) and sort.width == 0:
        return bits(0, 0)
    key = operator, position, sort
    made = _variables.get(key)
    if made is None:
        made = _variables.setdefault(key, Expression(operator, sort, (), position))
    return made
