"""Succession from one list of members to the next: the steps of a member while its list ends.

A `Succession` stands between two machines: the change (`view_change`), which agrees on the next list, and the
core of the protocol (`Flushes`), which knows what the list has ordered. Each step of figures 32 and 34 that a
member takes by itself is a method, which returns whether there was something to do.

| figures 32 and 34, with their repairs       | here                                                     |
|---------------------------------------------|----------------------------------------------------------|
| upon R-Deliver, step 1                      | `report`: the core has stopped (`stopped`), and reports  |
| steps 2 to 4, as far as the core takes part | `propose`                                                |
| steps 5 to 7                                | `adopt`: a member outside the list ends (`Out`); the     |
|                                             | others deliver what was agreed (`deliver_first`), and    |
|                                             | have the next list (`Next`)                              |

Figure 32 lets a member deliver what was agreed before it kills itself. Here it ends at once: it counts as
failed, and gets the state when it comes back.

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
"""Reason of the end of a member that cannot deliver what the others have."""


class Roster(NamedTuple):
    """List of members with its number; its first members order messages."""

    number: int
    """Number of the list: each has one more than the list before it."""
    members: tuple[Member, ...]
    core: int
    """Number of the members, the first ones, that order messages; the others are external."""

    def place(self, incarnation: bytes) -> int | None:
        """Return the place of a member on the list, or None."""
        places = (place for place, member in enumerate(self.members) if member.incarnation == incarnation)
        return next(places, None)

    @property
    def version(self) -> int:
        """Return the newest version of the protocol's messages that all members on this list know."""
        version = spoken(self.members)
        assert version is not None, "who speaks none with the others is on no list"
        return version

    def ordered(self, view: Sequence[Member]) -> Roster:
        """Return the same list with the members of a view first, in its order; all order messages."""
        before = {member.incarnation: place for place, member in enumerate(view)}
        last = len(before)
        members = sorted(self.members, key=lambda member: before.get(member.incarnation, last))
        return self._replace(members=tuple(members))

    def next(self, decision: Decision) -> Roster:
        """Return the next list by a decision: the core in its order, then the new members."""
        core = [self.members[process] for process in decision.core]
        if decision.kind is Kind.REGULAR:
            return Roster(self.number + 1, (*core, *decision.joins), len(core) + len(decision.joins))
        outside = [member for place, member in enumerate(self.members) if place not in decision.core]
        return Roster(self.number + 1, (*core, *outside), len(core))


class Next(NamedTuple):
    """Result of a change: this member goes on with the next list."""

    decision: Decision
    roster: Roster


class Out(NamedTuple):
    """Result of a change: this member is on no list any more."""

    event: Excluded | Left


class Succession:
    """Member `me` of a list, with its core, from the first call to the next list."""

    def __init__(
        self, roster: Roster, me: int, core: Flushes, deliver: Callable[[Report], bool], change: ViewChange
    ) -> None:
        """Begin with no call for the change.

        `deliver` delivers what was agreed, as far as it was not delivered here, and returns False if this
        member lacks some of it. It is the core's `adopt`, with the layers around the core.
        """
        self.roster = roster
        self.me = me
        self.core = core
        self.change = change
        self.stopped = False
        """True if the protocol has ended, and only the change goes on."""
        self._deliver = deliver

    def report(self) -> bool:
        """Stop the protocol and send all members what the core knows, once a member has called for another
        list (step 1). Return True if that has happened now.
        """
        if not self.change.reports:
            return False
        self.stopped = True
        self.change.report(self.core.report())
        return True

    def propose(self) -> bool:
        """Propose (steps 2 to 4), once all members for whom this one waits have reported."""
        if not self.change.proposes:
            return False
        self.change.propose(self.core.merge)
        return True

    @property
    def decision(self) -> Decision | None:
        """Return the decision, without the joining processes that have no version in common with the others.

        Two processes may each have a version in common with the members, and none with each other.
        """
        decision = self.change.decision
        if decision is None or not decision.joins:
            return decision
        stay = [self.roster.members[process] for process in decision.core]
        return structs.replace(decision, joins=those_that_fit(stay, decision.joins))

    def adopt(self) -> Next | Out | None:
        """Adopt the decision (steps 5 to 7, or 5 and 6): deliver the agreed messages, then return the next
        list, or `Out` for a member that is not on it. Return None while nothing is decided.

        Once this member has the result, it needs this machine no more; others may still need its messages.
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
        """Return the whole state without that of the core. Call it only after the change's `outputs` were
        taken.
        """
        return self.stopped, self.change.snapshot()

    def restore(self, snapshot: tuple[bool, Snapshot]) -> None:
        """Set the state to a snapshot."""
        self.stopped = snapshot[0]
        self.change.restore(snapshot[1])
