"""The whole state of a process of DTP, as data to compare and to put back.

This module must not know what a process does with its state.

Source: J. Kim and C. Kim 1997, section 4.1.
"""

from __future__ import annotations

from typing import NamedTuple

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Delivery, Identifier, Send
from antiphon.impl.protocols.dtp.messages import Ack, Message, Msg, Pass
from antiphon.impl.protocols.dtp.timers import Timer

__all__ = ["Snapshot"]


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    latest: Pass | None
    expected: tuple[int, ...]
    status: tuple[int, ...]
    buffer: tuple[Msg, ...]
    acks: tuple[Ack, ...]
    sought: int
    missed: tuple[Identifier, ...]
    delivered: int
    timers: tuple[tuple[Timer, float, int], ...]
    outputs: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]
