"""The whole state of a process of Totem's ring, as data to compare and to put back.

This module must not know what a process does with its state.

Source: J. Kim and C. Kim 1997, section 5, the paragraph on Totem.
"""

from __future__ import annotations

from typing import NamedTuple

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Delivery, Send
from antiphon.impl.protocols.totem.messages import Message, Token, Update
from antiphon.impl.protocols.totem.timers import Timer

__all__ = ["Snapshot"]


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    token: Token | None
    visit: int
    told: tuple[int, ...]
    last_id: int
    waiting: tuple[tuple[int, bytes], ...]
    own: tuple[int, ...]
    early: tuple[Update, ...]
    status: int
    ids: tuple[int, ...]
    stable: int
    timers: tuple[tuple[Timer, float, int], ...]
    outputs: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]
