"""From one list of members to the next: what a member of a list does while it ends, step by step.

A `Succession` stands between two machines: the change (`view_change`), which agrees on what is next, and the
core of the protocol (`Flushes`), which knows what the list has ordered. Each step of figures 32 and 34 that a
member takes by itself is a method, which says whether there was something to do.

| figures 32 and 34, with their repairs       | here                                                     |
|---------------------------------------------|----------------------------------------------------------|
| upon R-Deliver, step 1                      | `report`: the core has stopped (`stopped`), and reports  |
| steps 2 to 4, as far as the core takes part | `propose`                                                |
| steps 5 to 7                                | `adopt`: who is not on the list ends (`Out`); the others |
|                                             | deliver what was agreed (`deliver_first`), and have the  |
|                                             | next list (`Next`)                                       |

Figure 32 lets a member deliver what was agreed before it kills itself. Here it ends at once: it counts as
failed, and who comes back gets the state.

No clock, no socket, no bytes: messages of the change are those of `ViewChange`. Source: Barchet-Estefanel
2002, sections 4.4.2 to 4.4.5, figures 32 and 34; `docs/irbp-repaired.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import structs

from antiphon.impl.membership.member import Excluded, Left, Member, spoken, those_that_fit
from antiphon.impl.membership.view_change import Decision, Kind, Snapshot, ViewChange
from antiphon.impl.protocols.flush import Flushes, Report

__all__ = ["LACKS", "Next", "Out", "Roster", "Succession"]

LACKS = "this member has missed messages that nobody keeps any more"
"""Why a member ends that cannot deliver what the others have."""


class Roster(NamedTuple):
    """A list of members: it has a number, and its first members order messages."""

    number: int
    """1, 2, 3, ...: every list has one more than the list before it."""
    members: tuple[Member, ...]
    core: int
    """Number of the members, the first ones, that order messages; the others are external."""

    def place(self, incarnation: bytes) -> int | None:
        """Return the place of a member, or None."""
        places = (place for place, member in enumerate(self.members) if member.incarnation == incarnation)
        return next(places, None)

    @property
    def version(self) -> int:
        """The version of the protocol's messages: the newest that all members know."""
        version = spoken(self.members)
        assert version is not None, "who speaks none with the others is on no list"
        return version

    def ordered(self, view: Sequence[Member]) -> Roster:
        """Return the same list with the members of a view first, in its order: all order messages."""
        before = {member.incarnation: place for place, member in enumerate(view)}
        last = len(before)
        members = sorted(self.members, key=lambda member: before.get(member.incarnation, last))
        return self._replace(members=tuple(members))

    def next(self, decision: Decision) -> Roster:
        """Return the list that a decision makes of this one: the core in its order, then who is new."""
        core = [self.members[process] for process in decision.core]
        if decision.kind is Kind.REGULAR:
            return Roster(self.number + 1, (*core, *decision.joins), len(core) + len(decision.joins))
        outside = [member for place, member in enumerate(self.members) if place not in decision.core]
        return Roster(self.number + 1, (*core, *outside), len(core))


class Next(NamedTuple):
    """Result: this member goes on with another list."""

    decision: Decision
    roster: Roster


class Out(NamedTuple):
    """Result: this member is on no list any more."""

    event: Excluded | Left


class Succession:
    """Member `me` of a list, with its core, from the first call to the next list."""

    def __init__(
        self, roster: Roster, me: int, core: Flushes, deliver: Callable[[Report], bool], change: ViewChange
    ) -> None:
        """Begin with no call for the change.

        `deliver` delivers what was agreed, as far as it was not delivered here; False: this member lacks some
        of it. It is the core's `adopt`, and whatever stands around the core.
        """
        self.roster = roster
        self.me = me
        self.core = core
        self.change = change
        self.stopped = False
        """True if the protocol has ended, and only the change goes on."""
        self._deliver = deliver

    def report(self) -> bool:
        """Step 1, at the first call: stop the protocol, and send what the core knows to all."""
        if not self.change.reports:
            return False
        self.stopped = True
        self.change.report(self.core.report())
        return True

    def propose(self) -> bool:
        """Steps 2 to 4: propose, once all have reported for whom this member waits."""
        if not self.change.proposes:
            return False
        self.change.propose(self.core.merge)
        return True

    @property
    def decision(self) -> Decision | None:
        """The decision, without those that speak no version with the others.

        Two that fit alone need not fit together.
        """
        decision = self.change.decision
        if decision is None or not decision.joins:
            return decision
        stay = [self.roster.members[process] for process in decision.core]
        return structs.replace(decision, joins=those_that_fit(stay, decision.joins))

    def adopt(self) -> Next | Out | None:
        """Steps 5 to 7, or 5 and 6: deliver what was agreed, and go on, or end; None: nothing is decided.

        Once this member has the answer it needs this machine no more, but others may need what it sends.
        """
        decision = self.decision
        if decision is None:
            return None
        leaves = self.me in decision.leaves
        if decision.kind is Kind.REGULAR and self.me not in decision.core and not leaves:
            return Out(Excluded("the others took this member for crashed"))
        if not self._deliver(decision.agreed):
            return Out(Excluded(LACKS))
        return Out(Left()) if leaves else Next(decision, self.roster.next(decision))

    # Snapshots ----------------------------------------------------------------------------------------------

    def snapshot(self) -> tuple[bool, Snapshot]:
        """Return the whole state but for the core's, after the change's `outputs`."""
        return self.stopped, self.change.snapshot()

    def restore(self, snapshot: tuple[bool, Snapshot]) -> None:
        """Become what `snapshot` was taken of."""
        self.stopped = snapshot[0]
        self.change.restore(snapshot[1])
