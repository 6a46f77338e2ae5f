"""A token that goes round a ring finds out whether everybody has stopped working, although work may begin
again.

Sources: E. W. Dijkstra, W. H. J. Feijen, A. J. M. van Gasteren, "Derivation of a termination detection
algorithm for distributed computations" (EWD 840), 1983; S. Merz, the TLA+ module EWD840 of the public TLA+
examples, with 302 reachable states for 3 nodes and 1,566 for 4.

The token goes from node 0 to the last and from each node to the one before it. A node that has activated a
later one is black and stains the token. As in the module everything but the token's colour is arbitrary at
first.
"""

from __future__ import annotations

import math
from enum import Enum

from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    Set,
    Spec,
    action,
    environment,
    everywhere,
    initial,
    invariant,
    leads_to,
    require,
    witness,
)


class Node(Index, size="nodes", ordered=True):
    """A node of the ring; nodes are in the order of the ring, against the direction of the token."""


class Color(Enum):
    """Color of nodes and of the token."""

    WHITE = "white"
    BLACK = "black"


class EWD840(Spec):
    """Termination detection on a ring by a token that nodes may stain (EWD 840)."""

    nodes: Const[int] = 3

    active: Map[Node, bool] = everywhere(False)
    color: Map[Node, Color] = everywhere(Color.WHITE)
    token_at: Node = Node(0)
    token_color: Color = Color.BLACK

    def terminated(self) -> bool:
        """Return True if no node is active."""
        return not any(self.active[p] for p in self.each(Node))

    def detected(self) -> bool:
        """Return True if node 0 knows that no node works."""
        first = Node(0)
        return (
            self.token_at == first
            and self.token_color is Color.WHITE
            and self.color[first] is Color.WHITE
            and not self.active[first]
        )  # fmt: skip

    @initial
    def start(self, working: Set[Node], black: Set[Node], place: Node) -> None:
        """Begin with any set of active nodes, any set of black nodes, and the token at any node."""
        for p in self.each(Node):
            self.active[p] = p in working
            self.color[p] = Color.BLACK if p in black else Color.WHITE
        self.token_at = place

    def draw(self) -> str:
        """Draw the ring as SVG: filled nodes work, black nodes have a thick border, T is the token."""
        parts = []
        for p in self.each(Node):
            turn = 2 * math.pi * p.index / self.nodes
            x, y = 110 + 80 * math.sin(turn), 110 - 80 * math.cos(turn)
            fill = "#b5e3c2" if self.active[p] else "#ffffff"
            width = 5 if self.color[p] is Color.BLACK else 1
            token = f"T {self.token_color.value}" if self.token_at == p else ""
            parts += [
                f'<circle cx="{x:.0f}" cy="{y:.0f}" r="20" fill="{fill}" stroke="#222" ',
                f'stroke-width="{width}"/>',
                f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{p.index}</text>',
                f'<text x="{x:.0f}" y="{y + 34:.0f}" text-anchor="middle" font-size="11">{token}</text>',
            ]
        return f'<svg viewBox="0 0 220 240" width="220" height="240">{"".join(parts)}</svg>'

    # The detection ------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def initiate_probe(self) -> None:
        """Send a white token from node 0, which has learned nothing from the last round."""
        first = Node(0)
        require(self.token_at == first)
        require(self.token_color is Color.BLACK or self.color[first] is Color.BLACK)
        self.token_at = Node(self.nodes - 1)
        self.token_color = Color.WHITE
        self.color[first] = Color.WHITE

    @action(fairness="weak")
    def pass_token(self, p: Node) -> None:
        """Pass the token on at a node that does not work, or if the token or the node is black, so that this
        round detects nothing; the node turns white.
        """
        require(p.index > 0 and self.token_at == p)
        require(not self.active[p] or self.color[p] is Color.BLACK or self.token_color is Color.BLACK)
        self.token_at = Node(p.index - 1)
        if self.color[p] is Color.BLACK:
            self.token_color = Color.BLACK
        self.color[p] = Color.WHITE

    # What is to be detected ---------------------------------------------------------------------------------

    @environment
    def send_message(self, p: Node, q: Node) -> None:
        """Give work from a working node p to another, q; if q is later in the ring, so that the token may
        have passed q, p turns black.
        """
        require(self.active[p] and p != q)
        self.active[q] = True
        if q > p:
            self.color[p] = Color.BLACK

    @environment
    def deactivate(self, p: Node) -> None:
        """End the work of a node."""
        require(self.active[p])
        self.active[p] = False

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def TerminationDetection(self) -> bool:
        """Invariant: when node 0 detects termination, no node is active."""
        return not self.detected() or self.terminated()

    @invariant
    def Inv(self) -> bool:
        """Dijkstra's invariant: all nodes behind the token are idle, or a node ahead of the token is black,
        or the token is black.
        """
        return (
            all(not self.active[p] for p in self.each(Node) if self.token_at < p)
            or any(self.color[p] is Color.BLACK for p in self.each(Node) if p <= self.token_at)
            or self.token_color is Color.BLACK
        )

    Liveness = leads_to("terminated", "detected")

    @witness
    def Detected(self) -> bool:
        """Witness: termination is detected in some run."""
        return self.detected()
