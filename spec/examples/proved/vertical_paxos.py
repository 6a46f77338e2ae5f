"""Vertical Paxos: each round has a configuration of its own, which a master gives it.

Sources: L. Lamport, D. Malkhi, L. Zhou, "Vertical Paxos and primary-backup replication", PODC 2009; O. Padon,
G. Losa, M. Sagiv, S. Shoham, "Paxos made EPR: decidable reasoning about distributed protocols", OOPSLA 2017;
problem `vertical_paxos_epr` of mypyvy.

A leader asks quorums of all rounds from the last complete one on. A configuration names that round, so that a
leader that learns of the configuration knows how far back to ask. Which acceptors are a quorum, and of which
configurations, is chosen at the beginning: two quorums of one configuration have an acceptor in common.
"""

from __future__ import annotations

from antiphon.spec.examples.proved.paxos import Acceptor, Choice, Member, Round, Value, Vote
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


class Quorum(Index, size="quorums", symmetric=True):
    """A set of acceptors."""


class Configuration(Index, size="configurations", symmetric=True):
    """Configuration: a set of quorums, which a round may be given."""


@record
class Start:
    """Fact that a configuration starts at a round, the last one that was complete when the configuration was
    given.
    """

    configuration: Configuration
    round: Round


@record
class Given:
    """Fact that the master has given a configuration to a round."""

    round: Round
    configuration: Configuration


@record
class Asked:
    """Message: the leader of a round asks acceptors about an earlier round."""

    round: Round
    earlier: Round


@record
class Joined:
    """Message: an acceptor has answered about an earlier round, and has left all rounds below the later
    one.
    """

    acceptor: Acceptor
    round: Round
    earlier: Round


class VerticalPaxos(Spec):
    """Vertical Paxos: a master configures rounds, and remembers the last complete one."""

    acceptors: Const[int] = 1
    rounds: Const[int] = 2
    values: Const[int] = 2
    quorums: Const[int] = 1
    configurations: Const[int] = 1

    members: Map[Quorum, Set[Acceptor]] = everywhere(Set())
    quorum_of: Map[Configuration, Set[Quorum]] = everywhere(Set())
    starts: Set[Start] = Set()
    complete: Round = Round(0)
    given: Set[Given] = Set()
    known_complete: Set[Round] = Set()
    asked: Set[Asked] = Set()
    joined: Set[Joined] = Set()
    left: Set[Member] = Set()
    proposed: Set[Choice] = Set()
    votes: Set[Vote] = Set()
    decided: Set[Choice] = Set()

    @initial
    def begin(
        self,
        members: Map[Quorum, Set[Acceptor]],
        quorum_of: Map[Configuration, Set[Quorum]],
        starts: Set[Start],
    ) -> None:
        """Begin with any configurations whose quorums meet pairwise, each with one start."""
        require(
            all(
                any(a in members[p] and a in members[q] for a in self.each(Acceptor))
                for c in self.each(Configuration)
                for p in quorum_of[c]
                for q in quorum_of[c]
            )
        )
        require(
            all(
                one.configuration != other.configuration or one.round == other.round
                for one in starts
                for other in starts
            )
        )
        self.members = members
        self.quorum_of = quorum_of
        self.starts = starts

    @action
    def configure(self, r: Round, c: Configuration) -> None:
        """Give a round a configuration that starts at the last complete round."""
        require(all(Given(r, d) not in self.given for d in self.each(Configuration)))
        require(self.complete <= r and Start(c, self.complete) in self.starts)
        self.given |= {Given(r, c)}

    @action
    def complete_round(self, r: Round) -> None:
        """Tell the master that a higher round is complete."""
        require(r in self.known_complete and self.complete < r)
        self.complete = r

    @action
    def ask(self, r: Round, c: Configuration, start: Round) -> None:
        """Ask, as leader of round r, about all rounds from the start of its configuration on."""
        require(Given(r, c) in self.given and Start(c, start) in self.starts)
        self.asked |= {Asked(r, earlier) for earlier in self.each(Round) if start <= earlier < r}

    @action
    def join(self, a: Acceptor, r: Round, earlier: Round) -> None:
        """Answer the leader of round r about an earlier round; the acceptor leaves all rounds below r."""
        require(Asked(r, earlier) in self.asked and Member(a, r) not in self.left)
        self.joined |= {Joined(a, r, earlier)}
        self.left |= {Member(a, below) for below in self.each(Round) if below < r}

    def have_answered(self, r: Round, start: Round, chosen: Map[Round, Quorum]) -> bool:
        """Return True if round r has no proposal, and for every round from `start` to the one before r its
        chosen quorum has answered the leader of r.
        """
        return all(Choice(r, v) not in self.proposed for v in self.each(Value)) and all(
            not (start <= earlier < r)
            or (
                any(Given(earlier, c) in self.given for c in self.each(Configuration))
                and all(
                    Given(earlier, c) not in self.given or chosen[earlier] in self.quorum_of[c]
                    for c in self.each(Configuration)
                )
                and all(Joined(a, r, earlier) in self.joined for a in self.members[chosen[earlier]])
            )
            for earlier in self.each(Round)
        )

    @action
    def propose(
        self, r: Round, c: Configuration, start: Round, v: Value, chosen: Map[Round, Quorum]
    ) -> None:
        """Propose any value in round r, if none of the chosen quorums has voted; the round is complete."""
        require(Given(r, c) in self.given and Start(c, start) in self.starts)
        require(self.have_answered(r, start, chosen))
        require(
            all(
                not (start <= vote.round < r) or vote.acceptor not in self.members[chosen[vote.round]]
                for vote in self.votes
            )
        )
        self.proposed |= {Choice(r, v)}
        self.known_complete |= {r}

    @action
    def propose_again(
        self, r: Round, c: Configuration, start: Round, last: Round, v: Value, chosen: Map[Round, Quorum]
    ) -> None:
        """Propose in round r the value for which the chosen quorums voted last."""
        require(Given(r, c) in self.given and Start(c, start) in self.starts)
        require(self.have_answered(r, start, chosen))
        require(start <= last < r and any(Vote(a, last, v) in self.votes for a in self.members[chosen[last]]))
        require(
            all(
                not (start <= vote.round < r)
                or vote.acceptor not in self.members[chosen[vote.round]]
                or vote.round <= last
                for vote in self.votes
            )
        )
        self.proposed |= {Choice(r, v)}

    @action
    def vote(self, a: Acceptor, r: Round, v: Value) -> None:
        """Vote for the proposed value of round r, at an acceptor that has not left the round."""
        require(Member(a, r) not in self.left and Choice(r, v) in self.proposed)
        self.votes |= {Vote(a, r, v)}

    @action
    def decide(self, r: Round, c: Configuration, q: Quorum, v: Value) -> None:
        """Decide v, for which a quorum of round r has voted; the round is complete."""
        require(Given(r, c) in self.given and q in self.quorum_of[c])
        require(all(Vote(a, r, v) in self.votes for a in self.members[q]))
        self.decided |= {Choice(r, v)}
        self.known_complete |= {r}

    @invariant
    def OneDecision(self) -> bool:
        """Invariant: at most one value is decided, whatever the rounds."""
        return all(one.value == other.value for one in self.decided for other in self.decided)

    @witness
    def something_is_decided(self) -> bool:
        """Witness: some run decides."""
        return len(self.decided) > 0


