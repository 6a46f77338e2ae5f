"""Layers of Horus as cores that stack: COM, NAK, FRAG, MBRSHIP and TOTAL, in the order that a string names.

`horus("TOTAL:MBRSHIP:FRAG:NAK:COM")` is a core like any other. A string is refused if a layer lacks a
property that it requires below it, or if the stack orders nothing. Members all stay, so MBRSHIP has one view.

Source: R. van Renesse, K. Birman, R. Friedman, M. Hayden, D. Karr, "A framework for protocol composition in
Horus", 1995.
"""

from __future__ import annotations

from typing import Any

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.horus.calculus import STACK, IllFormedStack, checked, parsed
from antiphon.impl.protocols.horus.messages import Frame, HorusViolation, flaw
from antiphon.impl.protocols.horus.process import Core, Settings, Snapshot

__all__ = [
    "MESSAGES", "STACK", "Core", "Frame", "HorusViolation", "IllFormedStack", "Settings", "Snapshot", "horus",
]  # fmt: skip

MESSAGES: MessageFormat[Frame] = MessageFormat("horus", 1, Frame, flaw)
"""The messages of a stack, version 1; the headers of its layers are bytes in them."""


def horus(stack: str = STACK, *, kind: type[Core] = Core, **settings: Any) -> Implementation[Frame]:
    """The stack that a string names, top first, as the core of a group; `Settings` says what there is to set.

    Raises:
        IllFormedStack: a layer is unknown, or lacks below what it requires; or the stack orders nothing.
    """
    checked(parsed(stack))
    return Implementation.of(MESSAGES, kind, Settings(stack=stack, **settings))
