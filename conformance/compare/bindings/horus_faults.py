"""Plausible mistakes in Horus' layers COM, NAK and FRAG, each a stack with one thing wrong.

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
    """Stacks whose layer of this base is of this class."""

    class Faulty(Core):
        __doc__ = kind.__doc__

        def _link(self) -> None:
            for layer in self._layers:
                if isinstance(layer, kind.__bases__[0]):
                    layer.__class__ = kind
            super()._link()

    return Faulty


class CastsToOne(Com):
    """Wrong call: what is cast is sent to one member."""

    def down(self, call: Down) -> None:
        """Take the first."""
        super().down(Send(self.others[0], call.body))


class SendsToAll(Com):
    """Wrong call: what is sent to one member is cast."""

    def down(self, call: Down) -> None:
        """Take all."""
        super().down(Cast(call.body))


class PushesTheReceiver(Com):
    """Wrong address: what is sent to one member names that member as its source."""

    def down(self, call: Down) -> None:
        """Name it."""
        if isinstance(call, Send):
            self.below(Send(call.to, pushed(Addressed(call.to, call.body))))
        else:
            super().down(call)


class PassesUpTwice(Com):
    """Forgotten `else`: what passes the filter goes up twice."""

    def up(self, call: Receive) -> None:
        """And again."""
        super().up(call)
        super().up(call)


class FiltersTheLast(Com):
    """Off by one: what comes from the member with the highest number is taken for foreign."""

    def up(self, call: Receive) -> None:
        """Leave it out."""
        if call.origin < self.members - 1:
            super().up(call)


class AsksOnlyOnce(Nak):
    """Forgotten wait (ASK): what is missing is not asked for while something else waits."""

    def _lacks(self, process: int) -> bool:
        """Only if nothing came early."""
        return super()._lacks(process) and not self._early[process]


class AsksForTheNewest(Nak):
    """Wrong end (ASK): the highest number that is known is asked for, not the first that is missing."""

    def expire(self, timer: Timer) -> None:
        """Ask for it."""
        if timer.name == ASK:
            self.below(Send(timer.of, pushed(Negative(self._known[timer.of]))))
        else:
            super().expire(timer)


class ForgetsToAnswer(Nak):
    """Forgotten answer (TELL): a message that came is not acknowledged."""

    def _take_in(self, origin: int, place: int, body: bytes) -> None:
        """Owe nothing."""
        owed = set(self._owed)
        super()._take_in(origin, place, body)
        self._owed = owed


class TellsExpected(Nak):
    """Off by one (TELL): a status says which number is next, not which came last."""

    def expire(self, timer: Timer) -> None:
        """Count one too many."""
        if timer.name == ASK:
            super().expire(timer)
            return
        for process in filter(self._tells, self.others):
            sent = self._cast if self._acknowledged[process] < self._cast else 0
            self.below(Send(process, pushed(Status(self._expected[process], sent))))
        self._owed.clear()


class AnswersForEver(Nak):
    """Endless (TELL): every status is answered, an answer too."""

    def _note(self, origin: int, received: int, sent: int) -> None:
        """Owe one."""
        super()._note(origin, received, sent)
        self._owed.add(origin)


class ForgetsTooMuch(Nak):
    """Wrong bound (flush): what one member has acknowledged is not kept for another."""

    def _release(self) -> None:
        """Take the most for the least."""
        everywhere = max(self._acknowledged[process] for process in self.others)
        while self._oldest <= everywhere:
            self._buffer.popleft()
            self._oldest += 1


class KeepsEverything(Nak):
    """Forgotten flush: what all have acknowledged stays in the buffer."""

    def _release(self) -> None:
        """Keep it."""


class PassesUpEarly(Nak):
    """Forgotten guard: a message goes up when it comes, before the one that is missing."""

    def _pass_up(self, origin: int) -> None:
        """Skip the gap."""
        self._expected[origin] = min(self._early[origin], default=self._expected[origin])
        super()._pass_up(origin)


class PassesUpOne(Nak):
    """`if` for `while`: what came early stays when the gap before it closes."""

    def _pass_up(self, origin: int) -> None:
        """One."""
        body = self._early[origin].pop(self._expected[origin], None)
        if body is not None:
            self._expected[origin] += 1
            self.above(Receive(origin, body))


class BelievesTheLast(Nak):
    """Overtaken (status): one that comes late takes a later one back."""

    def _note(self, origin: int, received: int, sent: int) -> None:
        """Set it."""
        self._acknowledged[origin] = min(self._acknowledged[origin], received)
        super()._note(origin, received, sent)


class SendsBeyondTheWindow(Nak):
    """As printed: what does not fit the buffer is cast, and the oldest message falls out."""

    @property
    def full(self) -> bool:
        """Never."""
        return False


class MarksNone(Frag):
    """Forgotten bit: no fragment is the last."""

    def down(self, call: Down) -> None:
        """Leave it out."""
        for byte in range(len(call.body)):
            self.below(Cast(pushed(Fragment(False, call.body[byte : byte + 1]))))


class MarksTheFirst(Frag):
    """Wrong end: the boolean stands on the first fragment."""

    def down(self, call: Down) -> None:
        """Mark the first fragment instead of the last."""
        for byte in range(len(call.body)):
            self.below(Cast(pushed(Fragment(byte == 0, call.body[byte : byte + 1]))))


class KeepsTheParts(Frag):
    """Forgotten reset: the fragments of a message that was delivered are in the next one, too."""

    def _gather(self, origin: int, fragment: Fragment) -> None:
        """Put them back."""
        parts = (*self._gathered[origin], fragment.part)
        super()._gather(origin, fragment)
        self._gathered[origin] = parts


class TurnsAround(Frag):
    """Wrong order: the fragments are put together last first."""

    def _gather(self, origin: int, fragment: Fragment) -> None:
        """Prepend."""
        parts = (fragment.part, *self._gathered[origin])
        self._gathered[origin] = () if fragment.last else parts
        if fragment.last:
            self.above(Receive(origin, b"".join(parts)))


class DropsTheTail(Frag):
    """Off by one: what the last fragment holds is left out."""

    def _gather(self, origin: int, fragment: Fragment) -> None:
        """Empty it."""
        super()._gather(origin, Fragment(fragment.last, b"" if fragment.last else fragment.part))


COM_FAULTS: dict[str, Any] = {
    "casts-to-one": planted(CastsToOne),
    "filters-the-last": planted(FiltersTheLast),
    "passes-up-twice": planted(PassesUpTwice),
    "pushes-the-receiver": planted(PushesTheReceiver),
    "sends-to-all": planted(SendsToAll),
}
"""The stacks whose COM differs in a step, by name."""

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
"""The stacks whose NAK differs in a step, by name."""

FRAG_FAULTS: dict[str, Any] = {
    "drops-the-tail": planted(DropsTheTail),
    "keeps-the-parts": planted(KeepsTheParts),
    "marks-none": planted(MarksNone),
    "marks-the-first": planted(MarksTheFirst),
    "turns-around": planted(TurnsAround),
}
"""The stacks whose FRAG differs in a step, by name."""
