"""Total order by a sequencer: what the four adapters beside this file do.

Node 0 numbers the messages in the order in which it learns of them. The others tell it what they want to
broadcast, and ask it for the next messages. The network keeps all messages, in no order, so that each may
arrive late, several times, or never.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Index,
    Map,
    Seq,
    Set,
    Spec,
    action,
    emit,
    everywhere,
    invariant,
    record,
    require,
    witness,
)


class Node(Index, size="nodes", ordered=True):
    """A process; number 0 is the sequencer."""


class Message(Index, size="messages", ordered=True):
    """A message of an application."""


@record
class Want:
    """A node wants a message to have a number."""

    to: Node
    m: Message


@record
class Ask:
    """A node asks for the messages from a number on."""

    to: Node
    sender: Node
    next: Annotated[int, Between(1, "messages + 1")]


@record
class Order:
    """The message has the number."""

    to: Node
    number: Annotated[int, Between(1, "messages")]
    m: Message


@record
class Deliver:
    """The application of a node gets a message."""

    node: Node
    number: Annotated[int, Between(1, "messages")]
    m: Message


class Ordered(Spec):
    """All nodes deliver the same messages in the same order."""

    nodes: Const[int] = 2
    messages: Const[int] = 2

    network: Set[Want | Ask | Order] = Set()
    log: Map[Node, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())
    wanted: Map[Node, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())

    @action
    def broadcast(self, p: Node, m: Message) -> None:
        """An application broadcasts a message that its node does not know."""
        require(m not in self.log[p] and m not in self.wanted[p])
        if p == Node(0):
            self.number(m)
        else:
            self.wanted[p] += (m,)
            self.network |= {Want(Node(0), m)}

    @action
    def take_want(self, packet: Annotated[Want, In("network")]) -> None:
        """The sequencer numbers a message, once."""
        if packet.m not in self.log[Node(0)]:
            self.number(packet.m)

    @action
    def take_ask(self, packet: Annotated[Ask, In("network")]) -> None:
        """The sequencer sends what the node lacks."""
        self.network |= {
            Order(packet.sender, place + 1, self.log[Node(0)][place])
            for place in range(len(self.log[Node(0)]))
            if place + 1 >= packet.next
        }

    @action
    def take_order(self, packet: Annotated[Order, In("network")]) -> None:
        """A node delivers the next message; it forgets one that comes too early, and asks again."""
        if packet.number == len(self.log[packet.to]) + 1:
            self.deliver(packet.to, packet.m)

    @action
    def tick(self, p: Node) -> None:
        """A node sends again what it wants, and asks for what it lacks."""
        require(p != Node(0))
        self.network |= {Want(Node(0), m) for m in self.wanted[p]}
        self.network |= {Ask(Node(0), p, len(self.log[p]) + 1)}

    def number(self, m: Message) -> None:
        """The sequencer delivers a message under the next number, and tells it to the others."""
        self.deliver(Node(0), m)
        self.network |= {
            Order(p, len(self.log[Node(0)]), m) for p in self.each(Node) if p != Node(0)
        }

    def deliver(self, p: Node, m: Message) -> None:
        """A node delivers a message, which it no longer wants."""
        self.log[p] += (m,)
        self.wanted[p] = tuple(other for other in self.wanted[p] if other != m)
        emit(Deliver(p, len(self.log[p]), m))

    @invariant
    def OneOrder(self) -> bool:
        """The log of every node is a beginning of the sequencer's."""
        return all(self.log[p] == self.log[Node(0)][: len(self.log[p])] for p in self.each(Node))

    @witness
    def AllDeliver(self) -> bool:
        """Every node can deliver every message."""
        return all(len(self.log[p]) == self.messages for p in self.each(Node))
