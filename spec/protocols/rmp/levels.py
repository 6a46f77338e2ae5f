"""RMP: several messages in one acknowledgement, and a level of resiliency that the application chooses.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 3.3.1: "acknowledgement of multiple messages in a single ack, management of multi-groups and
selection of the resiliency level"; section 4.2: RMP "can provide n-resiliency, majority resiliency, and even
unreliable deliver". That is all it says: the rest is RBP's normal phase.

`level` is how many processes have acknowledged before a message is delivered: n for n-resiliency, a majority,
any k between; 0 for unreliable delivery, as soon as a message is received. `batch` is how many messages one
acknowledgement may number, one number each.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    Map,
    Set,
    action,
    ambiguity,
    budget,
    constraint,
    emit,
    everywhere,
    require,
)
from antiphon.spec.protocols.irbp.bounds import NormalSparing
from antiphon.spec.protocols.irbp.normal_phase import Ack, Number, Sequenced
from antiphon.spec.services import Deliver, Message, Process

Turn = Annotated[int, Between(1, "batch")]
"""Position of a message in an acknowledgement."""


class SeveralInOneAck(NormalSparing):
    """One acknowledgement numbers up to `batch` messages, and passes the token once."""

    batch: Const[int] = 1

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        """Give the numbers after ts_p to messages without a number, at most `batch` of them."""
        require(self.holds_token(p) and self.unnumbered(p) is not None)
        for _ in self.each(Turn):
            m = self.unnumbered(p)
            if m is not None:
                self.send_number(p, m)

    @constraint("sequence")
    def has_number_left(self, p: Process) -> bool:
        """Return True if the numbers that p would give next are within the bound."""
        return budget(self.last_number[p] + min(self.batch, self.waiting(p)) <= self.highest)

    def waiting(self, p: Process) -> int:
        """Return the number of messages that p has received and for which p knows no number."""
        return sum(1 for m in self.received[p] if not self.is_numbered(p, m))

    def learn(self, p: Process, item: Sequenced) -> None:
        """Learn, at p, all numbers that the acknowledgement with this item gives, in one step."""
        super().learn(p, item)
        self.numbered[p] |= {
            Sequenced(ack.message, ack.number)
            for ack in self.acks
            if self.is_of_list(p, ack)
            and not self.knows(p, ack.number)
            and self.is_beside(p, ack, item.number)
        }
        self.last_number[p] = max(self.last_number[p], self.contiguous(p))
        if any(item.message == self.pending[p] for item in self.numbered[p]):
            self.pending[p] = None

    def is_beside(self, p: Process, ack: Ack, k: Number) -> bool:
        """Return True if number k was given by the same acknowledgement as the number of `ack`."""
        return all(
            any(
                self.is_of_list(p, other) and other.sender == ack.sender and other.number == j
                for other in self.acks
            )
            for j in self.each(Number)
            if min(ack.number, k) <= j and j <= max(ack.number, k)
        )


counted = ambiguity(
    "counted",
    "numbers",
    about="whether stability counts the numbers that follow, as figure 25, line 75, has it where an "
    "acknowledgement has one, or the acknowledgements",
)


class Levels(SeveralInOneAck, readings=(counted,)):
    """Delivery at the chosen level of resiliency; buffers keep a message until it is stable and delivered."""

    level: Const[int] = 3

    handed: Map[Process, Set[Message]] = everywhere(Set())

    def acknowledged_since(self, p: Process, k: Number) -> int:
        """Return how many processes have acknowledged number k or a later number, as far as p knows."""
        return max(self.last_number[p] - k + 1, 0)

    def is_stable(self, p: Process, k: Number) -> bool:
        """Return True if all members have acknowledged number k or a later one."""
        return self.acknowledged_since(p, k) >= len(self.token_list(p))

    def is_early(self) -> bool:
        """Return True if `level` lets a message be delivered before it is stable: it is neither 0 nor n."""
        return 0 < self.level and self.level < self.processes

    def can_settle(self, p: Process, item: Sequenced) -> bool:
        """Return True if the item can become stable at p (lines 74-75); an item that is to be delivered early
        must have been delivered first.
        """
        return super().can_settle(p, item) and (not self.is_early() or item.number <= self.last_delivered[p])

    @action(fairness="weak")
    def settle(self, p: Process, item: Sequenced) -> None:
        """Make an item stable at p (lines 74-78). Where messages are delivered early, the item was delivered
        already, and is not kept for delivery.
        """
        require(self.can_settle(p, item))
        if not self.is_early():
            self.stable[p] |= {item}
        self.numbered[p] -= {item}
        self.drop_body(p, item.message)

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        """Return True if the item can be delivered: by line 79, or because `level` processes have
        acknowledged.
        """
        if not self.is_early():
            return self.level > 0 and super().can_deliver(p, item)
        return (
            self.is_active(p)
            and item in self.numbered[p]
            and item.number == self.last_delivered[p] + 1
            and self.has_body(p, item.message)
            and self.acknowledged_since(p, item.number) >= self.level
        )

    @action(fairness="weak")
    def deliver_unreliably(self, p: Process, m: Message) -> None:
        """Deliver a message upon its reception, at level 0."""
        require(self.level == 0 and self.is_active(p) and m in self.received[p] and m not in self.handed[p])
        self.handed[p] |= {m}
        emit(Deliver(p, m))


@counted.reading("acknowledgements")
class CountAcknowledgements(Levels):
    """Reading of RMP: an acknowledgement counts once, however many messages it numbers."""

    def acknowledged_since(self, p: Process, k: Number) -> int:
        """Return how many acknowledgements with number k or a later one p knows."""
        return sum(1 for j in self.each(Number) if k <= j and j <= self.last_number[p] and self.is_last(p, j))

    def is_last(self, p: Process, j: Number) -> bool:
        """Return True if j is the last number of its acknowledgement, as far as p knows."""
        return not any(
            one.number == j
            and other.number == j + 1
            and one.sender == other.sender
            and self.is_of_list(p, one)
            and self.is_of_list(p, other)
            and self.knows(p, other.number)
            for one in self.acks
            for other in self.acks
        )
