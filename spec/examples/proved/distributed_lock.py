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
    """Message with the lock on its way to a host, and the lock's number."""

    host: Host
    epoch: Epoch


class DistributedLock(Spec):
    """Lock that hosts pass to one another by messages."""

    hosts: Const[int] = 3
    epochs: Const[int] = 3

    epoch: Map[Host, Epoch] = everywhere(0)
    holding: Map[Host, bool] = everywhere(False)
    network: Set[Transfer] = Set()

    @initial
    def begin(self, first: Host, epoch: Epoch) -> None:
        """Begin with the lock at one host, with a number that is not 0."""
        require(epoch > 0)
        self.holding[first] = True
        self.epoch[first] = epoch

    @action
    def grant(self, p: Host, to: Host, epoch: Epoch) -> None:
        """Send the lock from its holder to a host, with a higher number."""
        require(self.holding[p] and epoch > self.epoch[p])
        self.holding[p] = False
        self.network |= {Transfer(to, epoch)}

    @action
    def accept(self, message: Annotated[Transfer, In("network")]) -> None:
        """Take a lock whose number is higher than that of the receiving host."""
        require(message.epoch > self.epoch[message.host])
        self.holding[message.host] = True
        self.epoch[message.host] = message.epoch

    @invariant
    def MutualExclusion(self) -> bool:
        """Invariant: at most one host has the lock."""
        return all(
            p == q or not (self.holding[p] and self.holding[q])
            for p in self.each(Host)
            for q in self.each(Host)
        )

    @witness
    def passed_on(self) -> bool:
        """Witness: some host holds the lock with the highest possible number."""
        return any(self.holding[p] and self.epoch[p] == self.epochs for p in self.each(Host))


class DistributedLockProof(DistributedLock):
    """Invariants of the proof: the lock has the highest number, whether a host has it or a message."""

    def is_in_flight(self, message: Transfer) -> bool:
        """Return True if the message would be accepted: its number is higher than that of its receiver."""
        return message in self.network and message.epoch > self.epoch[message.host]

    @invariant
    def OneInFlight(self) -> bool:
        """Invariant: at most one message would be accepted."""
        return all(
            not (self.is_in_flight(one) and self.is_in_flight(other))
            or (one.host == other.host and one.epoch == other.epoch)
            for one in self.network
            for other in self.network
        )

    @invariant
    def InFlightIsHeldByNobody(self) -> bool:
        """Invariant: while a message would be accepted, no host has the lock."""
        return all(
            not self.is_in_flight(message) or not self.holding[p]
            for message in self.network
            for p in self.each(Host)
        )

    @invariant
    def HolderIsNewest(self) -> bool:
        """Invariant: the holder has the highest number of all hosts."""
        return all(
            p == q or not self.holding[p] or self.epoch[q] < self.epoch[p]
            for p in self.each(Host)
            for q in self.each(Host)
        )

    @invariant
    def InFlightIsNewest(self) -> bool:
        """Invariant: a message that would be accepted has a higher number than all hosts."""
        return all(
            not self.is_in_flight(message) or self.epoch[p] < message.epoch
            for message in self.network
            for p in self.each(Host)
        )
