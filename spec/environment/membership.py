"""Views come one after the other, and a message belongs to the view it was sent in.

A protocol over `Membership` may rely on the following, with every option at its default:

1. Views are numbered from 1. In the first are all processes but the last `joiners`; everybody is in it at
   the start.
2. `members[v]` is the list of view v, the same for all, in the order of `Process`: the longest member
   first, since nobody comes back and joiners have the highest indices.
3. Members that crash are excluded sooner or later: `exclude` is progress, not a fault, and takes out all
   that are down by then.
4. The next view forms only when every member of the last that is up has installed it. No view is skipped. A
   member that crashes meanwhile needs to install nothing, and the view after excludes it. There are at most
   `views` views; no process crashes in the last, since nothing could exclude it, so what is checked is
   everything up to there; one member stays up.
5. A message that is sent in a view may be received in that view only (sending view delivery). Nothing is
   promised about who receives it: members that go together from one view to the next may have received
   different messages (no view synchrony, no flush).

The protocol installs a view by an action of its own, which has the guard `may_install(p)` and calls
`install(p)`. It puts the view `installed[p]` of the sender in every packet, receives where `may_receive(p,
packet.view)`, and throws away where `is_stale(p, packet.view)`.

Each option breaks one of these: `lists` number 2, `synchrony` number 5, `announced` tells one member of no
change, `suspicions` excludes members that are up (and stay in their old view, alone). `reforms` adds nothing
but views with the same members, `HandOvers` one with another coordinator. None of them is a fault of the
protocol.
"""

from __future__ import annotations

from antiphon.spec.environment.crashes import Crashes
from antiphon.spec.lang import (
    Const,
    Map,
    Set,
    action,
    ambiguity,
    emit,
    environment,
    everywhere,
    initial,
    require,
)
from antiphon.spec.services.events import Crash, Installed, Process, View, Views

lists = ambiguity(
    "lists",
    "identical",
    about="whether all members have the same list in the same order, or the last process has it reversed, or "
    "it has itself alone, as after a merge that it was not told of",
)
synchrony = ambiguity(
    "synchrony",
    "sending view",
    about="whether a message is received in the view in which it was sent only, or in any view",
)
announced = ambiguity("announced", "to all", about="whether the last process is told of view changes")


class Membership(Crashes, Views, readings=(lists, synchrony, announced)):
    """Views, and when members may install them."""

    suspicions: Const[bool] = False
    reforms: Const[bool] = False

    formed: View = 1
    members: Map[View, Set[Process]] = everywhere(Set())
    installed: Map[Process, Installed] = everywhere(0)

    # What the protocol asks -------------------------------------------------------------------------------

    def is_member(self, p: Process) -> bool:
        """Return True if p has installed a view, and so is in it."""
        return self.installed[p] > 0

    def members_of(self, v: Installed) -> Set[Process]:
        """Return the members of view v; nobody before the first."""
        return Set() | {q for w in self.each(View) if w == v for q in self.members[w]}

    def group_of(self, p: Process) -> Set[Process]:
        """Return the members of the view that p has installed, to whom a message to the group goes."""
        return self.members_of(self.installed[p])

    def listed(self, p: Process, v: Installed) -> Set[Process]:
        """Return the members of view v in the list that the membership gives p."""
        return self.members_of(v)

    def first_listed(self, p: Process, v: Installed) -> Process | None:
        """Return the first process in the list of view v that p is given; None before the first view."""
        return next((q for q in self.each(Process) if q in self.listed(p, v)), None)

    def last_listed(self, p: Process, v: Installed) -> Process | None:
        """Return the last process in the list of view v that p is given; None before the first view."""
        known = self.listed(p, v)
        return next((q for q in self.each(Process) if q in known and not any(r > q for r in known)), None)

    def current_members(self, p: Process) -> Set[Process]:
        """Return the members of p's present view, by p's own list."""
        return self.listed(p, self.installed[p])

    def coordinator(self, p: Process) -> Process | None:
        """Return the coordinator of p's view, the first in p's list of its members; None before the first
        view.
        """
        return self.first_listed(p, self.installed[p])

    def is_coordinator(self, p: Process) -> bool:
        """Return True if p is the first in its own list of the members of its view."""
        return self.coordinator(p) == p

    def may_install(self, p: Process) -> bool:
        """Return True if p is in the view that has formed, and has not installed it."""
        return p in self.members[self.formed] and self.installed[p] < self.formed

    def may_receive(self, p: Process, v: Installed) -> bool:
        """Return True if p may now receive a message that was sent in view v."""
        return v == self.installed[p]

    def is_stale(self, p: Process, v: Installed) -> bool:
        """Return True if p will never receive a message that was sent in view v: it has gone on."""
        return v < self.installed[p]

    def is_early(self, p: Process, v: Installed) -> bool:
        """Return True if p may receive a message that was sent in view v only after it has installed v."""
        return v > self.installed[p]

    def is_settled(self) -> bool:
        """Return True if every member of the last view that is up has installed it."""
        return all(self.installed[p] == self.formed or self.down[p] for p in self.members[self.formed])

    # What the protocol does -------------------------------------------------------------------------------

    def install(self, p: Process) -> None:
        """Move p to the view that has formed. The caller guards with `may_install`."""
        self.installed[p] = self.formed

    # What the group does ----------------------------------------------------------------------------------

    @initial
    def found(self) -> None:
        """Begin with the first view. A protocol that begins in another way overrides this method, and calls
        `found_group`.
        """
        self.found_group()

    def found_group(self) -> None:
        """Found the first view: all but the joiners are in it and have installed it."""
        self.members[1] |= {p for p in self.each(Process) if self.begins_in_first(p)}
        for p in self.each(Process):
            if self.begins_in_first(p):
                self.installed[p] = 1

    @action(fairness="weak")
    def exclude(self) -> None:
        """Form the next view without the members that are down, all at once."""
        require(self.formed < self.views and self.is_settled())
        require(any(self.down[p] for p in self.members[self.formed]))
        require(any(not self.down[p] for p in self.members[self.formed]))
        self.members[self.formed + 1] |= {p for p in self.members[self.formed] if not self.down[p]}
        self.formed += 1

    @environment
    def admit(self, p: Process) -> None:
        """Form a view with the next joiner p; the view also excludes crashed members."""
        require(self.formed < self.views and self.is_settled() and not self.down[p])
        require(p.index == max(q.index for v in self.each(View) for q in self.members[v]) + 1)
        self.members[self.formed + 1] |= {q for q in self.members[self.formed] if not self.down[q]} | {p}
        self.formed += 1

    @environment
    def reform(self) -> None:
        """Form a view with the same members, where `reforms` allows it."""
        require(self.reforms and self.formed < self.views and self.is_settled())
        require(not any(self.down[p] for p in self.members[self.formed]))
        self.members[self.formed + 1] = self.members[self.formed]
        self.formed += 1

    @environment
    def suspect(self, p: Process) -> None:
        """Form a view without p although p is up, where `suspicions` allows it: the others go on without
        p.
        """
        require(self.suspicions and self.formed < self.views and self.is_settled() and not self.down[p])
        require(p in self.members[self.formed])
        require(any(q != p and not self.down[q] for q in self.members[self.formed]))
        self.members[self.formed + 1] |= {q for q in self.members[self.formed] if q != p and not self.down[q]}
        self.formed += 1

    @environment
    def crash(self, p: Process) -> None:
        """Crash p for ever, while a view is left to exclude it and another member to go on."""
        require(not self.down[p] and p in self.members[self.formed] and self.formed < self.views)
        require(any(q != p and not self.down[q] for q in self.members[self.formed]))
        require(sum(1 for q in self.each(Process) if self.down[q]) < self.crashes)
        self.down[p] = True
        emit(Crash(p))


