"""The whole state of a process of SEQUENCER, as data to compare and to put back.

This module must not know what a process does with its state.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Design".
"""

from __future__ import annotations

from typing import NamedTuple

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Delivery, Send
from antiphon.impl.protocols.sequencer.messages import Message

__all__ = ["Snapshot"]


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    view: int
    group: tuple[int, ...]
    blocked: bool
    last_number: int
    forward_table: tuple[tuple[int, bytes], ...]
    received_table: tuple[int, ...]
    delivered: int
    early: tuple[tuple[int, Message], ...]
    outputs: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]
