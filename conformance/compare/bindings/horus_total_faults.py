"""Planted faults in Horus' layers MBRSHIP and TOTAL, and in NAK where only the whole stack shows them.

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
    """Planted fault in MBRSHIP, wrong view: a cast names the next view. Correct code names the
    present one.
    """

    def down(self, call: Down) -> None:
        """Push the number of the view plus one."""
        self.below(Cast(pushed(InView(VIEW + 1, call.body))))


class HearsItself(Mbrship):
    """Planted fault in MBRSHIP, forgotten rule: a member's own cast comes up at that member, too. Correct
    code does not hand it up.
    """

    def down(self, call: Down) -> None:
        """Cast, and hand the message up at once."""
        super().down(call)
        self.above(Receive(self.me, call.body))


class NamesTheFirst(Mbrship):
    """Planted fault in MBRSHIP, wrong source: every message seems to come from the first member. Correct code
    names the sender.
    """

    def up(self, call: Receive) -> None:
        """Pass the message up as one of the first member, unless this member is the first."""
        super().up(Receive(0 if self.me else call.origin, call.body))


class WaitsForTheToken(Total):
    """Planted fault in TOTAL, forgotten holder: a holder's broadcast waits until the token comes again.
    Correct code numbers it at once.
    """

    def down(self, call: Down) -> None:
        """Put the message into the queue only."""
        self._waiting.append(call.body)


class SendsOne(Total):
    """Planted fault in TOTAL, `if` for `while`: with the token one waiting message is sent. Correct code
    sends all.
    """

    def _send_numbered(self) -> None:
        """Send the first waiting message, and leave the others in the queue."""
        rest = list(self._waiting)[1:]
        while len(self._waiting) > 1:
            self._waiting.pop()
        super()._send_numbered()
        self._waiting.extend(rest)


class SendsNewestFirst(Total):
    """Planted fault in TOTAL, wrong end: the message that waited longest is sent last. Correct code sends it
    first.
    """

    def _send_numbered(self) -> None:
        """Send the waiting messages in reverse order."""
        if self._token:
            self._waiting.reverse()
        super()._send_numbered()


class GivesNumberAgain(Total):
    """Planted fault in TOTAL, off by one: the token goes on with the last given number. Correct code goes on
    with the next.
    """

    def expire(self, timer: Timer) -> None:
        """Pass the token with the last given number, if one was given."""
        self._token = max(1, self._token - 1)
        super().expire(timer)


class KeepsTheToken(Total):
    """Planted fault in TOTAL, forgotten reset: a member that passed the token still holds it. Correct code
    gives it up.
    """

    def expire(self, timer: Timer) -> None:
        """Pass the token, and keep it."""
        number = self._token
        super().expire(timer)
        self._token = number


class PassesBackwards(Total):
    """Planted fault in TOTAL, wrong rank: the token goes to the previous member. Correct code passes it to
    the next.
    """

    def expire(self, timer: Timer) -> None:
        """Pass the token to the previous member."""
        del timer
        number, self._token = self._token, 0
        self.below(Cast(pushed(Token((self.me - 1) % self.members, number))))


class TakesEveryToken(Total):
    """Planted fault in TOTAL, forgotten guard: a token for another member is taken. Correct code
    ignores it.
    """

    def up(self, call: Receive) -> None:
        """Take a token for any member."""
        body = _read(call.body)
        if isinstance(body, Token):
            call = Receive(call.origin, pushed(Token(self.me, body.number)))
        super().up(call)


class DeliversAsItComes(Total):
    """Planted fault in TOTAL, forgotten guard: a numbered message is delivered although an earlier one is
    missing. Correct code waits for it.
    """

    def _deliver_numbered(self) -> None:
        """Deliver a numbered message although an earlier one is missing."""
        self._next_number = min(self._numbered, default=self._next_number)
        super()._deliver_numbered()


class DeliversOne(Total):
    """Planted fault in TOTAL, `if` for `while`: messages behind a gap stay there when it closes. Correct code
    delivers all that are next.
    """

    def _deliver_numbered(self) -> None:
        """Deliver the next message only, and leave those behind it."""
        item = self._numbered.pop(self._next_number, None)
        if item is not None:
            self._next_number += 1
            self.above(Receive(*item))


class NamesAnotherRank(Total):
    """Planted fault in TOTAL, wrong source: a delivery names the member before its sender. Correct code names
    the sender.
    """

    def up(self, call: Receive) -> None:
        """Take a message as one of the member before its sender, unless this member is the one before."""
        before = (call.origin - 1) % self.members
        ordered = isinstance(_read(call.body), Ordered)
        super().up(Receive(before if ordered and before != self.me else call.origin, call.body))


class RestsForEver(Total):
    """Planted fault in TOTAL, forgotten wait: a token stays with a member that has nothing to send. Correct
    code passes it after a while.
    """

    def timers(self) -> dict[Timer, int]:
        """Return the timer only for a member that has sent something."""
        return super().timers() if self._token > 1 else {}


_DECODER: msgspec.msgpack.Decoder[Ordered | Token] = msgspec.msgpack.Decoder(Ordered | Token)


class ForgetsWhatWaits(Nak):
    """Planted fault in NAK's window, forgotten flow: a cast that waits for room waits until the next cast.
    Correct code sends it when there is room.
    """

    def _note(self, origin: int, received: int, sent: int) -> None:
        """Note a status, and send no message that waits for room."""
        waiting, self._waiting = self._waiting, deque()
        super()._note(origin, received, sent)
        self._waiting = waiting


class OvertakesWhatWaits(Nak):
    """Planted fault in NAK's window, wrong end: of the casts that wait for room the last one goes first.
    Correct code sends the first.
    """

    def _flow(self) -> None:
        """Send the messages that wait for room in reverse order."""
        self._waiting.rotate(1)
        super()._flow()


def _read(body: bytes) -> Ordered | Token:
    """Decode the header of a message of TOTAL."""
    return _DECODER.decode(body)


WINDOW_FAULTS: dict[str, Any] = {
    "forgets-what-waits": planted(ForgetsWhatWaits),
    "overtakes-what-waits": planted(OvertakesWhatWaits),
}
"""Stacks with a planted fault in NAK's handling of a full window, by name."""

MBRSHIP_FAULTS: dict[str, Any] = {
    "begins-the-next-view": planted(BeginsTheNextView),
    "hears-itself": planted(HearsItself),
    "names-the-first": planted(NamesTheFirst),
}
"""Stacks with a planted fault in MBRSHIP, by name."""

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
"""Stacks with a planted fault in TOTAL, by name."""
