"""Planted faults in SEQUENCER on a list: cores with one mistake each.

Faults of the change are in `listed_faults.py`, and are planted where figures 29 and 32 are walked.

`antiphon lockstep sequencer-listed --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Delivery, Identifier, Send
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.listeners import Stable
from antiphon.impl.protocols.sequencer.listed import Ack, ListedCore
from antiphon.impl.protocols.sequencer.messages import Data, Message

__all__ = ["FAULTS"]


class DeliversWhenOrdered(ListedCore):
    """Planted fault in delivery, missing condition: a message is delivered when it is ordered. Correct: when
    all of the list have it.
    """

    def _deliver(self, identifier: Identifier, payload: bytes) -> None:
        """Store the message, and deliver it."""
        super()._deliver(identifier, payload)
        self._pass_up(self._history.last)


class CountsOne(ListedCore):
    """Planted fault in stability, any for all: what one other member has counts as stable. Correct: what all
    have.
    """

    def _receive_ack(self, sender: int, number: int) -> Violation | None:  # type: ignore[override]
        """Receive an acknowledgement as if all had sent it."""
        wrong = super()._receive_ack(sender, number)
        self._pass_up(max(self._acknowledged.values()))
        return wrong


class BelievesTheLast(ListedCore):
    """Planted fault in stability, value that goes back: an older acknowledgement takes the place of a newer
    one. Correct: the highest number counts.
    """

    def _receive_ack(self, sender: int, number: int) -> Violation | None:  # type: ignore[override]
        """Receive an acknowledgement, and forget the ones before it."""
        wrong = super()._receive_ack(sender, number)
        self._acknowledged[sender] = number
        return wrong


class AcknowledgesNothing(ListedCore):
    """Planted fault in an acknowledgement, forgotten message: none is sent. Correct: one for all that came in
    a step.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages without acknowledgements."""
        return [send for send in super().outputs() if not isinstance(send.message, Ack)]


class AcknowledgesToAll(ListedCore):
    """Planted fault in an acknowledgement, wrong receivers: all members get it. Correct: the coordinator
    alone.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages, with acknowledgements for everybody."""
        found = []
        for send in super().outputs():
            everybody = self._others if isinstance(send.message, Ack) else (send.to,)
            found += [Send(to, send.message) for to in everybody]
        return found


class AcknowledgesAgain(ListedCore):
    """Planted fault in an acknowledgement, repeated work: it is sent again after each message. Correct: when
    something has come.
    """

    def receive(self, sender: int, message: Any, now: float) -> None:
        """Handle the message, and forget what was acknowledged."""
        super().receive(sender, message, now)
        if self.me != self.coordinator:
            self._told = 0


class AcknowledgesTheNext(ListedCore):
    """Planted fault in an acknowledgement, off by one: it names the number after the last that came. Correct:
    the last one.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages, with acknowledgements of one number more."""
        return [
            send._replace(message=Ack(send.message.number + 1)) if isinstance(send.message, Ack) else send  # type: ignore[arg-type]
            for send in super().outputs()
        ]


class TellsNothing(ListedCore):
    """Planted fault in stability, forgotten message: the coordinator tells nobody what is stable. Correct: it
    tells all.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages without the notices of stability."""
        return [send for send in super().outputs() if not isinstance(send.message, Stable)]


class TellsTheFirst(ListedCore):
    """Planted fault in stability, off by one: the coordinator tells one member what is stable. Correct: it
    tells all.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages, with the notice of stability for one member."""
        first = min(self._acknowledged, default=0)
        return [
            send for send in super().outputs() if send.to == first or not isinstance(send.message, Stable)
        ]


class TellsTheLast(ListedCore):
    """Planted fault in stability, wrong value: the coordinator says that all have what it has ordered.
    Correct: what all have acknowledged.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages, with the last number in the notices."""
        last = self._history.last
        return [
            send._replace(message=Stable(last)) if isinstance(send.message, Stable) else send  # type: ignore[arg-type]
            for send in super().outputs()
        ]


class OrdersForOne(ListedCore):
    """Planted fault in the coordinator, off by one: the last member is not sent what is ordered. Correct: all
    are.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages without DATA for the last member."""
        last = self.members - 1
        return [send for send in super().outputs() if send.to != last or not isinstance(send.message, Data)]


class ReportsNoOwn(ListedCore):
    """Planted fault in the report (step 1), missing part: an own message that has no number is not reported.
    Correct: it is.
    """

    def report(self) -> Report:
        """Report only what has a number."""
        return self._history.report(())


class ReportsAllOwn(ListedCore):
    """Planted fault in the report (step 1), missing condition: own messages with a number are reported
    without it. Correct: only those that have none.
    """

    def report(self) -> Report:
        """Report the own messages, and no number of theirs."""
        told = super().report()
        numbered = tuple(
            item for item in told.numbered if item.identifier is None or item.identifier.source != self.me
        )
        return structs.replace(told, numbered=numbered)


class ReportsNoNumbers(ListedCore):
    """Planted fault in the report (step 1), missing part: messages are reported without their numbers.
    Correct: with them.
    """

    def report(self) -> Report:
        """Report the bodies alone."""
        return structs.replace(super().report(), numbered=())


class ReportsAllIsStable(ListedCore):
    """Planted fault in the report (step 1), wrong value: all that is ordered is said to be stable. Correct:
    what all have.
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


class AdoptsAgain(ListedCore):
    """Planted fault in adopting (step 6), repeated work: what was delivered is delivered again. Correct: what
    was not.
    """

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver as if nothing were delivered."""
        self._history.stable = 0
        return super().adopt(agreed)


FAULTS: Mapping[str, type[Any]] = {
    "delivers-when-ordered": DeliversWhenOrdered,
    "counts-one": CountsOne,
    "believes-the-last": BelievesTheLast,
    "acknowledges-nothing": AcknowledgesNothing,
    "acknowledges-to-all": AcknowledgesToAll,
    "acknowledges-again": AcknowledgesAgain,
    "acknowledges-the-next": AcknowledgesTheNext,
    "tells-nothing": TellsNothing,
    "tells-the-first": TellsTheFirst,
    "tells-the-last": TellsTheLast,
    "orders-for-one": OrdersForOne,
    "reports-no-own": ReportsNoOwn,
    "reports-all-own": ReportsAllOwn,
    "reports-no-numbers": ReportsNoNumbers,
    "reports-all-is-stable": ReportsAllIsStable,
    "merges-without-the-unordered": MergesWithoutTheUnordered,
    "adopts-in-reverse": AdoptsInReverse,
    "adopts-one-less": AdoptsOneLess,
    "adopts-again": AdoptsAgain,
}
"""Faulty cores by name."""
