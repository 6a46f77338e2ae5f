"""Properties of Reformation: invariants of lists, numbers and messages, and witnesses of runs that must
exist.
"""

from __future__ import annotations

from typing import Annotated, Self

from antiphon.spec.lang import Between, Set, action, invariant, obligation, step_invariant, witness
from antiphon.spec.protocols.reformation.bounds import ReformationBounded
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, LastNumber, ListName, Stage
from antiphon.spec.services import Process, TotalOrderBroadcast, ViewSynchrony


class ReformationProperties(ReformationBounded):
    """Properties of Reformation over the abstract normal phase."""

    # Properties: lists --------------------------------------------------------------------------------------

    def is_valid(self, a: ListName) -> bool:
        """Return True if all sites of list a have agreed to it, so that its token was generated."""
        return a == 0 or self.tokens[a]

    def is_newer(self, a: ListName, b: ListName) -> bool:
        """Return True if list a has a higher version number than list b."""
        return self.version(a) > self.version(b)

    @invariant
    def OneToken(self) -> bool:
        """Invariant: at most one site holds a token, whatever the list."""
        return not any(
            p != q and self.holds_token(p) and self.holds_token(q)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @step_invariant
    def MostRecent(self, before: Self) -> bool:
        """Invariant: a list that becomes valid has a higher version number than all valid ones."""
        return not any(
            self.tokens[a] and not before.tokens[a] and self.tokens[b] and a != b and not self.is_newer(a, b)
            for a in self.each(Attempt)
            for b in self.each(Attempt)
        )

    @invariant
    def OneVersionOneList(self) -> bool:
        """Invariant: any two committed lists have different version numbers."""
        return not any(
            p != q
            and self.current[p] != self.current[q]
            and self.version(self.current[p]) == self.version(self.current[q])
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @invariant
    def NoTwoComplete(self) -> bool:
        """Invariant: of two different lists at most one is complete, that is, has all its sites working in
        it.
        """
        return not any(
            a < b and self.is_complete(a) and self.is_complete(b)
            for a in self.each(ListName)
            for b in self.each(ListName)
        )

    def is_complete(self, a: ListName) -> bool:
        """Return True if all sites of list a are up and work in it."""
        return self.is_valid(a) and all(
            q not in self.members(a) or (self.current[q] == a and self.works(q) and not self.down[q])
            for q in self.each(Process)
        )

    @invariant
    def CommitTogether(self) -> bool:
        """Invariant: no site has committed a list that its originator has given up."""
        return not any(
            self.current[p] == a
            and not self.tokens[a]
            and any(
                self.has_begun(q, a) and not self.down[q] and self.belongs[q] != a for q in self.each(Process)
            )
            for a in self.each(Attempt)
            for p in self.each(Process)
        )

    @invariant
    def OneComesThrough(self) -> bool:
        """Invariant: while all sites are up, the attempts at a new list are never all given up without a new
        list.
        """
        return not self.NoOutcome()

    # Properties: numbers and messages -----------------------------------------------------------------------

    def agree_up_to(self, p: Process, q: Process, k: LastNumber) -> bool:
        """Return True if p and q have the same messages up to number k."""
        return len(self.log[q]) >= k and all(
            i >= k or i >= len(self.log[q]) or self.log[p][i].message == self.log[q][i].message
            for i in range(len(self.log[p]))
        )

    @invariant
    def DeliveredKept(self) -> bool:
        """Invariant: a message that was delivered in a list has the same number at every site of that list
        and of later lists.
        """
        return all(
            self.is_newer(self.current[p], self.current[q])
            or (self.current[p] == self.current[q] and q not in self.members(self.current[p]))
            or self.agree_up_to(p, q, self.last_delivered[p])
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @invariant
    def OneMessageANumber(self) -> bool:
        """Invariant: two sites of one list have the same message under one number."""
        return all(
            self.current[p] != self.current[q]
            or len(self.log[p]) > len(self.log[q])
            or self.agree_up_to(p, q, len(self.log[p]))
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @step_invariant
    def NothingDropped(self, before: Self) -> bool:
        """Invariant: a site that works keeps the message under each number that it had before."""
        return all(
            self.log[p][: len(before.log[p])] == before.log[p] or self.down[p] for p in self.each(Process)
        )

    @invariant
    def OldListStops(self) -> bool:
        """Invariant: sites outside a valid list have given, in an older list, at most as many further numbers
        as there are such sites.
        """
        return not any(
            self.tokens[a]
            and self.is_newer(a, self.current[p])
            and sum(1 for i in range(len(self.log[p])) if self.is_given_outside(p, i, a))
            > self.processes - len(self.members(a))
            for a in self.each(Attempt)
            for p in self.each(Process)
        )

    def is_given_outside(self, p: Process, i: LastNumber, a: Attempt) -> bool:
        """Return True if a site outside list a has given p's message at position i, and no site of list a has
        that message.
        """
        return self.log[p][i].giver not in self.members(a) and not any(
            q in self.members(a) and i < len(self.log[q]) and self.log[q][i] == self.log[p][i]
            for q in self.each(Process)
        )

    # Properties: what happens in the end --------------------------------------------------------------------

    @obligation
    def NobodyWaitsForEver(self) -> bool:
        """Obligation: no live site waits for ever for an answer, an announcement or a token."""
        return not any(not self.down[p] and self.is_at_it(p) for p in self.each(Process))

    # Witnesses ----------------------------------------------------------------------------------------------

    @witness
    def GoodRun(self) -> bool:
        """Witness, figure 22: all sites have joined the new list, and its token site works."""
        return any(
            self.tokens[a]
            and all(
                self.current[p] == a and self.works(p) and p in self.members(a) for p in self.each(Process)
            )
            for a in self.each(Attempt)
        )

    @witness
    def DeliveredInNewList(self) -> bool:
        """Witness: a message is numbered in a new list, and delivered there by all its sites."""
        return any(
            len(self.log[p]) > 0
            and self.log[p][-1].list == a
            and self.stable_up_to(p) == len(self.log[p])
            and all(
                q not in self.members(a)
                or (self.last_delivered[q] == len(self.log[q]) and self.current[q] == a)
                for q in self.each(Process)
            )
            for p in self.each(Process)
            for a in self.each(Attempt)
            if self.current[p] == a
        )

    @witness
    def TwoOriginators(self) -> bool:
        """Witness: two sites are originators at the same time."""
        return any(
            p != q and self.stage[p] is Stage.inviting and self.stage[q] is Stage.inviting
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def NoOutcome(self) -> bool:
        """Witness: all attempts that the bounds allow have begun and none has made a new list, nobody has
        failed, and no site waits for an answer, an announcement or the token.
        """
        return (
            self.begun == self.attempts
            and not any(self.down[p] or self.is_at_it(p) for p in self.each(Process))
            and all(self.new_list[a] is None for a in self.each(Attempt))
        )

    @witness
    def AfterOriginatorFailed(self) -> bool:
        """Witness: an originator has failed after others had joined its list, and the list of another one is
        valid.
        """
        return any(
            self.has_begun(p, a) and self.down[p] and not self.tokens[a] and self.new_list[a] is not None
            and any(self.tokens[b] for b in self.each(Attempt))
            for p in self.each(Process)
            for a in self.each(Attempt)
        )  # fmt: skip

    @witness
    def TokenTooLate(self) -> bool:
        """Witness: a New Token was generated for a token site that has left the list."""
        return any(
            self.tokens[a] and self.is_site(p, a) and not self.works(p) and self.belongs[p] != a
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    @witness
    def ExcludedGoesOn(self) -> bool:
        """Witness: a live site outside the most recent valid list gives a number in its old list."""
        return any(
            self.tokens[a]
            and p not in self.members(a)
            and self.is_newer(a, self.current[p])
            and self.works(p)
            and not self.down[p]
            and self.acknowledged[p][self.current[p]] > 0
            and any(
                i == len(self.log[p]) - 1 and self.is_given_outside(p, i, a) for i in range(len(self.log[p]))
            )
            for p in self.each(Process)
            for a in self.each(Attempt)
        )

    @witness
    def Rejoined(self) -> bool:
        """Witness: a site is on a list again, after an earlier list without that site has delivered a message
        that the site lacked.
        """
        return any(
            self.tokens[a]
            and p not in self.members(a)
            and any(self.acknowledged[p][0] < self.last_delivered[q] for q in self.members(a))
            and self.current[p] == b
            and self.is_newer(b, a)
            for p in self.each(Process)
            for a in self.each(Attempt)
            for b in self.each(Attempt)
        )

    @witness
    def CannotReturn(self) -> bool:
        """Witness: a site on a New TL lacks messages that the token site, which is up and on the list, has
        removed.
        """
        return any(
            self.misses(p)
            and not self.down[p]
            and a == self.belongs[p]
            and self.is_site(s, a)
            and self.answers(s, a)
            and not self.can_recover(p, a)
            for a in self.each(Attempt)
            for p in self.each(Process)
            for s in self.each(Process)
        )

    @witness
    def Figure26(self) -> bool:
        """Witness, figure 26: the sequencer was cut off and has not failed; it has delivered the message that
        it numbered, and the new list has given the number to another message.
        """
        return any(
            self.tokens[a]
            and p not in self.members(a)
            and not self.down[p]
            and self.last_delivered[p] > i
            and q in self.members(a)
            and i < len(self.log[q])
            and i < len(self.log[p])
            and self.log[q][i].message != self.log[p][i].message
            for a in self.each(Attempt)
            for p in self.each(Process)
            for q in self.each(Process)
            for i in range(len(self.log[p]))
        )


class ReformationChecked(ReformationProperties, TotalOrderBroadcast):
    """Reformation over the abstract normal phase, checked against total order broadcast."""


class ReformationViews(ReformationBounded, ViewSynchrony):
    """Reformation over the abstract normal phase, its lists taken for views, checked against view
    synchrony.
    """


class ReformationCounted(ReformationProperties):
    """Reformation with a count of its messages."""

    sent: Annotated[int, Between(0, "5 * processes * attempts")] = 0

    @action
    def invite(self, p: Process) -> None:
        """Invite, and count an invitation for every other site."""
        super().invite(p)
        self.sent += self.processes - 1

    @action(fairness="weak")
    def vote(self, j: Process, a: Attempt) -> None:
        """Vote, and count one answer."""
        super().vote(j, a)
        self.sent += 1

    @action(fairness="weak")
    def announce(self, p: Process, responders: Set[Process], site: Process) -> None:
        """Announce the list, and count a message for every other site on it."""
        super().announce(p, responders, site)
        self.sent += len(responders) - 1

    @action(fairness="weak")
    def agree(self, j: Process) -> None:
        """Agree, and count one answer."""
        super().agree(j)
        self.sent += 1

    @action(fairness="weak")
    def generate_token(self, p: Process) -> None:
        """Generate the token, and count a message if the new token site is not p itself."""
        own = any(self.is_site(p, a) and self.belongs[p] == a for a in self.each(Attempt))
        super().generate_token(p)
        self.sent += 0 if own else 1

    @invariant
    def GoodRunCosts(self) -> bool:
        """Invariant: a good run sends, for each other site, one invitation, one vote, one list and one more
        vote, and one token, unless the originator is the token site.
        """
        return not (self.begun == 1 and self.GoodRun()) or self.sent == 4 * (self.processes - 1) + (
            0 if any(self.has_begun(p, 1) and self.is_site(p, 1) for p in self.each(Process)) else 1
        )
