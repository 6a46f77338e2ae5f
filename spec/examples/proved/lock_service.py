"""A server lends one lock to clients, by messages.

Source: the running example of J. Wilcox, D. Woos, P. Panchekha, Z. Tatlock, X. Wang, M. Ernst, T. Anderson,
"Verdi: a framework for implementing and formally verifying distributed systems", PLDI 2015; problem
`lockserv` of mypyvy.

A message is in the network once or not at all: a client that asks twice counts as one that asks once.
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
    invariant,
    require,
    witness,
)


class Client(Index, size="clients", symmetric=True):
    """Client that wants the lock now and then."""


class LockService(Spec):
    """Lock that is with the server, on its way, or with a client."""

    clients: Const[int] = 3

    free: bool = True
    asking: Set[Client] = Set()
    granted: Set[Client] = Set()
    returned: Set[Client] = Set()
    holding: Map[Client, bool] = everywhere(False)

    @action
    def ask(self, c: Client) -> None:
        """Send a request from a client."""
        self.asking |= {c}

    @action
    def grant(self, c: Client) -> None:
        """Send the lock from the server to a client that has asked."""
        require(self.free and c in self.asking)
        self.free = False
        self.asking -= {c}
        self.granted |= {c}

    @action
    def receive(self, c: Client) -> None:
        """Receive the lock at a client."""
        require(c in self.granted)
        self.granted -= {c}
        self.holding[c] = True

    @action
    def give_back(self, c: Client) -> None:
        """Send the lock back from its holder."""
        require(self.holding[c])
        self.holding[c] = False
        self.returned |= {c}

    @action
    def take_back(self, c: Client) -> None:
        """Receive the lock at the server."""
        require(c in self.returned)
        self.returned -= {c}
        self.free = True

    @invariant
    def MutualExclusion(self) -> bool:
        """Invariant: at most one client has the lock."""
        return all(
            p == q or not (self.holding[p] and self.holding[q])
            for p in self.each(Client)
            for q in self.each(Client)
        )

    @witness
    def lent(self) -> bool:
        """Witness: some client gets the lock."""
        return any(self.holding[c] for c in self.each(Client))


class LockServiceProof(LockService):
    """Invariants of the proof: the lock is in one place only."""

    @invariant
    def OneGrant(self) -> bool:
        """Invariant: the lock is on its way to at most one client."""
        return len(self.granted) <= 1

    @invariant
    def OneReturn(self) -> bool:
        """Invariant: the lock is on its way back from at most one client."""
        return len(self.returned) <= 1

    @invariant
    def OnePlace(self) -> bool:
        """Invariant: a lock that is with a client or on its way is nowhere else."""
        return not any(
            (self.holding[p] and (q in self.granted or q in self.returned))
            or (p in self.granted and q in self.returned)
            for p in self.each(Client)
            for q in self.each(Client)
        )

    @invariant
    def FreeAtHome(self) -> bool:
        """Invariant: while the server has the lock, the lock is nowhere else."""
        return not self.free or not any(
            self.holding[c] or c in self.granted or c in self.returned for c in self.each(Client)
        )
