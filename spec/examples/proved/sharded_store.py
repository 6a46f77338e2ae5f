"""Nodes share the keys of a store, and hand them to one another.

Sources: C. Hawblitzel, J. Howell, M. Kapritsos, J. Lorch, B. Parno, M. Roberts, S. Setty, B. Zill,
"IronFleet: proving practical distributed systems correct", SOSP 2015; Y. Feldman, J. Wilcox, S. Shoham, M.
Sagiv, "Inferring inductive invariants from phase structures", CAV 2019; problems `sharded_kv` and
`sharded_kv_no_lost_keys` of mypyvy.

A message is neither lost nor sent again.
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
    initial,
    invariant,
    record,
    require,
    witness,
)


class Node(Index, size="nodes", symmetric=True):
    """Node that holds keys."""


class Key(Index, size="keys", symmetric=True):
    """Key of a request."""


class Value(Index, size="values", symmetric=True):
    """Value under a key."""


@record
class Entry:
    """A key with its value, at a node or on its way to one."""

    node: Node
    key: Key
    value: Value


class ShardedStore(Spec):
    """Key-value store in which a key with its value moves from node to node."""

    nodes: Const[int] = 2
    keys: Const[int] = 2
    values: Const[int] = 2

    table: Set[Entry] = Set()
    owned: Map[Node, Set[Key]] = everywhere(Set())
    moving: Set[Entry] = Set()

    @initial
    def begin(self, given: Map[Node, Set[Key]]) -> None:
        """Begin with any keys at the nodes, no key at two nodes."""
        require(
            all(
                p == q or k not in given[p] or k not in given[q]
                for k in self.each(Key)
                for p in self.each(Node)
                for q in self.each(Node)
            )
        )
        self.owned = given

    @action
    def hand_over(self, p: Node, k: Key, v: Value, to: Node) -> None:
        """Send a key with its value from its owner to another node."""
        require(Entry(p, k, v) in self.table)
        self.table -= {Entry(p, k, v)}
        self.owned[p] -= {k}
        self.moving |= {Entry(to, k, v)}

    @action
    def receive(self, p: Node, k: Key, v: Value) -> None:
        """Receive a key with its value."""
        require(Entry(p, k, v) in self.moving)
        self.moving -= {Entry(p, k, v)}
        self.table |= {Entry(p, k, v)}
        self.owned[p] |= {k}

    @action
    def put(self, p: Node, k: Key, v: Value) -> None:
        """Write a value at the owner of a key."""
        require(k in self.owned[p])
        self.table -= {e for e in self.table if e.node == p and e.key == k}
        self.table |= {Entry(p, k, v)}

    @invariant
    def OneEntry(self) -> bool:
        """Invariant: a key has one value, at one node."""
        return all(
            one.key != other.key or (one.node == other.node and one.value == other.value)
            for one in self.table
            for other in self.table
        )

    @witness
    def handed_over(self) -> bool:
        """Witness: some key is on its way."""
        return len(self.moving) > 0


class ShardedStoreProof(ShardedStore):
    """Invariants of the proof: a key is owned once, or on its way once."""

    @invariant
    def OneOwner(self) -> bool:
        """Invariant: a key has at most one owner."""
        return all(
            p == q or k not in self.owned[p] or k not in self.owned[q]
            for k in self.each(Key)
            for p in self.each(Node)
            for q in self.each(Node)
        )

    @invariant
    def EntriesAreOwned(self) -> bool:
        """Invariant: a node has values of its own keys only."""
        return all(e.key in self.owned[e.node] for e in self.table)

    @invariant
    def MovingIsNotOwned(self) -> bool:
        """Invariant: a key that is on its way has no owner."""
        return all(e.key not in self.owned[p] for e in self.moving for p in self.each(Node))

    @invariant
    def MovesOnce(self) -> bool:
        """Invariant: a key is on its way in at most one message."""
        return all(
            one.key != other.key or (one.node == other.node and one.value == other.value)
            for one in self.moving
            for other in self.moving
        )


class NoLostKeys(ShardedStore):
    """Store in which every key has an owner at the beginning."""

    @initial
    def begin(self, given: Map[Node, Set[Key]]) -> None:
        """Begin with one owner for every key."""
        require(
            all(any(k in given[p] for p in self.each(Node)) for k in self.each(Key))
            and all(
                p == q or k not in given[p] or k not in given[q]
                for k in self.each(Key)
                for p in self.each(Node)
                for q in self.each(Node)
            )
        )
        self.owned = given

    @invariant
    def NothingIsLost(self) -> bool:
        """Invariant: while no key is on its way, every key has an owner."""
        return len(self.moving) > 0 or all(
            any(k in self.owned[p] for p in self.each(Node)) for k in self.each(Key)
        )


class NoLostKeysProof(NoLostKeys, ShardedStoreProof):
    """Invariants of the proof that no key is lost."""

    @invariant
    def EachKeyIsSomewhere(self) -> bool:
        """Invariant: every key has an owner, or is on its way."""
        return all(
            any(k in self.owned[p] for p in self.each(Node)) or any(e.key == k for e in self.moving)
            for k in self.each(Key)
        )
