"""The whole state of a process of TOTAL, as data to compare and to put back.

This module must not know what a process does with its state.

Source: Cornell, "JavaGroups TOTAL", sections Members, Sequencer and Retransmission.
"""

from __future__ import annotations

from typing import NamedTuple

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Delivery, Send
from antiphon.impl.protocols.total.messages import Bcast, Message
from antiphon.impl.protocols.total.timers import Timer

__all__ = ["Snapshot"]


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    last_id: int
    pending: tuple[tuple[int, bytes], ...]
    next_expected: int
    queue: tuple[Bcast, ...]
    next_to_assign: int
    sent: tuple[Bcast, ...]
    numbered: tuple[tuple[int, tuple[int, ...]], ...]
    acknowledged: tuple[int, ...]
    timers: tuple[tuple[Timer, float, int], ...]
    outputs: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]