class Misled(Membership):
    """Membership that treats the last process differently from the others; the options that use it say
    how.
    """

    def is_misled(self, p: Process) -> bool:
        """Return True if p is the member that is treated differently."""
        return p.index == self.processes - 1


@lists.reading("another order")
class ListsInAnotherOrder(Misled):
    """Option under which the last process gets its lists in reverse order."""

    def first_listed(self, p: Process, v: Installed) -> Process | None:
        """Return the first process in p's list: the last member for the misled process, which has the list
        reversed.
        """
        return self.last_listed(p, v) if self.is_misled(p) else super().first_listed(p, v)


@lists.reading("one side")
class ListsOfOneSide(Misled):
    """Option under which the last process gets lists that contain itself only."""

    def listed(self, p: Process, v: Installed) -> Set[Process]:
        """Return the members of view v in p's list: only itself for the misled process, all members for the
        others.
        """
        return Set() | {q for q in super().listed(p, v) if not self.is_misled(p) or q == p}


@synchrony.reading("none")
class SynchronyNone(Membership):
    """Option without view synchrony: a message of any view is received in any view."""

    def may_receive(self, p: Process, v: Installed) -> bool:
        """Return True if p is in any view: messages of every view are received."""
        return self.is_member(p)

    def is_stale(self, p: Process, v: Installed) -> bool:
        """Return False: no message comes too late, since messages of every view are received."""
        return False

    def is_early(self, p: Process, v: Installed) -> bool:
        """Return False: no message comes too early, since messages of every view are received."""
        return False


@announced.reading("not to the last")
class AnnouncedToOthers(Misled):
    """Option under which the membership announces no change to the last process."""

    def may_install(self, p: Process) -> bool:
        """Return True if p may install the next view: never the last process, to which no change is
        announced.
        """
        return super().may_install(p) and not self.is_misled(p)


class HandOvers(Membership):
    """Option under which another member becomes coordinator, once, although nobody leaves, where `handovers`
    allows it.
    """

    handovers: Const[bool] = False

    handed_over: Installed = 0

    def first_listed(self, p: Process, v: Installed) -> Process | None:
        """Return the coordinator: the first member of the list, and after the hand-over the last."""
        if self.handed_over > 0 and self.handed_over <= v:
            return self.last_listed(p, v)
        return super().first_listed(p, v)

    @environment
    def hand_over(self) -> None:
        """Form a view with the same members, whose order is reversed."""
        require(self.handovers and self.handed_over == 0 and self.formed < self.views and self.is_settled())
        require(not any(self.down[p] for p in self.members[self.formed]))
        self.members[self.formed + 1] = self.members[self.formed]
        self.handed_over = self.formed + 1
        self.formed += 1
