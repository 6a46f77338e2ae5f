"""Proof by induction that figure 5 as repaired delivers only messages that were broadcast, each once.

With these invariants Z3 proves `BroadcastOnce`, `Integrity`, `UniformIntegrity` and `ListedWherePassed` for
every number of processes, messages and losses: `antiphon check
antiphon.spec.protocols.token_broadcast.induction:Figure5Proof --repair all --prove --every
processes,messages,losses`.

In words: every message that is received, listed, delivered, asked for by name or in flight was broadcast.
Message k is broadcast when k were broadcast before, so that none is broadcast twice. And the deliveries that
the service has seen are the queue of delivered messages, which the repaired lines 13 and 25 read.
"""

from __future__ import annotations

from antiphon.spec.lang import invariant
from antiphon.spec.protocols.token_broadcast.figure2 import Data
from antiphon.spec.protocols.token_broadcast.properties import Figure5Checked
from antiphon.spec.services import Message, Process


class Figure5Proof(Figure5Checked):
    """Figure 5, with its properties and the invariants of the proof."""

    @invariant
    def BroadcastInTheirOrder(self) -> bool:
        """Invariant: the messages that were broadcast are the first ones."""
        return all(
            (self.origin[m] is not None) == (m.index < self.broadcasts) for m in self.each(Message)
        )

    @invariant
    def QueueIsWhatIsDelivered(self) -> bool:
        """Invariant: a process has delivered the messages in its queue, and no others."""
        return all(
            self.delivered[p][m] == (m in self.delivered_queue[p])
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @invariant
    def ReceivedWasBroadcast(self) -> bool:
        """Invariant: a message that is received, delivered, listed or wanted was broadcast."""
        return all(
            self.origin[m] is not None
            or not (
                m in self.listed
                or self.wanted == m
                or any(m in self.received[p] or m in self.delivered_queue[p] for p in self.each(Process))
            )
            for m in self.each(Message)
        )

    @invariant
    def SentWasBroadcast(self) -> bool:
        """Invariant: a message in flight was broadcast."""
        return all(
            self.origin[m] is not None or Data(p, m) not in self.network
            for p in self.each(Process)
            for m in self.each(Message)
        )
