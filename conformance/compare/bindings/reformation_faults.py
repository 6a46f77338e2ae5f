"""Plausible mistakes in an implementation of figures 23 and 24: members with one thing wrong.

`antiphon lockstep reformation --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from antiphon.impl.membership.reformation import (
    Abort,
    Agreed,
    Message,
    NewList,
    Reformation,
    Stage,
    Token,
    Vote,
)

__all__ = ["FAULTS"]


class JoinsAnyVersion(Reformation):
    """Missing guard (figure 24, phase I): the sequence test, so that a lower version is joined."""

    def _invited(self, originator: int, version: int) -> None:
        before = self.highest
        if not self._belongs:
            self.highest = 0
        super()._invited(originator, version)
        self.highest = max(before, self.highest)


class JoinsTwoLists(Reformation):
    """Missing guard (figure 24, phase I): who belongs to a reformation list joins another one."""

    def _invited(self, originator: int, version: int) -> None:
        if version > self.highest:
            self._belongs = 0
        super()._invited(originator, version)


class ForgetsItsVote(Reformation):
    """Missing step (the reading `leaving=remembers`): a vote does not raise the highest version."""

    def _invited(self, originator: int, version: int) -> None:
        before = self.highest
        super()._invited(originator, version)
        self.highest = before


class ForgetsWhenItLeaves(Reformation):
    """As the reading `leaving=forgets`: who leaves a list may join one with a lower version."""

    def _withdraw(self, at_least_ms: float = 0.0) -> None:
        super()._withdraw(at_least_ms)
        if self._lists is not None:
            self.highest = self._lists.version


class InvitesWithTheSameVersion(Reformation):
    """As printed (figure 23, phase III): `Wait and Restart` without `Modify TL version number`."""

    def _next_version(self) -> int:
        same = self.highest > 1 and (self.highest - 2) % self.members == self.me
        return self.highest if same else super()._next_version()


class TakesTheNextVersion(Reformation):
    """As printed (figure 23, phase II): a version number is modified by one, whoever it belongs to."""

    def _next_version(self) -> int:
        return self.highest + 1


class MostNumbersWin(Reformation):
    """As printed (section 3.2.3): the new token site has the highest number, of whichever list."""

    def _best(self, votes: dict[int, Vote]) -> int:
        return max(votes, key=lambda process: (votes[process].reaches, -process))


class LastOfTheGreatest(Reformation):
    """Wrong choice (section 3.2.3): of several sites with the greatest knowledge the last one."""

    def _best(self, votes: dict[int, Vote]) -> int:
        return max(votes, key=lambda process: (votes[process].committed, votes[process].reaches, process))


class OriginatorIsTheSite(Reformation):
    """Wrong choice (section 3.2.3): the originator is the new token site, whatever it has."""

    def _best(self, votes: dict[int, Vote]) -> int:
        del votes
        return self.me


class ListsAllMembers(Reformation):
    """Wrong list (figure 23, phase II): all members are on it, those too that did not answer."""

    def announce(self) -> None:
        """Take the own vote for that of each."""
        mine = self._votes[self.me]
        self._votes |= {process: mine for process in range(self.members) if process not in self._votes}
        super().announce()


class TellsTheFirstOnly(Reformation):
    """Wrong receivers (figure 23, phase II): one site of the list does not get it."""

    def announce(self) -> None:
        """Leave out the last."""
        super().announce()
        lists = [send for send in self._outputs if isinstance(send.message, NewList)]
        if len(lists) > 1:
            self._outputs.remove(lists[-1])


class VotesForWhatIsDelivered(Reformation):
    """Wrong knowledge (figure 24, phase I): a vote tells what was delivered, not what is there."""

    def _own_vote(self, version: int) -> Vote:
        vote = super()._own_vote(version)
        return structs.replace(vote, reaches=vote.settled)


class VotesForAnEarlierList(Reformation):
    """Wrong knowledge (figure 24, phase I): a vote names the list of the beginning."""

    def _own_vote(self, version: int) -> Vote:
        return structs.replace(super()._own_vote(version), committed=1)


class SlaveRecoversNothing(Reformation):
    """Missing step (figure 24, phase II): a slave commits with what it has."""

    def _commit(self, new: NewList) -> None:
        if self.stage is Stage.INVITED:
            self._recovery = None
        super()._commit(new)


class OriginatorRecoversNothing(Reformation):
    """As printed (figure 23, phase III): the originator commits with what it has."""

    def _commit(self, new: NewList) -> None:
        if self.stage is Stage.ANNOUNCING:
            self._recovery = None
        super()._commit(new)


class CommitsInSilence(Reformation):
    """Missing message (figure 24, phase II): who has agreed does not say so."""

    def _agree(self) -> None:
        super()._agree()
        self._outputs = [send for send in self._outputs if not isinstance(send.message, Agreed)]


class AgreesWithoutCommitting(Reformation):
    """Missing step (figure 24, phase II): who agrees stays in its old list."""

    def _commit(self, new: NewList) -> None:
        if self.stage is not Stage.INVITED:
            super()._commit(new)
        else:
            self._leave_stage(Stage.NORMAL)


class TokenForTheOriginator(Reformation):
    """Wrong receiver (figure 23, phase III): the originator takes the token itself."""

    def _gather(self, *, expired: bool) -> bool:
        done = super()._gather(expired=expired)
        self._outputs = [send for send in self._outputs if not isinstance(send.message, Token)]
        return done


class WorksWithoutTheToken(Reformation):
    """Missing wait (figure 24, phase III): the new token site works when it has agreed."""

    def _agree(self) -> None:
        super()._agree()
        if self.stage is Stage.AUTHORISING:
            self._accept()


class OriginatorStaysBehind(Reformation):
    """Missing step (figure 23, phase III): the originator does not commit."""

    def _commit(self, new: NewList) -> None:
        if self.stage is Stage.ANNOUNCING and self.me != new.ring[0]:
            self._leave_stage(Stage.NORMAL)
        else:
            super()._commit(new)


class StaysOnTheList(Reformation):
    """Missing step (figure 24, phase II): who has committed still belongs to the reformation list."""

    def _agree(self) -> None:
        belongs = self._belongs
        super()._agree()
        self._belongs = belongs


class GoesOnWorking(Reformation):
    """Missing step (section 3.2.3): `the reformation phase is blocking`; who has voted works on."""

    def _invited(self, originator: int, version: int) -> None:
        lists = self._lists
        assert lists is not None, "there are others"
        works = self.stage is Stage.NORMAL and not self._belongs
        super()._invited(originator, version)
        if works and self.stage is Stage.INVITED:
            lists.accept(self._now)


class ReturnsToItsList(Reformation):
    """Wrong stage (figures 23 and 24): who gives up works on in its old list."""

    def _withdraw(self, at_least_ms: float = 0.0) -> None:
        super()._withdraw(at_least_ms)
        self._leave_stage(Stage.NORMAL)
        assert self._lists is not None, "there are others"
        self._lists.accept(self._now)


class IgnoresAbort(Reformation):
    """Missing step (figure 24): an "Abort" has no effect."""

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Leave it out."""
        if not isinstance(message, Abort):
            super().receive(sender, message, now)


