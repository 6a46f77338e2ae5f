"""Raft whose cluster changes, one server at a time, and whose leader announces committed entries by
heartbeats.

Sources: D. Ongaro, "Consensus: bridging theory and practice", 2014, section 4.1; etcd's raft, in which a
change counts from when its entry is applied, and a heartbeat carries what is committed.

An entry of the log is its term alone. `changes` says, by term and place, what a configuration entry changes.
A server counts the members that it knows of after the changes that it has applied; a leader makes a change
when it has applied those before. At the beginning all are members. What a leader has committed it announces
at once, and for ever, as messages are sent in `raft`; to a server it announces as much as that has stored.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.examples.raft import Length, RaftText, Role, Server, Term, Vote
from antiphon.spec.lang import (
    Const,
    In,
    Map,
    Set,
    action,
    everywhere,
    invariant,
    mutation,
    record,
    require,
    witness,
)


@record
class Change:
    """Configuration entry: a server joins or leaves by the entry of this term at this place."""

    term: Term
    place: Length
    server: Server
    joins: bool


@record
class Heartbeat:
    """Message: a leader announces its committed entries."""

    term: Term
    commit: Length


class RaftMembersText(RaftText):
    """Raft as in figure 2, with majorities of the members that a server knows of."""

    turns: Const[int] = 1

    outside: Map[Server, Set[Server]] = everywhere(Set())
    applied: Map[Server, Length] = everywhere(0)
    changes: Set[Change] = Set()
    heartbeats: Set[Heartbeat] = Set()

    def members(self, s: Server) -> int:
        """Return the number of members of the cluster, as server s knows it."""
        return sum(1 for q in self.each(Server) if q not in self.outside[s])

    def has(self, s: Server, change: Change) -> bool:
        """Return True if the log of s has the entry of the change."""
        place = change.place
        return self.log[s][place - 1] == change.term if 0 < place <= len(self.log[s]) else False

    def is_settled(self, s: Server) -> bool:
        """Return True if s has applied all changes in its log."""
        return all(change.place <= self.applied[s] or not self.has(s, change) for change in self.changes)

    @action
    def become_leader(self, s: Server) -> None:
        """Make s the leader, for which a majority of the members that it knows has voted."""
        require(self.role[s] is Role.CANDIDATE)
        known = self.outside[s]
        term = self.term[s]
        votes = sum(1 for q in self.each(Server) if q not in known and Vote(term, q, s) in self.messages)
        require(2 * votes > self.members(s))
        self.role[s] = Role.LEADER

    @action
    def advance_commit(self, s: Server, length: Length) -> None:
        """Commit at leader s its log up to this length, which a majority of the members has stored, unless
        it has committed just that.
        """
        require(self.is_leader(s) and self.commit[s] <= length <= len(self.log[s]))
        require(length == self.commit[s] or self.may_commit(s, length))
        known = self.outside[s]
        copies = sum(
            1
            for q in self.each(Server)
            if q not in known and (q == s or self.has_accepted(q, self.term[s], length))
        )
        require(length == self.commit[s] or 2 * copies > self.members(s))
        self.commit[s] = length
        self.heartbeats |= {Heartbeat(self.term[s], length)}

    @action
    def change_members(self, s: Server, server: Server) -> None:
        """Append, at a leader, the entry by which a server leaves, or joins if it is outside."""
        require(self.is_leader(s) and len(self.log[s]) < self.entries and len(self.changes) < self.turns)
        require(self.is_settled(s))
        self.log[s] += (self.term[s],)
        self.changes |= {Change(self.term[s], len(self.log[s]), server, server in self.outside[s])}

    @action
    def apply_change(self, s: Server, change: Annotated[Change, In("changes")]) -> None:
        """Apply at s the next change of its log that is committed."""
        require(self.applied[s] < change.place <= self.commit[s] and self.has(s, change))
        require(
            all(
                other.place <= self.applied[s] or other.place >= change.place or not self.has(s, other)
                for other in self.changes
            )
        )
        self.applied[s] = change.place
        if change.joins:
            self.outside[s] -= {change.server}
        else:
            self.outside[s] |= {change.server}

    @action
    def hear(self, s: Server, length: Length) -> None:
        """Let s hear its leader, from which it learns that the entries up to this length are committed; it
        has stored all of them. The leader repeats what s knows.
        """
        require(not self.is_leader(s))
        require(
            length == self.commit[s]
            or any(one.term == self.term[s] and length <= one.commit for one in self.heartbeats)
        )
        require(length == self.commit[s] or self.has_accepted(s, self.term[s], length))
        require(self.commit[s] <= length)
        self.role[s] = Role.FOLLOWER
        self.commit[s] = length

    @invariant
    def LogMatching(self) -> bool:
        """Invariant: logs that have an entry in common are equal up to that entry. Of two logs the shorter
        one is looked through, unless it is the beginning of the other.
        """
        return all(
            self.log[a][i] != self.log[b][i] or self.log[a][:i] == self.log[b][:i]
            for a in self.each(Server)
            for b in self.each(Server)
            if len(self.log[a]) <= len(self.log[b]) and self.log[a] != self.log[b][: len(self.log[a])]
            for i in range(len(self.log[a]))
        )

    @witness
    def Changed(self) -> bool:
        """Witness: a server has applied a change of members."""
        return any(self.applied[s] > 0 for s in self.each(Server))


@mutation("a leader makes a change before it has applied the one before")
class ChangeUnsettled(RaftMembersText):
    """Planted fault: a leader begins a change of members before the last one is applied. Correct code changes
    one server at a time.
    """

    def is_settled(self, s: Server) -> bool:
        """Return True: the planted fault lets a leader begin a change before the last one is applied."""
        return True


class RaftMembers(RaftMembersText, mutations=(ChangeUnsettled,)):
    """Raft with changes of members, and the planted fault that shows why only one change at a time is
    allowed.
    """
