"""Small specifications in which what comes about depends on who is fair to whom: philosophers, a channel that
loses, a lock.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    In,
    Index,
    Map,
    Set,
    Spec,
    action,
    always,
    always_eventually,
    environment,
    eventually,
    eventually_always,
    everywhere,
    fair,
    implies,
    leads_to,
    obligation,
    record,
    require,
    witness,
)


class Philosopher(Index, size="seats"):
    """A philosopher, and the fork on the left."""


class Table(Spec):
    """Philosophers take the left fork first, then the right one; with `last_differs` the last one begins on
    the right.
    """

    seats: Const[int] = 3
    last_differs: Const[bool] = True

    left: Map[Philosopher, bool] = everywhere(False)
    right: Map[Philosopher, bool] = everywhere(False)

    def after(self, p: Philosopher) -> Philosopher:
        """The neighbour on the right, whose left fork is p's right one."""
        return Philosopher((p.index + 1) % self.seats)

    def before(self, p: Philosopher) -> Philosopher:
        """The neighbour on the left."""
        return Philosopher((p.index + self.seats - 1) % self.seats)

    def starts_right(self, p: Philosopher) -> bool:
        """Return True if p takes the right fork first."""
        return self.last_differs and p.index == self.seats - 1

    @action(fairness="weak", per="p")
    def take_left(self, p: Philosopher) -> None:
        """The left fork lies there."""
        require(not self.left[p] and not self.right[self.before(p)])
        require(not self.starts_right(p) or self.right[p])
        self.left[p] = True

    @action(fairness="weak", per="p")
    def take_right(self, p: Philosopher) -> None:
        """The right fork lies there."""
        require(not self.right[p] and not self.left[self.after(p)])
        require(self.starts_right(p) or self.left[p])
        self.right[p] = True

    @action(fairness="weak", per="p")
    def put_down(self, p: Philosopher) -> None:
        """Put down both forks after eating."""
        require(self.left[p] and self.right[p])
        self.left[p] = False
        self.right[p] = False

    def eats(self, p: Philosopher) -> bool:
        """P has both forks."""
        return self.left[p] and self.right[p]

    @witness
    def somebody_eats(self) -> bool:
        """Some philosopher has both forks."""
        return any(self.eats(p) for p in self.each(Philosopher))

    everybody_eats = always_eventually("eats")
    never_all_hungry = always_eventually("somebody_eats")


ALL_STRONG = {"take_left": ("strong", "p"), "take_right": ("strong", "p"), "put_down": ("strong", "p")}


class Number(Index, size="numbers", ordered=True):
    """Number of a packet, in the order of sending."""


@record
class Packet:
    """One number on its way."""

    number: Number


class LossyChannel(Spec):
    """A sender repeats a number until it has arrived (if `stubborn`, for ever); the channel may lose any
    packet, as often as it likes.
    """

    numbers: Const[int] = 1
    stubborn: Const[bool] = False

    sent: Map[Number, bool] = everywhere(False)
    got: Map[Number, bool] = everywhere(False)
    channel: Set[Packet] = Set()

    @action
    def submit(self, n: Number) -> None:
        """The application wants n sent."""
        require(not self.sent[n])
        self.sent[n] = True

    @action(fairness="weak", per="n")
    def send(self, n: Number) -> None:
        """N goes on its way, again and again."""
        require(self.sent[n] and (self.stubborn or not self.got[n]))
        self.channel |= {Packet(n)}

    @action(fairness="strong", per="packet")
    def receive(self, packet: Annotated[Packet, In("channel")]) -> None:
        """Deliver a packet from the channel."""
        self.channel -= {packet}
        self.got[packet.number] = True

    @environment
    def lose(self, packet: Annotated[Packet, In("channel")]) -> None:
        """A packet disappears; nothing limits how often."""
        self.channel -= {packet}

    def is_sent(self, n: Number) -> bool:
        """N was submitted."""
        return self.sent[n]

    def has_arrived(self, n: Number) -> bool:
        """N was received."""
        return self.got[n]

    arrives = leads_to("is_sent", "has_arrived")


