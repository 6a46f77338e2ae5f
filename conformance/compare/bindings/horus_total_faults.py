"""Plausible mistakes in Horus' layers MBRSHIP and TOTAL, and in NAK where only the whole stack shows it.

`antiphon lockstep horus-total --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec

from antiphon.conformance.compare.bindings.horus_faults import planted
from antiphon.impl.protocols.horus.layers.layer import Cast, Down, Receive, Timer, pushed
from antiphon.impl.protocols.horus.layers.mbrship import VIEW, InView, Mbrship
from antiphon.impl.protocols.horus.layers.nak import Nak
from antiphon.impl.protocols.horus.layers.total import Ordered, Token, Total


class BeginsTheNextView(Mbrship):
    """Wrong view: what is cast is said to belong to the next one."""

    def down(self, call: Down) -> None:
        """Count one too many."""
        self.below(Cast(pushed(InView(VIEW + 1, call.body))))


class HearsItself(Mbrship):
    """Forgotten rule: a member's own cast comes up at that member, too."""

    def down(self, call: Down) -> None:
        """Hand it up."""
        super().down(call)
        self.above(Receive(self.me, call.body))


class NamesTheFirst(Mbrship):
    """Wrong source: everything comes from the member of the lowest rank."""

    def up(self, call: Receive) -> None:
        """Unless that is this one."""
        super().up(Receive(0 if self.me else call.origin, call.body))


class WaitsForTheToken(Total):
    """Forgotten holder: what a holder broadcasts waits until the token comes again."""

    def down(self, call: Down) -> None:
        """Only let it wait."""
        self._waiting.append(call.body)


class SendsOne(Total):
    """`if` for `while`: of what waits for the token one message is sent."""

    def _send_numbered(self) -> None:
        """Keep the others."""
        rest = list(self._waiting)[1:]
        while len(self._waiting) > 1:
            self._waiting.pop()
        super()._send_numbered()
        self._waiting.extend(rest)


class SendsNewestFirst(Total):
    """Wrong end: what waited longest for the token is sent last."""

    def _send_numbered(self) -> None:
        """Turn it round."""
        if self._token:
            self._waiting.reverse()
        super()._send_numbered()


class GivesNumberAgain(Total):
    """Off by one: the token goes on with the last number that was given."""

    def expire(self, timer: Timer) -> None:
        """Give it back, where one was given."""
        self._token = max(1, self._token - 1)
        super().expire(timer)


class KeepsTheToken(Total):
    """Forgotten reset: who passed the token on still holds it."""

    def expire(self, timer: Timer) -> None:
        """Take it back."""
        number = self._token
        super().expire(timer)
        self._token = number


class PassesBackwards(Total):
    """Wrong rank: the token goes to the member before."""

    def expire(self, timer: Timer) -> None:
        """Turn round."""
        del timer
        number, self._token = self._token, 0
        self.below(Cast(pushed(Token((self.me - 1) % self.members, number))))


class TakesEveryToken(Total):
    """Forgotten guard: a token for another member is taken, too."""

    def up(self, call: Receive) -> None:
        """Planted fault: take the token of anybody."""
        body = _read(call.body)
        if isinstance(body, Token):
            call = Receive(call.origin, pushed(Token(self.me, body.number)))
        super().up(call)


class DeliversAsItComes(Total):
    """Forgotten guard: a message with a number is delivered although an earlier one is missing."""

    def _deliver_numbered(self) -> None:
        """Skip the gap."""
        self._next_number = min(self._numbered, default=self._next_number)
        super()._deliver_numbered()


class DeliversOne(Total):
    """`if` for `while`: what waited behind a gap stays there when it closes."""

    def _deliver_numbered(self) -> None:
        """One."""
        item = self._numbered.pop(self._next_number, None)
        if item is not None:
            self._next_number += 1
            self.above(Receive(*item))


class NamesAnotherRank(Total):
    """Wrong source: what is delivered is said to come from the member before its sender."""

    def up(self, call: Receive) -> None:
        """Its rank is one too low, unless that is this one."""
        before = (call.origin - 1) % self.members
        ordered = isinstance(_read(call.body), Ordered)
        super().up(Receive(before if ordered and before != self.me else call.origin, call.body))


class RestsForEver(Total):
    """Forgotten wait: a token stays with who has nothing to send."""

    def timers(self) -> dict[Timer, int]:
        """Only for who has sent something."""
        return super().timers() if self._token > 1 else {}


_DECODER: msgspec.msgpack.Decoder[Ordered | Token] = msgspec.msgpack.Decoder(Ordered | Token)


class ForgetsWhatWaits(Nak):
    """Forgotten flow: a cast that waits for room waits until the next one."""

    def _note(self, origin: int, received: int, sent: int) -> None:
        """As if nothing waited."""
        waiting, self._waiting = self._waiting, deque()
        super()._note(origin, received, sent)
        self._waiting = waiting


class OvertakesWhatWaits(Nak):
    """Wrong end: of the casts that wait for room the last one goes first."""

    def _flow(self) -> None:
        """Turn them round."""
        self._waiting.rotate(1)
        super()._flow()


def _read(body: bytes) -> Ordered | Token:
    """TOTAL's header."""
    return _DECODER.decode(body)


WINDOW_FAULTS: dict[str, Any] = {
    "forgets-what-waits": planted(ForgetsWhatWaits),
    "overtakes-what-waits": planted(OvertakesWhatWaits),
}
"""The stacks whose NAK differs where a cast finds no room, by name."""

MBRSHIP_FAULTS: dict[str, Any] = {
    "begins-the-next-view": planted(BeginsTheNextView),
    "hears-itself": planted(HearsItself),
    "names-the-first": planted(NamesTheFirst),
}
"""The stacks whose MBRSHIP differs in a step, by name."""

TOTAL_FAULTS: dict[str, Any] = {
    "delivers-as-it-comes": planted(DeliversAsItComes),
    "delivers-one": planted(DeliversOne),
    "gives-number-again": planted(GivesNumberAgain),
    "keeps-the-token": planted(KeepsTheToken),
    "names-another-rank": planted(NamesAnotherRank),
    "passes-backwards": planted(PassesBackwards),
    "rests-for-ever": planted(RestsForEver),
    "sends-newest-first": planted(SendsNewestFirst),
    "sends-one": planted(SendsOne),
    "takes-every-token": planted(TakesEveryToken),
    "waits-for-the-token": planted(WaitsForTheToken),
}
"""The stacks whose TOTAL differs in a step, by name."""
