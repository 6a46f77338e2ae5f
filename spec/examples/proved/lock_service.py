"""A server lends one lock to clients, by messages.

Source: the running example of J. Wilcox, D. Woos, P. Panchekha, Z. Tatlock, X. Wang, M. Ernst, T. Anderson,
"Verdi: a framework for implementing and formally verifying distributed systems", PLDI 2015; problem
`lockserv` of mypyvy.

A message is in the network once or not at all: a client that asks twice is one that asks.
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
    """The lock is with the server, on its way, or with a client."""

    clients: Const[int] = 3

    free: bool = True
    asking: Set[Client] = Set()
    granted: Set[Client] = Set()
    returned: Set[Client] = Set()
    holding: Map[Client, bool] = everywhere(False)

    @action
    def ask(self, c: Client) -> None:
        """A client sends a request."""
        self.asking |= {c}

    @action
    def grant(self, c: Client) -> None:
        """The server sends the lock to somebody who has asked."""
        require(self.free and c in self.asking)
        self.free = False
        self.asking -= {c}
        self.granted |= {c}

    @action
    def receive(self, c: Client) -> None:
        """The lock arrives."""
        require(c in self.granted)
        self.granted -= {c}
        self.holding[c] = True

    @action
    def give_back(self, c: Client) -> None:
        """The holder sends the lock back."""
        require(self.holding[c])
        self.holding[c] = False
        self.returned |= {c}

    @action
    def take_back(self, c: Client) -> None:
        """The server has the lock again."""
        require(c in self.returned)
        self.returned -= {c}
        self.free = True

    @invariant
    def MutualExclusion(self) -> bool:
        """At most one client has the lock."""
        return all(
            p == q or not (self.holding[p] and self.holding[q])
            for p in self.each(Client)
            for q in self.each(Client)
        )

    @witness
    def lent(self) -> bool:
        """Some client gets the lock."""
        return any(self.holding[c] for c in self.each(Client))


class LockServiceProof(LockService):
    """The lock is in one place only."""

    @invariant
    def OneGrant(self) -> bool:
        """One lock is on its way to one client."""
        return len(self.granted) <= 1

    @invariant
    def OneReturn(self) -> bool:
        """One lock is on its way back from one client."""
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
        """While the server has the lock, nobody else has it."""
        return not self.free or not any(
            self.holding[c] or c in self.granted or c in self.returned for c in self.each(Client)
        )
