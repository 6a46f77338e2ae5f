"""The state of an RBP process seen from outside: as plain data to compare, and as a whole to put back.

This module must not know what a process does with its state.

Source: Barchet-Estefanel 2002, section 3.1.3, figure 16, lines 1-9.
"""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Identifier, Send
from antiphon.impl.protocols.rbp.messages import Message
from antiphon.impl.protocols.rbp.timers import Timer

__all__ = ["Observation", "Snapshot"]


class Observation(TypedDict):
    """Every state variable as plain data, detached: integers, booleans, tuples and one dictionary."""

    received: tuple[tuple[tuple[int, int], bytes], ...]
    numbers: dict[int, tuple[int, int] | None]
    last_number: int
    last_delivered: int
    message_id: int
    pending: tuple[int, int] | None
    arriving: int | None
    holding: bool
    passed: int | None


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    received: tuple[tuple[Identifier, bytes], ...]
    numbers: tuple[tuple[int, Identifier | None], ...]
    last_delivered: int
    message_id: int
    pending: Identifier | None
    arriving: int | None
    holding: bool
    passed: int | None
    timers: tuple[tuple[Timer, float, int], ...]
    outputs: tuple[Send[Message], ...]
    violations: tuple[tuple[Violation, int], ...]
