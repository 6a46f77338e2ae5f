"""Witnesses that things can go wrong at every point of figures 23 to 25: crashes, timeouts, losses, false
suspicions and competing originators.

A witness of a timeout or a loss is a state in which the timeout or the loss is the next step. Messages of
Reformation stay in the network (figures23_24.py); such a message counts as lost when its receiver goes on
without it.
"""

from __future__ import annotations

from antiphon.spec.lang import witness
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, Stage
from antiphon.spec.protocols.reformation.over_figure25 import RbpReformingChecked
from antiphon.spec.services.events import Process


class RbpReformingPoints(RbpReformingChecked):
    """RBP with Reformation, with a witness for each point at which something can go wrong."""

    # Crashes ------------------------------------------------------------------------------------------------

    def fails_in(self, stage: Stage) -> bool:
        """Return True if a process has failed in this stage."""
        return any(self.down[p] and self.stage[p] is stage for p in self.each(Process))

    @witness
    def FailsAtWork(self) -> bool:
        """Witness: a process fails in the normal phase, in a list that Reformation made."""
        return any(self.down[p] and self.works(p) and self.current[p] > 0 for p in self.each(Process))

    @witness
    def FailsWaiting(self) -> bool:
        """Witness: a process fails after it has given up a reformation."""
        return self.fails_in(Stage.waiting)

    @witness
    def FailsInviting(self) -> bool:
        """Witness: an originator fails in phase I."""
        return self.fails_in(Stage.inviting)

    @witness
    def FailsAnnouncing(self) -> bool:
        """Witness: an originator fails in phase II or III."""
        return self.fails_in(Stage.announcing)

    @witness
    def FailsInvited(self) -> bool:
        """Witness: a slave fails in phase I or II."""
        return self.fails_in(Stage.invited)

    @witness
    def FailsAuthorising(self) -> bool:
        """Witness: a new token site fails in phase III."""
        return self.fails_in(Stage.authorising)

    # Timeouts, and messages of Reformation that are lost ----------------------------------------------------

    def times_out(self, p: Process, stage: Stage) -> bool:
        """Return True if p's timer may expire too early while p is in this stage."""
        return self.stage[p] is stage and not self.down[p] and not self.waits_in_vain(p)

    def is_member(self, p: Process, a: Attempt) -> bool:
        """Return True if p belongs to attempt a, and is on its New TL."""
        return a == self.belongs[p] and p in self.members(a)

    @witness
    def InvitationLost(self) -> bool:
        """Witness: a New TL excludes a process that has not failed and had promised nothing, so its
        invitation was lost.
        """
        return any(
            self.new_list[a] is not None and not self.down[q] and self.highest[q] == 1
            for a in self.each(Attempt)
            for q in self.each(Process)
        )

    @witness
    def VoteLost(self) -> bool:
        """Witness: a New TL excludes a process that has voted "Yes", so its vote was lost."""
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
        """Witness: an originator times out in phase I."""
        return any(self.times_out(p, Stage.inviting) for p in self.each(Process))

    @witness
    def InvitedTimesOut(self) -> bool:
        """Witness: a slave times out before the New TL comes."""
        return any(
            self.times_out(p, Stage.invited) and self.belongs[p] == a and self.new_list[a] is None
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    @witness
    def ListLost(self) -> bool:
        """Witness: a slave on a New TL times out, so the New TL was lost."""
        return any(
            self.times_out(p, Stage.invited) and self.is_member(p, a)
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    @witness
    def AgreementLost(self) -> bool:
        """Witness: an originator times out in phase III when all have voted, so a vote was lost."""
        return any(
            self.times_out(p, Stage.announcing)
            and self.is_member(p, a)
            and all(q == p or q in self.agreements[a] for q in self.members(a))
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    @witness
    def NewTokenLost(self) -> bool:
        """Witness: a new token site times out after its New Token was generated, so the token was lost."""
        return any(
            self.times_out(p, Stage.authorising) and self.is_member(p, a) and self.tokens[a]
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    # Losses of figure 25 ------------------------------------------------------------------------------------

    def loses_in(self, stage: Stage) -> bool:
        """Return True if a packet may be lost while a process is in this stage."""
        return (
            self.lost < self.losses
            and len(self.network) > 0
            and any(self.stage[p] is stage and not self.down[p] for p in self.each(Process))
        )

    @witness
    def LossInTheNewList(self) -> bool:
        """Witness: a packet of a list that Reformation made may be lost."""
        return self.lost < self.losses and any(
            self.current[packet.to] > 0 and self.is_free(packet.to) for packet in self.network
        )

    @witness
    def LossWhileInviting(self) -> bool:
        """Witness: a packet may be lost in phase I."""
        return self.loses_in(Stage.inviting)

    @witness
    def LossWhileInvited(self) -> bool:
        """Witness: a packet may be lost while a slave waits for the New TL."""
        return self.loses_in(Stage.invited)

    @witness
    def LossWhileAnnouncing(self) -> bool:
        """Witness: a packet may be lost in phase II."""
        return self.loses_in(Stage.announcing)

    @witness
    def LossWhileAuthorising(self) -> bool:
        """Witness: a packet may be lost while the originator is in phase III."""
        return self.loses_in(Stage.authorising)

    @witness
    def LossWhileWaiting(self) -> bool:
        """Witness: a packet may be lost while a process waits to restart."""
        return self.loses_in(Stage.waiting)

    # False suspicions and competing originators -------------------------------------------------------------

    def competes_in(self, stage: Stage) -> bool:
        """Return True if an originator invites while a process is in this stage of another attempt, and
        nobody has failed, so that one of the two attempts was started wrongly.
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
        """Witness: nobody has failed, a process originates an attempt, and all other processes work."""
        return not any(self.down[p] for p in self.each(Process)) and any(
            self.stage[p] is Stage.inviting and all(self.works(q) for q in self.each(Process) if q != p)
            for p in self.each(Process)
        )

    @witness
    def SuspectsInTheNewList(self) -> bool:
        """Witness: a process calls Reformation in a list that Reformation made, of which nobody
        has failed.
        """
        return any(
            self.reforming[p]
            and self.works(p)
            and self.current[p] > 0
            and not any(self.down[q] for q in self.members(self.current[p]))
            for p in self.each(Process)
        )

    @witness
    def CompetesWithInviting(self) -> bool:
        """Witness: two originators are in phase I."""
        return self.competes_in(Stage.inviting)

    @witness
    def CompetesWithAnnouncing(self) -> bool:
        """Witness: an originator invites while another one has announced its list."""
        return self.competes_in(Stage.announcing)

    @witness
    def CompetesWithInvited(self) -> bool:
        """Witness: an originator invites while a slave of another one waits."""
        return self.competes_in(Stage.invited)

    @witness
    def CompetesWithAuthorising(self) -> bool:
        """Witness: an originator invites while the site of another one's list waits for the New Token."""
        return self.competes_in(Stage.authorising)

    @witness
    def CompetesWithWaiting(self) -> bool:
        """Witness: an originator invites while another process waits to restart."""
        return self.competes_in(Stage.waiting)
