"""Reliable broadcast among processes that fail in four ways.

Sources: J. Widder, U. Schmid, "Booting clock synchronization in partially synchronous systems with hybrid
process and link failures", Distributed Computing 20(2), 2007; I. Berkovits, M. Lazić, G. Losa, O. Padon, S.
Shoham, "Verification of threshold-based distributed algorithms by decomposition to decidable logics", CAV
2019; problem `hybrid_reliable_broadcast_cisa` of mypyvy, from which the rules are taken.

A process that wants to broadcast sends to all. A process that has received from more than ta + ts processes
sends to all too, and one that has received from n - tc - ti - ts - ta accepts. At most tc processes send to
all or to none, at most ti send what they should to some only, at most ts send what they like but to all, and
at most ta send what they like to whom they like; n is greater than tc + 2ti + 2ts + 3ta.
"""

from __future__ import annotations

from enum import Enum

from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    Set,
    Spec,
    action,
    everywhere,
    initial,
    invariant,
    record,
    require,
    witness,
)


class Node(Index, size="nodes", symmetric=True):
    """Process, which may fail."""


class Way(Enum):
    """Way in which a process fails, if at all."""

    NEVER = "never"
    CRASH = "crash"
    OMISSION = "omission"
    SYMMETRIC = "symmetric"
    ARBITRARY = "arbitrary"


@record
class Link:
    """Pair of a sender and a receiver: a message is on the way, or was received."""

    source: Node
    to: Node


class HybridBroadcast(Spec):
    """Broadcast that is accepted only if a process that says the truth has sent it."""

    nodes: Const[int] = 4
    crashes: Const[int] = 0
    """Largest number of processes that send to all or to none."""
    omissions: Const[int] = 0
    """Largest number of processes that send to some only."""
    symmetric: Const[int] = 0
    """Largest number of processes that send what they like, to all."""
    arbitrary: Const[int] = 1
    """Largest number of processes that send what they like, to whom they like."""

    fails: Map[Node, Way] = everywhere(Way.NEVER)
    begun: Set[Node] = Set()
    sent: Set[Link] = Set()
    senders: Set[Node] = Set()
    received: Set[Link] = Set()
    accepted: Set[Node] = Set()

    def is_true(self, p: Node) -> bool:
        """Return True if process p sends only what it should, though perhaps not to all."""
        return self.fails[p] not in (Way.SYMMETRIC, Way.ARBITRARY)

    def are_enough(self) -> bool:
        """Return True if there are more than tc + 2ti + 2ts + 3ta processes."""
        return (
            sum(1 for _ in self.each(Node))
            > self.crashes + 2 * self.omissions + 2 * self.symmetric + 3 * self.arbitrary
        )

    def few_crash(self, fails: Map[Node, Way]) -> bool:
        """Return True if at most tc processes send to all or to none."""
        return sum(1 for p in self.each(Node) if fails[p] == Way.CRASH) <= self.crashes

    def few_omit(self, fails: Map[Node, Way]) -> bool:
        """Return True if at most ti processes send to some only."""
        return sum(1 for p in self.each(Node) if fails[p] == Way.OMISSION) <= self.omissions

    def few_are_symmetric(self, fails: Map[Node, Way]) -> bool:
        """Return True if at most ts processes send what they like, to all."""
        return sum(1 for p in self.each(Node) if fails[p] == Way.SYMMETRIC) <= self.symmetric

    def few_are_arbitrary(self, fails: Map[Node, Way]) -> bool:
        """Return True if at most ta processes send what they like, to whom they like."""
        return sum(1 for p in self.each(Node) if fails[p] == Way.ARBITRARY) <= self.arbitrary

    @initial
    def begin(self, fails: Map[Node, Way]) -> None:
        """Begin with a way to fail at each process."""
        require(self.are_enough() and self.few_crash(fails) and self.few_omit(fails))
        require(self.few_are_symmetric(fails) and self.few_are_arbitrary(fails))
        self.fails = fails

    def should_send(self, p: Node) -> bool:
        """Return True if process p wants to broadcast, or has received from more than ta + ts processes."""
        return (
            p in self.begun
            or sum(1 for s in self.each(Node) if Link(s, p) in self.received)
            > self.arbitrary + self.symmetric
        )

    @action
    def want(self, p: Node) -> None:
        """Want to broadcast at p."""
        self.begun |= {p}

    @action
    def send(self, p: Node) -> None:
        """Send from p to all."""
        require(self.should_send(p) or self.fails[p] == Way.SYMMETRIC)
        self.sent |= {Link(p, q) for q in self.each(Node)}
        self.senders |= {p}

    @action
    def send_to_one(self, p: Node, q: Node) -> None:
        """Send from p to q alone."""
        require((self.fails[p] == Way.OMISSION and self.should_send(p)) or self.fails[p] == Way.ARBITRARY)
        self.sent |= {Link(p, q)}
        self.senders |= {p}

    @action
    def receive(self, s: Node, p: Node) -> None:
        """Receive at p what s has sent."""
        require(Link(s, p) in self.sent)
        self.received |= {Link(s, p)}

    @action
    def accept(self, p: Node) -> None:
        """Accept at p, which has received from all but those that may fail."""
        require(
            sum(1 for s in self.each(Node) if Link(s, p) in self.received)
            >= self.nodes - self.crashes - self.omissions - self.symmetric - self.arbitrary
        )
        self.accepted |= {p}

    @invariant
    def Unforgeability(self) -> bool:
        """Invariant: what a process accepts, one that sends only what it should wanted to broadcast."""
        return len(self.accepted) == 0 or any(self.is_true(p) and p in self.begun for p in self.each(Node))

    @witness
    def accepted_by_one(self) -> bool:
        """Witness: a process accepts."""
        return len(self.accepted) > 0


class HybridBroadcastProof(HybridBroadcast):
    """Invariants of the proof: the first process that sends, of those that send the truth, wanted to."""

    @invariant
    def Enough(self) -> bool:
        """Invariant: there are enough processes."""
        return self.are_enough()

    @invariant
    def FewAreSymmetric(self) -> bool:
        """Invariant: at most ts processes send what they like, to all."""
        return self.few_are_symmetric(self.fails)

    @invariant
    def FewAreArbitrary(self) -> bool:
        """Invariant: at most ta processes send what they like, to whom they like."""
        return self.few_are_arbitrary(self.fails)

    @invariant
    def ReceivedFromSenders(self) -> bool:
        """Invariant: whoever was received from has sent."""
        return all(link.source in self.senders for link in self.sent) and all(
            link.source in self.senders for link in self.received
        )

    @invariant
    def SomebodyBegan(self) -> bool:
        """Invariant: if a process has sent that sends only what it should, then one wanted to broadcast."""
        return all(not self.is_true(p) for p in self.senders) or any(
            self.is_true(p) and p in self.begun for p in self.each(Node)
        )
