"""Plausible mistakes in an implementation of Totem's ring, each a core with one thing wrong.

`antiphon lockstep totem --fault NAME` shows the shortest trace to where it differs from the specification.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.totem import Core
from antiphon.impl.protocols.totem.messages import Token, Update


class KeepsTheToken(Core):
    """Forgotten update (pass_idle): who passed the token on after a rest still holds it."""

    def _transmit(self, token: Token, step: str) -> None:
        """Take it back."""
        super()._transmit(token, step)
        if step == "pass_idle":
            self._token = token
            self._watch()


class PassesBackwards(Core):
    """Wrong neighbour (pass_token): the token goes to the member before."""

    def _transmit(self, token: Token, step: str) -> None:
        """Change the address."""
        super()._transmit(token, step)
        self._outputs[-1] = Send((self.me - 1) % self.members, self._outputs[-1].message)


class TellsNothing(Core):
    """Forgotten update (pass_token): the token goes on without the own delivery information."""

    def _transmit(self, token: Token, step: str) -> None:
        """Send what came."""
        super()._transmit(token, step)
        self._outputs[-1] = Send(self._outputs[-1].to, token)


class TellsWhatWasGiven(Core):
    """Wrong variable (pass_token): a member tells the last number that was given as delivered."""

    def _transmit(self, token: Token, step: str) -> None:
        """Pretend to be at the end."""
        status, self._status = self._status, token.seq
        super()._transmit(token, step)
        self._status = status


class TakesOwnForAll(Core):
    """Forgotten minimum (stability): what a member has delivered itself it takes for stable."""

    def _least(self, token: Token) -> int:
        """Its own."""
        del token
        return self._status


class BelievesTheToken(Core):
    """Stale variable (stability): a member judges by what it told of itself a rotation ago."""

    def _least(self, token: Token) -> int:
        """Only the token's."""
        return min(token.told)


class GivesNumberAgain(Core):
    """Lost update (multicast): the token goes on with the seq that it came with."""

    def multicast(self, now: float) -> bool:
        """Put it back."""
        before = self._token
        done = super().multicast(now)
        if done and before is not None and self._token is not None:
            self._token = Token(before.seq, self._token.told)
        return done


class DeliversAsItComes(Core):
    """Forgotten guard (deliver): an update is delivered although an earlier one is missing."""

    def _take_in(self, update: Update) -> None:
        """Skip the gap."""
        self._status = max(self._status, update.number - 1)
        super()._take_in(update)


class DeliversOne(Core):
    """`if` for `while` (deliver): what waited behind a gap stays there when it closes."""

    def _take_in(self, update: Update) -> None:
        """Hide the others."""
        behind = {number: kept for number, kept in self._early.items() if number != update.number}
        self._early.clear()
        super()._take_in(update)
        self._early.update(behind)


class ForgetsItself(Core):
    """Forgotten copy (multicast): the holder does not deliver what it multicasts."""

    def _take_in(self, update: Update) -> None:
        """Only what comes from another."""
        if update.identifier.source != self.me:
            super()._take_in(update)


class LeavesOneOut(Core):
    """Off by one (multicast): the last of the others is sent no update."""

    def multicast(self, now: float) -> bool:
        """Multicast, and drop the copy for the last of the others."""
        done = super().multicast(now)
        if done:
            self._outputs.pop()
        return done


class SendsNewestFirst(Core):
    """Wrong end (multicast): of several messages that wait the last one goes first."""

    def multicast(self, now: float) -> bool:
        """Turn what waits around."""
        self._waiting.reverse()
        done = super().multicast(now)
        self._waiting.reverse()
        return done


class SendsAll(Core):
    """Forgotten limit (flow control): a visit lets everything go that waits."""

    def _may_multicast(self, token: Token) -> bool:
        """Forget how many went."""
        visit, self._visit = self._visit, 0
        may = super()._may_multicast(token)
        self._visit = visit
        return may


class CountsForEver(Core):
    """Forgotten reset (flow control): what went in one visit counts in the next."""

    def _transmit(self, token: Token, step: str) -> None:
        """Put it back."""
        visit = self._visit
        super()._transmit(token, step)
        self._visit = visit


class ForgetsItsOwn(Core):
    """Forgotten limit (flow control): a member sends however much of its own is not stable."""

    def _may_multicast(self, token: Token) -> bool:
        """Planted fault: take no own message for unstable."""
        own, self._own = self._own, []
        may = super()._may_multicast(token)
        self._own = own
        return may


class SendsOneAVisit(Core):
    """Wrong order (pass_token): the token is passed as soon as something went."""

    def _may_multicast(self, token: Token) -> bool:
        """Not twice."""
        return self._visit == 0 and super()._may_multicast(token)


class NeverRests(Core):
    """Forgotten case (pass_idle): a token that has nothing to do goes on at once."""

    def _may_rest(self, token: Token) -> bool:
        """Never."""
        del token
        return False


class RestsEarly(Core):
    """Wrong guard (pass_idle): the token rests where all delivered all, though the others cannot know."""

    def _may_rest(self, token: Token) -> bool:
        """Ask what this member knows."""
        return not self._waiting and self._least(token) == token.seq


FAULTS: dict[str, type[Core]] = {
    "believes-the-token": BelievesTheToken,
    "counts-for-ever": CountsForEver,
    "delivers-as-it-comes": DeliversAsItComes,
    "delivers-one": DeliversOne,
    "forgets-its-own": ForgetsItsOwn,
    "forgets-itself": ForgetsItself,
    "gives-number-again": GivesNumberAgain,
    "keeps-the-token": KeepsTheToken,
    "leaves-one-out": LeavesOneOut,
    "never-rests": NeverRests,
    "passes-backwards": PassesBackwards,
    "rests-early": RestsEarly,
    "sends-all": SendsAll,
    "sends-newest-first": SendsNewestFirst,
    "sends-one-a-visit": SendsOneAVisit,
    "takes-own-for-all": TakesOwnForAll,
    "tells-nothing": TellsNothing,
    "tells-what-was-given": TellsWhatWasGiven,
}
"""The cores that differ in a step, by name."""
