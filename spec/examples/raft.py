"""Raft with logs: one leader for each term, whose log the other servers copy; committed entries stay.

Sources: D. Ongaro, J. Ousterhout, "In search of an understandable consensus algorithm", USENIX ATC 2014,
figures 2 and 3; D. Ongaro, the TLA+ module raft, 2014.

An entry is the term that it was made in: one leader makes all entries of a term, one for each place. Messages
are a set that only grows, so that they may be lost, repeated and overtaken; an answer of "no" tells a leader
only what to try next, and in this model it tries everything. A server that stops is one that takes no steps;
restarts, snapshots and changes of the cluster are left out.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Index,
    Map,
    Seq,
    Set,
    Spec,
    action,
    everywhere,
    invariant,
    mutation,
    record,
    require,
    witness,
)


class Server(Index, size="servers", symmetric=True):
    """A server of the cluster."""


class Role(Enum):
    """Role of a server in its current term."""

    FOLLOWER, CANDIDATE, LEADER = range(3)


Term = Annotated[int, Between(0, "terms")]
"""A term; 0 is before the first election."""

Entry = Annotated[int, Between(1, "terms")]
"""An entry of the log: the term in which it was made."""

Log = Annotated[Seq[Entry], AtMost("entries")]
"""Log of a server."""

Length = Annotated[int, Between(0, "entries")]
"""A number of entries, from the beginning of a log."""


@record
class RequestVote:
    """Message: a candidate asks for votes, with the length of its log and the term of the last entry."""

    term: Term
    candidate: Server
    length: Length
    last_term: Term


@record
class Vote:
    """Message: a server votes for a candidate."""

    term: Term
    voter: Server
    candidate: Server


@record
class AppendEntries:
    """Message: a leader's entries after the first `previous` ones, the last of which has the given term."""

    term: Term
    previous: Length
    previous_term: Term
    entries: Log
    commit: Length


@record
class Accepted:
    """Message: a server's log equals that of the leader up to this length."""

    term: Term
    server: Server
    length: Length


