"""Layers of Horus as cores that stack: COM, NAK, FRAG, MBRSHIP and TOTAL, in the order that a string names.

`horus("TOTAL:MBRSHIP:FRAG:NAK:COM")` is a core like any other. A string is refused if a layer lacks a
property that it requires below it, or if the stack orders nothing. With members that all stay MBRSHIP has one
view. `horus_listed` is the stack for the lists of a group whose members change: its MBRSHIP has the views on
which the membership agrees.

Source: R. van Renesse, K. Birman, R. Friedman, M. Hayden, D. Karr, "A framework for protocol composition in
Horus", 1995.
"""

from __future__ import annotations

from typing import Any

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.horus.calculus import STACK, IllFormedStack, checked, parsed
from antiphon.impl.protocols.horus.listed import ListedCore, ListedMessage
from antiphon.impl.protocols.horus.listed import flaw as listed_flaw
from antiphon.impl.protocols.horus.messages import Frame, HorusViolation, flaw
from antiphon.impl.protocols.horus.process import DEFAULTS, Core, Settings, Snapshot
from antiphon.impl.tracing import Tracer

__all__ = [
    "LISTED_MESSAGES", "MESSAGES", "STACK", "Core", "Frame", "HorusViolation", "IllFormedStack", "ListedCore",
    "ListedMessage", "Settings", "Snapshot", "horus", "horus_listed",
]  # fmt: skip

MESSAGES: MessageFormat[Frame] = MessageFormat("horus", 1, Frame, flaw)
"""The messages of a stack, version 1; the headers of its layers are bytes in them."""

LISTED_MESSAGES: MessageFormat[ListedMessage] = MessageFormat("horus-listed", 1, ListedMessage, listed_flaw)
"""The messages of a stack on one list of a group whose members change, version 1."""


def horus(stack: str = STACK, *, kind: type[Core] = Core, **settings: Any) -> Implementation[Frame]:
    """Return the stack that a string names, top first, as an implementation; `settings` are as in `Settings`.

    Raises:
        IllFormedStack: a layer is unknown, or lacks below what it requires; or the stack orders nothing.
    """
    checked(parsed(stack))
    return Implementation.of(MESSAGES, kind, Settings(stack=stack, **settings))


def horus_listed(settings: Settings = DEFAULTS) -> Implementation[Any]:
    """Return the stack as an implementation for the lists of a group whose members change."""

    def listed(me: int, members: int, taking_part: int, tracer: Tracer) -> ListedCore:
        return ListedCore(me, members, settings, core=taking_part, tracer=tracer)

    def whole(me: int, members: int, tracer: Tracer) -> ListedCore:
        return listed(me, members, members, tracer)

    return Implementation(LISTED_MESSAGES, whole, holders=0, listed=listed, settings=settings)