class VerticalPaxosProof(VerticalPaxos):
    """Invariants of the proof: which decisions a proposal or a complete round excludes."""

    @invariant
    def QuorumsMeet(self) -> bool:
        """Invariant: two quorums of one configuration have an acceptor in common."""
        return all(
            any(a in self.members[p] and a in self.members[q] for a in self.each(Acceptor))
            for c in self.each(Configuration)
            for p in self.quorum_of[c]
            for q in self.quorum_of[c]
        )

    @invariant
    def OneStart(self) -> bool:
        """Invariant: a configuration has one start."""
        return all(
            one.configuration != other.configuration or one.round == other.round
            for one in self.starts
            for other in self.starts
        )

    @invariant
    def OneProposal(self) -> bool:
        """Invariant: at most one value is proposed in a round."""
        return all(
            one.round != other.round or one.value == other.value
            for one in self.proposed
            for other in self.proposed
        )

    @invariant
    def VotesAreProposed(self) -> bool:
        """Invariant: acceptors vote for proposed values."""
        return all(Choice(vote.round, vote.value) in self.proposed for vote in self.votes)

    @invariant
    def AllBelowAreGiven(self) -> bool:
        """Invariant: every round up to a proposal or to a complete round has a configuration."""
        return all(
            any(Given(below, c) in self.given for c in self.each(Configuration))
            for below in self.each(Round)
            if any(below <= p.round for p in self.proposed) or any(below <= r for r in self.known_complete)
        )

    @invariant
    def StartsAreComplete(self) -> bool:
        """Invariant: a round at which a configuration in use starts, or which the master takes for complete,
        is complete, unless it is the first.
        """
        return all(
            r in self.known_complete
            or all(r <= below for below in self.each(Round))
            or not (
                r == self.complete
                or any(Start(g.configuration, r) in self.starts for g in self.given)
            )
            for r in self.each(Round)
        )

    @invariant
    def StartsAreBefore(self) -> bool:
        """Invariant: a configuration in use starts no later than its own round, and no later than the
        master's last complete round.
        """
        return all(
            g.configuration != s.configuration or (s.round <= g.round and s.round <= self.complete)
            for g in self.given
            for s in self.starts
        )

    @invariant
    def DecidedByQuorum(self) -> bool:
        """Invariant: a quorum of the round's configuration has voted for the value decided in the round."""
        return all(
            any(
                Given(d.round, c) in self.given
                and q in self.quorum_of[c]
                and all(Vote(a, d.round, d.value) in self.votes for a in self.members[q])
                for c in self.each(Configuration)
                for q in self.each(Quorum)
            )
            for d in self.decided
        )

    def may_decide(self, r: Round, v: Value) -> bool:
        """Return True if a quorum of round r has voted for v, or may still do so."""
        return any(
            Given(r, c) in self.given
            and q in self.quorum_of[c]
            and all(
                Member(a, r) not in self.left or Vote(a, r, v) in self.votes for a in self.members[q]
            )
            for c in self.each(Configuration)
            for q in self.each(Quorum)
        )

    @invariant
    def NoOtherChoice(self) -> bool:
        """Invariant: below a proposal no other value was or will be decided."""
        return all(
            not self.may_decide(below, v)
            for p in self.proposed
            for below in self.each(Round)
            for v in self.each(Value)
            if below < p.round and v != p.value
        )

    @invariant
    def CompleteExcludes(self) -> bool:
        """Invariant: in the rounds before a complete round, no value was or will be decided but the one
        decided in the complete round.
        """
        return all(
            Choice(r, v) in self.decided or not self.may_decide(below, v)
            for r in self.known_complete
            for below in self.each(Round)
            for v in self.each(Value)
            if below < r
        )

    @invariant
    def JoinedHaveLeft(self) -> bool:
        """Invariant: an acceptor that has answered for a round has left all lower rounds."""
        return all(
            Member(j.acceptor, below) in self.left
            for j in self.joined
            for below in self.each(Round)
            if below < j.round
        )
