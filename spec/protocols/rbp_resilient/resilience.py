"""Delivery of a message after k acknowledgements, before all have it, as sections 3.2.2 and 4.2 discuss it.

`resilience` 0 is the figure: messages are delivered when they are stable. With any other value a message is
delivered when `resilience` processes have acknowledged since it was numbered (its own ACK counts), and
collected when it is stable.
"""

from __future__ import annotations

from antiphon.spec.lang import Const
from antiphon.spec.protocols.rbp_resilient.figure25 import RbpResilient, Sequenced
from antiphon.spec.services import Process


class WithResilience(RbpResilient):
    """Figure 25 where a message is delivered before all processes have it."""

    resilience: Const[int] = 0

    def can_settle(self, p: Process, item: Sequenced) -> bool:
        """Return True if the item can become stable (lines 74-75), after its delivery."""
        return super().can_settle(p, item) and (self.resilience == 0 or item.number <= self.last_delivered[p])

    def keep_stable(self, p: Process, item: Sequenced) -> None:
        """Put the message into stableQ (line 76), if it is not delivered yet."""
        if self.resilience == 0:
            super().keep_stable(p, item)

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        """Return True if the item can be delivered: by line 79, or because `resilience` processes have
        acknowledged.
        """
        if self.resilience == 0:
            return super().can_deliver(p, item)
        return (
            item in self.numbered[p]
            and item.number == self.last_delivered[p] + 1
            and self.is_there(p, item.body)
            and item.number + self.resilience - 1 <= self.last_number[p]
        )
