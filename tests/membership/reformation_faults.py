"""Mistakes in Reformation and in the rings of its lists, each a class with one method changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from antiphon.impl.membership.reformation import (
    Agreed,
    Ends,
    NewList,
    Over,
    Recovery,
    Reformation,
    Stage,
    Vote,
)
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.token_lists import Entry, Listed, TokenLists

__all__ = ["FAULTS", "ForgetsTheEnd"]


class AnyNumberIsAMajority(Reformation):
    """The majority test is missing."""

    def announce(self) -> None:
        votes, lists = self._votes, self._lists
        site = self._best(votes)
        ring = tuple(process for process in sorted(votes, key=lambda one: one != site))
        ends = votes[site].ends or self._end_with(votes, ring, ())
        if len(ring) < 2 and ends is None:
            self.give_up()
            return
        assert lists is not None
        self._new = NewList(self._belongs, ring, (), ends)
        self.stage, self._deadline = Stage.ANNOUNCING, self._now + self._timeouts.exclude_ms
        self._agreements = {self.me}
        for process in ring:
            self._to(process, self._new)
        self._recover()

    @property
    def _reaches_majority(self) -> bool:
        return True


class ForgetsItsVotes(Reformation):
    """The reading `leaving=forgets`: who leaves a list may join one with a lower version."""

    def _withdraw(self, at_least_ms: float = 0.0) -> None:
        super()._withdraw(at_least_ms)
        assert self._lists is not None
        self.highest = self._lists.version


class MostNumbersWin(Reformation):
    """Without `most_recent_list`: the new token site is who has the highest number, of whichever list."""

    def _best(self, votes: dict[int, Vote]) -> int:
        return max(votes, key=lambda process: (votes[process].reaches, -process))


class FewestNumbersWin(Reformation):
    """The new token site is who has least."""

    def _best(self, votes: dict[int, Vote]) -> int:
        return min(votes, key=lambda process: (votes[process].committed, votes[process].reaches, process))


class OneNumberForAll(Reformation):
    """Without `own_versions`, and votes forgotten: all choose the next version."""

    def _next_version(self) -> int:
        assert self._lists is not None
        return self._lists.version + 1

    def _invited(self, originator: int, version: int) -> None:
        assert self._lists is not None
        self.highest = self._lists.version
        super()._invited(originator, version)


class OriginatorKeepsItsOwn(Reformation):
    """Without `originator_recovers`: the originator begins the list with what it has."""

    def _recovered(self, sender: int, message: Recovery) -> None:
        if self.stage is Stage.ANNOUNCING:
            assert self._lists is not None
            message = Recovery(message.version, self._lists.reaches, self._lists.give(self._lists.settled))
        super()._recovered(sender, message)


class SlaveKeepsItsOwn(Reformation):
    """A slave agrees, and recovers nothing."""

    def _announced(self, new: NewList) -> None:
        super()._announced(new)
        if self.stage is Stage.INVITED:
            self._agree()


class TokenBeforeAllAgree(Reformation):
    """Phase III: the token is passed when a majority has agreed."""

    def _gather(self, *, expired: bool) -> bool:
        if 2 * len(self._agreements) > self.members:
            self._agreements |= self._everybody
        return super()._gather(expired=expired)


class NoTokenIsNeeded(Reformation):
    """The new token site works when it has agreed."""

    def _agree(self) -> None:
        super()._agree()
        if self.stage is Stage.AUTHORISING:
            self._accept()


class ForgetsTheEnd(Reformation):
    """A list does not have the end of the view that the site has; it may have another one."""

    def _own_vote(self, version: int) -> Vote:
        return structs.replace(super()._own_vote(version), ends=None)


class EndsWhenItAgrees(Reformation):
    """Planted fault: agreement to a list that ends the view counts as the end of the view."""

    def _commit(self, new: NewList) -> None:
        super()._commit(new)
        if self.ends is not None and self.me != new.ring[0]:
            self._to(self._originator, Agreed(new.version))
            self._finish(tells=False)


class TellsNobodyOfTheEnd(Reformation):
    """Planted fault: the end of the view is reported only to the members of the list."""

    def _tell(self, ends: Ends) -> None:
        super()._tell(ends)
        self._outputs = [send for send in self._outputs if not isinstance(send.message, Over)]


class TellsTheEndAlone(Reformation):
    """Planted fault: a member outside the last list hears of the end without the entries it lacks."""

    def _over(self, message: Over) -> None:
        super()._over(structs.replace(message, entries=()))


class WaitsForEver(Reformation):
    """Planted fault: a member that gives up does not restart."""

    def _withdraw(self, at_least_ms: float = 0.0) -> None:
        super()._withdraw(at_least_ms)
        self._restart_at = None


class NoTimerInPhaseTwo(Reformation):
    """A slave waits for ever for a list, whatever becomes of the originator."""

    def _step(self) -> bool:
        return False if self.stage is Stage.INVITED else super()._step()


class NoTimerForTheToken(Reformation):
    """The new token site waits for ever for the token, whatever becomes of the originator."""

    def _step(self) -> bool:
        return False if self.stage is Stage.AUTHORISING else super()._step()


class IdleListsLiveOn(Reformation):
    """A list that nobody has begun is not given up."""

    def _look(self, *, expired: bool) -> bool:
        assert self._lists is not None
        return self._lists.begun and super()._look(expired=expired)


class TakesInNobody(Reformation):
    """Planted fault: a member left out of a list is never invited again."""

    @property
    def _has_reason(self) -> bool:
        return not frozenset(self.ordering) <= self._heard

    @property
    def returns(self) -> bool:
        return False


class NobodyIsLost(Reformation):
    """Planted fault: a member that cannot recover its missing messages is on the list all the same."""

    def _own_vote(self, version: int) -> Vote:
        return structs.replace(super()._own_vote(version), keeps_from=1)


class WorksMeanwhile(TokenLists):
    """A member that has voted works on in its list: Reformation does not block."""

    def stop(self) -> None:
        core, started = self._core, self._started
        super().stop()
        if core is not None and started and self.begun:
            self._core = core

    def take(self, reaches: int, entries: Sequence[Entry]) -> bool:
        self._core = None
        return super().take(reaches, entries)


class TakesAnyList(TokenLists):
    """RBP-19: the version of a packet does not matter."""

    def receive(self, sender: int, message: Listed, now: float) -> None:
        super().receive(sender, Listed(self.version, message.message), now)


class KeepsTheRest(TokenLists):
    """Without `drop_the_rest`: what the site has not got is kept, and what it has otherwise too."""

    def take(self, reaches: int, entries: Sequence[Entry]) -> bool:
        mine = {entry.number: entry for entry in self._entries}
        both = {**{entry.number: entry for entry in entries}, **mine}
        return super().take(max(reaches, self._reaches), [both[number] for number in sorted(both)])


class CountsFromTheOldList(TokenLists):
    """Without `count_in_the_list`: what a list begins with is delivered when it is committed."""

    def commit(self, version: int, ring: tuple[int, ...], now: float, *, works: bool = True) -> None:
        super().commit(version, ring, now, works=works)
        self._settle_to(self._base)


class BroadcastsNothingAgain(TokenLists):
    """Planted fault: messages without a number at the end of their list are lost."""

    def commit(self, version: int, ring: tuple[int, ...], now: float, *, works: bool = True) -> None:
        super().commit(version, ring, now, works=works)
        self._unsent = 0


class BroadcastsAllAgain(TokenLists):
    """All that was not delivered is broadcast again, what the list begins with too."""

    def commit(self, version: int, ring: tuple[int, ...], now: float, *, works: bool = True) -> None:
        super().commit(version, ring, now, works=works)
        self._unsent = len(self._own) if works else 0


class ForgetsAtOnce(TokenLists):
    """Planted fault: delivered messages are not kept for other members."""

    def _trim(self) -> None:
        self._kept.clear()


class DeliversNothingAtTheEnd(TokenLists):
    """Planted fault: the messages that the last list of a view begins with are not delivered."""

    def adopt(self, agreed: Report) -> list[Any]:
        del agreed
        return []


FAULTS: dict[str, dict[str, type[Any]]] = {
    kind.__name__: {"machine" if issubclass(kind, Reformation) else "rings": kind}
    for kind in (
        AnyNumberIsAMajority, ForgetsItsVotes, MostNumbersWin, FewestNumbersWin, OneNumberForAll,
        OriginatorKeepsItsOwn, SlaveKeepsItsOwn, TokenBeforeAllAgree, NoTokenIsNeeded,
        EndsWhenItAgrees, TellsNobodyOfTheEnd, TellsTheEndAlone, WaitsForEver,
        NoTimerInPhaseTwo, NoTimerForTheToken, IdleListsLiveOn, TakesInNobody, NobodyIsLost, WorksMeanwhile,
        TakesAnyList, KeepsTheRest, CountsFromTheOldList, BroadcastsNothingAgain, BroadcastsAllAgain,
        ForgetsAtOnce, DeliversNothingAtTheEnd,
    )
}  # fmt: skip
"""All that random schedules find soon, by name."""