FAULTS: Mapping[str, type[Reformation]] = {
    "agrees-without-committing": AgreesWithoutCommitting,
    "commits-in-silence": CommitsInSilence,
    "forgets-its-vote": ForgetsItsVote,
    "forgets-when-it-leaves": ForgetsWhenItLeaves,
    "goes-on-working": GoesOnWorking,
    "ignores-abort": IgnoresAbort,
    "invites-with-the-same-version": InvitesWithTheSameVersion,
    "joins-any-version": JoinsAnyVersion,
    "joins-two-lists": JoinsTwoLists,
    "last-of-the-greatest": LastOfTheGreatest,
    "lists-all-members": ListsAllMembers,
    "most-numbers-win": MostNumbersWin,
    "originator-is-the-site": OriginatorIsTheSite,
    "originator-recovers-nothing": OriginatorRecoversNothing,
    "originator-stays-behind": OriginatorStaysBehind,
    "returns-to-its-list": ReturnsToItsList,
    "slave-recovers-nothing": SlaveRecoversNothing,
    "stays-on-the-list": StaysOnTheList,
    "takes-the-next-version": TakesTheNextVersion,
    "tells-the-first-only": TellsTheFirstOnly,
    "token-for-the-originator": TokenForTheOriginator,
    "votes-for-an-earlier-list": VotesForAnEarlierList,
    "votes-for-what-is-delivered": VotesForWhatIsDelivered,
    "works-without-the-token": WorksWithoutTheToken,
}
"""All of them."""
