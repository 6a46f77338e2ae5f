"""Layers of Horus as cores that stack: COM, NAK, FRAG, MBRSHIP and TOTAL, in the order that a string names.

`horus("TOTAL:MBRSHIP:FRAG:NAK:COM")` is a core like any other. A string whose layers do not find below what
they require is refused, and so is one that orders nothing. Members all stay, so MBRSHIP has one view.

Source: R. van Renesse, K. Birman, R. Friedman, M. Hayden, D. Karr, "A framework for protocol composition in
Horus", 1995.
"""

from __future__ import annotations

from typing import Any

from antiphon.impl.protocols.core import Implementation, MessageFormat
from antiphon.impl.protocols.horus.calculus import IllFormedStack, checked, parsed
from antiphon.impl.protocols.horus.messages import Frame, flaw
from antiphon.impl.protocols.horus.process import Core, Settings, Snapshot
from antiphon.impl.protocols.horus.violations import HorusViolation
from antiphon.impl.tracing import Tracer

__all__ = ["MESSAGES", "STACK", "Core", "Frame", "HorusViolation", "IllFormedStack", "Snapshot", "horus"]

STACK = "TOTAL:MBRSHIP:FRAG:NAK:COM"
"""The stack of the paper, over a network that loses."""

MESSAGES: MessageFormat[Frame] = MessageFormat("horus", 1, Frame, flaw)
"""What a stack sends, version 1; its layers' headers are bytes in it."""


def horus(stack: str = STACK, **settings: Any) -> Implementation[Frame]:
    """The stack that a string names, top first, as the core of a group; `Settings` says what there is to set.

    Raises:
        IllFormedStack: a layer is unknown, or lacks below what it requires; or the stack orders nothing.
    """
    layers = checked(parsed(stack))
    made = Settings(**settings)

    def core(me: int, members: int, tracer: Tracer) -> Core:
        return Core(layers, me, members, made, tracer=tracer)

    return Implementation(MESSAGES, core)
