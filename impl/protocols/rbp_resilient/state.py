"""The state of a process of figure 25 seen from outside: plain data to compare, and a whole to put back.

This module must not know what a process does with its state.

Source: Barchet-Estefanel 2002, section 3.2, figure 25, lines 1-11.
"""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Identifier, Send
from antiphon.impl.protocols.rbp.messages import Message
from antiphon.impl.protocols.rbp_resilient.timers import Timer

__all__ = ["Observation", "Snapshot"]


class Observation(TypedDict):
    """Every state variable as plain data, detached: integers, booleans, tuples and dictionaries."""

    received: dict[tuple[int, int], bytes]
    waiting: tuple[tuple[int, int], ...]
    """The messages of `received` without a number, the first that came first."""
    numbers: dict[int, tuple[int, int] | None]
    stable: dict[int, tuple[int, int] | None]
    numbered: tuple[int, ...]
    """How many messages of each source have a number in 1..last_number; so many are its first ones."""
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
    waiting: tuple[Identifier, ...]
    numbers: tuple[tuple[int, Identifier | None], ...]
    stable: tuple[tuple[int, Identifier | None, bytes], ...]
    numbered: tuple[int, ...]
    last_number: int
    last_delivered: int
    message_id: int
    pending: Identifier | None
    arriving: int | None
    holding: bool
    passed: int | None
    timers: tuple[tuple[Timer, float, int], ...]
    outputs: tuple[Send[Message], ...]
    violations: tuple[tuple[Violation, int], ...]
