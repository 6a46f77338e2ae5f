"""Planted faults in Horus' layers COM, NAK and FRAG, each a stack with one plausible mistake.

`antiphon lockstep horus-nak --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from typing import Any

from antiphon.impl.protocols.horus import Core
from antiphon.impl.protocols.horus.layers.com import Addressed, Com
from antiphon.impl.protocols.horus.layers.frag import Frag, Fragment
from antiphon.impl.protocols.horus.layers.layer import Cast, Down, Layer, Receive, Send, Timer, pushed
from antiphon.impl.protocols.horus.layers.nak import ASK, Nak, Negative, Status

Fault = type[Core]


def planted(kind: type[Layer]) -> type[Core]:
    """Return a class of stacks in which this faulty class replaces the layer that it derives from."""

    class Faulty(Core):
        __doc__ = kind.__doc__

        def _link(self) -> None:
            for layer in self._layers:
                if isinstance(layer, kind.__bases__[0]):
                    layer.__class__ = kind
            super()._link()

    return Faulty


class CastsToOne(Com):
    """Planted fault in COM, wrong call: a cast is sent to one member. Correct code sends it to all."""

    def down(self, call: Down) -> None:
        """Send to the first member only."""
        super().down(Send(self.others[0], call.body))


class SendsToAll(Com):
    """Planted fault in COM, wrong call: a message to one member is cast to all."""

    def down(self, call: Down) -> None:
        """Send to all members."""
        super().down(Cast(call.body))


class PushesTheReceiver(Com):
    """Planted fault in COM, wrong address: a message to one member names that member as its source. Correct
    code pushes the sender's address.
    """

    def down(self, call: Down) -> None:
        """Push the receiver's address."""
        if isinstance(call, Send):
            self.below(Send(call.to, pushed(Addressed(call.to, call.body))))
        else:
            super().down(call)


class PassesUpTwice(Com):
    """Planted fault in COM, forgotten `else`: a message that passes the filter goes up twice. Correct code
    passes it up once.
    """

    def up(self, call: Receive) -> None:
        """Pass a message up twice if it passes the filter."""
        super().up(call)
        super().up(call)


class FiltersTheLast(Com):
    """Planted fault in COM, off by one: messages of the member with the highest number are dropped as
    foreign. Correct code accepts every member.
    """

    def up(self, call: Receive) -> None:
        """Drop a message of the last member."""
        if call.origin < self.members - 1:
            super().up(call)


class AsksOnlyOnce(Nak):
    """Planted fault in NAK (timer ASK), forgotten wait: a missing message is not asked for while something
    else waits. Correct code asks each member for its first missing message.
    """

    def _lacks(self, process: int) -> bool:
        """Return True if a message of the process is missing and none came early."""
        return super()._lacks(process) and not self._early[process]


class AsksForTheNewest(Nak):
    """Planted fault in NAK (timer ASK), wrong end: the highest known number is requested. Correct code
    requests the first missing one.
    """

    def expire(self, timer: Timer) -> None:
        """Ask for the highest known number."""
        if timer.name == ASK:
            self.below(Send(timer.of, pushed(Negative(self._known[timer.of]))))
        else:
            super().expire(timer)


class ForgetsToAnswer(Nak):
    """Planted fault in NAK (timer TELL), forgotten answer: an arrived message is not acknowledged. Correct
    code answers with a status.
    """

    def _take_in(self, origin: int, place: int, body: bytes) -> None:
        """Take in a message, and note no acknowledgement that is due."""
        owed = set(self._owed)
        super()._take_in(origin, place, body)
        self._owed = owed


class TellsExpected(Nak):
    """Planted fault in NAK (timer TELL), off by one: a status gives the next expected number. Correct code
    gives the last one that came.
    """

    def expire(self, timer: Timer) -> None:
        """Send a status that counts one message too many."""
        if timer.name == ASK:
            super().expire(timer)
            return
        for process in filter(self._tells, self.others):
            sent = self._cast if self._acknowledged[process] < self._cast else 0
            self.below(Send(process, pushed(Status(self._expected[process], sent))))
        self._owed.clear()


class AnswersForEver(Nak):
    """Planted fault in NAK (timer TELL), endless: every status is answered, an answer too. Correct code
    answers messages and requests only.
    """

    def _note(self, origin: int, received: int, sent: int) -> None:
        """Note a status, and answer it as if it were a request."""
        super()._note(origin, received, sent)
        self._owed.add(origin)


class ForgetsTooMuch(Nak):
    """Planted fault in NAK (flush), wrong bound: a message that one member has acknowledged is dropped for
    all. Correct code keeps it until all have.
    """

    def _release(self) -> None:
        """Release the messages that any member has acknowledged, instead of those that all have."""
        everywhere = max(self._acknowledged[process] for process in self.others)
        while self._oldest <= everywhere:
            self._buffer.popleft()
            self._oldest += 1


class KeepsEverything(Nak):
    """Planted fault in NAK, forgotten flush: messages that all have acknowledged stay in the buffer. Correct
    code releases them.
    """

    def _release(self) -> None:
        """Release nothing from the buffer."""


