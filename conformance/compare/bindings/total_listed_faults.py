"""Planted faults in TOTAL on a list: cores with one mistake each.

Faults of the change are in `listed_faults.py`, and are planted where figures 29 and 32 are walked.

`antiphon lockstep total-listed --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from antiphon.impl.protocols.core import Delivery, Identifier, Send
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.listeners import Stable
from antiphon.impl.protocols.total.listed import ListedCore, ListedTimer
from antiphon.impl.protocols.total.messages import Bcast, CumAck, Message
from antiphon.impl.protocols.total.process import SEQUENCER

__all__ = ["FAULTS"]


class DeliversWhenNumbered(ListedCore):
    """Planted fault in delivery, missing condition: a message is delivered when its number comes. Correct:
    when all of the list have it.
    """

    def _pass_up(self, message: Bcast) -> None:
        """Store the message, and deliver it."""
        super()._pass_up(message)
        self._deliver_to(self._history.last)


class BelievesTheLastNotice(ListedCore):
    """Planted fault in delivery, value that goes back: an older notice of stability takes the place of a
    newer one. Correct: the highest number counts.
    """

    def receive(self, sender: int, message: Any, now: float) -> None:
        """Handle the message; a notice counts as the only one."""
        super().receive(sender, message, now)
        if isinstance(message, Stable):
            self._heard = message.number


class CountsOne(ListedCore):
    """Planted fault in stability, any for all: what one other member has counts as stable. Correct: what all
    have.
    """

    def receive(self, sender: int, message: Any, now: float) -> None:
        """Handle the message; an acknowledgement counts as if all had sent it."""
        super().receive(sender, message, now)
        if isinstance(message, CumAck):
            self._deliver_to(max(self._acknowledged))


class BelievesTheLast(ListedCore):
    """Planted fault in stability, value that goes back: an older acknowledgement takes the place of a newer
    one. Correct: the highest number counts.
    """

    def receive(self, sender: int, message: Any, now: float) -> None:
        """Handle the message; an acknowledgement counts as the only one."""
        super().receive(sender, message, now)
        if isinstance(message, CumAck):
            self._acknowledged[sender] = message.number


class AcknowledgesNothing(ListedCore):
    """Planted fault in an acknowledgement, forgotten message: none is sent. Correct: one for each message
    that comes.
    """

    def _acknowledge(self) -> None:
        """Send nothing."""


class AcknowledgesNews(ListedCore):
    """Planted fault in an acknowledgement, missing case: a message that comes again is not acknowledged.
    Correct: it is, since the acknowledgement may have been lost.
    """

    def receive(self, sender: int, message: Any, now: float) -> None:
        """Handle the message, unless it is a broadcast that is here."""
        if not isinstance(message, Bcast) or message.number >= self._next_expected:
            super().receive(sender, message, now)


class AcknowledgesTheHighest(ListedCore):
    """Planted fault in an acknowledgement, wrong value: it names the highest number that came, over a gap.
    Correct: the last one before the gap.
    """

    def _acknowledge(self) -> None:
        """Acknowledge the highest number."""
        self._to(SEQUENCER, CumAck(max([self._next_expected - 1, *self._queue])))


class AcknowledgesToAll(ListedCore):
    """Planted fault in an acknowledgement, wrong receivers: all members get it. Correct: the sequencer
    alone.
    """

    def _acknowledge(self) -> None:
        """Acknowledge to everybody."""
        for process in self._others:
            self._to(process, CumAck(self._next_expected - 1))


class TellsNothing(ListedCore):
    """Planted fault in stability, forgotten message: the sequencer tells nobody what is stable. Correct: it
    tells all.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages, as if all had been told."""
        self._told = max(self._told, self._history.stable)
        return super().outputs()


class TellsTheFirst(ListedCore):
    """Planted fault in stability, off by one: the sequencer tells one member what is stable. Correct: it
    tells all.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages, with what is newly stable for one member."""
        others, self._others = self._others, self._others[:1]
        found = super().outputs()
        self._others = others
        return found


class AnswersNothing(ListedCore):
    """Planted fault in stability, forgotten answer: an acknowledgement that brings nothing new is not
    answered. Correct: it is, since the notice may have been lost.
    """

    def receive(self, sender: int, message: Any, now: float) -> None:
        """Handle the message, unless it is an acknowledgement that is known."""
        if not isinstance(message, CumAck) or message.number > self._acknowledged[sender]:
            super().receive(sender, message, now)


class AnswersWithTheLast(ListedCore):
    """Planted fault in stability, wrong value: the answer to an acknowledgement is the last number that was
    given. Correct: the last stable one.
    """

    def _say(self, process: int, message: Any) -> None:
        """Say that everything is stable."""
        super()._say(process, Stable(self._history.last) if isinstance(message, Stable) else message)


class DropsEarlyMessages(ListedCore):
    """Planted fault in the queue, lost message: a message that comes before one with a lower number is
    dropped. Correct: it is queued.
    """

    def _take_in(self, message: Bcast) -> None:
        """Take the message if it is the next one."""
        if message.number == self._next_expected:
            super()._take_in(message)


class PassesOne(ListedCore):
    """Planted fault in the queue, missing step: when a gap closes, what was queued behind it stays there.
    Correct: all that follows is taken.
    """

    def _take_in(self, message: Bcast) -> None:
        """Take the message, and nothing behind it."""
        rest = {}
        if message.number == self._next_expected:
            rest, self._queue = self._queue, {}
        super()._take_in(message)
        self._queue.update(rest)


class NumbersAgain(ListedCore):
    """Planted fault in the sequencer, missing test: a request that comes again gets another number. Correct:
    it has one.
    """

    def _assign(self, identifier: Identifier, payload: bytes) -> None:
        """Forget that the message has a number."""
        self._numbered[identifier.source] = (identifier.id - 1, frozenset())
        super()._assign(identifier, payload)


class ReportsNoOwn(ListedCore):
    """Planted fault in the report (step 1), missing part: an own message that has no number is not reported.
    Correct: it is.
    """

    def report(self) -> Report:
        """Report only what has a number."""
        return self._history.report(())


class ReportsTheQueue(ListedCore):
    """Planted fault in the report (step 1), too much: numbers behind a gap count as stable. Correct: they are
    not known.
    """

    def report(self) -> Report:
        """Report the last number, over a gap, as stable."""
        told = super().report()
        return structs.replace(told, settled=max([told.settled, *self._queue]))


class ReportsNoNumbers(ListedCore):
    """Planted fault in the report (step 1), missing part: messages are reported without their numbers.
    Correct: with them.
    """

    def report(self) -> Report:
        """Report the bodies alone."""
        return structs.replace(super().report(), numbered=())


class ReportsAllIsStable(ListedCore):
    """Planted fault in the report (step 1), wrong value: all that is here is said to be stable. Correct: what
    all have.
    """

    def report(self) -> Report:
        """Report the last number as stable."""
        return structs.replace(super().report(), settled=self._history.last)


class MergesWithoutTheUnordered(ListedCore):
    """Planted fault in Msg (step 3, `order_received`), missing part: what has no number is not in it.
    Correct: it is, behind the rest.
    """

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Merge only what has a number."""
        names = {item.identifier for told in reports for item in told.numbered}
        return super().merge(
            [
                structs.replace(told, bodies=tuple(one for one in told.bodies if one.identifier in names))
                for told in reports
            ],
            missing,
        )


