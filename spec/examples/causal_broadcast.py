"""Causal broadcast with vector clocks: nobody sees an answer before the question.

Sources: K. Birman, A. Schiper, P. Stephenson, "Lightweight causal and atomic group multicast", ACM
Transactions on Computer Systems 9(3), 1991, section 5.1 (CBCAST); F. Mattern, "Virtual time and global states
of distributed systems", 1989.

A process counts in its clock how many messages of each process it has delivered, its own as it broadcasts
them, and sends the clock along. A message waits at a receiver until it is the next one of its sender, and the
receiver has delivered everything that the sender had delivered. The messages that happened before a broadcast
are recorded beside the algorithm, as sets of names, so that the property does not rest on the clocks.
Messages arrive in any order, and stay in the network: what a process has delivered it does not deliver again.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    In,
    Index,
    Map,
    Set,
    Spec,
    action,
    everywhere,
    invariant,
    mutation,
    obligation,
    record,
    require,
    witness,
)


class Process(Index, size="processes", symmetric=True):
    """A process that broadcasts and delivers."""


Count = Annotated[int, Between(0, "broadcasts")]
"""Number of messages of one process."""

Clock = Map[Process, Count]
"""Number of messages of each process."""


@record
class Name:
    """Name of a message: its sender and its number among the sender's messages, from 1."""

    sender: Process
    number: Count


@record
class Message:
    """A message with its vector timestamp: the sender's clock, the message itself included."""

    sender: Process
    clock: Clock


class CausalText(Spec):
    """Causal broadcast with vector clocks, without its planted faults."""

    processes: Const[int] = 3
    broadcasts: Const[int] = 1

    clock: Map[Process, Clock] = everywhere(everywhere(0))
    network: Set[Message] = Set()
    delivered: Map[Process, Set[Name]] = everywhere(Set())
    past: Map[Name, Set[Name]] = everywhere(Set())

    def later(self, a: Clock, b: Clock) -> Clock:
        """Return the componentwise maximum of two clocks."""
        return Map({k: max(a[k], b[k]) for k in self.each(Process)})

    def count(self, p: Process, q: Process) -> int:
        """Return the number of messages of Q that P has delivered."""
        return sum(1 for name in self.delivered[p] if name.sender == q)

    def may_deliver(self, p: Process, message: Message) -> bool:
        """Return True if P may deliver the message: it is the next one of its sender, and P has delivered all
        that its sender had delivered.
        """
        mine = self.clock[p]
        stamp = message.clock
        return all(
            stamp[k] == mine[k] + 1 if k == message.sender else stamp[k] <= mine[k]
            for k in self.each(Process)
        )

    @action
    def broadcast(self, p: Process) -> None:
        """Send P's next message, and deliver it at P at once."""
        require(self.clock[p][p] < self.broadcasts)
        name = Name(p, self.clock[p][p] + 1)
        stamp = self.clock[p] | {p: self.clock[p][p] + 1}
        self.past[name] = self.delivered[p]
        self.clock[p] = stamp
        self.network |= {Message(p, stamp)}
        self.delivered[p] |= {name}

    @action
    def deliver(self, p: Process, message: Annotated[Message, In("network")]) -> None:
        """Deliver at P a message of another process."""
        name = Name(message.sender, message.clock[message.sender])
        require(name not in self.delivered[p])
        require(self.may_deliver(p, message))
        self.clock[p] = self.later(self.clock[p], message.clock)
        self.delivered[p] |= {name}

    @invariant
    def CausalDelivery(self) -> bool:
        """Invariant: a process that has delivered a message has delivered everything that happened before its
        broadcast.
        """
        return all(
            self.past[name] <= self.delivered[p] for p in self.each(Process) for name in self.delivered[p]
        )

    @invariant
    def ClocksCount(self) -> bool:
        """Invariant: each clock counts the messages that its process has delivered."""
        return all(
            self.clock[p] == Map({q: self.count(p, q) for q in self.each(Process)})
            for p in self.each(Process)
        )

    @obligation
    def Delivery(self) -> bool:
        """Obligation: in the end every process has delivered every message."""
        return all(
            Name(message.sender, message.clock[message.sender]) in self.delivered[p]
            for p in self.each(Process)
            for message in self.network
        )

    @witness
    def Answer(self) -> bool:
        """Witness: a message waits for another that happened before its broadcast."""
        return any(
            self.clock[p][message.sender] < message.clock[message.sender] and not self.may_deliver(p, message)
            for p in self.each(Process)
            for message in self.network
        )


@mutation("a message waits for those of its own sender only")
class FirstInFirstOut(CausalText):
    """Planted fault: a message waits for the earlier ones of its own sender only, not for those that its
    sender had delivered.
    """

    def may_deliver(self, p: Process, message: Message) -> bool:
        """Return True if the message is the next one of its sender."""
        return message.clock[message.sender] == self.clock[p][message.sender] + 1


@mutation("a message does not wait")
class Hasty(CausalText):
    """Planted fault: messages are delivered without any wait."""

    def may_deliver(self, p: Process, message: Message) -> bool:
        """Return True: every message may be delivered at once."""
        return True


class CausalBroadcast(CausalText, mutations=(FirstInFirstOut, Hasty)):
    """Causal broadcast with its planted faults, each of which leaves out a wait."""
