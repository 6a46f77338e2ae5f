"""Canonical state of an orbit: the least one, or the one whose columns are in order; these functions become
machine code like those of `runtime`.

States that differ in the names of interchangeable members only are an orbit. With `COLUMNS` the columns of
the members are put in order; else the least state of the orbit is found by exchanging neighbouring members
until all orders were seen.

The functions are in the subset of `lower`; `W` and `COLUMNS` are constants of a kernel; `exchange` and
`order` are generated beside them.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: F821 - the operations of memory are declared below, not defined

from __future__ import annotations

from typing import Any

from antiphon.model.engines.native.kernels.fields import EXCHANGES, FIRSTS, ORDERS, ROUND, SCRATCH

W: int
COLUMNS: bool
word: Any
byte: Any
same: Any
copy: Any
state_of: Any
exchange: Any
order: Any


def less(left: int, right: int) -> int:
    """Return 1 if a state comes before another in word order."""
    index = 0
    while index < W:
        if word(left, index) < word(right, index):
            return 1
        if word(left, index) > word(right, index):
            return 0
        index += 1
    return 0


def sort_columns(context: int, state: int) -> int:
    """Put the columns of a state in order, exchanging neighbours; return how many orders of the members leave
    the state unchanged.
    """
    one = word(context, SCRATCH)
    count = word(context, EXCHANGES)
    moved = 1
    while moved:
        moved = 0
        number = 0
        while number < count:
            if order(state, number) == 1:
                exchange(state, one, number)
                copy(state, one)
                moved = 1
            number += 1
    fixed = 1
    alike = 1
    number = 0
    while number < count:
        if byte(word(context, FIRSTS), number):
            alike = 1
        if order(state, number) == 0:
            alike += 1
            fixed = fixed * alike
        else:
            alike = 1
        number += 1
    return fixed


def canonical(context: int, state: int) -> int:
    """Replace a state by the one that represents its orbit; return how many orders of the members leave the
    state unchanged.
    """
    if COLUMNS:
        return sort_columns(context, state)
    one = word(context, SCRATCH)
    other = one + 8 * W
    last = word(context, ORDERS) - 1
    copy(one, state)
    fixed = 1
    index = 0
    while index < last:
        exchange(one, other, byte(word(context, ROUND), index))
        if less(other, state):
            copy(state, other)
            fixed = 0
        if same(other, state):
            fixed += 1
        ahead = one
        one = other
        other = ahead
        index += 1
    return fixed


def orbits(context: int, first: int, last: int) -> int:
    """Return the number of states that the canonical states first..last - 1 represent."""
    total = 0
    number = first
    while number < last:
        total += word(context, ORDERS) // canonical(context, state_of(context, number))
        number += 1
    return total


FUNCTIONS = (less, sort_columns, canonical, orbits)
EXPORTED = ("canonical", "orbits")
