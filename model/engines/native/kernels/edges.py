"""Reachability without faults, from each state; these functions become machine code like those of `runtime`.

A state has a bit for each property, set if it reaches a state in which the property is true. `recover` takes
the bits of the successors, which it makes again, from the last state to the first: most states then have all
bits. For the few others `link` stores the edges, and `sweep` carries bits along them until nothing is gained.

The functions are in the subset of `lower`; `ROW` is a constant of a kernel.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: F821 - the operations of memory are declared below, not defined

from __future__ import annotations

from typing import Any

from antiphon.model.engines.native.kernels.fields import (
    ASKED,
    BUFFER,
    EDGES,
    HASHES,
    OFFSETS,
    OPEN,
    QUIET,
    REACH,
    TRANSITIONS,
    WANTED,
)

ROW: int
word: Any
half: Any
set_word: Any
set_half: Any
set_byte: Any
find_successors: Any
lookup: Any
empty: Any


def recover(context: int, last: int, first: int, found: int) -> int:
    """Compute, for each of the states last - 1..first in which some property is false, the bits that its
    successors reach, and whether it is quiet.

    States in which all properties are true need no successors. States that may still gain bits are listed
    from place `found` on; the end of the list is returned.
    """
    reach = word(context, REACH)
    wanted = word(context, WANTED)
    state = last
    while state > first:
        state = state - 1
        new = word(reach, state)
        if new != word(context, ASKED):
            before = word(context, TRANSITIONS)
            empty(context)
            used = find_successors(context, state, 0)
            place = 0
            while place < used:
                number = lookup(context, word(context, BUFFER) + place * 8 * ROW, word(word(context, HASHES), place))
                if number != 0:
                    new = new | word(reach, number - 1)
                place += 1
            set_word(reach, state, new)
            if word(context, TRANSITIONS) == before:
                set_byte(word(context, QUIET), state, 1)
            elif new & wanted != wanted:
                set_half(word(context, OPEN), found, state)
                found += 1
    empty(context)
    return found


def link(context: int, first: int, last: int) -> int:
    """Store the edges without faults of the states that are listed at the places first..last - 1."""
    offsets = word(context, OFFSETS)
    edges = word(context, EDGES)
    listed = first
    end = word(offsets, first)
    while listed < last:
        state = half(word(context, OPEN), listed)
        empty(context)
        used = find_successors(context, state, 0)
        place = 0
        while place < used:
            number = lookup(context, word(context, BUFFER) + place * 8 * ROW, word(word(context, HASHES), place))
            if number != 0:
                set_half(edges, end, number - 1)
                end += 1
            place += 1
        listed += 1
        set_word(offsets, listed, end)
    empty(context)
    return end


def sweep(context: int, last: int) -> int:
    """Add, to each of the states listed at 0..last - 1, the bits that its successors reach; return how many
    states gained bits.
    """
    offsets = word(context, OFFSETS)
    edges = word(context, EDGES)
    reach = word(context, REACH)
    gained = 0
    listed = 0
    while listed < last:
        state = half(word(context, OPEN), listed)
        old = word(reach, state)
        new = old
        edge = word(offsets, listed)
        end = word(offsets, listed + 1)
        while edge < end:
            new = new | word(reach, half(edges, edge))
            edge += 1
        if new != old:
            set_word(reach, state, new)
            gained += 1
        listed += 1
    return gained


FUNCTIONS = (recover, link, sweep)
EXPORTED = ("recover", "link", "sweep")
