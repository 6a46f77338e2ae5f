"""Properties of figure 16: numbers, the token, total order broadcast, and that no message starves.

The marks of the actions say what is fair: a process that can take a step by itself takes it in the end, and a
packet that stays receivable is received. Losses need never happen. Fairness for each kind of step, and not
for each packet, would be too weak: the copies of one message could be received for ever while another one
waits.
"""

from __future__ import annotations

from antiphon.spec.lang import invariant, leads_to, obligation, witness
from antiphon.spec.protocols.rbp.bounds import RbpBounded
from antiphon.spec.protocols.rbp.figure16 import Identifier, LocalNumber, Number, Sequenced
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


class RbpProperties(RbpBounded):
    """RBP without failures, with properties of its numbers and of its token."""

    @invariant
    def UniqueNumbers(self) -> bool:
        """Invariant: a number belongs to one message, and a message has one number, at all processes (section
        3.1.2).
        """
        return all(
            (a.number == b.number) == (a.identifier == b.identifier)
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[q]
        )

    @invariant
    def OneHolder(self) -> bool:
        """Invariant: at most one process holds the token."""
        return not any(
            self.holding[p] and self.holding[q]
            for p in self.each(Process)
            for q in self.each(Process)
            if p != q
        )

    @invariant
    def HolderHasAll(self) -> bool:
        """Invariant: the process that may acknowledge has every message numbered before (sections 1 and
        3.2.1).
        """
        return all(
            not self.holding[p]
            or all(
                any(item.number == k and self.has_body(p, item.identifier) for item in self.numbered[p])
                for k in self.each(Number)
                if k <= self.last_number[p]
            )
            for p in self.each(Process)
        )

    @invariant
    def SenderOrder(self) -> bool:
        """Invariant: messages of one source are numbered in the order in which the source broadcast them."""
        return all(
            a.identifier is None
            or b.identifier is None
            or a.identifier.source != b.identifier.source
            or (a.identifier.number < b.identifier.number) == (a.number < b.number)
            for p in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[p]
            if a != b
        )

    @invariant
    def OldestFirst(self) -> bool:
        """Invariant of line 46, `first`: a process that gives a message a number has numbers for all messages
        that it received before.
        """
        return not any(
            self.sequencer_of(item.number) == p and self.overtakes(p, item)
            for p in self.each(Process)
            for item in self.numbered[p]
        )

    def overtakes(self, p: Process, item: Sequenced) -> bool:
        """Return True if p received some message earlier than that of `item`, and knows no number for the
        earlier one that is lower than item's number.
        """
        return any(
            not any(
                other.identifier == self.received[p][k].identifier and other.number < item.number
                for other in self.numbered[p]
            )
            for k in self.each(LocalNumber)
            if k < self.ahead_of(p, item.identifier)
        )

    def ahead_of(self, p: Process, b: Identifier | None) -> int:
        """Return the number of messages before that of B in recvQ_p; 0 when it is not there."""
        return min(
            (
                k
                for k in self.each(LocalNumber)
                if k < len(self.received[p]) and self.received[p][k].identifier == b
            ),
            default=0,
        )

    @invariant
    def NobodyFollowsItself(self) -> bool:
        """Invariant: toknext_p is never p, so line 21 is never reached."""
        return not any(self.successor(p) == p for p in self.each(Process))

    @obligation
    def Returns(self) -> bool:
        """Obligation: the procedure TO-broadcast ends: its message is acknowledged (line 15)."""
        return all(self.pending[p] is None for p in self.each(Process))

    @witness
    def TokenAccepted(self) -> bool:
        """Witness: a process holds the token."""
        return any(self.holding[p] for p in self.each(Process))

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every message was broadcast, and every process has delivered every message."""
        return self.broadcasts == self.messages and all(
            self.last_delivered[p] == self.messages + 1 for p in self.each(Process)
        )


class RbpRotation(RbpProperties):
    """RBP's rotation of the token, with a witness that a process that accepts the token gives the next number
    (line 40).
    """

    @witness
    def TokenGoesOn(self) -> bool:
        """Witness: a process that accepted the token has given the next number, the second."""
        return any(item.number == 2 for p in self.each(Process) for item in self.numbered[p])


class RbpChecked(RbpProperties, TotalOrderBroadcast):
    """RBP without failures, checked against total order broadcast."""


class RbpLive(RbpChecked):
    """RBP without failures, with the promise that every broadcast message is delivered everywhere.

    The class stands apart, since a promise is judged on the whole state graph, and means nothing where timers
    are limited.
    """

    def is_broadcast(self, m: Message) -> bool:
        """Return True if the application has broadcast m."""
        return self.origin[m] is not None

    def is_delivered(self, m: Message) -> bool:
        """Return True if every process has delivered m."""
        return all(self.delivered[p][m] for p in self.each(Process))

    NoMessageStarves = leads_to("is_broadcast", "is_delivered")
