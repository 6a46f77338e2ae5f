"""Rule of composition for the layers that run, with a row for each layer: a stack is well-formed if each
layer's required properties hold below it.

    well_formed(l:S)  =  well_formed(S) and requires(l) is within properties(S)
    properties(l:S)   =  provides(l) + (inherits(l) within properties(S))

A network that may lose gives best effort delivery, P1, and nothing else. The paper's Table 3, which has the
rows, is a picture that its transcription has lost; these rows follow its words about each layer. Though they
have unicasts (P3), the layers above NAK here send none: they only cast.

This module must not know what a layer does.

Source: van Renesse and others 1995, the section on composition.
"""

from __future__ import annotations

from typing import NamedTuple

from antiphon.impl.errors import LocalError

__all__ = [
    "LAYERS",
    "PROPERTIES",
    "STACK",
    "IllFormedStack",
    "Row",
    "checked",
    "flaw",
    "parsed",
    "properties",
]


STACK = "TOTAL:MBRSHIP:FRAG:NAK:COM"
"""The stack of the paper, over a network that loses."""


class IllFormedStack(LocalError, ValueError):
    """Error: a string of layers is no stack, or no stack that orders; the message says why."""


PROPERTIES = {
    1: "best effort delivery",
    2: "prioritized effort delivery",
    3: "FIFO unicast delivery",
    4: "FIFO multicast delivery",
    5: "causal delivery",
    6: "totally ordered delivery",
    7: "safe delivery",
    8: "virtually semi-synchronous delivery",
    9: "virtually synchronous delivery",
    10: "byte re-ordering detection",
    11: "source address",
    12: "large messages",
    13: "causal timestamps",
    14: "stability information",
    15: "consistent views",
    16: "automatic view merging",
}
"""Properties by their numbers P1 to P16."""

ORDERED = 6


class Row(NamedTuple):
    """The properties that a layer requires below it, adds, and passes on from below."""

    requires: frozenset[int]
    provides: frozenset[int]
    inherits: frozenset[int]


def _row(requires: tuple[int, ...], provides: tuple[int, ...], inherits: tuple[int, ...]) -> Row:
    return Row(frozenset(requires), frozenset(provides), frozenset(inherits))


LAYERS = {
    "COM": _row((1,), (10, 11), (1, 2)),
    "NAK": _row((1, 10, 11), (3, 4), (10, 11, 12)),
    "FRAG": _row((3, 4, 10, 11), (12,), tuple(range(3, 17))),
    "MBRSHIP": _row((3, 4, 10, 11, 12), (8, 9, 15), (3, 4, 10, 11, 12)),
    "TOTAL": _row((3, 4, 8, 9, 10, 11, 12, 15), (6,), tuple(range(3, 17))),
}
"""Row of each layer, by the layer's name; lower layers come first."""

NETWORK = frozenset({1})


def parsed(stack: str) -> tuple[str, ...]:
    """Return the names in `TOP:...:BOTTOM`, top first. Raises `IllFormedStack`: there is no such layer."""
    names = tuple(name.strip().upper() for name in stack.split(":"))
    for name in names:
        if name not in LAYERS:
            known = ", ".join(LAYERS)
            raise IllFormedStack(f"{stack!r}: there is no layer {name!r}; known, lower ones first: {known}")
    return names


def properties(stack: tuple[str, ...]) -> frozenset[int]:
    """Return the properties above a well-formed stack over a network that may lose."""
    above = NETWORK
    for name in reversed(stack):
        above = LAYERS[name].provides | (LAYERS[name].inherits & above)
    return above


def flaw(stack: tuple[str, ...]) -> str | None:
    """Return the reason why a stack is not well-formed: the lowest layer that lacks a property, and a layer
    that would provide it; or None.
    """
    for place in reversed(range(len(stack))):
        missing = LAYERS[stack[place]].requires - properties(stack[place + 1 :])
        if missing:
            told = ", ".join(f"P{number} ({PROPERTIES[number]})" for number in sorted(missing))
            able = [name for name, row in LAYERS.items() if missing & row.provides]
            below = ":".join(stack[place + 1 :]) or "the network"
            return f"{stack[place]} requires {told}, which {below} does not give; {' and '.join(able)} would"
    return None


def checked(stack: tuple[str, ...]) -> tuple[str, ...]:
    """Return the stack itself. Raises `IllFormedStack`: it is not well-formed, or orders nothing."""
    wrong = flaw(stack)
    if wrong is None and ORDERED not in properties(stack):
        wrong = f"it does not give P6 ({PROPERTIES[ORDERED]}), which a group promises; put TOTAL on top"
    if wrong is not None:
        raise IllFormedStack(f"{':'.join(stack)!r} is refused: {wrong}")
    return stack
