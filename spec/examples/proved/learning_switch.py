"""Learning switches: a switch learns from packets the way to their sources; the ways have no cycle.

Source: Y. Feldman, O. Padon, N. Immerman, M. Sagiv, S. Shoham, "Bounded quantifier instantiation for checking
inductive invariants", TACAS 2017; problem `learning_switch_forall` of mypyvy.

`routes` is the transitive closure of the switches' tables: a packet for `to` that is at `at` comes to `by`,
over any number of other switches.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Const,
    In,
    Index,
    Set,
    Spec,
    action,
    initial,
    invariant,
    record,
    witness,
)


class Node(Index, size="nodes", symmetric=True):
    """A host with its switch."""


@record
class Route:
    """Fact of the routing tables: a packet for `to` that is at `at` comes to `by`."""

    to: Node
    at: Node
    by: Node


@record
class Packet:
    """Packet from `source` to `to`, on its way from one node to the next."""

    source: Node
    to: Node
    sender: Node
    receiver: Node


class LearningSwitch(Spec):
    """Learning switches: a packet goes along the known route, and without a route to all neighbours."""

    nodes: Const[int] = 2

    routes: Set[Route] = Set()
    pending: Set[Packet] = Set()

    @initial
    def begin(self) -> None:
        """Begin with one route at each node: to the node itself."""
        self.routes |= {Route(t, p, p) for t in self.each(Node) for p in self.each(Node)}

    @action
    def send(self, p: Node, q: Node) -> None:
        """Hand a packet from a host to its switch."""
        self.pending |= {Packet(p, q, p, p)}

    @action
    def forward(self, packet: Annotated[Packet, In("pending")], sources: Set[Node], on: Set[Node]) -> None:
        """Learn at a switch the way to the packet's source, if it is unknown, and forward the packet to some
        neighbours.

        Afterwards only packets of some sources remain: the network may lose the others.
        """
        source = packet.source
        here = packet.receiver
        self.pending -= {other for other in self.pending if other.source not in sources}
        self.pending |= {Packet(source, packet.to, here, q) for q in on}
        is_known = any(q != here and Route(source, here, q) in self.routes for q in self.each(Node))
        if source != here and not is_known:
            self.routes |= {
                Route(source, p, q)
                for p in self.each(Node)
                for q in self.each(Node)
                if Route(source, p, here) in self.routes and Route(source, packet.sender, q) in self.routes
            }

    @invariant
    def Reflexive(self) -> bool:
        """Invariant: every node has, for every target, the route to itself."""
        return all(Route(t, p, p) in self.routes for t in self.each(Node) for p in self.each(Node))

    @invariant
    def Transitive(self) -> bool:
        """Invariant: routes to one target compose: if there is a route from a to b and one from b to c, there
        is one from a to c.
        """
        return all(
            one.to != other.to or one.by != other.at or Route(one.to, one.at, other.by) in self.routes
            for one in self.routes
            for other in self.routes
        )

    @invariant
    def NoCycle(self) -> bool:
        """Invariant: a route does not lead from one node to a second and directly back to the first."""
        return all(
            one.to != other.to or one.at != other.by or one.by != other.at or one.at == one.by
            for one in self.routes
            for other in self.routes
        )

    @invariant
    def NoFork(self) -> bool:
        """Invariant: of two nodes on the routes to one target, one has the other on its route."""
        return all(
            one.to != other.to
            or one.at != other.at
            or Route(one.to, one.by, other.by) in self.routes
            or Route(one.to, other.by, one.by) in self.routes
            for one in self.routes
            for other in self.routes
        )

    @witness
    def learned(self) -> bool:
        """Witness: some switch learns a way."""
        return any(route.at != route.by for route in self.routes)


class LearningSwitchProof(LearningSwitch):
    """Invariants of the proof: routes end at the node that they lead to."""

    @invariant
    def SenderKnows(self) -> bool:
        """Invariant: a node that has passed a packet on has a route to the packet's source."""
        return all(
            packet.source == packet.sender
            or Route(packet.source, packet.sender, packet.source) in self.routes
            for packet in self.pending
        )

    @invariant
    def WaysArrive(self) -> bool:
        """Invariant: if a route to a target leads through a node, that node has a route to the target."""
        return all(
            route.to == route.by or route.at == route.by or Route(route.to, route.by, route.to) in self.routes
            for route in self.routes
        )
