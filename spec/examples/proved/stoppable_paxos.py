"""Stoppable Paxos: a log of decisions that ends with the command to stop.

Sources: L. Lamport, D. Malkhi, L. Zhou, "Stoppable Paxos", Microsoft Research, 2008; O. Padon, G. Losa, M.
Sagiv, S. Shoham, "Paxos made EPR: decidable reasoning about distributed protocols", OOPSLA 2017; problem
`stoppable_paxos_epr` of mypyvy.

The last votes of a quorum may contradict each other: a vote to stop at one instance, and votes for later
instances. The leader of a round takes the vote to stop of the highest round. Where a later instance has a
vote of a higher round still, that vote was given when stopping was out of the question, and no stop is
proposed again. Otherwise nothing is proposed after the stop.
"""

from __future__ import annotations

from antiphon.spec.examples.proved.paxos import Acceptor, Member, Round, Value
from antiphon.spec.lang import (
    Const,
    Index,
    Set,
    Spec,
    action,
    initial,
    invariant,
    record,
    require,
    witness,
)


class Place(Index, size="places", ordered=True):
    """A place in the log."""


@record
class Entry:
    """Entry: a value for a place in a round."""

    place: Place
    round: Round
    value: Value


@record
class EntryVote:
    """A vote of an acceptor for a value for a place in a round."""

    acceptor: Acceptor
    place: Place
    round: Round
    value: Value


@record
class Known:
    """The latest vote for a place in the log, as known to the leader of a round."""

    place: Place
    round: Round
    value: Value


class StoppablePaxos(Spec):
    """Stoppable Paxos: acceptors join a round once for all places; the value `stop` ends the log."""

    acceptors: Const[int] = 2
    rounds: Const[int] = 2
    values: Const[int] = 2
    places: Const[int] = 2

    stop: Value | None = None
    begun: Set[Round] = Set()
    joined: Set[Member] = Set()
    left: Set[Member] = Set()
    active: Set[Round] = Set()
    proposed: Set[Entry] = Set()
    votes: Set[EntryVote] = Set()
    decided: Set[Entry] = Set()

    @initial
    def choose(self, stop: Value) -> None:
        """Choose some value as the command to stop."""
        self.stop = stop

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

    # What the leader of a round knows -----------------------------------------------------------------------

    def is_last(self, quorum: Set[Acceptor], i: Place, r: Round, last: Round, v: Value) -> bool:
        """Return True if the last votes of the quorum for place i below round r are in round `last`, and one
        of them is for v.
        """
        return (
            last < r
            and any(EntryVote(a, i, last, v) in self.votes for a in quorum)
            and all(
                vote.acceptor not in quorum or vote.place != i or vote.round >= r or vote.round <= last
                for vote in self.votes
            )
        )

    def is_free(self, quorum: Set[Acceptor], i: Place, r: Round) -> bool:
        """Return True if no acceptor of the quorum has voted for place i below round r."""
        return all(
            vote.acceptor not in quorum or vote.place != i or vote.round >= r for vote in self.votes
        )

    def has_joined(self, quorum: Set[Acceptor], r: Round) -> bool:
        """Return True if the quorum is a majority that has joined round r, in which no leader is active
        yet.
        """
        return (
            r not in self.active
            and 2 * len(quorum) > self.acceptors
            and all(Member(a, r) in self.joined for a in quorum)
        )

    def are_known(self, known: Set[Known], quorum: Set[Acceptor], r: Round) -> bool:
        """Return True if `known` has the last vote of the quorum for each place for which it voted below
        round r.
        """
        return all(self.is_last(quorum, k.place, r, k.round, k.value) for k in known) and all(
            any(k.place == i for k in known) or self.is_free(quorum, i, r) for i in self.each(Place)
        )

    def are_alone(self, known: Set[Known]) -> bool:
        """Return True if `known` has at most one vote for each place."""
        return all(k.place != m.place or k == m for k in known for m in known)

    @action
    def activate(self, r: Round, quorum: Set[Acceptor], known: Set[Known]) -> None:
        """Activate a round without a known vote to stop: the leader proposes the known values."""
        require(self.has_joined(quorum, r) and self.are_known(known, quorum, r) and self.are_alone(known))
        require(all(self.stop != k.value for k in known))
        self.active |= {r}
        self.proposed |= {Entry(k.place, r, k.value) for k in known}

    def is_last_stop(self, known: Set[Known], i: Place, last: Round) -> bool:
        """Return True if the vote to stop of the highest round is the one for place i in round `last`."""
        return any(k.place == i and k.round == last and self.stop == k.value for k in known) and all(
            self.stop != k.value or k.round <= last for k in known
        )

    @action
    def activate_without_stop(
        self, r: Round, quorum: Set[Acceptor], known: Set[Known], i: Place, last: Round
    ) -> None:
        """Activate a round where a later place has a vote of a higher round than the last vote to stop: the
        leader proposes no stop again.
        """
        require(self.has_joined(quorum, r) and self.are_known(known, quorum, r) and self.are_alone(known))
        require(self.is_last_stop(known, i, last))
        require(any(k.place > i and k.round > last for k in known))
        self.active |= {r}
        self.proposed |= {
            Entry(k.place, r, k.value)
            for k in known
            if self.stop != k.value and (k.place <= i or k.round > last)
        }

    @action
    def activate_with_stop(
        self, r: Round, quorum: Set[Acceptor], known: Set[Known], i: Place, last: Round
    ) -> None:
        """Activate a round where no place after the last vote to stop has a vote of a higher round: the
        leader proposes this stop again, no other, and nothing after it.
        """
        require(self.has_joined(quorum, r) and self.are_known(known, quorum, r) and self.are_alone(known))
        require(self.is_last_stop(known, i, last))
        require(all(k.place <= i or k.round <= last for k in known))
        self.active |= {r}
        self.proposed |= {
            Entry(k.place, r, k.value)
            for k in known
            if k.place <= i and (k.place == i or self.stop != k.value)
        }

    @action
    def propose(self, i: Place, r: Round, v: Value) -> None:
        """Propose for a free place: no value after a stop, and no stop before a proposed value."""
        require(r in self.active and all(Entry(i, r, w) not in self.proposed for w in self.each(Value)))
        require(all(e.round != r or e.place >= i or self.stop != e.value for e in self.proposed))
        require(self.stop != v or all(e.round != r or e.place <= i for e in self.proposed))
        self.proposed |= {Entry(i, r, v)}

    @action
    def vote(self, a: Acceptor, i: Place, r: Round, v: Value) -> None:
        """Vote for the proposed value of round r, at an acceptor that has not left the round."""
        require(Member(a, r) not in self.left and Entry(i, r, v) in self.proposed)
        self.votes |= {EntryVote(a, i, r, v)}

    def decides(self, i: Place, r: Round, v: Value) -> bool:
        """Return True if a majority has voted for v at place i in round r."""
        return 2 * sum(1 for a in self.each(Acceptor) if EntryVote(a, i, r, v) in self.votes) > self.acceptors

    @action
    def decide(self, i: Place, r: Round, v: Value) -> None:
        """Decide v, for which a majority has voted at place i in round r."""
        require(self.decides(i, r, v))
        self.decided |= {Entry(i, r, v)}

    @invariant
    def OneDecision(self) -> bool:
        """Invariant: at most one value is decided for a place."""
        return all(
            one.place != other.place or one.value == other.value
            for one in self.decided
            for other in self.decided
        )

    @invariant
    def NothingAfterStop(self) -> bool:
        """Invariant: nothing is decided after a decision to stop."""
        return all(
            self.stop != one.value or other.place <= one.place
            for one in self.decided
            for other in self.decided
        )

    @witness
    def it_is_decided_to_stop(self) -> bool:
        """Witness: some run decides to stop."""
        return any(self.stop == e.value for e in self.decided)