class PassesUpEarly(Nak):
    """Planted fault in NAK, forgotten guard: a message goes up when it comes, before a missing one. Correct
    code waits for the gap to close.
    """

    def _pass_up(self, origin: int) -> None:
        """Pass a message up although an earlier one is missing."""
        self._expected[origin] = min(self._early[origin], default=self._expected[origin])
        super()._pass_up(origin)


class PassesUpOne(Nak):
    """Planted fault in NAK, `if` for `while`: early messages stay when the gap before them closes. Correct
    code passes up all that are next.
    """

    def _pass_up(self, origin: int) -> None:
        """Pass up the next message only, and leave those behind it."""
        body = self._early[origin].pop(self._expected[origin], None)
        if body is not None:
            self._expected[origin] += 1
            self.above(Receive(origin, body))


class BelievesTheLast(Nak):
    """Planted fault in NAK (status), overtaken: a late status takes a later one back. Correct code ignores
    old news.
    """

    def _note(self, origin: int, received: int, sent: int) -> None:
        """Set what a member has acknowledged to the status's number, even if that is lower."""
        self._acknowledged[origin] = min(self._acknowledged[origin], received)
        super()._note(origin, received, sent)


class SendsBeyondTheWindow(Nak):
    """Planted fault in NAK, as printed: a message beyond the window is cast, and the oldest falls out of the
    buffer. Correct code waits for room.
    """

    @property
    def full(self) -> bool:
        """Return False: the window is never full."""
        return False


class MarksNone(Frag):
    """Planted fault in FRAG, forgotten bit: no fragment is marked as the last. Correct code marks it."""

    def down(self, call: Down) -> None:
        """Cast the fragments without the mark."""
        for byte in range(len(call.body)):
            self.below(Cast(pushed(Fragment(False, call.body[byte : byte + 1]))))


class MarksTheFirst(Frag):
    """Planted fault in FRAG, wrong end: the first fragment is marked as the last. Correct code marks the
    last.
    """

    def down(self, call: Down) -> None:
        """Mark the first fragment instead of the last."""
        for byte in range(len(call.body)):
            self.below(Cast(pushed(Fragment(byte == 0, call.body[byte : byte + 1]))))


class KeepsTheParts(Frag):
    """Planted fault in FRAG, forgotten reset: fragments of a delivered message are in the next one, too.
    Correct code clears them.
    """

    def _gather(self, origin: int, fragment: Fragment) -> None:
        """Gather a fragment; put the fragments of a completed message back into the buffer."""
        parts = (*self._gathered[origin], fragment.part)
        super()._gather(origin, fragment)
        self._gathered[origin] = parts


class TurnsAround(Frag):
    """Planted fault in FRAG, wrong order: fragments are put together last first. Correct code keeps their
    order.
    """

    def _gather(self, origin: int, fragment: Fragment) -> None:
        """Add a fragment before the others, not behind them."""
        parts = (fragment.part, *self._gathered[origin])
        self._gathered[origin] = () if fragment.last else parts
        if fragment.last:
            self.above(Receive(origin, b"".join(parts)))


class DropsTheTail(Frag):
    """Planted fault in FRAG, off by one: the content of the last fragment is left out. Correct code includes
    it.
    """

    def _gather(self, origin: int, fragment: Fragment) -> None:
        """Gather the last fragment without its content."""
        super()._gather(origin, Fragment(fragment.last, b"" if fragment.last else fragment.part))


COM_FAULTS: dict[str, Any] = {
    "casts-to-one": planted(CastsToOne),
    "filters-the-last": planted(FiltersTheLast),
    "passes-up-twice": planted(PassesUpTwice),
    "pushes-the-receiver": planted(PushesTheReceiver),
    "sends-to-all": planted(SendsToAll),
}
"""Stacks with a planted fault in COM, by name."""

NAK_FAULTS: dict[str, Any] = {
    "answers-for-ever": planted(AnswersForEver),
    "asks-for-the-newest": planted(AsksForTheNewest),
    "asks-only-once": planted(AsksOnlyOnce),
    "believes-the-last": planted(BelievesTheLast),
    "forgets-to-answer": planted(ForgetsToAnswer),
    "forgets-too-much": planted(ForgetsTooMuch),
    "keeps-everything": planted(KeepsEverything),
    "passes-up-early": planted(PassesUpEarly),
    "passes-up-one": planted(PassesUpOne),
    "sends-beyond-the-window": planted(SendsBeyondTheWindow),
    "tells-expected": planted(TellsExpected),
}
"""Stacks with a planted fault in NAK, by name."""

FRAG_FAULTS: dict[str, Any] = {
    "drops-the-tail": planted(DropsTheTail),
    "keeps-the-parts": planted(KeepsTheParts),
    "marks-none": planted(MarksNone),
    "marks-the-first": planted(MarksTheFirst),
    "turns-around": planted(TurnsAround),
}
"""Stacks with a planted fault in FRAG, by name."""
