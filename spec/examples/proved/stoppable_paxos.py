"""Stoppable Paxos: a log of decisions that ends with the command to stop.

Sources: L. Lamport, D. Malkhi, L. Zhou, "Stoppable Paxos", Microsoft Research, 2008; O. Padon, G. Losa, M. Sagiv, S.
Shoham, "Paxos made EPR: decidable reasoning about distributed protocols", OOPSLA 2017; problem `stoppable_paxos_epr`
of mypyvy.

What a quorum voted for last may contradict itself: a vote to stop at one instance, and votes for later ones. The leader
of a round takes the vote to stop of the highest round. Where a later instance has a vote of a higher round still, that
vote was given when stopping was out of the question, and no stop is proposed again; else nothing is proposed after the
stop.
"""

from __future__ import annotations

from antiphon.spec.examples.proved.paxos import Acceptor, Member, Round, Value
from antiphon.spec.lang import (
    Const,
    Index,
    Map,
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
    """A value for a place in a round."""

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
    """The last vote for a place that the leader of a round knows of."""

    place: Place
    round: Round
    value: Value


class StoppablePaxos(Spec):
    """One round of joining for all places; the value `stop` ends the log."""

    acceptors: Const[int] = 3
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
        """Some value is the command to stop."""
        self.stop = stop

    @action
    def begin(self, r: Round) -> None:
        """The leader of a round asks all to join."""
        self.begun |= {r}

    @action
    def join(self, a: Acceptor, r: Round) -> None:
        """An acceptor joins a round that it has not left, and leaves all below."""
        require(r in self.begun and Member(a, r) not in self.left)
        self.joined |= {Member(a, r)}
        self.left |= {Member(a, below) for below in self.each(Round) if below < r}
