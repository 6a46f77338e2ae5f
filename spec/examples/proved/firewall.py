"""Firewall that lets in packets from outside nodes to which an inside node has written.

Source: Y. Feldman, O. Padon, N. Immerman, M. Sagiv, S. Shoham, "Bounded quantifier instantiation for checking
inductive invariants", TACAS 2017; problem `firewall_ae` of mypyvy, which is outside the decidable fragment:
for every node outside there is a node inside.
"""

from __future__ import annotations

from antiphon.spec.lang import (
    Const,
    Index,
    Set,
    Spec,
    action,
    initial,
    invariant,
    record,
    require,
    witness,
)


class Node(Index, size="nodes", symmetric=True):
    """A machine on one side of the firewall."""


@record
class Packet:
    """Fact that one node has sent a packet to another."""

    source: Node
    to: Node


class Firewall(Spec):
    """Firewall; any set of nodes may be inside."""

    nodes: Const[int] = 3

    inside: Set[Node] = Set()
    allowed: Set[Node] = Set()
    sent: Set[Packet] = Set()

    @initial
    def begin(self, inside: Set[Node]) -> None:
        """Begin with any nodes inside."""
        self.inside = inside

    @action
    def send_out(self, p: Node, q: Node) -> None:
        """Send a packet from an inside node to an outside node, which may answer from now on."""
        require(p in self.inside and q not in self.inside)
        self.sent |= {Packet(p, q)}
        self.allowed |= {q}

    @action
    def send_in(self, p: Node, q: Node) -> None:
        """Send a packet from an allowed outside node to an inside node."""
        require(p not in self.inside and q in self.inside and p in self.allowed)
        self.sent |= {Packet(p, q)}

    @invariant
    def OnlyAnswers(self) -> bool:
        """Invariant: an outside node that has written to an inside node was written to from inside before."""
        return all(
            packet.to not in self.inside or any(Packet(q, packet.source) in self.sent for q in self.inside)
            for packet in self.sent
        )

    @witness
    def answered(self) -> bool:
        """Witness: some packet comes in."""
        return any(packet.to in self.inside for packet in self.sent)


class FirewallProof(Firewall):
    """Invariant of the proof: the reason why an outside node is allowed."""

    @invariant
    def AllowedWasWrittenTo(self) -> bool:
        """Invariant: an outside node that is allowed in was written to from inside."""
        return all(any(Packet(q, p) in self.sent for q in self.inside) for p in self.allowed)
