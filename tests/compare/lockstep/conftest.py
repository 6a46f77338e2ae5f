"""A second protocol beside RBP, as small as one can be: a rumour that floods through packets which are never
taken off the network.

It shows that the walk knows no protocol: packets are read and stay, one variable is no map, steps are not
ordered, a core is a set.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import pytest

from antiphon.conformance.compare.bindings import Effect, Refused, Stimulus
from antiphon.conformance.compare.bindings.links import Link
from antiphon.spec.lang import (
    Const,
    In,
    Index,
    Map,
    Set,
    Spec,
    Step,
    action,
    emit,
    everywhere,
    program,
    record,
    require,
)


class Node(Index, size="nodes", ordered=True):
    """A node that hears the rumour."""


@record
class Rumour:
    """A rumour on its way."""

    to: Node


@record
class Heard:
    """A node has heard it."""

    node: Node


class Flood(Spec):
    """Nodes pass the rumour on to the next one, and laugh once."""

    nodes: Const[int] = 3
    air: Set[Rumour] = Set()
    knows: Map[Node, bool] = everywhere(False)
    laughed: Map[Node, bool] = everywhere(False)
    anybody: bool = False

    @action
    def begin(self, p: Node) -> None:
        """The first node makes it up."""
        require(p.index == 0 and not self.knows[p])
        self.knows[p] = True
        self.anybody = True
        self.air |= {Rumour(Node((p.index + 1) % self.nodes))}
        emit(Heard(p))

    @action
    def hear(self, packet: Annotated[Rumour, In("air")]) -> None:
        """Hear the rumour; the packet stays."""
        require(not self.knows[packet.to])
        self.knows[packet.to] = True
        self.air |= {Rumour(Node((packet.to.index + 1) % self.nodes))}
        emit(Heard(packet.to))

    @action
    def laugh(self, p: Node) -> None:
        """On its own accord."""
        require(self.knows[p] and not self.laughed[p])
        self.laughed[p] = True


class FloodBinding:
    """The implementation is a set of words a node."""

    members = 3
    channel = "air"
    links: tuple[Link, ...] = ()
    exempt: Mapping[str, str] = {}
    internal = frozenset({"laugh"})
    ordered = False
    restores = 0

    def __init__(self) -> None:
        self.program = program(Flood)

    def start(self, me: int) -> Effect:
        """Return the state of a node that has heard nothing."""
        del me
        return Effect(frozenset())

    def stimulus(self, step: Step) -> Stimulus:
        """Packets stay in flight."""
        if step.action == "hear":
            return Stimulus(step.arguments[0].to.index, step.arguments[0], consumed=False)
        return Stimulus(step.arguments[0].index)

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Hear it once, laugh once."""
        if step.action == "laugh":
            return Effect(snapshot | {"laughed"})
        if datagram is not None and datagram != b"psst %d" % me:
            raise Refused("not for me")
        follower = (me + 1) % self.members
        return Effect(
            snapshot | {"knows"}, ((Rumour(Node(follower)), b"psst %d" % follower),), (Heard(Node(me)),)
        )

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """No shell drives it."""

    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        """Offer the laugh to a node that has heard the rumour."""
        return frozenset(
            {Step("laugh", (Node(me),))} if "knows" in snapshot and "laughed" not in snapshot else ()
        )

    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        """Two flags, and whether this node makes it known to anybody."""
        del me
        return {
            "knows": "knows" in snapshot,
            "laughed": "laughed" in snapshot,
            "anybody": "knows" in snapshot,
        }

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return true if any node's share is true."""
        del variable
        return any(shares)


@pytest.fixture
def flood() -> FloodBinding:
    """A binding of another protocol than RBP."""
    return FloodBinding()
