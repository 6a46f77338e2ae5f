"""Raft: servers elect a leader for a term, and copy its log; what is committed is the same everywhere.

Sources: D. Ongaro, J. Ousterhout, "In search of an understandable consensus algorithm", USENIX ATC 2014,
figures 2 and 3; M. Taube, G. Losa, K. McMillan, O. Padon, M. Sagiv, S. Shoham, J. Wilcox, D. Woos,
"Modularity for decidability of deductive verification with applications to distributed systems", PLDI 2018;
problem `raft_epr` of mypyvy.

A log is a set of entries with their places, as first-order logic has no sequences. Messages are facts that
are never deleted: they may be lost, repeated and overtaken. `left` holds the terms that a server has left for
a higher one; its current term is the first that it has not left. `leader_log` and `committed` are history
variables: the log of the leader of each term as it is or was at last, and who committed what. No step depends
on them.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Const,
    In,
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


class Server(Index, size="servers", symmetric=True):
    """Server of the cluster."""


class Term(Index, size="terms", ordered=True):
    """Term, in which at most one server leads; the first has no leader."""


class Place(Index, size="places", ordered=True):
    """Place in a log."""


class Value(Index, size="values", symmetric=True):
    """Command to the replicated machine."""


@record
class Entry:
    """Entry of a log: at a place, a command, and the term in which a leader made the entry."""

    place: Place
    term: Term
    value: Value


@record
class Position:
    """Place and term of an entry, which tell one entry from all others."""

    place: Place
    term: Term


@record
class VoteRequest:
    """Request of a candidate for votes in a term, with the last position of its log."""

    candidate: Server
    term: Term
    last: Position | None


@record
class Vote:
    """Vote of a server for a candidate in a term."""

    server: Server
    term: Term
    candidate: Server


@record
class Leader:
    """Pair of a server and a term in which it was elected."""

    server: Server
    term: Term


@record
class Append:
    """Request of the leader of a term to append an entry, after the entry at the position `previous`."""

    term: Term
    previous: Position | None
    entry: Entry


@record
class Acknowledgement:
    """Acknowledgement of a server to the leader of a term that its log has an entry."""

    server: Server
    term: Term
    position: Position


@record
class Committed:
    """Commitment of an entry by the leader of `term`, when it committed its log up to `place`."""

    term: Term
    place: Place
    entry: Entry


class Raft(Spec):
    """Raft with logs, without restarts and changes of the cluster."""

    servers: Const[int] = 3
    terms: Const[int] = 3
    places: Const[int] = 1
    values: Const[int] = 1

    left: Map[Server, Set[Term]] = everywhere(Set())
    log: Map[Server, Set[Entry]] = everywhere(Set())
    requests: Set[VoteRequest] = Set()
    votes: Set[Vote] = Set()
    leaders: Set[Leader] = Set()
    appends: Set[Append] = Set()
    acknowledged: Set[Acknowledgement] = Set()
    leader_log: Map[Term, Set[Entry]] = everywhere(Set())
    committed: Set[Committed] = Set()

    # Logs ---------------------------------------------------------------------------------------------------

    def has(self, log: Set[Entry], place: Place, term: Term) -> bool:
        """Return True if a log has an entry at a place, made in a term."""
        return any(Entry(place, term, v) in log for v in self.each(Value))

    def ends(self, log: Set[Entry], last: Position | None) -> bool:
        """Return True if `last` is the last position of a log; None if the log is empty."""
        if last is None:
            return len(log) == 0
        return self.has(log, last.place, last.term) and all(e.place <= last.place for e in log)

    def follows(self, place: Place, previous: Position | None) -> bool:
        """Return True if a place is the next after a position, or the first after none."""
        return (previous is None or previous.place < place) and all(
            place <= other or (previous is not None and other <= previous.place)
            for other in self.each(Place)
        )

    def enter(self, s: Server, t: Term) -> None:
        """Leave all terms below t."""
        self.left[s] |= {below for below in self.each(Term) if below < t}

    # Elections ----------------------------------------------------------------------------------------------

    @action
    def stand(self, s: Server, t: Term, last: Position | None) -> None:
        """Stand as a candidate in a term above the current one, after a timeout: vote for oneself and request
        the votes of the others.
        """
        require(t not in self.left[s])
        require(any(below < t and below not in self.left[s] for below in self.each(Term)))
        require(self.ends(self.log[s], last))
        self.enter(s, t)
        self.requests |= {VoteRequest(s, t, last)}
        self.votes |= {Vote(s, t, s)}

    @action
    def hear(self, s: Server, t: Term) -> None:
        """Enter a term of which a message tells, whatever the answer is."""
        require(
            any(request.term == t for request in self.requests)
            or any(append.term == t for append in self.appends)
        )
        require(t not in self.left[s])
        self.enter(s, t)

    def is_behind(self, mine: Position | None, last: Position | None) -> bool:
        """Return True if a log that ends with `mine` has nothing that one that ends with `last` may lack: the
        higher term of the last entries decides, then the length.
        """
        return mine is None or (
            last is not None
            and (mine.term < last.term or (mine.term == last.term and mine.place <= last.place))
        )

    @action
    def vote(
        self, s: Server, request: Annotated[VoteRequest, In("requests")], mine: Position | None
    ) -> None:
        """Vote for a candidate whose log is not behind, once in a term."""
        require(request.term not in self.left[s])
        require(all(Vote(s, request.term, c) not in self.votes for c in self.each(Server)))
        require(self.ends(self.log[s], mine) and self.is_behind(mine, request.last))
        self.enter(s, request.term)
        self.votes |= {Vote(s, request.term, request.candidate)}

    @action
    def lead(self, s: Server, t: Term) -> None:
        """Become the leader of the current term by the votes of a majority."""
        require(t not in self.left[s] and Leader(s, t) not in self.leaders)
        require(2 * sum(1 for v in self.each(Server) if Vote(v, t, s) in self.votes) > self.servers)
        self.leaders |= {Leader(s, t)}
        self.leader_log[t] = self.log[s]

    # Logs are copied ----------------------------------------------------------------------------------------

    def is_leading(self, s: Server, t: Term) -> bool:
        """Return True if t is the current term of a server, and the server its leader."""
        return Leader(s, t) in self.leaders and t not in self.left[s]

    @action
    def propose(self, s: Server, t: Term, last: Position | None, place: Place, v: Value) -> None:
        """Append a command to the log of the leader."""
        require(self.is_leading(s, t))
        require(self.ends(self.log[s], last) and self.follows(place, last))
        self.log[s] |= {Entry(place, t, v)}
        self.leader_log[t] |= {Entry(place, t, v)}

    @action
    def send(self, s: Server, t: Term, previous: Position | None, entry: Entry) -> None:
        """Send an entry of the leader's log, with the position before it."""
        require(self.is_leading(s, t))
        require(entry in self.log[s] and self.follows(entry.place, previous))
        require(previous is None or self.has(self.log[s], previous.place, previous.term))
        self.appends |= {Append(t, previous, entry)}

    @action
    def append(self, s: Server, message: Annotated[Append, In("appends")]) -> None:
        """Append an entry after the previous one, and acknowledge it. Where the log has an entry of another
        term there, that one and all after it are deleted.
        """
        previous = message.previous
        entry = message.entry
        require(message.term not in self.left[s])
        require(previous is None or self.has(self.log[s], previous.place, previous.term))
        self.enter(s, message.term)
        if not self.has(self.log[s], entry.place, entry.term):
            self.log[s] -= {e for e in self.log[s] if e.place >= entry.place}
            self.log[s] |= {entry}
        self.acknowledged |= {Acknowledgement(s, message.term, Position(entry.place, entry.term))}

    def are_acknowledged(self, t: Term, place: Place) -> bool:
        """Return True if a majority has acknowledged to the leader of a term an entry of the term."""
        return (
            2
            * sum(
                1
                for s in self.each(Server)
                if Acknowledgement(s, t, Position(place, t)) in self.acknowledged
            )
            > self.servers
        )

    @action
    def commit(self, s: Server, t: Term, place: Place) -> None:
        """Commit the log of the leader up to an entry of its own term that a majority has acknowledged."""
        require(self.is_leading(s, t) and self.are_acknowledged(t, place))
        self.committed |= {Committed(t, place, e) for e in self.log[s] if e.place <= place}

    # What is promised ---------------------------------------------------------------------------------------

    @invariant
    def ElectionSafety(self) -> bool:
        """Invariant: at most one server leads in a term."""
        return all(
            one.term != other.term or one.server == other.server
            for one in self.leaders
            for other in self.leaders
        )

    @invariant
    def LeaderCompleteness(self) -> bool:
        """Invariant: the leader of every later term has what the leader of a term has committed."""
        return all(
            committed.entry in self.leader_log[leader.term]
            for committed in self.committed
            for leader in self.leaders
            if committed.term < leader.term
        )

    @invariant
    def StateMachineSafety(self) -> bool:
        """Invariant: at most one entry is committed at a place."""
        return all(
            one.entry.place != other.entry.place or one.entry == other.entry
            for one in self.committed
            for other in self.committed
        )

    @witness
    def something_is_committed(self) -> bool:
        """Witness: some run commits."""
        return len(self.committed) > 0


