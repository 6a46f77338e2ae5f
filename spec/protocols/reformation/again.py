"""Figures 23 and 24 where reformations begin again and again, to see whether one of several originators
succeeds.

No process fails, no message is lost and no timer expires too early. Names of attempts are used again: attempt
k is that of the k-th site, the first `attempts` sites are originators, and messages of an attempt vanish when
its originator gives up. Version numbers are left out, since each is higher than that of the first list, and
the Sequence Test asks for no more.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, action, constraint, fair, leads_to, require, witness
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, Invitation, Reformation, Stage
from antiphon.spec.services import Process


class ReformationAgain(Reformation):
    """Reformation that may begin again whenever it was given up."""

    attempts = 2
    views = 2
    numbers = 0

    @action
    def invite(self, p: Process) -> None:
        """Invite, in p's own attempt, the other sites to a new list (figure 23, phase I): p is the
        originator.
        """
        require(p.index < self.attempts and (self.works(p) or self.is_restarting(p)))
        self.invitation[p.index + 1] = Invitation(p, 2)
        self.belongs[p] = p.index + 1
        self.stage[p] = Stage.inviting

    @constraint("announce")
    def has_heard_all(self, p: Process, responders: Set[Process]) -> bool:
        """Return True if all responses are received and are "Yes", since nobody has failed and nothing is
        lost.
        """
        return all(q in responders for q in self.each(Process)) and not any(
            a == self.belongs[p] and len(self.refusals[a]) > 0 for a in self.each(Attempt)
        )

    @constraint("give_up")
    def is_refused(self, p: Process) -> bool:
        """Return True if p, an originator, gives up its attempt: a vote "No" has reached p, or p is not
        inviting any more.
        """
        return self.stage[p] is not Stage.inviting or any(
            a == self.belongs[p] and len(self.refusals[a]) > 0 for a in self.each(Attempt)
        )

    @constraint("time_out")
    def is_due(self) -> bool:
        """Bound: this step never happens, so that no timer expires too early."""
        return False

    def withdraw(self, p: Process) -> None:
        """Withdraw p from its attempt; an attempt that its originator gives up leaves no messages behind."""
        for a in self.each(Attempt):
            if self.belongs[p] == a and self.has_begun(p, a):
                self.invitation[a] = None
                self.new_list[a] = None
                self.forget_answers(a)
        super().withdraw(p)

    def waits_as(self, p: Process) -> Stage:
        """Return the stage in which a site waits to restart: the same in all phases, since version numbers
        are left out.
        """
        return Stage.waiting

    def wants_to_begin(self, p: Process) -> bool:
        """Return True if p has given up a reformation, and waits to begin another attempt."""
        return self.is_restarting(p)

    def has_list(self) -> bool:
        """Return True if a new list is valid: its New Token was generated."""
        return any(self.tokens[a] for a in self.each(Attempt))

    def has_begun_once(self) -> bool:
        """Return True if a site has called Reformation."""
        return any(not self.works(p) for p in self.each(Process))

    restarts = fair("invite", where="wants_to_begin")
    OneComesThrough = leads_to("has_begun_once", "has_list")

    @witness
    def ListMade(self) -> bool:
        """Witness: a new list is valid: its New Token was generated."""
        return self.has_list()
