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
    """A node; the order is that of the ring, against the way of the token."""


class Color(Enum):
    """Color of nodes and of the token."""

    WHITE = "white"
    BLACK = "black"


class EWD840(Spec):
    """Termination detection on a ring."""

    nodes: Const[int] = 3

    active: Map[Node, bool] = everywhere(False)
    color: Map[Node, Color] = everywhere(Color.WHITE)
    token_at: Node = Node(0)
    token_color: Color = Color.BLACK

    def terminated(self) -> bool:
        """Return True if no node works."""
        return not any(self.active[p] for p in self.each(Node))

    def detected(self) -> bool:
        """Node 0 knows that nobody works."""
        first = Node(0)
        return (
            self.token_at == first
            and self.token_color is Color.WHITE
            and self.color[first] is Color.WHITE
            and not self.active[first]
        )  # fmt: skip

    @initial
    def start(self, working: Set[Node], black: Set[Node], place: Node) -> None:
        """Begin with any nodes at work, any nodes black, and the token anywhere."""
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
        """Node 0 has learned nothing from the last round and sends a white token."""
        first = Node(0)
        require(self.token_at == first)
        require(self.token_color is Color.BLACK or self.color[first] is Color.BLACK)
        self.token_at = Node(self.nodes - 1)
        self.token_color = Color.WHITE
        self.color[first] = Color.WHITE

    @action(fairness="weak")
    def pass_token(self, p: Node) -> None:
        """A node that does not work, or whose round is lost, passes the token on and is white again."""
        require(p.index > 0 and self.token_at == p)
        require(not self.active[p] or self.color[p] is Color.BLACK or self.token_color is Color.BLACK)
        self.token_at = Node(p.index - 1)
        if self.color[p] is Color.BLACK:
            self.token_color = Color.BLACK
        self.color[p] = Color.WHITE

    # What is to be detected ---------------------------------------------------------------------------------

    @environment
    def send_message(self, p: Node, q: Node) -> None:
        """A node that works gives work to another; if the token has passed that one, it turns black."""
        require(self.active[p] and p != q)
        self.active[q] = True
        if q > p:
            self.color[p] = Color.BLACK

    @environment
    def deactivate(self, p: Node) -> None:
        """A node has done its work."""
        require(self.active[p])
        self.active[p] = False

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def TerminationDetection(self) -> bool:
        """Invariant: when node 0 detects termination, no node works."""
        return not self.detected() or self.terminated()

    @invariant
    def Inv(self) -> bool:
        """Dijkstra's invariant: behind the token nobody works, or a black node is ahead of it, or it is black
        itself.
        """
        return (
            all(not self.active[p] for p in self.each(Node) if self.token_at < p)
            or any(self.color[p] is Color.BLACK for p in self.each(Node) if p <= self.token_at)
            or self.token_color is Color.BLACK
        )

    Liveness = leads_to("terminated", "detected")

    @witness
    def Detected(self) -> bool:
        """Termination is detected in some run."""
        return self.detected()
