"""Everything may go wrong at every point of figures 23 to 25: crashes, timeouts, losses, false suspicions and
competing originators, each as a witness.

A witness of a timeout or a loss is a state in which it is the next step. Of the messages of Reformation,
which stay (figures23_24.py), one is lost where who should receive it goes on without it.
"""

from __future__ import annotations

from antiphon.spec.lang import witness
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, Stage
from antiphon.spec.protocols.reformation.over_figure25 import RbpReformingChecked
from antiphon.spec.services.events import Process


class RbpReformingPoints(RbpReformingChecked):
    """RBP with Reformation, and the points at which something goes wrong."""

    # Crashes ------------------------------------------------------------------------------------------------

    def fails_in(self, stage: Stage) -> bool:
        """A process has failed there."""
        return any(self.down[p] and self.stage[p] is stage for p in self.each(Process))

    @witness
    def FailsAtWork(self) -> bool:
        """A process fails in the normal phase, in a list that Reformation made."""
        return any(self.down[p] and self.works(p) and self.current[p] > 0 for p in self.each(Process))

    @witness
    def FailsWaiting(self) -> bool:
        """A process fails that has given up."""
        return self.fails_in(Stage.waiting)

    @witness
    def FailsInviting(self) -> bool:
        """An originator fails in phase I."""
        return self.fails_in(Stage.inviting)

    @witness
    def FailsAnnouncing(self) -> bool:
        """An originator fails in phases II and III."""
        return self.fails_in(Stage.announcing)

    @witness
    def FailsInvited(self) -> bool:
        """A slave fails in phases I and II."""
        return self.fails_in(Stage.invited)

    @witness
    def FailsAuthorising(self) -> bool:
        """A new token site fails in phase III."""
        return self.fails_in(Stage.authorising)

    # Timeouts, and messages of Reformation that are lost ----------------------------------------------------

    def times_out(self, p: Process, stage: Stage) -> bool:
        """P may time out there, too early."""
        return self.stage[p] is stage and not self.down[p] and not self.waits_in_vain(p)

    def is_member(self, p: Process, a: Attempt) -> bool:
        """P belongs to attempt a, and is on its New TL."""
        return a == self.belongs[p] and p in self.members(a)

    @witness
    def InvitationLost(self) -> bool:
        """A New TL leaves out a process that has not failed, and had promised nothing."""
        return any(
            self.new_list[a] is not None and not self.down[q] and self.highest[q] == 1
            for a in self.each(Attempt)
            for q in self.each(Process)
        )

    @witness
    def VoteLost(self) -> bool:
        """A New TL leaves out a process that has voted "Yes"."""
        return any(
            self.new_list[a] is not None
            and a == self.belongs[q]
            and self.stage[q] is Stage.invited
            and q not in self.members(a)
            for a in self.each(Attempt)
            for q in self.each(Process)
        )

    @witness
    def InvitingTimesOut(self) -> bool:
        """An originator times out in phase I."""
        return any(self.times_out(p, Stage.inviting) for p in self.each(Process))

    @witness
    def InvitedTimesOut(self) -> bool:
        """A slave times out before the New TL."""
        return any(
            self.times_out(p, Stage.invited) and self.belongs[p] == a and self.new_list[a] is None
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    @witness
    def ListLost(self) -> bool:
        """A slave times out that is on a New TL."""
        return any(
            self.times_out(p, Stage.invited) and self.is_member(p, a)
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    @witness
    def AgreementLost(self) -> bool:
        """An originator times out in phase III, when all have voted."""
        return any(
            self.times_out(p, Stage.announcing)
            and self.is_member(p, a)
            and all(q == p or q in self.agreements[a] for q in self.members(a))
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    @witness
    def NewTokenLost(self) -> bool:
        """A new token site times out whose New Token was generated."""
        return any(
            self.times_out(p, Stage.authorising) and self.is_member(p, a) and self.tokens[a]
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    # Losses of figure 25 ------------------------------------------------------------------------------------

    def loses_in(self, stage: Stage) -> bool:
        """A packet may be lost while a process is there."""
        return (
            self.lost < self.losses
            and len(self.network) > 0
            and any(self.stage[p] is stage and not self.down[p] for p in self.each(Process))
        )

    @witness
    def LossInTheNewList(self) -> bool:
        """A packet of a list that Reformation made may be lost."""
        return self.lost < self.losses and any(
            self.current[packet.to] > 0 and self.is_free(packet.to) for packet in self.network
        )

    @witness
    def LossWhileInviting(self) -> bool:
        """A packet may be lost in phase I."""
        return self.loses_in(Stage.inviting)

    @witness
    def LossWhileInvited(self) -> bool:
        """A packet may be lost while a slave waits for the New TL."""
        return self.loses_in(Stage.invited)

    @witness
    def LossWhileAnnouncing(self) -> bool:
        """A packet may be lost in phase II."""
        return self.loses_in(Stage.announcing)

    @witness
    def LossWhileAuthorising(self) -> bool:
        """A packet may be lost in phase III."""
        return self.loses_in(Stage.authorising)

    @witness
    def LossWhileWaiting(self) -> bool:
        """A packet may be lost while a process waits to restart."""
        return self.loses_in(Stage.waiting)

    # False suspicions and competing originators -------------------------------------------------------------

    def competes_in(self, stage: Stage) -> bool:
        """An originator invites that is in no other's list, while a process is there in another attempt, and
        nobody has failed: at least one of them is wrong.
        """
        return not any(self.down[p] for p in self.each(Process)) and any(
            self.stage[p] is Stage.inviting
            and self.has_begun(p, self.belongs[p])
            and self.stage[q] is stage
            and p != q
            and (self.belongs[q] != self.belongs[p])
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def SuspectsAtWork(self) -> bool:
        """A process originates an attempt when nobody has failed, and all others work."""
        return not any(self.down[p] for p in self.each(Process)) and any(
            self.stage[p] is Stage.inviting and all(self.works(q) for q in self.each(Process) if q != p)
            for p in self.each(Process)
        )

    @witness
    def SuspectsInTheNewList(self) -> bool:
        """A process calls Reformation in a list that Reformation made, of which nobody has failed."""
        return any(
            self.reforming[p]
            and self.works(p)
            and self.current[p] > 0
            and not any(self.down[q] for q in self.members(self.current[p]))
            for p in self.each(Process)
        )

    @witness
    def CompetesWithInviting(self) -> bool:
        """Two originators are in phase I."""
        return self.competes_in(Stage.inviting)

    @witness
    def CompetesWithAnnouncing(self) -> bool:
        """An originator invites while another one has announced its list."""
        return self.competes_in(Stage.announcing)

    @witness
    def CompetesWithInvited(self) -> bool:
        """An originator invites while a slave of another one waits."""
        return self.competes_in(Stage.invited)

    @witness
    def CompetesWithAuthorising(self) -> bool:
        """An originator invites while the site of another one's list waits for the New Token."""
        return self.competes_in(Stage.authorising)

    @witness
    def CompetesWithWaiting(self) -> bool:
        """An originator invites while another process waits to restart."""
        return self.competes_in(Stage.waiting)
