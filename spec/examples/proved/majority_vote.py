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
    """Each node votes once; what a majority has voted for is decided."""

    nodes: Const[int] = 3
    values: Const[int] = 2

    voted: Map[Node, bool] = everywhere(False)
    votes: Set[Vote] = Set()
    decided: Set[Value] = Set()

    @action
    def vote(self, p: Node, v: Value) -> None:
        """A node votes, once."""
        require(not self.voted[p])
        self.voted[p] = True
        self.votes |= {Vote(p, v)}

    @action
    def decide(self, v: Value) -> None:
        """A majority has voted for a value."""
        require(2 * sum(1 for p in self.each(Node) if Vote(p, v) in self.votes) > self.nodes)
        self.decided |= {v}

    @invariant
    def OneDecision(self) -> bool:
        """At most one value is decided."""
        return len(self.decided) <= 1

    @witness
    def something_is_decided(self) -> bool:
        """Some run decides."""
        return len(self.decided) > 0


class MajorityVoteProof(MajorityVote):
    """Invariants of the proof: the common members of two majorities."""

    @invariant
    def WhoVotedHasVoted(self) -> bool:
        """A vote is remembered."""
        return all(self.voted[vote.node] for vote in self.votes)

    @invariant
    def OneVote(self) -> bool:
        """A node votes for one value."""
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
    """A message between two nodes: a candidate asks, a voter answers."""

    voter: Node
    candidate: Node


class LeaderVote(Spec):
    """A majority makes a leader, and the leader decides."""

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
        """A candidate asks for a vote."""
        self.requests |= {Ballot(voter, candidate)}

    @action
    def vote(self, voter: Node, candidate: Node) -> None:
        """A node that has not voted answers a request."""
        require(not self.voted[voter] and Ballot(voter, candidate) in self.requests)
        self.voted[voter] = True
        self.requests -= {Ballot(voter, candidate)}
        self.answers |= {Ballot(voter, candidate)}

    @action
    def count(self, candidate: Node, voter: Node) -> None:
        """A vote arrives."""
        require(Ballot(voter, candidate) in self.answers)
        self.votes[candidate] |= {voter}

    @action
    def lead(self, p: Node) -> None:
        """Lead with the votes of a majority."""
        require(2 * len(self.votes[p]) > self.nodes)
        self.leader[p] = True

    @action
    def decide(self, p: Node, v: Value) -> None:
        """A leader decides, once."""
        require(self.leader[p] and len(self.decided[p]) == 0)
        self.decided[p] |= {v}

    @invariant
    def OneDecision(self) -> bool:
        """All that is decided is one value."""
        return all(
            v == w
            for p in self.each(Node)
            for q in self.each(Node)
            for v in self.decided[p]
            for w in self.decided[q]
        )

    @witness
    def something_is_decided(self) -> bool:
        """Some run decides."""
        return any(len(self.decided[p]) > 0 for p in self.each(Node))


class LeaderVoteProof(LeaderVote):
    """Votes lead to one leader."""

    @invariant
    def OneLeader(self) -> bool:
        """At most one node leads."""
        return all(
            p == q or not (self.leader[p] and self.leader[q])
            for p in self.each(Node)
            for q in self.each(Node)
        )

    @invariant
    def CountedWasSent(self) -> bool:
        """A vote that is counted was sent."""
        return all(Ballot(q, p) in self.answers for p in self.each(Node) for q in self.votes[p])

    @invariant
    def OneVote(self) -> bool:
        """A node votes for one candidate."""
        return all(
            one.voter != other.voter or one.candidate == other.candidate
            for one in self.answers
            for other in self.answers
        )

    @invariant
    def WhoVotedHasVoted(self) -> bool:
        """A vote is remembered."""
        return all(self.voted[vote.voter] for vote in self.answers)

    @invariant
    def MajorityBehindLeader(self) -> bool:
        """Invariant: a leader has the votes of a majority."""
        return all(not self.leader[p] or 2 * len(self.votes[p]) > self.nodes for p in self.each(Node))

    @invariant
    def LeadersDecide(self) -> bool:
        """Only a leader has decided, and one value."""
        return all(
            len(self.decided[p]) == 0 or (self.leader[p] and len(self.decided[p]) == 1)
            for p in self.each(Node)
        )