class AdoptsInReverse(ListedCore):
    """Planted fault in adopting (step 6), wrong order: Msg is delivered from its end. Correct: in the order
    of numbers.
    """

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver in reverse."""
        found = super().adopt(agreed)
        return None if found is None else found[::-1]


class AdoptsOneLess(ListedCore):
    """Planted fault in adopting (step 6), off by one: the last message of Msg is not delivered. Correct: all
    are.
    """

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver all but the last."""
        found = super().adopt(agreed)
        return None if found is None else found[:-1]


class AcknowledgesOnce(ListedCore):
    """Planted fault in stability, forgotten timer: an acknowledgement is sent once. Correct: again after a
    while, as long as a message here may not be stable.
    """

    def _watch(self) -> None:
        """Start the timers, without that of the acknowledgement."""
        super()._watch()
        self._again.stop(ListedTimer.ACKNOWLEDGE_AGAIN)


class AcknowledgesForEver(ListedCore):
    """Planted fault in stability, work done again: an acknowledgement is repeated although all is stable.
    Correct: then the group falls silent.
    """

    def _watch(self) -> None:
        """Start the timers, that of the acknowledgement too once a message has come."""
        super()._watch()
        if self.me != SEQUENCER and self._history.last:
            self._again.start(ListedTimer.ACKNOWLEDGE_AGAIN, self._now)


class AcknowledgesTheStableAgain(ListedCore):
    """Planted fault in stability, wrong value: the repeated acknowledgement names what is stable. Correct:
    what is here.
    """

    def tick(self, now: float) -> None:
        """Run the timers, with the number of stable messages in the acknowledgements."""
        super().tick(now)
        self._outputs = [
            Send(to, CumAck(self._history.stable)) if isinstance(message, CumAck) else Send(to, message)
            for to, message in self._outputs
        ]


class SendsSuffixToAll(ListedCore):
    """Planted fault in the sequencer, work done again: what somebody has not acknowledged is sent again to
    all. Correct: to those that have not acknowledged it.
    """

    def tick(self, now: float) -> None:
        """Run the timers as if nobody had acknowledged anything."""
        before, self._acknowledged = self._acknowledged, [0] * self.members
        super().tick(now)
        self._acknowledged = before


class WaitsForAll(ListedCore):
    """Planted fault in a broadcast, condition that is too strict: a member is busy while any message here is
    not stable. Correct: while its own is on its way.
    """

    @property
    def busy(self) -> bool:
        """Return True if anything here is not stable."""
        return super().busy or self._history.first is not None


FAULTS: Mapping[str, type[Any]] = {
    "delivers-when-numbered": DeliversWhenNumbered,
    "believes-the-last-notice": BelievesTheLastNotice,
    "counts-one": CountsOne,
    "believes-the-last": BelievesTheLast,
    "acknowledges-nothing": AcknowledgesNothing,
    "acknowledges-for-ever": AcknowledgesForEver,
    "acknowledges-once": AcknowledgesOnce,
    "acknowledges-the-stable-again": AcknowledgesTheStableAgain,
    "sends-suffix-to-all": SendsSuffixToAll,
    "waits-for-all": WaitsForAll,
    "acknowledges-news": AcknowledgesNews,
    "acknowledges-the-highest": AcknowledgesTheHighest,
    "acknowledges-to-all": AcknowledgesToAll,
    "tells-nothing": TellsNothing,
    "tells-the-first": TellsTheFirst,
    "answers-nothing": AnswersNothing,
    "answers-with-the-last": AnswersWithTheLast,
    "drops-early-messages": DropsEarlyMessages,
    "passes-one": PassesOne,
    "numbers-again": NumbersAgain,
    "reports-no-own": ReportsNoOwn,
    "reports-the-queue": ReportsTheQueue,
    "reports-no-numbers": ReportsNoNumbers,
    "reports-all-is-stable": ReportsAllIsStable,
    "merges-without-the-unordered": MergesWithoutTheUnordered,
    "adopts-in-reverse": AdoptsInReverse,
    "adopts-one-less": AdoptsOneLess,
}
"""Faulty cores by name."""
