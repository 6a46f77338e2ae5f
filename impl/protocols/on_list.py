"""Core of one list in which one member orders the messages, and which ends in a flush.

The first members of the list are the core, and the first of them orders. A message is stable, and delivered,
when all of the core have it. The others are external: they listen, and get the stable messages.

This module must not know how a member learns that a message is stable.

Source: Barchet-Estefanel 2002, sections 4.4.2 and 4.4.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from antiphon.impl import tracing
from antiphon.impl.protocols.base import CoreBase
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.history import History
from antiphon.impl.protocols.listeners import Listeners

__all__ = ["OnList"]

M = TypeVar("M")


class OnList(CoreBase[M]):
    """Common part of cores in which one member of a list orders; it does not depend on the protocol. A
    protocol's core has it as a base beside its own.
    """

    def _begin_list(self, core: int, kept_bytes: int) -> None:
        """Join a list whose first `core` members order messages; no message is ordered yet.

        Keep at most `kept_bytes` of stable messages, for external members.

        Raises:
            ValueError: `core` is less than 2, or more than the number of members.
        """
        if not 2 <= core <= self.members:
            raise ValueError(f"a core of {core} of {self.members} members; it has two at least")
        self.external = self.me >= core
        """True if this member listens, and orders nothing."""
        keeps = core < self.members and not self.external
        self._history = History(self.members, kept_bytes if keeps else 0)
        self._listeners = Listeners()
        self._heard: int | None = None
        """The highest stable number in the last message of the member that orders."""
        self.lost = False
        """True if this external member needs what nobody keeps any more."""

    @property
    def caught_up(self) -> bool:
        """Return True if this external member has all messages that it knows to be stable."""
        return self.external and self._heard is not None and self._heard <= self._history.stable

    def _hand_over(self, number: int, identifier: Identifier, payload: bytes) -> None:
        """Deliver a message under this number."""
        self._deliveries.append(Delivery(identifier.source, identifier.id, number, payload))
        if self._tracer.recording:
            self._tracer.record(tracing.Deliver(self.me, identifier, number, payload))

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Return the result for all to adopt (step 3), from the reports of these members, this process among
        them.
        """
        return self._history.merge(reports, missing)

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Return, in order, the agreed messages that this process has not delivered (steps 5 and 6); None if
        it lacks some of them.
        """
        adopted = self._history.adopt(agreed)
        if adopted is None:
            return None
        for number, identifier, payload in adopted:
            self._hand_over(number, identifier, payload)
        return self.deliveries()
