"""Small specifications that between them use the whole language; their state graphs are small enough to be
compared transition by transition.
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
    emit,
    environment,
    everywhere,
    expect,
    guard,
    initial,
    invariant,
    obligation,
    on,
    present,
    record,
    require,
    witness,
)


class Desk(Index, size="desks", ordered=True):
    """A desk at which people are served."""


class Person(Index, size="people"):
    """A person that waits."""


class Mood(Enum):
    """Mood of a desk."""

    CALM = 1
    BUSY = 2


@record
class Ticket:
    """A number of the queue."""

    person: Person
    number: Annotated[int, Between(1, "tickets")]


@record
class Served:
    """`ticket` was served at `desk`."""

    desk: Desk
    ticket: Ticket


@record
class Left:
    """Event of a person who gave up."""

    person: Person | None


class Counters(Spec):
    """A queue before several desks, with handlers that count who is served: sequences, optional values, maps,
    events, guards in branches.
    """

    desks: Const[int] = 2
    people: Const[int] = 2
    tickets: Const[int] = 2
    strict: Const[bool] = False
    last: Const[bool] = False

    queue: Annotated[Seq[Ticket], AtMost("people")] = ()
    at: Map[Desk, Ticket | None] = everywhere(None)
    mood: Map[Desk, Mood] = everywhere(Mood.CALM)
    issued: Annotated[int, Between(0, "tickets")] = 0
    served: Set[Ticket] = Set()
    counts: Map[Annotated[int, Between(1, "tickets")], Annotated[int, Between(0, 1)]] = everywhere(0)
    notes: Set[Served | Left] = Set()

    @initial
    def start(self, d: Desk) -> None:
        """One desk begins busy."""
        self.mood[d] = Mood.BUSY

    @guard
    def open_desk(self, d: Desk) -> bool:
        """A desk works when it is calm or has somebody."""
        return self.mood[d] is Mood.CALM or self.at[d] is not None or d == Desk(0)

    def waiting(self, p: Person) -> bool:
        """Return True if this person is in the queue or at a desk."""
        return any(t.person == p for t in self.queue) or any(
            self.at[d] is not None and present(self.at[d]).person == p for d in self.each(Desk)
        )

    def free_desk(self) -> Desk | None:
        """The first desk without anybody."""
        return next((d for d in self.each(Desk) if self.at[d] is None), None)

    def load(self) -> int:
        """Number of taken desks."""
        return sum(1 for d in self.each(Desk) if self.at[d] is not None)

    @action
    def take(self, p: Person) -> None:
        """A person takes the next number."""
        require(not self.waiting(p))
        require(self.issued < self.tickets)
        self.issued += 1
        self.queue += (Ticket(p, self.issued),)

    @action
    def call(self, d: Desk) -> None:
        """A desk calls somebody."""
        require(len(self.queue) > 0 and self.at[d] is None)
        if self.strict:
            require(self.free_desk() == d)
        if not self.last:
            self.at[d] = self.queue[0]
            self.queue = self.queue[1:]
        else:
            self.at[d] = self.queue[1] if len(self.queue) > d.index + 1 else self.queue[0]
            self.queue = self.queue[1:] if len(self.queue) == 1 else (self.queue[0],)
        self.mood[d] = Mood.BUSY

    @action
    def serve(self, d: Desk) -> None:
        """The work is done."""
        ticket = self.at[d]
        require(ticket is not None)
        self.finish(d, present(ticket))
        emit(Served(d, present(ticket)))

    def finish(self, d: Desk, t: Ticket) -> None:
        """The desk is free again, and calm when it was the only one."""
        self.at[d] = None
        if self.load() > 0:
            return
        for other in self.each(Desk):
            self.mood[other] = Mood.CALM

    @environment
    def give_up(self, note: Annotated[Served, In("notes")]) -> None:
        """Give up after a complaint; the note about the service is removed."""
        require(self.load() == 0)
        self.notes -= {note}
        emit(Left(note.ticket.person))
        emit(Left(None))

    @on(Served)
    def count(self, event: Served) -> None:
        """A number is served once, and in order."""
        number = event.ticket.number
        expect(self.counts[number] == 0, "Once", Served(event.desk, event.ticket))
        later = {t for t in self.served if t.number > number}
        expect(len(later) == 0, "InOrder")
        self.served |= {event.ticket}
        self.counts[number] = 1

    @on(Served)
    def remember(self, event: Served) -> None:
        """The last note stays."""
        self.notes = {item for item in self.notes if isinstance(item, Left)} | {event}

    @on(Left)
    def farewell(self, event: Left) -> None:
        """Record the person who left."""
        if event.person is None:
            return
        self.notes ^= {event}

    @invariant
    def numbers_differ(self) -> bool:
        """No two tickets in the queue have one number."""
        return all(a.number != b.number or a == b for a in self.queue for b in self.queue)

    @invariant
    def issued_is_enough(self) -> bool:
        """No number beyond the last was given."""
        highest = max((t.number for t in self.served), default=0)
        return highest <= self.issued and min((t.number for t in self.queue), default=1) >= 1

    @witness
    def all_served(self) -> bool:
        """Every number was served."""
        return all(self.counts[k] == 1 for k in self.each(Annotated[int, Between(1, "tickets")]))

    @obligation
    def queue_empties(self) -> bool:
        """The queue is empty in the end."""
        return len(self.queue) == 0


class Broken(Spec):
    """Every kind of mistake that a specification can make while it runs: each action is wrong in some of its
    states.
    """

    top: Const[int] = 2

    level: Annotated[int, Between(0, "top")] = 0
    line: Annotated[Seq[Mood], AtMost(1)] = ()
    holder: Desk | None = None
    desks: Const[int] = 2
    people: Const[int] = 1
    tickets: Const[int] = 1
    last: Served | Left = Left(None)
    seen: Set[Annotated[int, Between(0, "top")]] = Set()

    @action
    def climb(self, by: Annotated[int, Between(1, 2)]) -> None:
        """Leaves the domain near the top."""
        self.level += by

    @action
    def fall(self) -> None:
        """Back to the ground."""
        require(self.level > 0)
        self.level = 0
        self.holder = Desk(1)

    @action
    def share(self, among: Annotated[int, Between(0, 2)]) -> None:
        """Divides by what may be zero, after a guard."""
        require(self.level > 0 or among > 0)
        self.level = 2 // (self.level if among == 0 else among) % (among + 1)

    @action
    def append(self, m: Mood) -> None:
        """One item too many the second time."""
        self.line += (m,)

    @action
    def shorten(self) -> None:
        """An item beyond the end, unless the guard before it is false."""
        require(self.level != 1 or self.line[0] is Mood.BUSY)
        self.line = self.line[1:]

    @action
    def ask(self) -> None:
        """Read an absent value as if it were there."""
        holder = present(self.holder)
        self.seen |= {holder.index + self.level}
        self.holder = None

    @action
    def mark(self) -> None:
        """The double of the level, which leaves the domain at the top."""
        self.seen |= {k + self.level for k in self.each(Annotated[int, Between(0, "top")]) if k == self.level}

    @action
    def name_desk(self) -> None:
        """No such desk at the top."""
        self.holder = Desk(self.level)

    @action
    def find(self) -> None:
        """Find no value, or the least of none."""
        self.level = next(
            k for k in self.each(Annotated[int, Between(0, "top")]) if k in self.seen and k >= self.level
        )
        self.seen -= {min(k for k in self.seen if k > 0)}

    @action
    def note(self, d: Desk) -> None:
        """A field out of range at the ground."""
        require(len(self.line) == 0 or self.level == 2)
        self.last = Served(d, Ticket(Person(0), self.level))

    @invariant
    def looks(self) -> bool:
        """Asks for what may be absent."""
        return self.level < 2 or present(self.holder).index < 2

    @invariant
    def last_is_known(self) -> bool:
        """Tells the records of a union apart."""
        return not isinstance(self.last, Served) or self.last.ticket.number == 1


Entry = Annotated[int, Between(0, "entries - 1")]
Place = Annotated[int, Between(0, "length")]


class Logs(Spec):
    """Two logs that are cut, joined, searched, turned and compared: all that can be done with sequences."""

    entries: Const[int] = 2
    length: Const[int] = 3

    leader: Annotated[Seq[Entry], AtMost("length")] = ()
    follower: Annotated[Seq[Entry], AtMost("length")] = ()
    rising: bool = True

    def lags(self) -> bool:
        """What the follower has is a prefix of what the leader has, and not all of it."""
        return self.leader[: len(self.follower)] == self.follower and len(self.follower) < len(self.leader)

    def place_of(self, e: Entry) -> int:
        """Where the leader has an entry last, the length of its log where nowhere."""
        last = len(self.leader) - 1
        found = next((i for i in range(len(self.leader)) if tuple(reversed(self.leader))[i] == e), None)
        return len(self.leader) if found is None else last - found

    @action
    def append(self, e: Entry) -> None:
        """At the end."""
        require(len(self.leader) < self.length)
        self.leader += (e,)

    @action
    def replicate(self) -> None:
        """The next entry."""
        require(self.lags())
        self.follower += (self.leader[len(self.follower)],)

    @action
    def truncate(self, k: Place) -> None:
        """The last entries are lost; those that remain are the first."""
        require(0 < k <= len(self.leader))
        self.follower = self.leader[len(self.leader) - k :]
        self.leader = self.leader[: len(self.leader) - k]

    @action
    def undo(self) -> None:
        """The last entry is lost, unless it is greater than the one before it."""
        require(len(self.follower) >= 2 and self.follower[-1] <= self.follower[len(self.follower) - 2])
        self.follower = self.follower[:-1]

    @action
    def cut(self, i: Place) -> None:
        """One entry is taken out."""
        require(i < len(self.follower))
        self.follower = self.follower[:i] + self.follower[i + 1 :]

    @action
    def overwrite(self, e: Entry) -> None:
        """The last entry is another one."""
        require(self.place_of(e) < len(self.leader) - 1)
        self.leader = self.leader[:-1] + (e,)  # noqa: RUF005

    @action
    def drop(self, e: Entry) -> None:
        """All of one kind are taken out, and the rest counted on."""
        require(e in self.leader[1:-1])
        self.leader = tuple((x + 1) % self.entries for x in self.leader if x != e)

    @action
    def turn(self) -> None:
        """Both change places, and one is turned round."""
        leader = self.leader
        self.leader = self.follower
        self.follower = tuple(reversed(leader))

    @action
    def survey(self) -> None:
        """Whether no entry is less than the one before it; and the follower begins with everything."""
        require(len(self.leader) + self.entries <= self.length)
        self.rising = True
        for i in range(1, len(self.leader)):
            if self.leader[i - 1] > self.leader[i]:
                self.rising = False
        self.follower = tuple(self.each(Entry)) + self.leader

    @invariant
    def bounded(self) -> bool:
        """A prefix is not longer, and a log is a prefix of itself."""
        whole = self.leader[: len(self.leader)] == self.leader
        return whole and (not self.lags() or len(self.follower) < self.length)

    @invariant
    def in_order(self) -> bool:
        """No entry of the follower is followed by a smaller one: some are."""
        return all(self.follower[i] <= self.follower[i + 1] for i in range(len(self.follower) - 1))
