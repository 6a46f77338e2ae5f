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
    """Planted fault in Reformation (figure 24, phase I), missing guard: a site joins a list with a lower
    version. Correct: the version must be higher than any that the site has joined.
    """

    def _invited(self, originator: int, version: int) -> None:
        before = self.highest
        if not self._belongs:
            self.highest = 0
        super()._invited(originator, version)
        self.highest = max(before, self.highest)


class JoinsTwoLists(Reformation):
    """Planted fault in Reformation (figure 24, phase I), missing guard: a site that belongs to one
    reformation list joins another. Correct: it refuses.
    """

    def _invited(self, originator: int, version: int) -> None:
        if version > self.highest:
            self._belongs = 0
        super()._invited(originator, version)


class ForgetsItsVote(Reformation):
    """Planted fault in Reformation (the reading `leaving=remembers`), missing step: a vote does not raise the
    highest version. Correct: it does.
    """

    def _invited(self, originator: int, version: int) -> None:
        before = self.highest
        super()._invited(originator, version)
        self.highest = before


class ForgetsWhenItLeaves(Reformation):
    """Planted fault in Reformation (the reading `leaving=forgets` of the paper): a site that leaves a list
    may join one with a lower version. Correct: it remembers the version.
    """

    def _withdraw(self, at_least_ms: float = 0.0) -> None:
        super()._withdraw(at_least_ms)
        if self._lists is not None:
            self.highest = self._lists.version


class InvitesWithTheSameVersion(Reformation):
    """Planted fault in Reformation (as printed, figure 23, phase III): `Wait and Restart` happens without
    `Modify TL version number`. Correct: the version changes.
    """

    def _next_version(self) -> int:
        same = self.highest > 1 and (self.highest - 2) % self.members == self.me
        return self.highest if same else super()._next_version()


class TakesTheNextVersion(Reformation):
    """Planted fault in Reformation (as printed, figure 23, phase II): every originator raises a version
    number by one. Correct: the next number that belongs to the originator.
    """

    def _next_version(self) -> int:
        return self.highest + 1


class MostNumbersWin(Reformation):
    """Planted fault in Reformation (as printed, section 3.2.3): the new token site has the highest number, of
    whichever list. Correct: the list counts first.
    """

    def _best(self, votes: dict[int, Vote]) -> int:
        return max(votes, key=lambda process: (votes[process].reaches, -process))


class LastOfTheGreatest(Reformation):
    """Planted fault in Reformation (section 3.2.3), wrong choice: of several sites with the greatest
    knowledge the last one becomes the new token site. Correct: the first.
    """

    def _best(self, votes: dict[int, Vote]) -> int:
        return max(votes, key=lambda process: (votes[process].committed, votes[process].reaches, process))


class OriginatorIsTheSite(Reformation):
    """Planted fault in Reformation (section 3.2.3), wrong choice: the originator is the new token site,
    whatever it has. Correct: the site with the greatest knowledge.
    """

    def _best(self, votes: dict[int, Vote]) -> int:
        del votes
        return self.me


class ListsAllMembers(Reformation):
    """Planted fault in Reformation (figure 23, phase II), wrong list: all members are on the new list, those
    without an answer too. Correct: those that answered.
    """

    def announce(self) -> None:
        """Announce as if every member had voted "Yes"."""
        mine = self._votes[self.me]
        self._votes |= {process: mine for process in range(self.members) if process not in self._votes}
        super().announce()


class TellsTheFirstOnly(Reformation):
    """Planted fault in Reformation (figure 23, phase II), wrong receivers: one site of the list does not get
    the list. Correct: all get it.
    """

    def announce(self) -> None:
        """Announce the list to all but the last of its sites."""
        super().announce()
        lists = [send for send in self._outputs if isinstance(send.message, NewList)]
        if len(lists) > 1:
            self._outputs.remove(lists[-1])


class VotesForWhatIsDelivered(Reformation):
    """Planted fault in Reformation (figure 24, phase I), wrong knowledge: a vote names the delivered
    messages. Correct: those that the site has.
    """

    def _own_vote(self, version: int) -> Vote:
        vote = super()._own_vote(version)
        return structs.replace(vote, reaches=vote.settled)


