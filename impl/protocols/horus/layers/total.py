"""TOTAL: the holder of a token numbers its casts, and all members deliver in the order of numbers.

| paper                                                              | here                                |
|--------------------------------------------------------------------|-------------------------------------|
| `it utilizes a token`                                              | `_token`, the next number           |
| `A special "oracle" at each member decides who should get the      | the next in rank, when the timer    |
| token next`                                                        | PASS rings                          |
| `Another deterministic rule decides who the first token holder in  | process 0                           |
| this view is (e.g., the lowest ranked member)`                     |                                     |

Here the view stays, so that this layer has no flush. It does not need the repair NUMBERS_FIRST, which changes
what a flush does: "messages are delivered in the order of the rank of the source".

Source: van Renesse and others 1995, on TOTAL.
"""

from __future__ import annotations

from collections import deque
from typing import ClassVar, NamedTuple

import msgspec

from antiphon.impl.protocols.core import Natural, Process, Wait
from antiphon.impl.protocols.horus.layers.layer import (
    Cast,
    Down,
    Layer,
    Receive,
    Timer,
    popped,
    pushed,
)
from antiphon.impl.protocols.horus.messages import HorusViolation

__all__ = ["PASS", "Ordered", "Token", "Total", "TotalSnapshot"]

PASS = "pass_token"

WAITING_MAX = 32
"""Largest number of own messages that wait for the token."""

AHEAD_MAX = 2**16
"""Largest lead of a number over what a member has; the windows of the layers below allow less."""


class _Body(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Header that TOTAL pushes."""


class Ordered(_Body, frozen=True, tag=1):
    """Message with its number."""

    number: Natural
    body: bytes


class Token(_Body, frozen=True, tag=2):
    """Token for one member, with the number that it gives next."""

    to: Process
    number: Natural


_DECODER: msgspec.msgpack.Decoder[Ordered | Token] = msgspec.msgpack.Decoder(Ordered | Token)


class TotalSnapshot(NamedTuple):
    """The whole state of the layer TOTAL at one member."""

    waiting: tuple[bytes, ...]
    token: int
    next_number: int
    numbered: tuple[tuple[int, int, bytes], ...]


class Total(Layer):
    """Layer TOTAL: `_token` is the next number to give, or 0 without the token."""

    intervals: ClassVar[tuple[str, ...]] = (PASS,)

    def __init__(self, me: int, members: int) -> None:
        super().__init__(me, members)
        self._waiting: deque[bytes] = deque()
        self._token = 1 if me == 0 else 0
        self._next_number = 1
        self._numbered: dict[int, tuple[int, bytes]] = {}

    @property
    def full(self) -> bool:
        """Return True if the largest number of own messages waits for the token."""
        return len(self._waiting) >= WAITING_MAX

    def down(self, call: Down) -> None:
        """Number the message if this member holds the token; otherwise let it wait."""
        self._waiting.append(call.body)
        self._send_numbered()

    def _send_numbered(self) -> None:
        """Number and send the waiting messages if this member holds the token; deliver what is next."""
        while self._token and self._waiting:
            body, number = self._waiting.popleft(), self._token
            self._token += 1
            self._numbered[number] = (self.me, body)
            self.below(Cast(pushed(Ordered(number, body))))
        self._deliver_numbered()

    def up(self, call: Receive) -> None:
        """Take a numbered message, or the token; an own message that comes back is ignored."""
        if call.origin == self.me:
            return
        body = popped(_DECODER, call.body)
        wrong = HorusViolation.MALFORMED if body is None else self._impossible(body)
        if wrong is not None:
            self.violated(wrong, call.origin)
        elif isinstance(body, Ordered):
            self._numbered[body.number] = (call.origin, body.body)
            self._deliver_numbered()
        elif isinstance(body, Token) and body.to == self.me:
            self._token = body.number
            self._send_numbered()

    def _impossible(self, body: Ordered | Token) -> HorusViolation | None:
        """Return the violation if no correct member sends this now, else None."""
        if isinstance(body, Token):
            second = body.to == self.me and (self._token != 0 or body.number < self._next_number)
            return HorusViolation.SECOND_TOKEN if second else None
        number = body.number
        if number < self._next_number or number in self._numbered or 0 < self._token <= number:
            return HorusViolation.TWO_MESSAGES
        return HorusViolation.NUMBER_AHEAD if number >= self._next_number + AHEAD_MAX else None

    def _deliver_numbered(self) -> None:
        """Hand up the messages that are next, in the order of their numbers."""
        while (item := self._numbered.pop(self._next_number, None)) is not None:
            self._next_number += 1
            self.above(Receive(*item))

    # The end of a view --------------------------------------------------------------------------------------

    @property
    def early(self) -> list[tuple[int, int, bytes]]:
        """Numbered messages that wait for an earlier number: number, source and body, by rising numbers."""
        return [(number, *self._numbered[number]) for number in sorted(self._numbered)]

    @property
    def unnumbered(self) -> list[bytes]:
        """Own messages that wait for the token, in order."""
        return list(self._waiting)

    # The token ----------------------------------------------------------------------------------------------

    def timers(self) -> dict[Timer, int]:
        """Return the timer of a holder, which gives the token away after a while."""
        return {Timer(PASS, self.me): 0} if self._token else {}

    def expire(self, timer: Timer) -> None:
        """Pass the token to the next member in rank, as the oracle chooses."""
        del timer
        number, self._token = self._token, 0
        self.below(Cast(pushed(Token((self.me + 1) % self.members, number)), lasting=False))

    # Looking at it ------------------------------------------------------------------------------------------

    @property
    def progress(self) -> int:
        """Measure of progress: messages that were delivered, or wait for an earlier number."""
        return self._next_number + len(self._numbered)

    def waits(self) -> tuple[Wait, ...]:
        """Return a wait for the token, from the member before this one, if messages wait for it."""
        before = (self.me - 1) % self.members
        return (Wait("the token", before),) if self._waiting and not self._token else ()

    def snapshot(self) -> TotalSnapshot:
        """Return the whole state."""
        return TotalSnapshot(tuple(self._waiting), self._token, self._next_number, tuple(self.early))

    def restore(self, snapshot: TotalSnapshot) -> None:
        """Set the state to a snapshot."""
        self._waiting = deque(snapshot.waiting)
        self._token, self._next_number = snapshot.token, snapshot.next_number
        self._numbered = {number: (source, body) for number, source, body in snapshot.numbered}
