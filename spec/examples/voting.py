"""Acceptors choose a value by voting in ballots; in whatever order they do, at most one value is chosen.

An acceptor votes at most once in a ballot, and all votes of a ballot are for one value. An acceptor votes
only if it has seen a quorum which shows that no smaller ballot can choose another value. No acceptor knows
which value is chosen: that a quorum has voted alike is a fact about all of its members. This is what Paxos
does, without its messages.

`Consensus` is the abstract purpose of the voting. `VotingIsConsensus` states the refinement: the helper
`chosen` of the votes is the variable `chosen` of the machine.

Source: the TLA+ modules Consensus and Voting by Lamport, in the public TLA+ examples.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Between,
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


class Value(Index, size="values", symmetric=True):
    """Value that can be chosen."""


class Acceptor(Index, size="acceptors", symmetric=True):
    """Acceptor, which votes."""


Ballot = Annotated[int, Between(0, "ballots - 1")]
"""The number of a ballot."""


@record
class Vote:
    """A vote for `value` in a ballot."""

    ballot: Ballot
    value: Value


class Choice(Spec):
    """Constants of the voting: the number of values to choose from."""

    values: Const[int] = 2


class Consensus(Choice):
    """Abstract machine of consensus: a value is chosen, once."""

    chosen: Set[Value] = Set()

    @action
    def choose(self, v: Value) -> None:
        """Choose any value, if none is chosen."""
        require(len(self.chosen) == 0)
        self.chosen = Set({v})

    @invariant
    def AtMostOne(self) -> bool:
        """Safety: at most one value is chosen."""
        return len(self.chosen) <= 1

    @witness
    def Chosen(self) -> bool:
        """Witness: some run chooses a value."""
        return len(self.chosen) == 1


class Voting(Choice):
    """Votes in ballots; any majority is a quorum."""

    acceptors: Const[int] = 3
    ballots: Const[int] = 2

    votes: Map[Acceptor, Set[Vote]] = everywhere(Set())
    max_ballot: Map[Acceptor, Annotated[int, Between(-1, "ballots - 1")]] = everywhere(-1)

    def is_quorum(self, some: Set[Acceptor]) -> bool:
        """Return True if these acceptors are a majority; any two majorities have a member in common."""
        return 2 * len(some) > self.acceptors

    def chosen_at(self, b: Ballot, v: Value) -> bool:
        """Return True if a quorum has voted for v in ballot b."""
        return any(
            all(Vote(b, v) in self.votes[a] for a in quorum)
            for quorum in self.each(Set[Acceptor])
            if self.is_quorum(quorum)
        )

    def chosen(self) -> Set[Value]:
        """Return the values that were chosen in some ballot."""
        return Set() | {v for v in self.each(Value) if any(self.chosen_at(b, v) for b in self.each(Ballot))}

    def did_not_vote_at(self, a: Acceptor, b: Ballot) -> bool:
        """Return True if acceptor a has not voted in ballot b."""
        return not any(vote.ballot == b for vote in self.votes[a])

    def none_other_choosable_at(self, b: Ballot, v: Value) -> bool:
        """Return True if in ballot b no other value than v is or will be chosen: every member of some quorum
        has voted for v in b, or will never vote in b.
        """
        return any(
            all(
                Vote(b, v) in self.votes[a] or (self.max_ballot[a] > b and self.did_not_vote_at(a, b))
                for a in quorum
            )
            for quorum in self.each(Set[Acceptor])
            if self.is_quorum(quorum)
        )

    def shows_safe_at(self, quorum: Set[Acceptor], b: Ballot, v: Value) -> bool:
        """Return True if the votes of the quorum show that no ballot before b can choose another value than
        v: the last ballot before b in which a member voted has a vote for v, if there is such a ballot.
        """
        return all(self.max_ballot[a] >= b for a in quorum) and (
            all(c >= b or self.did_not_vote_at(a, c) for a in quorum for c in self.each(Ballot))
            or any(
                c < b
                and any(Vote(c, v) in self.votes[a] for a in quorum)
                and all(
                    d <= c or d >= b or self.did_not_vote_at(a, d) for a in quorum for d in self.each(Ballot)
                )
                for c in self.each(Ballot)
            )
        )

    @action
    def increase_max_ballot(self, a: Acceptor, b: Ballot) -> None:
        """Raise the lowest ballot in which acceptor a may still vote to b."""
        require(b > self.max_ballot[a])
        self.max_ballot[a] = b

    @action
    def vote_for(self, a: Acceptor, b: Ballot, v: Value) -> None:
        """Vote at acceptor a for v in ballot b: once in the ballot, for the value that others voted for in
        it, and only if that is safe.
        """
        require(self.max_ballot[a] <= b and self.did_not_vote_at(a, b))
        require(
            all(vote.ballot != b or vote.value == v for c in self.each(Acceptor) for vote in self.votes[c])
        )
        require(
            any(
                self.is_quorum(quorum) and self.shows_safe_at(quorum, b, v)
                for quorum in self.each(Set[Acceptor])
            )
        )
        self.votes[a] |= {Vote(b, v)}
        self.max_ballot[a] = b

    @invariant
    def VotesSafe(self) -> bool:
        """Invariant: if an acceptor voted for v in a ballot, no smaller ballot can choose another value."""
        return all(
            c >= vote.ballot or self.none_other_choosable_at(c, vote.value)
            for a in self.each(Acceptor)
            for vote in self.votes[a]
            for c in self.each(Ballot)
        )

    @invariant
    def OneValuePerBallot(self) -> bool:
        """Invariant: all votes of a ballot are for one value."""
        return all(
            one.ballot != other.ballot or one.value == other.value
            for a in self.each(Acceptor)
            for b in self.each(Acceptor)
            for one in self.votes[a]
            for other in self.votes[b]
        )

    @witness
    def SomeChoice(self) -> bool:
        """Witness: some run chooses a value."""
        return len(self.chosen()) == 1


class VotingIsConsensus(Voting, refines=Consensus):
    """Refinement: the values that are `chosen` by the votes are those that the consensus machine
    has chosen.
    """
