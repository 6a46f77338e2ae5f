"""TOTAL on one list of a group whose members change: the holder keeps the token until somebody asks for it.

The paper leaves to "a special oracle" who gets the token next. Here a waiting member gets it: a member that
has something to send, and no token, asks all. The holder numbers what it has, and passes the token to the
next member in rank that waits. So a group in which nobody sends is silent, and a lone sender never asks.

Questions of a member are counted from 1. The token says how many of each member's are answered, so that an
old question that comes late moves nothing. The token goes to all, and everything that lasts has its number;
so whoever gets the token knows the next number. `total` has the rest of the layer.

Source: van Renesse and others 1995, on TOTAL.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import msgspec

from antiphon.impl.protocols.core import Natural, Process
from antiphon.impl.protocols.horus.layers.layer import Cast, Down, Receive, Timer, popped, pushed
from antiphon.impl.protocols.horus.layers.total import Ordered, Total, TotalSnapshot
from antiphon.impl.protocols.horus.messages import HorusViolation
from antiphon.impl.protocols.listeners import Upto

__all__ = ["OnRequest", "OnRequestSnapshot"]


class _Body(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Header that TOTAL pushes."""


class Turn(_Body, frozen=True, tag=2):
    """Token for one member, with the number that it gives next, and the questions that are answered."""

    to: Process
    number: Natural
    answered: tuple[Upto, ...]


class Want(_Body, frozen=True, tag=3):
    """Request for the token; `question` counts the sender's requests, from 1."""

    question: Natural


_DECODER: msgspec.msgpack.Decoder[Ordered | Turn | Want] = msgspec.msgpack.Decoder(Ordered | Turn | Want)


class OnRequestSnapshot(NamedTuple):
    """The whole state of the layer TOTAL at one member."""

    total: TotalSnapshot
    asked: tuple[int, ...]
    answered: tuple[int, ...]


class OnRequest(Total):
    """Layer TOTAL of a list: the token goes to a member that asks for it."""

    intervals: ClassVar[tuple[str, ...]] = ()

    def __init__(self, me: int, members: int) -> None:
        super().__init__(me, members)
        self._asked = [0] * members
        """Number of questions of each member, as far as they have come."""
        self._answered = [0] * members
        """Number of questions of each member that are answered, as the token said last."""

    def down(self, call: Down) -> None:
        """Number the message if this member holds the token; otherwise ask for the token."""
        super().down(call)
        if self._waiting and self._asked[self.me] == self._answered[self.me]:
            self._asked[self.me] += 1
            self.below(Cast(pushed(Want(self._asked[self.me])), lasting=False))

    def up(self, call: Receive) -> None:
        """Take a numbered message, the token, or a question."""
        body, origin = popped(_DECODER, call.body), call.origin
        if isinstance(body, Ordered):
            super().up(call)
        elif body is None or (isinstance(body, Turn) and len(body.answered) != self.members):
            self.violated(HorusViolation.MALFORMED, origin)
        elif isinstance(body, Want):
            self._asked[origin] = max(self._asked[origin], body.question)
            self._pass_on()
        elif body.to == self.me and (self._token or body.number < self._next_number):
            self.violated(HorusViolation.SECOND_TOKEN, origin)
        elif body.to == self.me:
            self._token, self._answered = body.number, list(body.answered)
            self._answered[self.me] = self._asked[self.me]
            self._send_numbered()
            self._pass_on()

    def _pass_on(self) -> None:
        """Pass the token to the next in rank that waits, if there is one."""
        ranks = (range(self.me + 1, self.members), range(self.me))
        waiting = (one for rank in ranks for one in rank if self._asked[one] > self._answered[one])
        following = next(waiting, None)
        if self._token and following is not None:
            number, self._token = self._token, 0
            self.below(Cast(pushed(Turn(following, number, tuple(self._answered))), lasting=False))

    def timers(self) -> dict[Timer, int]:
        """Return no timer: a holder waits for a question."""
        return {}

    def snapshot(self) -> OnRequestSnapshot:  # type: ignore[override]
        """Return the whole state."""
        return OnRequestSnapshot(super().snapshot(), tuple(self._asked), tuple(self._answered))

    def restore(self, snapshot: OnRequestSnapshot) -> None:  # type: ignore[override]
        """Set the state to a snapshot."""
        super().restore(snapshot.total)
        self._asked, self._answered = list(snapshot.asked), list(snapshot.answered)
