"""Paxos, and three of its kin: acceptors vote in rounds, and at most one value is decided.

Sources: L. Lamport, "The part-time parliament", ACM TOCS 16(2), 1998, and "Fast Paxos", Distributed Computing
19(2), 2006; H. Howard, D. Malkhi, A. Spiegelman, "Flexible Paxos: quorum intersection revisited", OPODIS
2016; O. Padon, G. Losa, M. Sagiv, S. Shoham, "Paxos made EPR: decidable reasoning about distributed
protocols", OOPSLA 2017; problems `paxos_epr`, `paxos_forall`, `flexible_paxos_epr`, `fast_paxos_epr` and
`multi_paxos_epr` of mypyvy.

Messages are facts that are never deleted: a join, a proposal or a vote that was sent may arrive at any time,
or never. `left` holds the rounds that an acceptor has left for a higher one. That at most one value is
decided follows from what a higher round excludes: `NoOtherChoice`.
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


class Acceptor(Index, size="acceptors", symmetric=True):
    """Acceptor, which votes."""


class Round(Index, size="rounds", ordered=True):
    """Round of votes; each round has its own leader."""


class Value(Index, size="values", symmetric=True):
    """Value that is voted for or decided."""


@record
class Member:
    """Pair of an acceptor and a round: the acceptor has joined the round, or left it."""

    acceptor: Acceptor
    round: Round


@record
class Choice:
    """Pair of a round and a value: the value is proposed or decided in the round."""

    round: Round
    value: Value


@record
class Vote:
    """A vote of an acceptor for a value in a round."""

    acceptor: Acceptor
    round: Round
    value: Value


class Rounds(Spec):
    """Common part of the protocols: acceptors join rounds."""

    acceptors: Const[int] = 3
    rounds: Const[int] = 2
    values: Const[int] = 2

    begun: Set[Round] = Set()
    joined: Set[Member] = Set()
    left: Set[Member] = Set()
    proposed: Set[Choice] = Set()
    votes: Set[Vote] = Set()
    decided: Set[Choice] = Set()

    @action
    def begin(self, r: Round) -> None:
        """Begin a round: its leader asks all acceptors to join."""
        self.begun |= {r}

    @action
    def join(self, a: Acceptor, r: Round) -> None:
        """Join round r at an acceptor that has not left it; the acceptor leaves all rounds below."""
        require(r in self.begun and Member(a, r) not in self.left)
        self.joined |= {Member(a, r)}
        self.left |= {Member(a, below) for below in self.each(Round) if below < r}

    def have_joined(self, quorum: Set[Acceptor], r: Round) -> bool:
        """Return True if all acceptors of the quorum have joined round r."""
        return all(Member(a, r) in self.joined for a in quorum)

    def voted_last(self, quorum: Set[Acceptor], r: Round, last: Round, v: Value) -> bool:
        """Return True if the last votes of the quorum below round r are in round `last`, and one of them is
        for v.
        """
        return (
            last < r
            and any(Vote(a, last, v) in self.votes for a in quorum)
            and all(
                vote.acceptor not in quorum or vote.round >= r or vote.round <= last for vote in self.votes
            )
        )

    def never_voted(self, quorum: Set[Acceptor], r: Round) -> bool:
        """Return True if no acceptor of the quorum has voted in a round below r."""
        return all(vote.acceptor not in quorum or vote.round >= r for vote in self.votes)

    def is_proposed(self, r: Round) -> bool:
        """Return True if some value is proposed in the round."""
        return any(Choice(r, v) in self.proposed for v in self.each(Value))

    @invariant
    def OneDecision(self) -> bool:
        """Invariant: at most one value is decided, whatever the rounds."""
        return all(one.value == other.value for one in self.decided for other in self.decided)

    @witness
    def something_is_decided(self) -> bool:
        """Witness: some run decides."""
        return len(self.decided) > 0


class Paxos(Rounds):
    """Paxos, in which a majority joins a round and a majority decides."""

    def joins(self, quorum: Set[Acceptor]) -> bool:
        """Return True if the quorum is large enough for a proposal in a round that it has joined."""
        return 2 * len(quorum) > self.acceptors

    def decides(self, r: Round, v: Value) -> bool:
        """Return True if enough acceptors have voted for v in round r to decide it."""
        return 2 * sum(1 for a in self.each(Acceptor) if Vote(a, r, v) in self.votes) > self.acceptors

    def may_decide(self, r: Round, v: Value) -> bool:
        """Return True if enough acceptors have voted for v in round r, or may still do so, to decide it."""
        return (
            2
            * sum(
                1
                for a in self.each(Acceptor)
                if Member(a, r) not in self.left or Vote(a, r, v) in self.votes
            )
            > self.acceptors
        )

    @action
    def propose(self, r: Round, quorum: Set[Acceptor], v: Value) -> None:
        """Propose any value in round r, if the acceptors that have joined have not voted before."""
        require(not self.is_proposed(r))
        require(self.joins(quorum) and self.have_joined(quorum, r) and self.never_voted(quorum, r))
        self.proposed |= {Choice(r, v)}

    @action
    def propose_again(self, r: Round, quorum: Set[Acceptor], last: Round, v: Value) -> None:
        """Propose in round r the value for which the acceptors that have joined voted last."""
        require(not self.is_proposed(r))
        require(self.joins(quorum) and self.have_joined(quorum, r) and self.voted_last(quorum, r, last, v))
        self.proposed |= {Choice(r, v)}

    @action
    def vote(self, a: Acceptor, r: Round, v: Value) -> None:
        """Vote for the proposed value of round r, at an acceptor that has not left the round."""
        require(Member(a, r) not in self.left and Choice(r, v) in self.proposed)
        self.votes |= {Vote(a, r, v)}

    @action
    def decide(self, r: Round, v: Value) -> None:
        """Decide v, for which enough acceptors have voted in round r."""
        require(self.decides(r, v))
        self.decided |= {Choice(r, v)}


class PaxosBasics(Paxos):
    """Invariants that both proofs of Paxos need."""

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
    def JoinedHaveLeft(self) -> bool:
        """Invariant: an acceptor that has joined a round has left all earlier rounds."""
        return all(
            Member(member.acceptor, below) in self.left
            for member in self.joined
            for below in self.each(Round)
            if below < member.round
        )


class PaxosProof(PaxosBasics):
    """Invariants of the proof: a proposal in a higher round excludes other decisions below."""

    @invariant
    def DecidedByMany(self) -> bool:
        """Invariant: a decided value has enough votes."""
        return all(self.decides(choice.round, choice.value) for choice in self.decided)

    @invariant
    def NoOtherChoice(self) -> bool:
        """Invariant: below a proposal no other value was or will be decided."""
        return all(
            not self.may_decide(below, v)
            for choice in self.proposed
            for below in self.each(Round)
            for v in self.each(Value)
            if below < choice.round and v != choice.value
        )


class PaxosWithHistory(Paxos):
    """Paxos with history variables, which nothing reads: who decided a choice, and who refused it."""

    deciders: Map[Round, Map[Value, Set[Acceptor]]] = everywhere(everywhere(Set()))
    """Acceptors whose votes decided a value in a round."""

    refusers: Map[Round, Map[Value, Set[Acceptor]]] = everywhere(everywhere(Set()))
    """Acceptors that had left a round without a vote for a value when a later leader asked them."""

    def record_refusers(self, first: Round, r: Round, quorum: Set[Acceptor], v: Value) -> None:
        """Record that the quorum refused all values but v, from round `first` to the last before round r."""
        for below in self.each(Round):
            for other in self.each(Value):
                if first <= below and below < r and other != v:
                    self.refusers[below][other] = quorum

    @action
    def propose(self, r: Round, quorum: Set[Acceptor], v: Value) -> None:
        """Propose any value; the quorum refuses all others in the rounds below."""
        super().propose(r, quorum, v)
        self.record_refusers(Round(0), r, quorum, v)

    @action
    def propose_again(self, r: Round, quorum: Set[Acceptor], last: Round, v: Value) -> None:
        """Propose the value voted for last; the quorum refuses all others since that round."""
        super().propose_again(r, quorum, last, v)
        self.record_refusers(last, r, quorum, v)

    @action
    def decide(self, r: Round, v: Value) -> None:
        """Decide v; who has voted for it are its deciders."""
        super().decide(r, v)
        self.deciders[r][v] |= {a for a in self.each(Acceptor) if Vote(a, r, v) in self.votes}


class PaxosWithHistoryProof(PaxosWithHistory, PaxosBasics):
    """Invariants of the proof that name the acceptors, where `PaxosProof` says that there are some.

    `DecidedByMany` says of a decision that there is a majority, and `NoOtherChoice` of each majority that
    there is an acceptor in it. Here both are variables, and an invariant says of their members only what is
    true of each: deciders have voted, refusers cannot vote any more. The deciders of one choice and the
    refusers of another are majorities and have a member in common. So of two decided values the one of the
    higher round was refused nowhere below by the deciders of the other, and is that value.

    A leader whose quorum voted last in round `last` finds the refusers in its quorum itself, from `last` on:
    all its members have left these rounds, and in `last` they have voted for one value at most. Below `last`
    it takes those that the proposal in `last` had found.
    """

    @invariant
    def DecidersVoted(self) -> bool:
        """Invariant: the deciders of a choice have voted for it."""
        return all(
            Vote(a, r, v) in self.votes
            for r in self.each(Round)
            for v in self.each(Value)
            for a in self.deciders[r][v]
        )

    @invariant
    def DecidersAreMany(self) -> bool:
        """Invariant: the deciders of a decided value are a majority."""
        return all(2 * len(self.deciders[c.round][c.value]) > self.acceptors for c in self.decided)

    @invariant
    def DecidedIsProposed(self) -> bool:
        """Invariant: decided values are proposed."""
        return all(choice in self.proposed for choice in self.decided)

    @invariant
    def RefusersDidNotVote(self) -> bool:
        """Invariant: the refusers of a choice have left its round, and have not voted for it."""
        return all(
            Member(a, r) in self.left and Vote(a, r, v) not in self.votes
            for r in self.each(Round)
            for v in self.each(Value)
            for a in self.refusers[r][v]
        )

    @invariant
    def RefusersAreMany(self) -> bool:
        """Invariant: below a proposal every other value was refused by a majority."""
        return all(
            2 * len(self.refusers[below][v]) > self.acceptors
            for choice in self.proposed
            for below in self.each(Round)
            for v in self.each(Value)
            if below < choice.round and v != choice.value
        )


class FlexiblePaxos(Paxos):
    """Flexible Paxos: few acceptors can decide, and the fewer they are, the more must join a round."""

    deciders: Const[int] = 2
    """Number of votes that decide."""

    def joins(self, quorum: Set[Acceptor]) -> bool:
        """Return True if the quorum has a member in every set that can decide."""
        return len(quorum) + self.deciders > self.acceptors

    def decides(self, r: Round, v: Value) -> bool:
        """Return True if enough acceptors have voted for v in round r to decide it."""
        return sum(1 for a in self.each(Acceptor) if Vote(a, r, v) in self.votes) >= self.deciders

    def may_decide(self, r: Round, v: Value) -> bool:
        """Return True if enough acceptors have voted for v in round r, or may still do so, to decide it."""
        return (
            sum(
                1
                for a in self.each(Acceptor)
                if Member(a, r) not in self.left or Vote(a, r, v) in self.votes
            )
            >= self.deciders
        )


class FlexiblePaxosProof(FlexiblePaxos, PaxosProof):
    """Flexible Paxos with the invariants of the proof of Paxos, unchanged."""


class FastPaxos(Rounds):
    """Fast Paxos: in a fast round acceptors may vote for any value, and more than three quarters decide."""

    fast: Set[Round] = Set()
    open: Set[Round] = Set()

    @initial
    def choose(self, fast: Set[Round]) -> None:
        """Choose any rounds as fast."""
        self.fast = fast

    def decides(self, r: Round, v: Value) -> bool:
        """Return True if a majority has voted for v in round r."""
        return 2 * sum(1 for a in self.each(Acceptor) if Vote(a, r, v) in self.votes) > self.acceptors

    def decides_fast(self, r: Round, v: Value) -> bool:
        """Return True if three quarters of the acceptors have voted for v in round r."""
        return 4 * sum(1 for a in self.each(Acceptor) if Vote(a, r, v) in self.votes) >= 3 * self.acceptors

    def joins(self, r: Round, quorum: Set[Acceptor]) -> bool:
        """Return True if the quorum is a majority that has joined round r, and nothing can be voted for in r
        yet.
        """
        return (
            2 * len(quorum) > self.acceptors
            and self.have_joined(quorum, r)
            and not self.is_proposed(r)
            and r not in self.open
        )

    def may_be_decided(self, quorum: Set[Acceptor], last: Round, v: Value) -> bool:
        """Return True if v may have been decided in the fast round `last`, by the votes of the quorum and any
        votes of the others.
        """
        return (
            4 * sum(1 for a in self.each(Acceptor) if a not in quorum or Vote(a, last, v) in self.votes)
            >= 3 * self.acceptors
        )

    @action
    def propose(self, r: Round, quorum: Set[Acceptor], v: Value) -> None:
        """Propose a value in a round that is not fast, where the quorum has never voted before."""
        require(self.joins(r, quorum) and self.never_voted(quorum, r) and r not in self.fast)
        self.proposed |= {Choice(r, v)}

    @action
    def open_round(self, r: Round, quorum: Set[Acceptor]) -> None:
        """Open a fast round, where the quorum has never voted before: acceptors may vote for any value."""
        require(self.joins(r, quorum) and self.never_voted(quorum, r) and r in self.fast)
        self.open |= {r}

    @action
    def propose_again(self, r: Round, quorum: Set[Acceptor], last: Round, v: Value, w: Value) -> None:
        """Propose the value that may have been decided in the last round in which the quorum voted."""
        require(self.joins(r, quorum) and self.voted_last(quorum, r, last, w))
        require(self.may_be_decided(quorum, last, v))
        self.proposed |= {Choice(r, v)}

    @action
    def propose_any(self, r: Round, quorum: Set[Acceptor], last: Round, v: Value) -> None:
        """Propose any value voted for in the last round, where no value can have been decided by three
        quarters.
        """
        require(self.joins(r, quorum) and self.voted_last(quorum, r, last, v))
        require(all(not self.may_be_decided(quorum, last, w) for w in self.each(Value)))
        self.proposed |= {Choice(r, v)}

    @action
    def vote(self, a: Acceptor, r: Round, v: Value) -> None:
        """Vote at an acceptor, once in a round."""
        require(Member(a, r) not in self.left)
        require(all(Vote(a, r, w) not in self.votes for w in self.each(Value)))
        require(Choice(r, v) in self.proposed or r in self.open)
        self.votes |= {Vote(a, r, v)}

    @action
    def decide(self, r: Round, v: Value) -> None:
        """Decide by a majority, in a round that is not fast."""
        require(r not in self.fast and self.decides(r, v))
        self.decided |= {Choice(r, v)}

    @action
    def decide_fast(self, r: Round, v: Value) -> None:
        """Decide by three quarters of the acceptors, in a fast round."""
        require(r in self.fast and self.decides_fast(r, v))
        self.decided |= {Choice(r, v)}


class FastPaxosProof(FastPaxos):
    """Invariants of the proof: a proposal in a higher round excludes other decisions below."""

    def may_decide(self, r: Round, v: Value) -> bool:
        """Return True if a majority has voted for v in round r, or may still do so."""
        return (
            2
            * sum(
                1
                for a in self.each(Acceptor)
                if Member(a, r) not in self.left or Vote(a, r, v) in self.votes
            )
            > self.acceptors
        )

    def may_decide_fast(self, r: Round, v: Value) -> bool:
        """Return True if three quarters of the acceptors have voted for v in round r, or may still do so."""
        return (
            4
            * sum(
                1
                for a in self.each(Acceptor)
                if Member(a, r) not in self.left or Vote(a, r, v) in self.votes
            )
            >= 3 * self.acceptors
        )

    def excludes(self, r: Round, v: Value) -> bool:
        """Return True if round r excludes v: another value is proposed in r, or any value may be voted
        for.
        """
        return r in self.open or any(Choice(r, w) in self.proposed for w in self.each(Value) if w != v)

    @invariant
    def OneProposal(self) -> bool:
        """Invariant: at most one value is proposed in a round, and none in a round where any value may be
        voted for.
        """
        return all(
            one.round != other.round or one.value == other.value
            for one in self.proposed
            for other in self.proposed
        ) and all(choice.round not in self.open for choice in self.proposed)

    @invariant
    def OpenIsFast(self) -> bool:
        """Invariant: only in fast rounds may any value be voted for."""
        return all(r in self.fast for r in self.open)

    @invariant
    def VotesAreProposed(self) -> bool:
        """Invariant: acceptors vote for the proposed value of a round, or for any value in a round that is
        open to any.
        """
        return all(
            Choice(vote.round, vote.value) in self.proposed or vote.round in self.open for vote in self.votes
        )

    @invariant
    def OneVote(self) -> bool:
        """Invariant: an acceptor votes once in a round."""
        return all(
            one.acceptor != other.acceptor or one.round != other.round or one.value == other.value
            for one in self.votes
            for other in self.votes
        )

    @invariant
    def DecidedByMajority(self) -> bool:
        """Invariant: a value decided in a round that is not fast has the votes of a majority."""
        return all(c.round in self.fast or self.decides(c.round, c.value) for c in self.decided)

    @invariant
    def DecidedByThreeQuarters(self) -> bool:
        """Invariant: a value decided in a fast round has three quarters of the votes."""
        return all(c.round not in self.fast or self.decides_fast(c.round, c.value) for c in self.decided)

    @invariant
    def JoinedHaveLeft(self) -> bool:
        """Invariant: an acceptor that has joined a round has left all earlier rounds."""
        return all(
            Member(member.acceptor, below) in self.left
            for member in self.joined
            for below in self.each(Round)
            if below < member.round
        )

    @invariant
    def NoOtherChoice(self) -> bool:
        """Invariant: no lower round that is not fast decides a value that a higher round excludes."""
        return all(
            below in self.fast or not self.may_decide(below, v)
            for r in self.each(Round)
            for below in self.each(Round)
            for v in self.each(Value)
            if below < r and self.excludes(r, v)
        )

    @invariant
    def DecidedIsVotedFor(self) -> bool:
        """Invariant: a decided value was proposed in its round, or the round was open to any value."""
        return all(c in self.proposed or c.round in self.open for c in self.decided)

    @invariant
    def NothingElseAbove(self) -> bool:
        """Invariant: above a decision no other value is proposed, and no round is open for votes for any
        value.
        """
        return all(
            not self.excludes(r, c.value) for c in self.decided for r in self.each(Round) if c.round < r
        )

    @invariant
    def NoOtherFastChoice(self) -> bool:
        """Invariant: no lower fast round decides a value that a higher round excludes."""
        return all(
            below not in self.fast or not self.may_decide_fast(below, v)
            for r in self.each(Round)
            for below in self.each(Round)
            for v in self.each(Value)
            if below < r and self.excludes(r, v)
        )


class Instance(Index, size="instances", symmetric=True):
    """Instance: a place in the log, for which one value is decided."""


@record
class Entry:
    """Entry: a value for an instance in a round."""

    instance: Instance
    round: Round
    value: Value


@record
class EntryVote:
    """A vote of an acceptor for a value for an instance in a round."""

    acceptor: Acceptor
    instance: Instance
    round: Round
    value: Value


class MultiPaxos(Spec):
    """Multi-Paxos: acceptors join a round once for all instances."""

    acceptors: Const[int] = 3
    rounds: Const[int] = 2
    values: Const[int] = 2
    instances: Const[int] = 1

    begun: Set[Round] = Set()
    joined: Set[Member] = Set()
    left: Set[Member] = Set()
    active: Set[Round] = Set()
    proposed: Set[Entry] = Set()
    votes: Set[EntryVote] = Set()
    decided: Set[Entry] = Set()

    @action
    def begin(self, r: Round) -> None:
        """Begin a round: its leader asks all acceptors to join."""
        self.begun |= {r}

    @action
    def join(self, a: Acceptor, r: Round) -> None:
        """Join round r at an acceptor that has not left it; the acceptor leaves all rounds below."""
        require(r in self.begun and Member(a, r) not in self.left)
        self.joined |= {Member(a, r)}
        self.left |= {Member(a, below) for below in self.each(Round) if below < r}

    def is_free(self, quorum: Set[Acceptor], i: Instance, r: Round) -> bool:
        """Return True if no acceptor of the quorum has voted for instance i below round r."""
        return all(
            vote.acceptor not in quorum or vote.instance != i or vote.round >= r for vote in self.votes
        )

    def voted_last(self, quorum: Set[Acceptor], i: Instance, r: Round, v: Value) -> bool:
        """Return True if the last round below r in which the quorum voted for instance i has a vote for v."""
        return any(
            last < r
            and any(EntryVote(a, i, last, v) in self.votes for a in quorum)
            and all(
                vote.acceptor not in quorum or vote.instance != i or vote.round >= r or vote.round <= last
                for vote in self.votes
            )
            for last in self.each(Round)
        )

    @action
    def activate(self, r: Round, quorum: Set[Acceptor], known: Map[Instance, Value | None]) -> None:
        """Activate a round that a majority has joined: for every instance the leader proposes the value for
        which the majority voted last, if there is one.
        """
        require(r not in self.active and 2 * len(quorum) > self.acceptors)
        require(all(Member(a, r) in self.joined for a in quorum))
        require(
            all(
                (known[i] is not None or self.is_free(quorum, i, r))
                and all(known[i] != v or self.voted_last(quorum, i, r, v) for v in self.each(Value))
                for i in self.each(Instance)
            )
        )
        self.active |= {r}
        self.proposed |= {
            Entry(i, r, v) for i in self.each(Instance) for v in self.each(Value) if known[i] == v
        }

    @action
    def propose(self, i: Instance, r: Round, v: Value) -> None:
        """Propose a value for an instance in an active round, for which the round has no proposal."""
        require(r in self.active and all(Entry(i, r, w) not in self.proposed for w in self.each(Value)))
        self.proposed |= {Entry(i, r, v)}

    @action
    def vote(self, a: Acceptor, i: Instance, r: Round, v: Value) -> None:
        """Vote for the proposed value of round r, at an acceptor that has not left the round."""
        require(Member(a, r) not in self.left and Entry(i, r, v) in self.proposed)
        self.votes |= {EntryVote(a, i, r, v)}

    def decides(self, i: Instance, r: Round, v: Value) -> bool:
        """Return True if a majority has voted for v at instance i in round r."""
        return 2 * sum(1 for a in self.each(Acceptor) if EntryVote(a, i, r, v) in self.votes) > self.acceptors

    @action
    def decide(self, i: Instance, r: Round, v: Value) -> None:
        """Decide v, for which a majority has voted at instance i in round r."""
        require(self.decides(i, r, v))
        self.decided |= {Entry(i, r, v)}

    @invariant
    def OneDecision(self) -> bool:
        """Invariant: at most one value is decided for an instance."""
        return all(
            one.instance != other.instance or one.value == other.value
            for one in self.decided
            for other in self.decided
        )

    @witness
    def something_is_decided(self) -> bool:
        """Witness: some run decides."""
        return len(self.decided) > 0


class MultiPaxosProof(MultiPaxos):
    """Invariants of the proof: an active round excludes other decisions below."""

    def may_decide(self, i: Instance, r: Round, v: Value) -> bool:
        """Return True if a majority has voted for v at instance i in round r, or may still do so."""
        return (
            2
            * sum(
                1
                for a in self.each(Acceptor)
                if Member(a, r) not in self.left or EntryVote(a, i, r, v) in self.votes
            )
            > self.acceptors
        )

    @invariant
    def ProposedInActive(self) -> bool:
        """Invariant: proposals are made in active rounds only."""
        return all(entry.round in self.active for entry in self.proposed)

    @invariant
    def OneProposal(self) -> bool:
        """Invariant: at most one value is proposed for an instance in a round."""
        return all(
            one.instance != other.instance or one.round != other.round or one.value == other.value
            for one in self.proposed
            for other in self.proposed
        )

    @invariant
    def VotesAreProposed(self) -> bool:
        """Invariant: acceptors vote for proposed values."""
        return all(Entry(vote.instance, vote.round, vote.value) in self.proposed for vote in self.votes)

    @invariant
    def DecidedByMany(self) -> bool:
        """Invariant: a decided value has enough votes."""
        return all(self.decides(entry.instance, entry.round, entry.value) for entry in self.decided)

    @invariant
    def JoinedHaveLeft(self) -> bool:
        """Invariant: an acceptor that has joined a round has left all earlier rounds."""
        return all(
            Member(member.acceptor, below) in self.left
            for member in self.joined
            for below in self.each(Round)
            if below < member.round
        )

    @invariant
    def NoOtherChoice(self) -> bool:
        """Invariant: in the rounds before an active round, no value was or will be decided but the one that
        the active round proposes.
        """
        return all(
            not self.may_decide(i, below, v)
            for r in self.active
            for below in self.each(Round)
            for i in self.each(Instance)
            for v in self.each(Value)
            if below < r and Entry(i, r, v) not in self.proposed
        )
