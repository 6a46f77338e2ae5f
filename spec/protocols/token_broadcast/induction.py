"""Proofs by induction that figures 2 and 5 as repaired deliver only messages that were broadcast, each once,
and that a token which returns finds everything delivered that its holder had listed.

With the invariants of `Figure2Proof` Z3 proves `BroadcastOnce`, `Integrity`, `UniformIntegrity` and
`ReturnMeansDelivered` for every number of processes, messages and losses, and with those of `Figure5Proof`
`BroadcastOnce`, `Integrity`, `UniformIntegrity` and `ListedWherePassed`: `antiphon check
antiphon.spec.protocols.token_broadcast.induction:Figure5Proof --repair all --prove --every
processes,messages,losses`.

In words, of both: every message that is received, listed, delivered, asked for by name or in flight was
broadcast. Message k is broadcast when k were broadcast before, so that none is broadcast twice. And the
deliveries that the service has seen are the queue of delivered messages, which the repaired lines 13, 20 and
25 read.

Of figure 2 besides: the token lists what has a lister, and each process from the lister on, up to the one
before the next holder, has delivered the message, since each holder delivers all that is listed. When the
next holder is the lister, that is everybody.
"""

from __future__ import annotations

from antiphon.spec.lang import invariant
from antiphon.spec.protocols.token_broadcast.figure2 import Data
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked, Figure5Checked
from antiphon.spec.services import Message, Process


class Figure2Proof(Figure2Checked):
    """Figure 2, with its properties and the invariants of the proof."""

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
    def KnownWasBroadcast(self) -> bool:
        """Invariant: a message that is delivered, listed or in flight was broadcast."""
        return all(
            self.origin[m] is not None
            or not (m in self.listed or m in self.delivered_queue[p] or Data(p, m) in self.network)
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @invariant
    def ListedHasALister(self) -> bool:
        """Invariant: the token lists the messages that some process has listed, and no others."""
        return all((self.lister[m] is not None) == (m in self.listed) for m in self.each(Message))

    def has_passed(self, p: Process, q: Process) -> bool:
        """Return True if the token has been at p since it left q, or is on its way to q."""
        to = self.token_to
        return to is not None and (
            (q <= p and p < to) if q < to else (q <= p or p < to)
        )

    @invariant
    def DeliveredWherePassed(self) -> bool:
        """Invariant: a process that the token has passed since the lister of a message had it has delivered
        the message.
        """
        return all(
            self.lister[m] != q or not self.has_passed(p, q) or m in self.delivered_queue[p]
            for m in self.each(Message)
            for p in self.each(Process)
            for q in self.each(Process)
        )


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
