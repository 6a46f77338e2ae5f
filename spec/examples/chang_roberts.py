"""Leader election in a ring: the process with the smallest identity wins; one that hears of a smaller
identity has lost and passes it on.

Sources: E. Chang, R. Roberts, "An improved algorithm for decentralized extrema-finding in circular
configurations of processes", CACM 22(5), 1979; S. Merz, the PlusCal algorithm ChangRoberts of the public TLA+
examples, with 137 reachable states for 3 nodes.

As in the module's model the identity of a node is its number, and any nodes may be initiators.
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
    leads_to,
    require,
    witness,
)


class Node(Index, size="nodes", ordered=True):
    """A node of the ring, and its identity."""


class Standing(Enum):
    """Standing of a node: it may still win, has lost, or has won."""

    CANDIDATE = "cand"
    LOST = "lost"
    WON = "won"


class ChangRoberts(Spec):
    """Leader election on a ring that carries messages one way."""

    nodes: Const[int] = 3

    messages: Map[Node, Set[Node]] = everywhere(Set())
    started: Map[Node, bool] = everywhere(False)
    initiator: Map[Node, bool] = everywhere(False)
    standing: Map[Node, Standing] = everywhere(Standing.LOST)

    def successor(self, p: Node) -> Node:
        """Return the next node of the ring."""
        return Node((p.index + 1) % self.nodes)

    def has_candidate(self) -> bool:
        """Return True if some node is still a candidate, which may win."""
        return any(self.standing[p] is Standing.CANDIDATE for p in self.each(Node))

    def is_decided(self) -> bool:
        """Return True if a node has won."""
        return any(self.standing[p] is Standing.WON for p in self.each(Node))

    @initial
    def choose(self, initiators: Set[Node]) -> None:
        """Make the initiators candidates; all other nodes have lost before the election begins."""
        for p in self.each(Node):
            if p in initiators:
                self.initiator[p] = True
                self.standing[p] = Standing.CANDIDATE

    @action(fairness="weak", per="p")
    def start(self, p: Node) -> None:
        """Send the identity of an initiator to its neighbour."""
        require(not self.started[p])
        self.started[p] = True
        if self.initiator[p]:
            self.messages[self.successor(p)] |= {p}

    @action(fairness="weak", per="p")
    def receive(self, p: Node, identity: Node) -> None:
        """Receive an identity at p. A smaller one is passed on, and p has lost; a loser passes on any; a
        process that receives its own identity has won.
        """
        require(self.started[p] and identity in self.messages[p])
        self.messages[p] -= {identity}
        if self.standing[p] is Standing.LOST or identity < p:
            self.standing[p] = Standing.LOST
            self.messages[self.successor(p)] |= {identity}
        elif identity == p:
            self.standing[p] = Standing.WON

    @invariant
    def Correctness(self) -> bool:
        """Invariant: the winner is the initiator with the smallest identity, and every other node has
        lost.
        """
        return all(
            self.standing[p] is not Standing.WON
            or (
                self.initiator[p]
                and all(
                    self.standing[q] is Standing.LOST and (not self.initiator[q] or q > p)
                    for q in self.each(Node)
                    if q != p
                )
            )
            for p in self.each(Node)
        )

    Liveness = leads_to("has_candidate", "is_decided")

    @witness
    def Elected(self) -> bool:
        """Witness: some run elects the last node, the only initiator of that run."""
        return self.standing[Node(self.nodes - 1)] is Standing.WON
