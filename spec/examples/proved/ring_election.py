"""Leader election in a ring: the node with the greatest identity leads; a smaller identity that arrives is
thrown away.

Sources: E. Chang, R. Roberts, "An improved algorithm for decentralized extrema-finding in circular
configurations of processes", CACM 22(5), 1979; O. Padon, K. McMillan, A. Panda, M. Sagiv, S. Shoham, "Ivy:
safety verification by interactive generalization", PLDI 2016; problem `ring_leader_election` of mypyvy.

Unlike `chang-roberts` identities lie on the ring in any order, and messages may be received again.
"""

from __future__ import annotations

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
    require,
    witness,
)


class Node(Index, size="nodes", ordered=True):
    """A node of the ring; nodes are in the order of the ring."""


class Identity(Index, size="identities", ordered=True):
    """Identity by which nodes are compared."""


class RingElection(Spec):
    """Election by identities that go round the ring: the greatest comes back to its node."""

    nodes: Const[int] = 3
    identities: Const[int] = 3

    identity: Map[Node, Identity] = everywhere(Identity(0))
    pending: Map[Node, Set[Identity]] = everywhere(Set())
    leader: Map[Node, bool] = everywhere(False)

    def successor(self, p: Node) -> Node:
        """Return the next node of the ring."""
        return Node((p.index + 1) % self.nodes)

    @initial
    def name(self, given: Map[Node, Identity]) -> None:
        """Begin with a different identity at every node."""
        require(all(p == q or given[p] != given[q] for p in self.each(Node) for q in self.each(Node)))
        self.identity = given

    @action
    def send(self, p: Node) -> None:
        """Send the identity of a node to the next node."""
        self.pending[self.successor(p)] |= {self.identity[p]}

    @action
    def receive(self, p: Node, i: Identity, again: bool) -> None:
        """Receive an identity: a node that receives its own becomes the leader, and a greater identity than
        the node's own is sent on. With `again` the message stays, and can be received again.
        """
        require(i in self.pending[p])
        if not again:
            self.pending[p] -= {i}
        if i == self.identity[p]:
            self.leader[p] = True
        elif self.identity[p] < i:
            self.pending[self.successor(p)] |= {i}

    @invariant
    def OneLeader(self) -> bool:
        """Invariant: at most one node leads."""
        return all(
            p == q or not (self.leader[p] and self.leader[q])
            for p in self.each(Node)
            for q in self.each(Node)
        )

    @witness
    def elected(self) -> bool:
        """Witness: some node leads."""
        return any(self.leader[p] for p in self.each(Node))


class RingElectionProof(RingElection):
    """Invariants of the proof: an identity has passed nodes with smaller identities only."""

    def between(self, a: Node, b: Node, c: Node) -> bool:
        """Return True if a node that goes round the ring from a meets b before c."""
        return a < b < c or b < c < a or c < a < b

    @invariant
    def OwnIdentity(self) -> bool:
        """Invariant: no two nodes have the same identity."""
        return all(
            p == q or self.identity[p] != self.identity[q] for p in self.each(Node) for q in self.each(Node)
        )

    @invariant
    def LeaderIsGreatest(self) -> bool:
        """Invariant: a leader has the greatest identity."""
        return all(
            not self.leader[p] or self.identity[q] <= self.identity[p]
            for p in self.each(Node)
            for q in self.each(Node)
        )

    @invariant
    def HomeIsGreatest(self) -> bool:
        """Invariant: an identity that has come back to its own node is the greatest."""
        return all(
            self.identity[p] not in self.pending[p] or self.identity[q] <= self.identity[p]
            for p in self.each(Node)
            for q in self.each(Node)
        )

    @invariant
    def PassedSmaller(self) -> bool:
        """Invariant: the nodes that an identity has passed have smaller identities."""
        return all(
            self.identity[s] not in self.pending[p]
            or not self.between(s, q, p)
            or self.identity[q] <= self.identity[s]
            for s in self.each(Node)
            for p in self.each(Node)
            for q in self.each(Node)
        )
