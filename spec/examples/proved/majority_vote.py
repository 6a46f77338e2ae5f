"""A majority decides: for a value, or for a leader who decides alone.

Sources: O. Padon, G. Losa, M. Sagiv, S. Shoham, "Paxos made EPR: decidable reasoning about distributed
protocols", OOPSLA 2017; M. Taube, G. Losa, K. McMillan, O. Padon, M. Sagiv, S. Shoham, J. Wilcox, D. Woos,
"Modularity for decidability of deductive verification with applications to distributed systems", PLDI 2018;
problems `toy_consensus_epr` and `toy_leader_consensus_epr` of mypyvy.
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
    record,
    require,
    witness,
)


class Node(Index, size="nodes", symmetric=True):
    """Node that votes."""


class Value(Index, size="values", symmetric=True):
    """Value that is voted for."""


@record
class Vote:
    """A vote of a node for a value."""

    node: Node
    value: Value


class MajorityVote(Spec):
    """Vote in which each node votes once, and a value with the votes of a majority is decided."""

    nodes: Const[int] = 3
    values: Const[int] = 2

    voted: Map[Node, bool] = everywhere(False)
    votes: Set[Vote] = Set()
    decided: Set[Value] = Set()

    @action
    def vote(self, p: Node, v: Value) -> None:
        """Vote at a node, once."""
        require(not self.voted[p])
        self.voted[p] = True
        self.votes |= {Vote(p, v)}

    @action
    def decide(self, v: Value) -> None:
        """Decide a value for which a majority has voted."""
        require(2 * sum(1 for p in self.each(Node) if Vote(p, v) in self.votes) > self.nodes)
        self.decided |= {v}

    @invariant
    def OneDecision(self) -> bool:
        """Invariant: at most one value is decided."""
        return len(self.decided) <= 1

    @witness
    def something_is_decided(self) -> bool:
        """Witness: some run decides."""
        return len(self.decided) > 0


class MajorityVoteProof(MajorityVote):
    """Invariants of the proof that two majorities have a common member, so that one value is decided."""

    @invariant
    def WhoVotedHasVoted(self) -> bool:
        """Invariant: a node that has voted remembers that."""
        return all(self.voted[vote.node] for vote in self.votes)

    @invariant
    def OneVote(self) -> bool:
        """Invariant: a node votes for one value only."""
        return all(
            one.node != other.node or one.value == other.value for one in self.votes for other in self.votes
        )

    @invariant
    def DecidedByMajority(self) -> bool:
        """Invariant: a majority voted for the decided value."""
        return all(
            2 * sum(1 for p in self.each(Node) if Vote(p, v) in self.votes) > self.nodes for v in self.decided
        )


@record
class Ballot:
    """Message between a candidate, which asks, and a voter, which answers."""

    voter: Node
    candidate: Node


class LeaderVote(Spec):
    """Vote in which a majority makes a leader, and the leader decides a value."""

    nodes: Const[int] = 3
    values: Const[int] = 2

    requests: Set[Ballot] = Set()
    voted: Map[Node, bool] = everywhere(False)
    answers: Set[Ballot] = Set()
    votes: Map[Node, Set[Node]] = everywhere(Set())
    leader: Map[Node, bool] = everywhere(False)
    decided: Map[Node, Set[Value]] = everywhere(Set())

    @action
    def request(self, candidate: Node, voter: Node) -> None:
        """Ask a node for its vote, as a candidate."""
        self.requests |= {Ballot(voter, candidate)}

    @action
    def vote(self, voter: Node, candidate: Node) -> None:
        """Answer a candidate's request with a vote, at a node that has not voted."""
        require(not self.voted[voter] and Ballot(voter, candidate) in self.requests)
        self.voted[voter] = True
        self.requests -= {Ballot(voter, candidate)}
        self.answers |= {Ballot(voter, candidate)}

    @action
    def count(self, candidate: Node, voter: Node) -> None:
        """Count a vote that has arrived at the candidate."""
        require(Ballot(voter, candidate) in self.answers)
        self.votes[candidate] |= {voter}

    @action
    def lead(self, p: Node) -> None:
        """Let p become leader, if it has the votes of a majority."""
        require(2 * len(self.votes[p]) > self.nodes)
        self.leader[p] = True

    @action
    def decide(self, p: Node, v: Value) -> None:
        """Decide a value as the leader, once."""
        require(self.leader[p] and len(self.decided[p]) == 0)
        self.decided[p] |= {v}

    @invariant
    def OneDecision(self) -> bool:
        """Invariant: all decisions of all nodes are for one value."""
        return all(
            v == w
            for p in self.each(Node)
            for q in self.each(Node)
            for v in self.decided[p]
            for w in self.decided[q]
        )

    @witness
    def something_is_decided(self) -> bool:
        """Witness: some run decides."""
        return any(len(self.decided[p]) > 0 for p in self.each(Node))


class LeaderVoteProof(LeaderVote):
    """Invariants of the proof: one vote of each node leads to one leader."""

    @invariant
    def OneLeader(self) -> bool:
        """Invariant: at most one node leads."""
        return all(
            p == q or not (self.leader[p] and self.leader[q])
            for p in self.each(Node)
            for q in self.each(Node)
        )

    @invariant
    def CountedWasSent(self) -> bool:
        """Invariant: a vote that is counted was sent."""
        return all(Ballot(q, p) in self.answers for p in self.each(Node) for q in self.votes[p])

    @invariant
    def OneVote(self) -> bool:
        """Invariant: a node votes for one candidate only."""
        return all(
            one.voter != other.voter or one.candidate == other.candidate
            for one in self.answers
            for other in self.answers
        )

    @invariant
    def WhoVotedHasVoted(self) -> bool:
        """Invariant: a node that has voted remembers that."""
        return all(self.voted[vote.voter] for vote in self.answers)

    @invariant
    def MajorityBehindLeader(self) -> bool:
        """Invariant: a leader has the votes of a majority."""
        return all(not self.leader[p] or 2 * len(self.votes[p]) > self.nodes for p in self.each(Node))

    @invariant
    def LeadersDecide(self) -> bool:
        """Invariant: only a leader has decided, and only one value."""
        return all(
            len(self.decided[p]) == 0 or (self.leader[p] and len(self.decided[p]) == 1)
            for p in self.each(Node)
        )
