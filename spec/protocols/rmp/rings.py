"""TRMP: a ring of primary processes orders for all, and others receive from it and send through it.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 3.3.2: "the lower ring receives retransmissions from the higher ring. In the same way, secondary
sources can participate by sending messages to primary sources, which will insert them in the primary token
ring." Of the reformation server it says that there is one, and redundant ones: that is not modelled.

The first `primaries` processes are the ring; each other process has one of them as its source and sends its
messages to that one.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Map, Set, action, constraint, everywhere, initial, repair, require
from antiphon.spec.protocols.irbp.bounds import NormalSparing
from antiphon.spec.protocols.irbp.normal_phase import Number
from antiphon.spec.services import Message, Process


class Rings(NormalSparing):
    """RBP's normal phase among the primaries; the other processes receive from them."""

    primaries: Const[int] = 2
    remote: Const[bool] = False
    """Switch: only processes that are no primaries stop."""

    source: Map[Message, Process | None] = everywhere(None)
    inserted: Set[Message] = Set()

    def is_primary(self, p: Process) -> bool:
        """Return True if p is in the ring."""
        return p.index < self.primaries

    def primary_of(self, p: Process) -> Process:
        """Return the primary to which p sends its messages; a primary is its own."""
        return Process(p.index % self.primaries)

    @initial
    def start(self) -> None:
        """Begin with the ring of the primaries as first token list."""
        super().start()
        self.listed[1] = Set(p for p in self.each(Process) if self.is_primary(p))

    def holds_token(self, p: Process) -> bool:
        """Return True if p holds the token; only members of the ring of primaries ever do."""
        return self.is_primary(p) and super().holds_token(p)

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast m: a primary sends to all, another process to its primary."""
        super().broadcast(p, m)
        self.source[m] = p
        if self.is_primary(p):
            self.inserted |= {m}

    @action(fairness="weak")
    def insert(self, p: Process, m: Message) -> None:
        """Insert, at a primary, a message that another process has sent to it."""
        q = self.source[m]
        require(self.is_active(p) and m in self.received[p] and m not in self.inserted)
        require(q is not None and self.primary_of(q) == p)
        self.inserted |= {m}

    def was_sent(self, p: Process, m: Message) -> bool:
        """Return True if m was sent to p: a message that was not inserted into the ring yet was sent only to
        the primary of its sender.
        """
        q = self.source[m]
        return super().was_sent(p, m) and (m in self.inserted or (q is not None and self.primary_of(q) == p))

    def is_sent_again(self, p: Process, m: Message) -> bool:
        """Return True if m is sent again: a primary repeats messages that it inserted like its own
        broadcasts.
        """
        q = self.source[m]
        return super().is_sent_again(p, m) or (
            m in self.inserted
            and q is not None
            and self.is_with(self.primary_of(q), p)
            and m in self.received[self.primary_of(q)]
            and not self.is_numbered(self.primary_of(q), m)
        )

    @constraint("crash")
    def is_remote(self, p: Process) -> bool:
        """Bound: only a process that is no primary stops, if `remote`."""
        return not self.remote or not self.is_primary(p)


@repair("a primary keeps what the processes that receive from it still miss", answers="RMP-08")
class KeepForLower(Rings):
    """Repair of rings. Printed: nothing about the time at which a primary may delete a message. Repaired: a
    primary keeps the messages that its receivers still lack.
    """

    def is_stable(self, p: Process, k: Number) -> bool:
        """Return True if the message of number k is stable at p: all primaries have it, and all live
        processes that receive from p.
        """
        return super().is_stable(p, k) and all(
            self.is_primary(q) or self.down[q] or self.primary_of(q) != p or self.has_number(q, k)
            for q in self.each(Process)
        )

    def has_number(self, q: Process, k: Number) -> bool:
        """Return True if q has the message with number k."""
        return any(
            ack.number == k
            and self.knows(q, k)
            and (ack.message is None or ack.message in self.received[q] or ack.message in self.collected[q])
            for ack in self.acks
        )


class RingsRepaired(Rings, repairs=(KeepForLower,)):
    """TRMP, with its repair to choose."""
