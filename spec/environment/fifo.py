"""Messages travel in order: in a queue for each pair of processes, or in a log of each sender that all read.

`FifoChannels` is a queue from p to q, `FifoLosses` one that loses within a budget, `Unicast` a reliable
one, `LooseUnicast` one without an order, and `FifoMulticast` a reliable multicast that every receiver gets
in the sender's order and without gaps, each at its own pace (what NAKACK gives). Nothing here knows what a
packet means. A receiving action takes the receiver as its first parameter, so that guards see who acts.

A queue and a log hold at most `messages + room` packets; one that would not fit is an error of the
specification, never a loss.
"""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from antiphon.spec.lang import AtMost, Between, Const, Map, Seq, Set, environment, everywhere, require
from antiphon.spec.services.events import Group, Process

P = TypeVar("P")
B = TypeVar("B")

Position = Annotated[int, Between(0, "messages + room")]
"""Number of packets that a process has read from a log."""


class Queues(Group):
    """Constant of queues: `room` is how many packets a queue or a log holds in excess of one for each
    message.
    """

    room: Const[int] = 0


class FifoChannels(Queues, Generic[P]):
    """Reliable queues: a queue of packets from each process to each other process.

    A receiving action has `require(self.has_packet(q, p))`, reads `self.channel[q][p][0]` and calls
    `self.take(q, p)`.
    """

    channel: Map[Process, Map[Process, Annotated[Seq[P], AtMost("messages + room")]]] = everywhere(
        everywhere(())
    )

    def push(self, sender: Process, to: Process, packet: P) -> None:
        """Put one more packet into the queue from `sender` to `to`."""
        self.channel[sender][to] += (packet,)

    def push_to_others(self, sender: Process, packet: P) -> None:
        """Put one more packet into the queues from `sender` to all other processes."""
        for q in self.each(Process):
            if q != sender:
                self.channel[sender][q] += (packet,)

    def has_packet(self, sender: Process, to: Process) -> bool:
        """Return True if a packet from `sender` to `to` is in the queue."""
        return len(self.channel[sender][to]) > 0

    def take(self, sender: Process, to: Process) -> None:
        """Remove the oldest packet of the queue from `sender` to `to`, because it has arrived."""
        self.channel[sender][to] = self.channel[sender][to][1:]


class FifoLosses(FifoChannels[P]):
    """Queues that lose up to `losses` packets.

    Only the oldest packet can be lost: losing a later one is the same as losing it when it has become the
    oldest.
    """

    losses: Const[int] = 1
    lost: Annotated[int, Between(0, "losses")] = 0

    @environment
    def lose(self, sender: Process, to: Process) -> None:
        """Lose the oldest packet in the queue from `sender` to `to`."""
        require(self.lost < self.losses and self.has_packet(sender, to))
        self.take(sender, to)
        self.lost += 1


class Unicast(FifoChannels[P]):
    """Reliable point-to-point messages, which arrive by `channel` in the order of sending."""

    def unicast_to(self, sender: Process, to: Process, packet: P) -> None:
        """Send one more packet from `sender` to `to`."""
        self.channel[sender][to] += (packet,)


class LooseUnicast(Unicast[P]):
    """Reliable point-to-point messages that arrive in any order. They carry their receiver, in a field `to`.

    They arrive by the set `loose`: `packet: Annotated[Forward, In("loose")]`.
    """

    loose: Set[P] = Set()

    def unicast_to(self, sender: Process, to: Process, packet: P) -> None:
        """Send one more packet to the receiver that the packet names."""
        self.loose |= {packet}


class FifoMulticast(Queues, Generic[B]):
    """Reliable multicasts: `log[s]` are the packets that s has multicast, `heard[s][q]` how many of them q
    has received.
    """

    log: Map[Process, Annotated[Seq[B], AtMost("messages + room")]] = everywhere(())
    heard: Map[Process, Map[Process, Position]] = everywhere(everywhere(0))

    def multicast(self, sender: Process, packet: B) -> None:
        """Multicast a packet to everybody, the sender included; the sender's own copy is received like any
        other copy.
        """
        self.log[sender] += (packet,)

    def has_multicast(self, sender: Process, to: Process) -> bool:
        """Return True if `to` has a multicast of `sender` left to receive:
        `self.log[sender][self.heard[sender][to]]`.
        """
        return self.heard[sender][to] < len(self.log[sender])

    def hear(self, sender: Process, to: Process) -> None:
        """Note that the next multicast of `sender` has arrived at `to`."""
        self.heard[sender][to] += 1

    def handed_on(self, sender: Process, to: Process) -> Position:
        """Return how many multicasts of `sender` the process `to` has handed to its protocol: all that have
        arrived.
        """
        return self.heard[sender][to]
