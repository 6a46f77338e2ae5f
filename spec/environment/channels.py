"""Messages travel in a set, from which reception takes; faults lose or repeat, within budgets.

Reordering is free, since a set has no order. A packet that is sent while an equal one is in flight is one
packet: receiving both in a row is receiving the second after the first was sent again, which a
retransmission after reception also gives. Packets carry their receiver.
"""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from antiphon.spec.lang import Between, Const, In, Set, Spec, environment, require

P = TypeVar("P")


class InFlight(Spec, Generic[P]):
    """Network that delivers in any order: the set of packets in flight.

    A receiving action takes one: `packet: Annotated[Data, In("network")]` and `self.network -= {packet}`.
    """

    network: Set[P] = Set()


class Losses(InFlight[P]):
    """Option of a network: up to `losses` packets are lost."""

    losses: Const[int] = 1
    lost: Annotated[int, Between(0, "losses")] = 0

    @environment
    def lose(self, packet: Annotated[P, In("network")]) -> None:
        """Lose a packet in flight, if fewer than `losses` were lost."""
        require(self.lost < self.losses)
        self.network -= {packet}
        self.lost += 1


class Duplications(InFlight[P]):
    """Option of a network: up to `duplications` packets arrive twice."""

    duplications: Const[int] = 1
    duplicated: Annotated[int, Between(0, "duplications")] = 0
    copies: Set[P] = Set()

    @environment
    def duplicate(self, packet: Annotated[P, In("network")]) -> None:
        """Duplicate a packet in flight: the network keeps a second copy, which arrives later."""
        require(self.duplicated < self.duplications and packet not in self.copies)
        self.copies |= {packet}
        self.duplicated += 1

    @environment
    def arrive_again(self, packet: Annotated[P, In("copies")]) -> None:
        """Put the kept copy of a packet in flight, once the original has arrived or was lost."""
        require(packet not in self.network)
        self.copies -= {packet}
        self.network |= {packet}
