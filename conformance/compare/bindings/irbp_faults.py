"""Planted faults in how the ring's core ends a list: cores with one plausible mistake each.

`antiphon lockstep irbp --fault NAME` shows the shortest trace to where it differs. Faults in the change
itself are in `listed_faults.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from antiphon.conformance.compare.bindings.listed_faults import CHANGE_FAULTS
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.protocols.flush import Numbered, Report
from antiphon.impl.protocols.rbp import Core

__all__ = ["FAULTS"]


class ReportsNoBodies(Core):
    """Planted fault in iRBP's report (step 1, `send_bodies`): seqQ is reported, and recvQ is not. Correct
    code reports both.
    """

    def report(self) -> Report:
        """Report the numbers (seqQ), and no body (recvQ)."""
        return structs.replace(super().report(), bodies=())


class ReportsNumberedBodies(Core):
    """Planted fault in iRBP's report (step 1, `order_received`): a message without a number is not reported.
    Correct code reports it.
    """

    def report(self) -> Report:
        """Report without the messages that have no number."""
        told = super().report()
        names = {item.identifier for item in told.numbered}
        return structs.replace(told, bodies=tuple(item for item in told.bodies if item.identifier in names))


class ReportsWithoutNull(Core):
    """Planted fault in iRBP's report (step 1): a number of NULL is not reported. Correct code reports it."""

    def report(self) -> Report:
        """Report without the numbers of NULL."""
        told = super().report()
        return structs.replace(
            told, numbered=tuple(item for item in told.numbered if item.identifier is not None)
        )


class ReportsUpToTheGap(Core):
    """Planted fault in iRBP's report (step 1), off by one: numbers behind a missing one are not reported.
    Correct code reports all.
    """

    def report(self) -> Report:
        """Report only up to the first missing number."""
        last, told = self._queues.last_number, super().report()
        return structs.replace(told, numbered=tuple(item for item in told.numbered if item.number <= last))


class TellsAllIsSettled(Core):
    """Planted fault in iRBP's report (step 1), wrong value: every numbered message is reported as stable.
    Correct code reports the stable ones.
    """

    def report(self) -> Report:
        """Report the highest number as stable."""
        return structs.replace(super().report(), settled=self._queues.last_number)


class KeepsHoles(Core):
    """Planted fault in iRBP's merge (step 3, `cut_holes`): a number stays in Msg behind one that nobody has
    reported. Correct code cuts Msg there.
    """

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Merge without cutting at holes."""
        agreed = super().merge(reports, missing)
        numbers = {item.number: item for report in reports for item in report.numbered}
        numbers.update((item.number, item) for item in agreed.numbered)
        return structs.replace(
            agreed,
            settled=max([agreed.settled, *numbers]),
            numbered=tuple(numbers[number] for number in sorted(numbers)),
        )


class LosesTheUnnumbered(Core):
    """Planted fault in iRBP's merge (step 3, `order_received`): messages without a number are in no Msg.
    Correct code numbers them.
    """

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Merge without the messages that have no number."""
        agreed = super().merge(reports, missing)
        known = {item.identifier for report in reports for item in report.numbered}
        kept = tuple(item for item in agreed.numbered if item.identifier is None or item.identifier in known)
        names = {item.identifier for item in kept}
        return structs.replace(
            agreed,
            settled=max([report.settled for report in reports] + [item.number for item in kept]),
            numbered=kept,
            bodies=tuple(item for item in agreed.bodies if item.identifier in names),
        )


class NumbersFromTheNewest(Core):
    """Planted fault in iRBP's merge (step 3, `order_received`), wrong order: messages without a number are
    numbered from the last one on. Correct code begins with the first.
    """

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Merge with the unnumbered messages in reverse order."""
        agreed = super().merge(reports, missing)
        known = {item.number for report in reports for item in report.numbered}
        fresh = [item for item in agreed.numbered if item.number not in known]
        turned = [
            Numbered(item.number, other.identifier)
            for item, other in zip(fresh, reversed(fresh), strict=True)
        ]
        rest = [item for item in agreed.numbered if item.number in known]
        return structs.replace(agreed, numbered=(*rest, *turned))


class DeliversAgain(Core):
    """Planted fault in iRBP's adoption (step 6), missing condition: all of Msg is delivered, delivered
    messages too. Correct code delivers only the others.
    """

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver from the first number of Msg."""
        if agreed.numbered:
            self._last_delivered = min(self._last_delivered, agreed.numbered[0].number - 1)
        return super().adopt(agreed)


class DeliversOneLess(Core):
    """Planted fault in iRBP's adoption (step 6), off by one: the last message of Msg is not delivered.
    Correct code delivers all.
    """

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver without the last message."""
        deliveries = super().adopt(agreed)
        return None if deliveries is None else deliveries[:-1]


class ForgetsWhereItStands(Core):
    """Planted fault in iRBP's adoption (step 6), forgotten update: lastdelivered stays as it was. Correct
    code raises it.
    """

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver, and restore lastdelivered."""
        before = self._last_delivered
        deliveries = super().adopt(agreed)
        self._last_delivered = before
        return deliveries


class DeliversFromTheLast(Core):
    """Planted fault in iRBP's adoption (step 6), wrong order: Msg is delivered from its end. Correct code
    delivers in the order of numbers.
    """

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver in reverse order."""
        deliveries = super().adopt(agreed)
        return None if deliveries is None else deliveries[::-1]


FAULTS: Mapping[str, type[Any]] = {
    "reports-no-bodies": ReportsNoBodies,
    "reports-numbered-bodies": ReportsNumberedBodies,
    "reports-without-null": ReportsWithoutNull,
    "reports-up-to-the-gap": ReportsUpToTheGap,
    "tells-all-is-settled": TellsAllIsSettled,
    "keeps-holes": KeepsHoles,
    "loses-the-unnumbered": LosesTheUnnumbered,
    "numbers-from-the-newest": NumbersFromTheNewest,
    "delivers-again": DeliversAgain,
    "delivers-one-less": DeliversOneLess,
    "forgets-where-it-stands": ForgetsWhereItStands,
    "delivers-from-the-last": DeliversFromTheLast,
    **CHANGE_FAULTS,
}
"""Faulty cores by name."""
