"""Machine of extended virtual synchrony: a view splits into parts, each part agrees on its deliveries, and no
majority is needed.

1. A part of a view moves to its transitional configuration, its first member deciding for all what was
   delivered before; then to the next view, which has the part's members, its first member deciding what was
   delivered at all.
2. What is delivered before the transitional configuration is safe: no member leaves the view without it.

Parts do not merge. That the machine gives extended virtual synchrony with safe delivery is checked
(`ExtendedChecked`), with a fault for each property that it adds to `view_machine`.

Source: Moser, Amir, Melliar-Smith and Agarwal 1994, in sense.
"""

from __future__ import annotations

from antiphon.spec.lang import (
    Const,
    Map,
    Set,
    action,
    constraint,
    emit,
    environment,
    everywhere,
    initial,
    mutation,
    require,
    witness,
)
from antiphon.spec.services.events import (
    Broadcast,
    Crash,
    Deliver,
    Install,
    Message,
    Process,
    Transition,
    View,
    Views,
)
from antiphon.spec.services.extended import ExtendedTotalOrder, SafeExtendedSynchrony
from antiphon.spec.services.order import Count


class ExtendedMachine(Views):
    """Machine of extended virtual synchrony: submit, deliver, move, install; crash.

    State: `place[p]` is the view of p, `part[p]` the transitional configuration that p is in (None: in none),
    `formed[v]` the members of a view, `author[m]` and `home[m]` who sent m and in which view,
    `taken_early[p]` and `taken_late[p]` what p delivered before transitional configurations and in them,
    `dead[p]` whether p has crashed, `split[v]` the parts into which v has parted so far.
    """

    place: Map[Process, View] = everywhere(1)
    part: Map[Process, Set[Process] | None] = everywhere(None)
    formed: Map[View, Set[Process]] = everywhere(Set())
    author: Map[Message, Process | None] = everywhere(None)
    home: Map[Message, View] = everywhere(1)
    taken_early: Map[Process, Set[Message]] = everywhere(Set())
    taken_late: Map[Process, Set[Message]] = everywhere(Set())
    dead: Map[Process, bool] = everywhere(False)
    split: Map[View, Set[Set[Process]]] = everywhere(Set())

    @initial
    def found(self) -> None:
        """Begin with all processes in view 1."""
        self.formed[1] |= {p for p in self.each(Process)}

    def own_part(self, p: Process) -> Set[Process]:
        """Return the members of p's part of its view; the empty set if the view has not been split into
        parts.
        """
        return Set() | {q for part in self.split[self.place[p]] if p in part for q in part}

    def has_moved(self, q: Process, p: Process) -> bool:
        """Return True if q is of p's part, and has entered the part's transitional configuration."""
        is_there = self.place[q] == self.place[p] and self.part[q] is not None
        return q in self.own_part(p) and (is_there or self.place[q] > self.place[p])

    def has_left(self, q: Process, v: View) -> bool:
        """Return True if q was in v, and has installed a later view."""
        return q in self.formed[v] and self.place[q] > v

    def has(self, p: Process, m: Message) -> bool:
        """Return True if p has delivered m, before a transitional configuration or in one."""
        return m in self.taken_early[p] or m in self.taken_late[p]

    @action
    def submit(self, p: Process, m: Message) -> None:
        """Hand m to the service at p, unless p's view is ending."""
        require(not self.dead[p] and self.author[m] is None and len(self.own_part(p)) == 0)
        self.author[m] = p
        self.home[m] = self.place[p]
        emit(Broadcast(p, m))

    # Delivering -------------------------------------------------------------------------------------------

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver at p a message that was sent in p's view."""
        require(not self.dead[p] and self.author[m] is not None and not self.has(p, m))
        require(self.home[m] == self.place[p])
        if self.part[p] is None:
            require(self.may_be_early(p, m) and self.is_safe(p, m))
            self.taken_early[p] |= {m}
        else:
            require(not any(self.has_left(q, self.place[p]) and not self.has(q, m) for q in self.own_part(p)))
            self.taken_late[p] |= {m}
        emit(Deliver(p, m))

    def may_be_early(self, p: Process, m: Message) -> bool:
        """Return True if m may be delivered before the transitional configuration: no process of p's part has
        moved without m.
        """
        return all(m in self.taken_early[q] or not self.has_moved(q, p) for q in self.each(Process))

    def is_safe(self, p: Process, m: Message) -> bool:
        """Return True if every process that has gone on from p's view has delivered m."""
        return all(self.has(q, m) or not self.has_left(q, self.place[p]) for q in self.each(Process))

    # Going on ---------------------------------------------------------------------------------------------

    @action
    def move(self, p: Process, members: Set[Process]) -> None:
        """Enter the transitional configuration: the first process of a part decides its members, the later
        ones take over the decision.
        """
        v = self.place[p]
        require(not self.dead[p] and self.part[p] is None and p in members)
        if len(self.own_part(p)) > 0:
            require(members == self.own_part(p) and self.has_the_same_early(p))
        else:
            require(members <= self.formed[v] and not any(q in members for w in self.split[v] for q in w))
            require(all(self.is_ahead(p, q, v) for q in members))
            self.split[v] |= {members}
        self.part[p] = members
        self.tell(p, members)

    def tell(self, p: Process, members: Set[Process]) -> None:
        """Emit the transitional configuration of p, which consists of `members`."""
        emit(Transition(p, members))

    def has_the_same_early(self, p: Process) -> bool:
        """Return True if p has delivered early in its view exactly the messages that each process of its part
        which moved before p has delivered early.
        """
        return all(
            not self.has_moved(q, p) or self.early_in(q, self.place[p]) == self.early_in(p, self.place[p])
            for q in self.each(Process)
        )

    def early_in(self, p: Process, v: View) -> Set[Message]:
        """Return the messages that p delivered in v before the transitional configuration."""
        return Set() | {m for m in self.taken_early[p] if self.home[m] == v}

    def is_ahead(self, p: Process, q: Process, v: View) -> bool:
        """Return True if p has delivered early in v everything that q has delivered early in v, or if q has
        crashed.
        """
        return self.dead[q] or self.early_in(q, v) <= self.early_in(p, v)

    @action
    def install(self, p: Process, w: View) -> None:
        """Install, at p, the next view, whose members are p's part."""
        members = self.own_part(p)
        require(not self.dead[p] and self.part[p] is not None and w > self.place[p])
        require(self.has_own(p) and self.has_safe(p))
        if len(self.formed[w]) > 0:
            require(members == self.formed[w] and self.is_next_of(p, w) and self.has_the_same(p))
        else:
            require(all(len(self.formed[x]) == 0 for x in self.each(View) if x >= w))
            require(not any(self.has_left(q, self.place[p]) for q in members) and self.has_all(p, members))
            self.formed[w] = members
        self.place[p] = w
        self.part[p] = None
        emit(Install(p, w, members))

    def is_next_of(self, p: Process, w: View) -> bool:
        """Return True if w is the first view after p's that has the members of w."""
        return not any(
            x > self.place[p] and x < w and self.formed[x] == self.formed[w] for x in self.each(View)
        )

    def has_own(self, p: Process) -> bool:
        """Return True if p has delivered everything that it sent in its present view."""
        return all(
            self.author[m] != p or self.home[m] != self.place[p] or self.has(p, m) for m in self.each(Message)
        )

    def has_safe(self, p: Process) -> bool:
        """Return True if p has delivered every message that some process delivered in p's view before that
        process's transitional configuration.
        """
        return all(
            self.has(p, m) or m not in self.taken_early[q] or self.home[m] != self.place[p]
            for q in self.each(Process)
            for m in self.each(Message)
        )

    def has_the_same(self, p: Process) -> bool:
        """Return True if p has delivered in its view the same messages as those processes of its part that
        have left the view.
        """
        v = self.place[p]
        return all(
            not self.has_left(q, v) or self.home[m] != v or self.has(p, m) == self.has(q, m)
            for q in self.own_part(p)
            for m in self.each(Message)
        )

    def has_all(self, p: Process, members: Set[Process]) -> bool:
        """Return True if p has delivered every message of its view that one of `members` has delivered, and
        every message that a live one of `members` has sent.
        """
        return all(
            self.has(p, m)
            or self.home[m] != self.place[p]
            or not (self.has(q, m) or (self.author[m] == q and not self.dead[q]))
            for q in members
            for m in self.each(Message)
        )

    @environment
    def crash(self, p: Process) -> None:
        """Crash p."""
        require(not self.dead[p])
        self.dead[p] = True
        emit(Crash(p))

    @witness
    def Parted(self) -> bool:
        """Witness: two parts have each gone on to a view of their own."""
        return any(
            not self.dead[p]
            and not self.dead[q]
            and p < q
            and self.formed[self.place[p]] == Set({p})
            and self.formed[self.place[q]] == Set({q})
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def DeliveredByOnePart(self) -> bool:
        """Witness: a message was delivered in a transitional configuration, and another part went on without
        it.
        """
        return any(
            m in self.taken_late[p] and self.has_left(q, self.home[m]) and not self.has(q, m)
            for p in self.each(Process)
            for q in self.each(Process)
            for m in self.each(Message)
        )


@mutation("a process is told that it goes on alone")
class ToldAlone(ExtendedMachine):
    """Planted fault in extended virtual synchrony: a process gets a transitional configuration with itself
    only, though others go with it. Breaks `TransitionalSet`.
    """

    def tell(self, p: Process, members: Set[Process]) -> None:
        """Fault: emit for p a transitional configuration that contains only p, not its `members`."""
        emit(Transition(p, Set({p})))


@mutation("a process moves before it has what those who moved have delivered")
class MovesEarly(ExtendedMachine):
    """Planted fault in extended virtual synchrony: a process moves before it has everything that the
    processes which moved before it have delivered. Breaks `FailureAtomicity`.
    """

    def has_the_same_early(self, p: Process) -> bool:
        """Return True, whatever p and the others have delivered."""
        return True


@mutation("what is delivered before the transitional configuration holds for the own part only")
class NotSafe(ExtendedMachine):
    """Planted fault in extended virtual synchrony: a message delivered before the transitional configuration
    is safe in p's own part only. Breaks `SafeDelivery`.
    """

    def is_safe(self, p: Process, m: Message) -> bool:
        """Return True: in this faulty machine every message counts as safe."""
        return True

    def has_safe(self, p: Process) -> bool:
        """Return True, whatever the others have delivered."""
        return True


class BoundedParts(ExtendedMachine):
    """Bounds of the machine: up to `crashes` processes crash, and messages are submitted in their order."""

    crashes: Const[int] = 1

    @constraint("crash")
    def may_crash(self) -> bool:
        """Return True if another crash is allowed: at most `crashes` in all."""
        return sum(1 for p in self.each(Process) if self.dead[p]) < self.crashes

    @constraint("submit")
    def is_next(self, m: Message) -> bool:
        """Bound: messages are submitted in their order, so that all messages before m have been submitted."""
        return all(self.author[k] is not None for k in self.each(Message) if k < m)


class ExtendedChecked(BoundedParts, SafeExtendedSynchrony, mutations=(ToldAlone, MovesEarly, NotSafe)):
    """The machine of extended virtual synchrony, judged by extended virtual synchrony with safe delivery."""


# In one order -----------------------------------------------------------------------------------------------


class OrderedParts(ExtendedMachine):
    """Machine of extended virtual synchrony in which the messages of a view are ordered. In its transitional
    configuration a process may skip messages of processes that do not go on with it.

    State: `rank[m]` the place of m in the order of its view (0: nobody has delivered it).
    """

    rank: Map[Message, Count] = everywhere(0)

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver m at p, after everything that p has delivered in the view's order; only messages that p may
        lack are skipped.
        """
        require(all(self.may_lack(p, m, k) for k in self.each(Message) if self.is_before(k, m)))
        require(all(not self.has(p, k) for k in self.each(Message) if self.is_before(m, k)))
        super().deliver(p, m)
        if self.rank[m] == 0:
            self.rank[m] = 1 + sum(
                1 for k in self.each(Message) if self.rank[k] > 0 and self.home[k] == self.home[m]
            )

    def is_before(self, k: Message, m: Message) -> bool:
        """Return True if k has a place in the order of the view, and m has a later place or none yet."""
        return (
            k != m
            and self.home[k] == self.home[m]
            and self.rank[k] > 0
            and (self.rank[m] == 0 or self.rank[k] < self.rank[m])
        )

    def may_lack(self, p: Process, m: Message, k: Message) -> bool:
        """Return True if p may deliver m without k, which stands before m in the view's order."""
        part = self.part[p]
        sender = self.author[k]
        return self.has(p, k) or (part is not None and sender is not None and sender not in part)

    @witness
    def GapInAPart(self) -> bool:
        """Witness: a process has skipped a message."""
        return any(
            self.is_before(k, m) and self.has(p, m) and not self.has(p, k)
            for p in self.each(Process)
            for m in self.each(Message)
            for k in self.each(Message)
        )


@mutation("in its transitional configuration a process passes over whatever it likes")
class PassesOver(OrderedParts):
    """Planted fault in extended virtual synchrony: in its transitional configuration a process skips any
    messages. Breaks `ExtendedTotalOrder`.
    """

    def may_lack(self, p: Process, m: Message, k: Message) -> bool:
        """Return True if p may lack message k: p has it, or is in a transitional configuration and has not
        sent k itself.
        """
        return self.has(p, k) or (self.part[p] is not None and self.author[k] != p)


class OrderedPartsChecked(OrderedParts, BoundedParts, ExtendedTotalOrder, mutations=(PassesOver,)):
    """Machine with ordered messages, judged by the total order of extended virtual synchrony."""
