"""Views come one after the other, members are told of them at times; a message belongs to the view it was sent in.

What a protocol over `Membership` may rely on, with every option at its default:

1. Views are numbered from 1. In the first are all processes but the last `joiners`; everybody is in it at the start.
2. `members[v]` is the list of view v, the same for all, in the order of `Process`: the longest member first, since nobody comes back and
   joiners have the highest indices.
3. Members that crash are excluded sooner or later: `exclude` is progress, not a fault, and takes out all that are down by then.
4. The next view forms only when every member of the last that is up has installed it. No view is skipped. A member that crashes meanwhile
   needs to install nothing, and the view after excludes it. There are at most `views` views; no process crashes in the last, since nothing could
   exclude it, so what is checked is everything up to there; one member stays up.
5. A message that is sent in a view may be received in that view only (sending view delivery). Nothing is promised about who receives it: members
   that go together from one view to the next may have received different messages (no view synchrony, no flush).

The protocol installs: its own action guards with `may_install(p)` and calls `install(p)`. It puts the view `installed[p]` of the sender in
every packet, receives where `may_receive(p, packet.view)`, and throws away where `is_stale(p, packet.view)`.

Each option breaks one of these: `lists` number 2, `synchrony` number 5, `announced` tells one member of no change, `suspicions` excludes members that
are up (and stay in their old view, alone). `reforms` adds nothing but views with the same members. None of them is a fault of the protocol.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment.crashes import Crashes
from antiphon.spec.lang import Between, Const, Map, Reading, Set, action, emit, environment, everywhere, initial, reading, require
from antiphon.spec.services.events import Crash, Process

View = Annotated[int, Between(1, "views")]
"""A view that exists."""

Installed = Annotated[int, Between(0, "views")]
"""A view, or 0: none yet."""


class Membership(Crashes):
    """Views, and when members may install them."""

    views: Const[int] = 2
    joiners: Const[int] = 0
    suspicions: Const[bool] = False
    reforms: Const[bool] = False

    lists: Reading = reading(
        "identical",
        "another order",
        "one side",
        about="whether all members have the same list in the same order, or the last process has it reversed, or it has itself alone, as after a "
        "merge that it was not told of",
    )
    synchrony: Reading = reading(
        "sending view", "none", about="whether a message is received in the view in which it was sent only, or in any view"
    )
    announced: Reading = reading("to all", "not to the last", about="whether the last process is told of view changes")

    formed: View = 1
    members: Map[View, Set[Process]] = everywhere(Set())
    installed: Map[Process, Installed] = everywhere(0)

    # What the protocol asks --------------------------------------------------------------------------------------------------------------

    def is_member(self, p: Process) -> bool:
        """P has installed a view, and so is in it."""
        return self.installed[p] > 0

    def group_of(self, p: Process) -> Set[Process]:
        """The members of the view that p has installed: whom a message to the group goes to. Nobody before the first view."""
        return Set() | {q for v in self.each(View) if v == self.installed[p] for q in self.members[v]}

    def current_members(self, p: Process) -> Set[Process]:
        """The same by the list that p was given."""
        return Set() | {q for q in self.group_of(p) if self.lists != "one side" or not self.is_misled(p) or q == p}

    def is_misled(self, p: Process) -> bool:
        """P is the one whose list is not that of the others, if there is any."""
        return p.index == self.processes - 1

    def coordinator(self, p: Process) -> Process | None:
        """The first in p's list of the members of its view; None before the first view."""
        if self.lists == "another order" and self.is_misled(p):
            return next((q for q in self.each(Process) if q in self.current_members(p) and not any(r > q for r in self.current_members(p))), None)
        return next((q for q in self.each(Process) if q in self.current_members(p)), None)

    def is_coordinator(self, p: Process) -> bool:
        """P's own list says that p is the first."""
        return self.coordinator(p) == p

    def may_install(self, p: Process) -> bool:
        """P is in the view that has formed, and has not installed it."""
        told = self.announced == "to all" or not self.is_misled(p)
        return told and p in self.members[self.formed] and self.installed[p] < self.formed

    def may_receive(self, p: Process, v: Installed) -> bool:
        """What was sent in view v may be received by p now."""
        return v == self.installed[p] or (self.synchrony == "none" and self.is_member(p))

    def is_stale(self, p: Process, v: Installed) -> bool:
        """What was sent in view v will never be received by p: it has gone on."""
        return v < self.installed[p] and self.synchrony != "none"

    def is_early(self, p: Process, v: Installed) -> bool:
        """What was sent in view v may be received by p only after it has installed v."""
        return v > self.installed[p] and self.synchrony != "none"

    def is_settled(self) -> bool:
        """Every member of the last view that is up has installed it."""
        return all(self.installed[p] == self.formed or self.down[p] for p in self.members[self.formed])

    # What the protocol does --------------------------------------------------------------------------------------------------------------

    def install(self, p: Process) -> None:
        """P moves to the view that has formed. The caller guards with `may_install`."""
        self.installed[p] = self.formed

    # What the group does -----------------------------------------------------------------------------------------------------------------

    @initial
    def found(self) -> None:
        """The first view. A protocol that starts otherwise overrides this, and calls `found_group`."""
        self.found_group()

    def found_group(self) -> None:
        """All but the joiners are in the first view and have installed it."""
        self.members[1] |= {p for p in self.each(Process) if p.index < self.processes - self.joiners}
        for p in self.each(Process):
            if p.index < self.processes - self.joiners:
                self.installed[p] = 1

    @action(fairness="weak")
    def exclude(self) -> None:
        """The members that are down are excluded, all at once."""
        require(self.formed < self.views and self.is_settled())
        require(any(self.down[p] for p in self.members[self.formed]) and any(not self.down[p] for p in self.members[self.formed]))
        self.members[self.formed + 1] |= {p for p in self.members[self.formed] if not self.down[p]}
        self.formed += 1

    @environment
    def admit(self, p: Process) -> None:
        """The next joiner comes in. Who is down is excluded by the same view."""
        require(self.formed < self.views and self.is_settled() and not self.down[p])
        require(p.index == max(q.index for v in self.each(View) for q in self.members[v]) + 1)
        self.members[self.formed + 1] |= {q for q in self.members[self.formed] if not self.down[q]} | {p}
        self.formed += 1

    @environment
    def reform(self) -> None:
        """A view with the same members, where `reforms` allows it."""
        require(self.reforms and self.formed < self.views and self.is_settled())
        require(not any(self.down[p] for p in self.members[self.formed]))
        self.members[self.formed + 1] = self.members[self.formed]
        self.formed += 1

    @environment
    def suspect(self, p: Process) -> None:
        """P is excluded although it is up, where `suspicions` allows it: the others go on, p stays where it is."""
        require(self.suspicions and self.formed < self.views and self.is_settled() and not self.down[p])
        require(p in self.members[self.formed] and any(q != p and not self.down[q] for q in self.members[self.formed]))
        self.members[self.formed + 1] |= {q for q in self.members[self.formed] if q != p and not self.down[q]}
        self.formed += 1

    @environment
    def crash(self, p: Process) -> None:
        """A member stops for ever, while there is a view left that can exclude it, and another member to go on."""
        require(not self.down[p] and p in self.members[self.formed] and self.formed < self.views)
        require(any(q != p and not self.down[q] for q in self.members[self.formed]))
        require(sum(1 for q in self.each(Process) if self.down[q]) < self.crashes)
        self.down[p] = True
        emit(Crash(p))