class Lock(Spec):
    """Two who share a lock; the first may always take it again at once."""

    holder: Philosopher | None = None
    seats: Const[int] = 2
    used: Map[Philosopher, bool] = everywhere(False)

    @action(fairness="weak", per="p")
    def lock(self, p: Philosopher) -> None:
        """The lock is free."""
        require(self.holder is None)
        self.holder = p
        self.used[p] = True

    @action(fairness="weak")
    def unlock(self) -> None:
        """Give the lock back."""
        require(self.holder is not None)
        self.holder = None

    @action
    def nap(self) -> None:
        """A step that changes nothing."""

    @obligation
    def all_had_it(self) -> bool:
        """Every philosopher had the lock once."""
        return all(self.used[p] for p in self.each(Philosopher))

    all_get_it = eventually("all_had_it")


class Relay(Spec):
    """Relay that passes items on while its line is up; the line fails and recovers freely, or stays up for
    lack of faults.
    """

    breaks: Const[bool] = True

    waiting: bool = False
    up: bool = True
    passed: Annotated[int, Between(0, 1)] = 0

    @action
    def come(self) -> None:
        """Make an item wait."""
        require(not self.waiting)
        self.waiting = True

    @action(fairness="weak")
    def pass_on(self) -> None:
        """The line is up."""
        require(self.up and self.waiting)
        self.waiting = False
        self.passed = 1 - self.passed

    @environment
    def change(self) -> None:
        """The line goes down, or comes up."""
        require(self.breaks)
        self.up = not self.up

    def is_up(self) -> bool:
        """The line is up."""
        return self.up

    def waits(self) -> bool:
        """An item waits."""
        return self.waiting

    def is_gone(self) -> bool:
        """No item waits."""
        return not self.waiting

    served = leads_to("waits", "is_gone")
    served_if_up = implies(always("is_up"), leads_to("waits", "is_gone"))
    served_if_up_in_the_end = implies(eventually_always("is_up"), leads_to("waits", "is_gone"))
    served_if_up_again = implies(always_eventually("is_up"), leads_to("waits", "is_gone"))
    answered = implies(leads_to("waits", "is_gone"), always_eventually("is_gone"))
    up_at_first = implies("is_up", always("is_up"))
    gone_at_first = implies("is_gone", eventually("waits"))
    never_up_again = implies("is_up", implies(eventually("waits"), eventually_always("is_gone")))


class Guest(Index, size="guests", ordered=True):
    """A guest that comes in and goes out."""


class Room(Spec):
    """There is room for one; who is in goes out, and nobody says when."""

    guests: Const[int] = 2

    inside: Guest | None = None

    @action
    def enter(self, g: Guest) -> None:
        """The room is empty."""
        require(self.inside is None)
        self.inside = g

    @action
    def leave(self, g: Guest) -> None:
        """Leave the room."""
        require(self.inside == g)
        self.inside = None

    @action
    def look(self, g: Guest) -> None:
        """A step that changes nothing."""

    @environment
    def throw_out(self) -> None:
        """Throw out the guest inside."""
        require(self.inside is not None)
        self.inside = None

    def is_in(self, g: Guest) -> bool:
        """G is in the room."""
        return self.inside == g

    def is_last(self, g: Guest) -> bool:
        """The one with the highest number."""
        return g.index == self.guests - 1

    def somebody_is_in(self) -> bool:
        """The room is not empty."""
        return self.inside is not None

    moves = fair("enter", "leave", "look")

    used = always_eventually("somebody_is_in")
    everybody = always_eventually("is_in")


class FairRoom(Room):
    """Each guest comes in in the end, and nobody must go out."""

    moves = fair("enter", "leave", fairness="strong", per="g")


class LastOne(Room):
    """Only one guest must come in; all go out."""

    moves = fair("enter", fairness="strong", where="is_last")
    goes = fair("leave", "look", where="is_in", per="g")

    def last_is_in(self) -> bool:
        """The last one is in the room."""
        return any(self.is_in(g) and self.is_last(g) for g in self.each(Guest))

    last = always_eventually("last_is_in")