class RaftText(Spec):
    """Raft as in figure 2, without its planted faults."""

    servers: Const[int] = 3
    terms: Const[int] = 2
    entries: Const[int] = 1

    term: Map[Server, Term] = everywhere(0)
    voted_for: Map[Server, Server | None] = everywhere(None)
    role: Map[Server, Role] = everywhere(Role.FOLLOWER)
    log: Map[Server, Log] = everywhere(())
    commit: Map[Server, Length] = everywhere(0)
    messages: Set[RequestVote | Vote | AppendEntries | Accepted] = Set()

    def is_leader(self, s: Server) -> bool:
        """Return True if s leads in its term, or believes so."""
        return self.role[s] is Role.LEADER

    def last_term(self, s: Server) -> int:
        """Return the term of the last entry in the log of s; 0 if the log is empty."""
        return self.log[s][-1] if len(self.log[s]) > 0 else 0

    def has_its_vote(self, s: Server) -> bool:
        """Return True if s has not voted in its term."""
        return self.voted_for[s] is None

    def is_up_to_date(self, s: Server, request: RequestVote) -> bool:
        """Return True if the candidate's log is at least as up to date as that of s (section 5.4.1)."""
        return request.last_term > self.last_term(s) or (
            request.last_term == self.last_term(s) and request.length >= len(self.log[s])
        )

    def has_accepted(self, s: Server, term: Term, length: Length) -> bool:
        """Return True if s has said that its log is that of the leader up to this length, or beyond."""
        return any(Accepted(term, s, n) in self.messages for n in self.each(Length) if n >= length)

    def may_commit(self, s: Server, length: Length) -> bool:
        """Return True if leader s may commit its log up to this length by counting copies: the last entry is
        of its own term (section 5.4.2).
        """
        return self.log[s][length - 1] == self.term[s] if length > 0 else False

    @action
    def time_out(self, s: Server) -> None:
        """Let s, which hears nothing of a leader, stand for election in a new term."""
        require(not self.is_leader(s) and self.term[s] < self.terms)
        term = self.term[s] + 1
        self.messages |= {RequestVote(term, s, len(self.log[s]), self.last_term(s)), Vote(term, s, s)}
        self.term[s] = term
        self.voted_for[s] = s
        self.role[s] = Role.CANDIDATE

    @action
    def update_term(self, s: Server, message: Annotated[RequestVote | AppendEntries, In("messages")]) -> None:
        """Let s learn of a later term, and follow in it."""
        require(message.term > self.term[s])
        self.term[s] = message.term
        self.voted_for[s] = None
        self.role[s] = Role.FOLLOWER

    @action
    def vote(self, s: Server, request: Annotated[RequestVote, In("messages")]) -> None:
        """Vote at s for a candidate, for one in each term."""
        require(request.term == self.term[s] and self.has_its_vote(s))
        require(self.is_up_to_date(s, request))
        self.voted_for[s] = request.candidate
        self.messages |= {Vote(request.term, s, request.candidate)}

    @action
    def become_leader(self, s: Server) -> None:
        """Make s the leader, for which a majority has voted."""
        require(self.role[s] is Role.CANDIDATE)
        votes = sum(1 for q in self.each(Server) if Vote(self.term[s], q, s) in self.messages)
        require(2 * votes > self.servers)
        self.role[s] = Role.LEADER

    @action
    def client_request(self, s: Server) -> None:
        """Append an entry to the log of a leader."""
        require(self.is_leader(s) and len(self.log[s]) < self.entries)
        self.log[s] += (self.term[s],)

    @action
    def append_entries(self, s: Server, previous: Length) -> None:
        """Send the leader's entries after the first `previous` ones, to all servers."""
        mine = self.log[s]
        require(self.is_leader(s) and previous <= len(mine))
        before = mine[previous - 1] if previous > 0 else 0
        self.messages |= {AppendEntries(self.term[s], previous, before, mine[previous:], self.commit[s])}

    @action
    def accept(self, s: Server, message: Annotated[AppendEntries, In("messages")]) -> None:
        """Append the leader's entries at s, which has the entry that they follow; they replace other entries
        that s may have there.
        """
        mine = self.log[s]
        previous = message.previous
        new = message.entries
        require(message.term == self.term[s] and not self.is_leader(s))
        require(previous == 0 or (previous <= len(mine) and mine[previous - 1] == message.previous_term))
        length = previous + len(new)
        if mine[previous:length] != new:
            self.log[s] = mine[:previous] + new
        self.role[s] = Role.FOLLOWER
        self.commit[s] = max(self.commit[s], min(message.commit, length))
        self.messages |= {Accepted(message.term, s, length)}

    @action
    def advance_commit(self, s: Server, length: Length) -> None:
        """Commit at leader s its log up to this length, which a majority has stored."""
        require(self.is_leader(s) and self.commit[s] < length <= len(self.log[s]))
        require(self.may_commit(s, length))
        copies = sum(1 for q in self.each(Server) if q == s or self.has_accepted(q, self.term[s], length))
        require(2 * copies > self.servers)
        self.commit[s] = length

    @invariant
    def ElectionSafety(self) -> bool:
        """Invariant: a term has at most one leader."""
        return not any(
            a != b and self.is_leader(a) and self.is_leader(b) and self.term[a] == self.term[b]
            for a in self.each(Server)
            for b in self.each(Server)
        )

    @invariant
    def LogMatching(self) -> bool:
        """Invariant: logs that have an entry in common are equal up to that entry."""
        return all(
            self.log[a][i] != self.log[b][i] or self.log[a][:i] == self.log[b][:i]
            for a in self.each(Server)
            for b in self.each(Server)
            for i in range(min(len(self.log[a]), len(self.log[b])))
        )

    @invariant
    def LeaderCompleteness(self) -> bool:
        """Invariant: a leader has every entry that was committed before its term."""
        return all(
            not self.is_leader(a)
            or self.term[b] > self.term[a]
            or self.log[a][: self.commit[b]] == self.log[b][: self.commit[b]]
            for a in self.each(Server)
            for b in self.each(Server)
        )

    @invariant
    def StateMachineSafety(self) -> bool:
        """Invariant: no two servers have committed different entries at one place."""
        return all(
            self.commit[a] > self.commit[b] or self.log[a][: self.commit[a]] == self.log[b][: self.commit[a]]
            for a in self.each(Server)
            for b in self.each(Server)
        )

    @witness
    def CommittedEverywhere(self) -> bool:
        """Witness: all servers have committed an entry."""
        return all(self.commit[s] > 0 for s in self.each(Server))

    @witness
    def Overwritten(self) -> bool:
        """Witness: where an earlier leader has an entry, a later leader has none, or another one."""
        return any(
            self.is_leader(a)
            and self.is_leader(b)
            and self.term[a] < self.term[b]
            and len(self.log[a]) > 0
            and self.log[a] != self.log[b]
            for a in self.each(Server)
            for b in self.each(Server)
        )


@mutation("a server votes for a candidate whose log is behind its own")
class VoteForAnybody(RaftText):
    """Planted fault: a server votes for any candidate. Correct code compares the logs first
    (section 5.4.1).
    """

    def is_up_to_date(self, s: Server, request: RequestVote) -> bool:
        """Return True: any log counts as up to date."""
        return True


@mutation("a server votes again in one term")
class VoteAgain(RaftText):
    """Planted fault: a server forgets its vote. It may vote twice in a term; correct code votes once."""

    def has_its_vote(self, s: Server) -> bool:
        """Return True: every server counts as not having voted."""
        return True


@mutation("a leader counts copies of entries of earlier leaders too")
class CountAllCopies(RaftText):
    """Planted fault: a leader commits entries of any term by counting copies. Correct code counts only
    entries of its own term (figure 8).
    """

    def may_commit(self, s: Server, length: Length) -> bool:
        """Return True if the leader may commit its log up to this length; entries of earlier terms may be
        committed too.
        """
        return length > 0


class Raft(RaftText, mutations=(VoteForAnybody, VoteAgain, CountAllCopies)):
    """Raft, with planted faults that leave out one of three rules each, switched on by name."""