class VotesForAnEarlierList(Reformation):
    """Planted fault in Reformation (figure 24, phase I), wrong knowledge: a vote names the initial list.
    Correct: the site's present list.
    """

    def _own_vote(self, version: int) -> Vote:
        return structs.replace(super()._own_vote(version), committed=1)


class SlaveRecoversNothing(Reformation):
    """Planted fault in Reformation (figure 24, phase II), missing step: a slave commits without the messages
    that it lacks. Correct: it gets them first.
    """

    def _commit(self, new: NewList) -> None:
        if self.stage is Stage.INVITED:
            self._recovery = None
        super()._commit(new)


class OriginatorRecoversNothing(Reformation):
    """Planted fault in Reformation (as printed, figure 23, phase III): the originator commits without the
    messages that it lacks. Correct: it gets them first.
    """

    def _commit(self, new: NewList) -> None:
        if self.stage is Stage.ANNOUNCING:
            self._recovery = None
        super()._commit(new)


class CommitsInSilence(Reformation):
    """Planted fault in Reformation (figure 24, phase II), missing message: a site that agrees does not
    answer. Correct: it answers "Yes".
    """

    def _agree(self) -> None:
        super()._agree()
        self._outputs = [send for send in self._outputs if not isinstance(send.message, Agreed)]


class AgreesWithoutCommitting(Reformation):
    """Planted fault in Reformation (figure 24, phase II), missing step: a site that agrees stays in its old
    list. Correct: it commits to the new one.
    """

    def _commit(self, new: NewList) -> None:
        if self.stage is not Stage.INVITED:
            super()._commit(new)
        else:
            self._leave_stage(Stage.NORMAL)


class TokenForTheOriginator(Reformation):
    """Planted fault in Reformation (figure 23, phase III), wrong receiver: the originator takes the token
    itself. Correct: the new token site gets it.
    """

    def _gather(self, *, expired: bool) -> bool:
        done = super()._gather(expired=expired)
        self._outputs = [send for send in self._outputs if not isinstance(send.message, Token)]
        return done


class WorksWithoutTheToken(Reformation):
    """Planted fault in Reformation (figure 24, phase III), missing wait: the new token site works as soon as
    it has agreed. Correct: when the token has come.
    """

    def _agree(self) -> None:
        super()._agree()
        if self.stage is Stage.AUTHORISING:
            self._accept()


class OriginatorStaysBehind(Reformation):
    """Planted fault in Reformation (figure 23, phase III), missing step: the originator does not commit.
    Correct: it does.
    """

    def _commit(self, new: NewList) -> None:
        if self.stage is Stage.ANNOUNCING and self.me != new.ring[0]:
            self._leave_stage(Stage.NORMAL)
        else:
            super()._commit(new)


class StaysOnTheList(Reformation):
    """Planted fault in Reformation (figure 24, phase II), missing step: a site that has committed still
    belongs to the reformation list. Correct: it leaves that list.
    """

    def _agree(self) -> None:
        belongs = self._belongs
        super()._agree()
        self._belongs = belongs


class GoesOnWorking(Reformation):
    """Planted fault in Reformation (section 3.2.3, `the reformation phase is blocking`), missing step: a site
    that has voted goes on working. Correct: it stops.
    """

    def _invited(self, originator: int, version: int) -> None:
        lists = self._lists
        assert lists is not None, "there are others"
        works = self.stage is Stage.NORMAL and not self._belongs
        super()._invited(originator, version)
        if works and self.stage is Stage.INVITED:
            lists.accept(self._now)


class ReturnsToItsList(Reformation):
    """Planted fault in Reformation (figures 23 and 24), wrong stage: a site that gives up works on in its old
    list. Correct: it waits for another reformation.
    """

    def _withdraw(self, at_least_ms: float = 0.0) -> None:
        super()._withdraw(at_least_ms)
        self._leave_stage(Stage.NORMAL)
        assert self._lists is not None, "there are others"
        self._lists.accept(self._now)


class IgnoresAbort(Reformation):
    """Planted fault in Reformation (figure 24), missing step: an "Abort" has no effect. Correct: the site
    gives up.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Ignore an "Abort", and handle any other message."""
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
"""Faulty classes of members, by the names of the planted faults."""