class StoppablePaxosProof(StoppablePaxos):
    """Invariants of the proof: an active round excludes other decisions below."""

    def may_decide(self, i: Place, r: Round, v: Value) -> bool:
        """Return True if a majority has voted for v at place i in round r, or may still do so."""
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
        """Invariant: at most one value is proposed for a place in a round."""
        return all(
            one.place != other.place or one.round != other.round or one.value == other.value
            for one in self.proposed
            for other in self.proposed
        )

    @invariant
    def NothingProposedAfterStop(self) -> bool:
        """Invariant: in a round nothing is proposed after a stop."""
        return all(
            self.stop != one.value or one.round != other.round or other.place <= one.place
            for one in self.proposed
            for other in self.proposed
        )

    @invariant
    def VotesAreProposed(self) -> bool:
        """Invariant: acceptors vote for proposed values."""
        return all(Entry(vote.place, vote.round, vote.value) in self.proposed for vote in self.votes)

    @invariant
    def DecidedByMany(self) -> bool:
        """Invariant: a decided value has enough votes."""
        return all(self.decides(entry.place, entry.round, entry.value) for entry in self.decided)

    @invariant
    def JoinedHaveLeft(self) -> bool:
        """Invariant: an acceptor that has joined a round has left all earlier rounds."""
        return all(
            Member(member.acceptor, below) in self.left
            for member in self.joined
            for below in self.each(Round)
            if below < member.round
        )

    def is_excluded(self, i: Place, r: Round, v: Value) -> bool:
        """Return True if no round below r decides v for place i, now or later."""
        return all(not self.may_decide(i, below, v) for below in self.each(Round) if below < r)

    @invariant
    def NoOtherChoice(self) -> bool:
        """Invariant: in the rounds before an active round, no command was or will be decided but the one that
        the active round proposes, except for a stop.
        """
        return all(
            self.stop == v or Entry(i, r, v) in self.proposed or self.is_excluded(i, r, v)
            for r in self.active
            for i in self.each(Place)
            for v in self.each(Value)
        )

    @invariant
    def NoOtherStop(self) -> bool:
        """Invariant: below an active round a stop was or will be decided only at a place where the round
        proposes it.
        """
        return all(
            self.stop != v or Entry(i, r, v) in self.proposed or self.is_excluded(i, r, v)
            for r in self.active
            for i in self.each(Place)
            for v in self.each(Value)
        )
