"""Where each state leads, and what can be reached from it; these functions become machine code like those of
`runtime`.

`link` finds the successors of known states again and writes down their numbers; `sweep` carries bits from successors to predecessors.

The functions are in the subset of `lower`; `W` is a constant of a kernel; `successors` is generated beside them.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: F821 - the operations of memory are declared below, not defined

from __future__ import annotations

from typing import Any

from antiphon.model.engines.native.fields import (
    BUFFER,
    EDGES,
    HASHES,
    MOST,
    OFFSETS,
    QUIET,
    REACH,
    ROOM,
    STATES,
    TRANSITIONS,
    USED,
)

W: int
word: Any
half: Any
set_word: Any
set_half: Any
set_byte: Any
successors: Any
lookup: Any
empty: Any


def link(context: int, first: int, last: int) -> int:
    """Write the edges of the states first..last - 1, without faults; where they may not fit, the number of the state is returned."""
    offsets = word(context, OFFSETS)
    edges = word(context, EDGES)
    state = first
    end = word(offsets, first)
    while state < last:
        if end + word(context, MOST) > word(context, ROOM):
            return state
        before = word(context, TRANSITIONS)
        empty(context)
        buffer = word(context, BUFFER)
        successors(context, word(context, STATES) + state * 8 * W, buffer, state, 0)
        used = word(context, USED)
        place = 0
        while place < used:
            number = lookup(context, buffer + place * 8 * W, word(word(context, HASHES), place))
            if number != 0:
                set_half(edges, end, number - 1)
                end += 1
            place += 1
        quiet = 0
        if word(context, TRANSITIONS) == before:
            quiet = 1
        set_byte(word(context, QUIET), state, quiet)
        state += 1
        set_word(offsets, state, end)
    empty(context)
    return state


def sweep(context: int, last: int) -> int:
    """What the successors of a state reach, it reaches, for the states last - 1..0; how many gained is returned."""
    offsets = word(context, OFFSETS)
    edges = word(context, EDGES)
    reach = word(context, REACH)
    gained = 0
    state = last
    while state > 0:
        state = state - 1
        old = word(reach, state)
        new = old
        edge = word(offsets, state)
        end = word(offsets, state + 1)
        while edge < end:
            new = new | word(reach, half(edges, edge))
            edge += 1
        if new != old:
            set_word(reach, state, new)
            gained += 1
    return gained


FUNCTIONS = (link, sweep)
EXPORTED = ("link", "sweep")
