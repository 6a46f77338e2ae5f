"""Lock whose holder passes it on with a higher number; a node refuses a lower number.

Source: C. Hawblitzel, J. Howell, M. Kapritsos, J. Lorch, B. Parno, M. Roberts, S. Setty, B. Zill, "IronFleet:
proving practical distributed systems correct", SOSP 2015, its toy lock; problem `ironfleet_distributed_lock`
of mypyvy.

Messages stay in the network: they may be lost, doubled and reordered.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    In,
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


class Host(Index, size="hosts", symmetric=True):
    """Host that may have the lock."""


Epoch = Annotated[int, Between(0, "epochs")]
"""Number of times that the lock was passed on, or a greater number."""


@record
class Transfer:
    """The lock on its way to a host."""

    host: Host
    epoch: Epoch


class DistributedLock(Spec):
    """The lock goes from host to host."""

    hosts: Const[int] = 3
    epochs: Const[int] = 3

    epoch: Map[Host, Epoch] = everywhere(0)
    holding: Map[Host, bool] = everywhere(False)
    network: Set[Transfer] = Set()

    @initial
    def begin(self, first: Host, epoch: Epoch) -> None:
        """One host has the lock, and a number that is not 0."""
        require(epoch > 0)
        self.holding[first] = True
        self.epoch[first] = epoch

    @action
    def grant(self, p: Host, to: Host, epoch: Epoch) -> None:
        """The holder sends the lock on, with a higher number."""
        require(self.holding[p] and epoch > self.epoch[p])
        self.holding[p] = False
        self.network |= {Transfer(to, epoch)}

    @action
    def accept(self, message: Annotated[Transfer, In("network")]) -> None:
        """A host takes a lock whose number is higher than its own."""
        require(message.epoch > self.epoch[message.host])
        self.holding[message.host] = True
        self.epoch[message.host] = message.epoch

    @invariant
    def MutualExclusion(self) -> bool:
        """At most one host has the lock."""
        return all(
            p == q or not (self.holding[p] and self.holding[q])
            for p in self.each(Host)
            for q in self.each(Host)
        )

    @witness
    def passed_on(self) -> bool:
        """Some host holds the highest number."""
        return any(self.holding[p] and self.epoch[p] == self.epochs for p in self.each(Host))


class DistributedLockProof(DistributedLock):
    """The lock has the highest number, wherever it is."""

    def is_in_flight(self, message: Transfer) -> bool:
        """The message would be accepted."""
        return message in self.network and message.epoch > self.epoch[message.host]

    @invariant
    def OneInFlight(self) -> bool:
        """At most one message would be accepted."""
        return all(
            not (self.is_in_flight(one) and self.is_in_flight(other))
            or (one.host == other.host and one.epoch == other.epoch)
            for one in self.network
            for other in self.network
        )

    @invariant
    def InFlightIsHeldByNobody(self) -> bool:
        """While a message would be accepted, nobody has the lock."""
        return all(
            not self.is_in_flight(message) or not self.holding[p]
            for message in self.network
            for p in self.each(Host)
        )

    @invariant
    def HolderIsNewest(self) -> bool:
        """The holder has the highest number of all hosts."""
        return all(
            p == q or not self.holding[p] or self.epoch[q] < self.epoch[p]
            for p in self.each(Host)
            for q in self.each(Host)
        )

    @invariant
    def InFlightIsNewest(self) -> bool:
        """A message that would be accepted has a higher number than all hosts."""
        return all(
            not self.is_in_flight(message) or self.epoch[p] < message.epoch
            for message in self.network
            for p in self.each(Host)
        )