class RaftProof(Raft):
    """Invariants of the proof.

    The entries of a term are made by one leader. So an entry, wherever it is, is in the log of the leader of
    its term, and all that stands below it is the same there (`ServersMatch`, `LeadersMatch`). It follows that
    logs with the same entry are the same up to it.

    A server that acknowledges an entry to the leader who made it keeps it as long as a majority may still
    commit the entry (`AcknowledgedStays`), since every later leader has it (`LaterLeadersHaveIt`): a majority
    elected that leader, some server of it has acknowledged the entry, and it votes only for logs that are not
    behind its own. A log with a higher last term has the entry, since the leader of that term has it; a log
    with the same last term, and as long, is the same up to there (`ElectedHasIt`).
    """

    def may_commit(self, t: Term, place: Place) -> bool:
        """Return True if a majority has acknowledged an entry of the term t, or may still do so."""
        return (
            2
            * sum(
                1
                for s in self.each(Server)
                if Acknowledgement(s, t, Position(place, t)) in self.acknowledged or t not in self.left[s]
            )
            > self.servers
        )

    def has_leader(self, t: Term) -> bool:
        """Return True if a term has a leader."""
        return any(Leader(s, t) in self.leaders for s in self.each(Server))

    # Terms and elections ------------------------------------------------------------------------------------

    @invariant
    def LeftBelow(self) -> bool:
        """Invariant: a server that has left a term has left all terms below."""
        return all(
            below in self.left[s]
            for s in self.each(Server)
            for t in self.left[s]
            for below in self.each(Term)
            if below < t
        )

    def has_entered(self, s: Server, t: Term) -> bool:
        """Return True if a server has left all terms below t."""
        return all(below in self.left[s] for below in self.each(Term) if below < t)

    @invariant
    def VotersHaveEntered(self) -> bool:
        """Invariant: a server that has voted in a term has left all terms below."""
        return all(self.has_entered(vote.server, vote.term) for vote in self.votes)

    @invariant
    def CandidatesHaveEntered(self) -> bool:
        """Invariant: a candidate in a term has left all terms below."""
        return all(self.has_entered(request.candidate, request.term) for request in self.requests)

    @invariant
    def LeadersHaveEntered(self) -> bool:
        """Invariant: the leader of a term has left all terms below."""
        return all(self.has_entered(leader.server, leader.term) for leader in self.leaders)

    @invariant
    def OneVote(self) -> bool:
        """Invariant: a server votes once in a term."""
        return all(
            one.server != other.server or one.term != other.term or one.candidate == other.candidate
            for one in self.votes
            for other in self.votes
        )

    @invariant
    def OnlyCandidatesGetVotes(self) -> bool:
        """Invariant: in the term of a vote its candidate has left all terms below."""
        return all(self.has_entered(vote.candidate, vote.term) for vote in self.votes)

    @invariant
    def ElectedByMajority(self) -> bool:
        """Invariant: in each term a majority has voted for whoever leads."""
        return all(
            2
            * sum(
                1
                for v in self.each(Server)
                if all(Vote(v, t, s) in self.votes for s in self.each(Server) if Leader(s, t) in self.leaders)
            )
            > self.servers
            for t in self.each(Term)
        )

    @invariant
    def OneRequest(self) -> bool:
        """Invariant: a candidate requests votes once in a term."""
        return all(
            one.candidate != other.candidate or one.term != other.term or one.last == other.last
            for one in self.requests
            for other in self.requests
        )

    @invariant
    def RequestShowsLog(self) -> bool:
        """Invariant: until its term has a leader, or until it leaves the term, the log of a candidate ends as
        its request says.
        """
        return all(
            self.has_leader(t)
            or all(
                t in self.left[request.candidate] or self.ends(self.log[request.candidate], request.last)
                for request in self.requests
                if request.term == t
            )
            for t in self.each(Term)
        )

    # Logs ---------------------------------------------------------------------------------------------------

    @invariant
    def LeaderHasItsLog(self) -> bool:
        """Invariant: the log of the leader of a term is its own, until it leaves the term."""
        return all(
            leader.term in self.left[leader.server]
            or self.log[leader.server] == self.leader_log[leader.term]
            for leader in self.leaders
        )

    @invariant
    def LogNeedsLeader(self) -> bool:
        """Invariant: only a term that has a leader has a leader's log."""
        return all(self.has_leader(t) or len(self.leader_log[t]) == 0 for t in self.each(Term))

    @invariant
    def NoFutureEntries(self) -> bool:
        """Invariant: no log has an entry of a term that its server has not entered, or that the leader did
        not know.
        """
        return all(self.has_entered(s, e.term) for s in self.each(Server) for e in self.log[s]) and all(
            e.term <= t for t in self.each(Term) for e in self.leader_log[t]
        )

    @invariant
    def OneEntry(self) -> bool:
        """Invariant: the log of a leader has one entry at a place."""
        return all(
            one.place != other.place or one == other
            for t in self.each(Term)
            for one in self.leader_log[t]
            for other in self.leader_log[t]
        )

    def matches(self, log: Set[Entry]) -> bool:
        """Return True if a log, up to each of its entries, is the log of the leader that made the entry."""
        return all(
            (Entry(place, t, v) in log) == (Entry(place, t, v) in self.leader_log[e.term])
            for e in log
            for place in self.each(Place)
            for t in self.each(Term)
            for v in self.each(Value)
            if place <= e.place
        )

    @invariant
    def ServersMatch(self) -> bool:
        """Invariant: up to each of its entries, the log of a server is that of the leader who made it."""
        return all(self.matches(self.log[s]) for s in self.each(Server))

    @invariant
    def LeadersMatch(self) -> bool:
        """Invariant: up to each of its entries, the log of a leader is that of the leader who made it."""
        return all(self.matches(self.leader_log[t]) for t in self.each(Term))

    def grows(self, log: Set[Entry]) -> bool:
        """Return True if no entry of a log has a lower term than one below it."""
        return all(
            one.term <= other.term for one in log for other in log if one.place <= other.place
        )

    @invariant
    def TermsGrow(self) -> bool:
        """Invariant: from place to place the terms of a log do not fall."""
        return all(self.grows(self.log[s]) for s in self.each(Server)) and all(
            self.grows(self.leader_log[t]) for t in self.each(Term)
        )

    # Messages -----------------------------------------------------------------------------------------------

    @invariant
    def AppendsFollow(self) -> bool:
        """Invariant: an entry is sent with the position before it."""
        return all(self.follows(append.entry.place, append.previous) for append in self.appends)

    @invariant
    def AppendsAreOfTheLeader(self) -> bool:
        """Invariant: an entry that is sent, and the one before it, are in the log of the leader."""
        return all(
            append.entry in self.leader_log[append.term]
            and (
                append.previous is None
                or self.has(self.leader_log[append.term], append.previous.place, append.previous.term)
            )
            for append in self.appends
        )

    @invariant
    def AcknowledgedAreOfTheLeader(self) -> bool:
        """Invariant: an entry that is acknowledged is in the log of the leader."""
        return all(
            self.has(self.leader_log[a.term], a.position.place, a.position.term) for a in self.acknowledged
        )

    # What may be committed ----------------------------------------------------------------------------------

    @invariant
    def CommittedIsOfTheLeader(self) -> bool:
        """Invariant: what is committed is in the log of the leader, not above an entry of its term."""
        return all(
            c.entry in self.leader_log[c.term]
            and c.entry.place <= c.place
            and self.has(self.leader_log[c.term], c.place, c.term)
            for c in self.committed
        )

    @invariant
    def CommittedByMajority(self) -> bool:
        """Invariant: a majority has acknowledged an entry up to which a leader has committed its log."""
        return all(
            self.are_acknowledged(t, place) or all(c.term != t or c.place != place for c in self.committed)
            for t in self.each(Term)
            for place in self.each(Place)
        )

    @invariant
    def AcknowledgedStays(self) -> bool:
        """Invariant: a server keeps an entry that it has acknowledged to the leader who made it, as long as
        that leader may commit it.
        """
        return all(
            self.has(self.log[s], place, t)
            for t in self.each(Term)
            for place in self.each(Place)
            for s in self.each(Server)
            if Acknowledgement(s, t, Position(place, t)) in self.acknowledged and self.may_commit(t, place)
        )

    @invariant
    def ElectedHasIt(self) -> bool:
        """Invariant: a candidate who has the vote of a server has the entries that the server acknowledged
        and that may be committed, until its term has a leader, or until it leaves the term.
        """
        return all(
            self.has_leader(later)
            or all(
                later in self.left[c] or self.has(self.log[c], place, t)
                for t in self.each(Term)
                for place in self.each(Place)
                for s in self.each(Server)
                for c in self.each(Server)
                if t < later
                and Vote(s, later, c) in self.votes
                and Acknowledgement(s, t, Position(place, t)) in self.acknowledged
                and self.may_commit(t, place)
            )
            for later in self.each(Term)
        )

    @invariant
    def LaterLeadersHaveIt(self) -> bool:
        """Invariant: every later leader has an entry that may be committed."""
        return all(
            self.has(self.leader_log[later], place, t)
            for t in self.each(Term)
            for place in self.each(Place)
            for later in self.each(Term)
            if t <= later
            and self.has_leader(later)
            and self.has(self.leader_log[t], place, t)
            and self.may_commit(t, place)
        )
