"""Planted faults in an implementation of Totem's ring, each a core with one mistake.

`antiphon lockstep totem --fault NAME` shows the shortest trace to where it differs from the specification.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.totem import Core
from antiphon.impl.protocols.totem.messages import Token, Update


class KeepsTheToken(Core):
    """Planted fault in Totem (pass_idle), forgotten update: a member that passed a resting token on still
    holds it. Correct: it does not.
    """

    def _transmit(self, token: Token, step: str) -> None:
        """Pass the token on, and keep a copy of it as the holder."""
        super()._transmit(token, step)
        if step == "pass_idle":
            self._token = token
            self._watch()


class PassesBackwards(Core):
    """Planted fault in Totem (pass_token), wrong neighbour: the token goes to the predecessor. Correct: to
    the successor.
    """

    def _transmit(self, token: Token, step: str) -> None:
        """Send the token to the predecessor."""
        super()._transmit(token, step)
        self._outputs[-1] = Send((self.me - 1) % self.members, self._outputs[-1].message)


class TellsNothing(Core):
    """Planted fault in Totem (pass_token), forgotten update: the token goes on without the own delivery
    information. Correct: with it.
    """

    def _transmit(self, token: Token, step: str) -> None:
        """Pass the token on with the delivery information that it arrived with."""
        super()._transmit(token, step)
        self._outputs[-1] = Send(self._outputs[-1].to, token)


class TellsWhatWasGiven(Core):
    """Planted fault in Totem (pass_token), wrong variable: a member reports the last assigned number as
    delivered. Correct: its last delivered one.
    """

    def _transmit(self, token: Token, step: str) -> None:
        """Pass the token on with the last assigned number as this member's delivery information."""
        status, self._status = self._status, token.seq
        super()._transmit(token, step)
        self._status = status


class TakesOwnForAll(Core):
    """Planted fault in Totem (stability), forgotten minimum: a member takes its own deliveries for stable.
    Correct: the minimum over all members is.
    """

    def _least(self, token: Token) -> int:
        """Return the number that this member has delivered last, as the smallest of all members."""
        del token
        return self._status


class BelievesTheToken(Core):
    """Planted fault in Totem (stability), stale variable: a member uses its own delivery information of a
    rotation ago. Correct: the current one.
    """

    def _least(self, token: Token) -> int:
        """Return the smallest delivery information in the token, in which this member's own is a rotation
        old.
        """
        return min(token.told)


class GivesNumberAgain(Core):
    """Planted fault in Totem (multicast), lost update: the token goes on with the `seq` that it arrived with.
    Correct: with the last assigned one.
    """

    def multicast(self, now: float) -> bool:
        """Multicast, and restore the token's `seq`."""
        before = self._token
        done = super().multicast(now)
        if done and before is not None and self._token is not None:
            self._token = Token(before.seq, self._token.told)
        return done


class DeliversAsItComes(Core):
    """Planted fault in Totem (deliver), forgotten guard: an update is delivered although an earlier one is
    missing. Correct: it waits.
    """

    def _take_in(self, update: Update) -> None:
        """Deliver an update although an earlier one is missing."""
        self._status = max(self._status, update.number - 1)
        super()._take_in(update)


class DeliversOne(Core):
    """Planted fault in Totem (deliver), `if` for `while`: updates behind a closed gap stay undelivered.
    Correct: they are delivered.
    """

    def _take_in(self, update: Update) -> None:
        """Deliver one update, and leave those behind it."""
        behind = {number: kept for number, kept in self._early.items() if number != update.number}
        self._early.clear()
        super()._take_in(update)
        self._early.update(behind)


class ForgetsItself(Core):
    """Planted fault in Totem (multicast), forgotten copy: the holder does not deliver its own multicast.
    Correct: it does.
    """

    def _take_in(self, update: Update) -> None:
        """Deliver an update unless it is this member's own."""
        if update.identifier.source != self.me:
            super()._take_in(update)


class LeavesOneOut(Core):
    """Planted fault in Totem (multicast), off by one: the last other member gets no update. Correct: every
    member gets one.
    """

    def multicast(self, now: float) -> bool:
        """Multicast, and drop the copy for the last of the others."""
        done = super().multicast(now)
        if done:
            self._outputs.pop()
        return done


class SendsNewestFirst(Core):
    """Planted fault in Totem (multicast), wrong end of the queue: the newest waiting message is sent first.
    Correct: the oldest is.
    """

    def multicast(self, now: float) -> bool:
        """Reverse the waiting messages, and multicast."""
        self._waiting.reverse()
        done = super().multicast(now)
        self._waiting.reverse()
        return done


class SendsAll(Core):
    """Planted fault in Totem (flow control), forgotten limit: a visit of the token sends all waiting
    messages. Correct: at most the visit's limit.
    """

    def _may_multicast(self, token: Token) -> bool:
        """Return True if the flow control allows another message, without counting those of this visit."""
        visit, self._visit = self._visit, 0
        may = super()._may_multicast(token)
        self._visit = visit
        return may


class CountsForEver(Core):
    """Planted fault in Totem (flow control), forgotten reset: messages of one visit count in the next.
    Correct: the count begins at 0.
    """

    def _transmit(self, token: Token, step: str) -> None:
        """Pass the token on, and do not reset the count of messages of a visit."""
        visit = self._visit
        super()._transmit(token, step)
        self._visit = visit


class ForgetsItsOwn(Core):
    """Planted fault in Totem (flow control), forgotten limit: a member sends without a bound on its unstable
    messages. Correct: with the bound.
    """

    def _may_multicast(self, token: Token) -> bool:
        """Return True if the flow control allows another message, as if no own message were unstable."""
        own, self._own = self._own, []
        may = super()._may_multicast(token)
        self._own = own
        return may


class SendsOneAVisit(Core):
    """Planted fault in Totem (pass_token), wrong order: the token is passed after one message. Correct: after
    all that the limit allows.
    """

    def _may_multicast(self, token: Token) -> bool:
        """Return True for the first message of a visit only."""
        return self._visit == 0 and super()._may_multicast(token)


class NeverRests(Core):
    """Planted fault in Totem (pass_idle), forgotten case: an idle token goes on at once. Correct:
    it rests.
    """

    def _may_rest(self, token: Token) -> bool:
        """Return False: the token never rests."""
        del token
        return False


class RestsEarly(Core):
    """Planted fault in Totem (pass_idle), wrong guard: the token rests once all have delivered all, though
    the other members cannot know so. Correct: it goes on until they know.
    """

    def _may_rest(self, token: Token) -> bool:
        """Return True if this member knows that all messages are delivered everywhere."""
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
"""Faulty cores by name."""
