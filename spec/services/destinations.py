"""Destinations of a message, where processes come and go: three readings of Dest(m), and histories that tell
them apart.

Barchet-Estefanel 2002, section 2.1, says Agreement of the processes in Dest(m), and section 2 that the set of
processes varies over time; which set Dest(m) is stays open: the view in which m is sent, the one in which it
is given its place in the order, or the one in which it is delivered. These readings judge models only: no
log shows when a message gets its place.
"""

from __future__ import annotations

from antiphon.spec.lang import (
    Map,
    Set,
    action,
    emit,
    everywhere,
    invariant,
    obligation,
    on,
    record,
    require,
    witness,
)
from antiphon.spec.services.events import Broadcast, Deliver, Install, Installed, Message, Process, View
from antiphon.spec.services.views import PartitionableSynchrony


@record
class Sequence:
    """Event: `process` gives `message` its place in the total order."""

    process: Process
    message: Message


class Destinations(PartitionableSynchrony):
    """Uniform Agreement, "If a process in Dest(m) delivers a message m, then all correct processes in Dest(m)
    eventually deliver m", with Dest(m) taken in three ways.
    """

    placed_in: Map[Message, Installed | None] = everywhere(None)

    @on(Sequence)
    def note_place(self, event: Sequence) -> None:
        """Note the view of the process that gives m its place."""
        if self.placed_in[event.message] is None:
            self.placed_in[event.message] = self.view_of(event.process)

    @obligation
    def AgreementBySending(self) -> bool:
        """Obligation: agreement where Dest(m) is the view in which m was broadcast."""
        return all(self.agrees_in(m, self.sent_in[m]) for m in self.each(Message))

    @obligation
    def AgreementBySequencing(self) -> bool:
        """Obligation: agreement where Dest(m) is the view in which m got its place."""
        return all(self.agrees_in(m, self.placed_in[m]) for m in self.each(Message))

    @obligation
    def AgreementByDelivery(self) -> bool:
        """Obligation: agreement where Dest(m) is the view in which m is delivered."""
        return all(
            self.agrees_in(m, self.delivered_in[p][m]) for m in self.each(Message) for p in self.each(Process)
        )

    def agrees_in(self, m: Message, v: Installed | None) -> bool:
        """Return True if all correct processes of view v deliver m as soon as any process of v has delivered
        it.
        """
        members = self.agreed_members(v) if v is not None and v > 0 else None
        return (
            members is None
            or not any(self.delivered[p][m] for p in members)
            or all(self.delivered[p][m] or not self.correct(p) for p in members)
        )


class ComingAndGoing(Destinations):
    """Machine with three views: of processes 0 and 1, then of 0 and 2, then of all. A message is broadcast,
    placed and delivered in whatever view its process is in.
    """

    def listed(self, v: View) -> Set[Process]:
        """Return the members of view v: processes 0 and 1, then 0 and 2, then all."""
        return Set(p for p in self.each(Process) if v == 3 or p.index == 0 or (p.index == 1) == (v == 1))

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast message m by p."""
        require(self.view_of(p) > 0 and self.origin[m] is None)
        emit(Broadcast(p, m))

    @action
    def place(self, p: Process, m: Message) -> None:
        """Let p give m its place in the order."""
        require(self.view_of(p) > 0 and self.origin[m] is not None and self.placed_in[m] is None)
        emit(Sequence(p, m))

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver, at p, a message that has a place."""
        require(self.view_of(p) > 0 and self.placed_in[m] is not None and not self.delivered[p][m])
        emit(Deliver(p, m))

    @action
    def install(self, p: Process, v: View) -> None:
        """Install, at p, the next view that has p as a member."""
        require(v > self.view_of(p) and p in self.listed(v))
        require(not any(w > self.view_of(p) and w < v and p in self.listed(w) for w in self.each(View)))
        emit(Install(p, v, self.listed(v)))

    @invariant
    def PlacedInAView(self) -> bool:
        """Invariant: a process that gives a message its place is in a view."""
        return not any(self.placed_in[m] == 0 for m in self.each(Message))

    def is_over(self) -> bool:
        """Return True if all processes are in the last view, and some process has delivered a message."""
        return all(self.view_of(p) == self.views for p in self.each(Process)) and any(
            self.delivered[p][m] for p in self.each(Process) for m in self.each(Message)
        )

    @witness
    def OnlyBySending(self) -> bool:
        """Witness: agreement holds only if Dest(m) is the view of the broadcast."""
        return (
            self.is_over()
            and self.AgreementBySending()
            and not self.AgreementBySequencing()
            and not self.AgreementByDelivery()
        )

    @witness
    def OnlyBySequencing(self) -> bool:
        """Witness: agreement holds only if Dest(m) is the view of the place."""
        return (
            self.is_over()
            and self.AgreementBySequencing()
            and not self.AgreementBySending()
            and not self.AgreementByDelivery()
        )

    @witness
    def OnlyByDelivery(self) -> bool:
        """Witness: agreement holds only if Dest(m) is the view of the delivery."""
        return (
            self.is_over()
            and self.AgreementByDelivery()
            and not self.AgreementBySending()
            and not self.AgreementBySequencing()
        )
