"""Plausible mistakes in what the ring does when its list ends: cores with one thing wrong.

`antiphon lockstep irbp --fault NAME` shows the shortest trace to where it differs. Those in the change itself
are in `listed_faults.py`.
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
    """Missing part (step 1, `send_bodies`): seqQ is reported, and recvQ is not."""

    def report(self) -> Report:
        """Leave it out."""
        return structs.replace(super().report(), bodies=())


class ReportsNumberedBodies(Core):
    """Missing part (step 1, `order_received`): a message without a number is not reported."""

    def report(self) -> Report:
        """Leave it out."""
        told = super().report()
        names = {item.identifier for item in told.numbered}
        return structs.replace(told, bodies=tuple(item for item in told.bodies if item.identifier in names))


class ReportsWithoutNull(Core):
    """Missing part (step 1): a number without a message is not reported."""

    def report(self) -> Report:
        """Leave it out."""
        told = super().report()
        return structs.replace(
            told, numbered=tuple(item for item in told.numbered if item.identifier is not None)
        )


class ReportsUpToTheGap(Core):
    """Off by one (step 1): what is known behind a number that is missing is not reported."""

    def report(self) -> Report:
        """Cut it."""
        last, told = self._queues.last_number, super().report()
        return structs.replace(told, numbered=tuple(item for item in told.numbered if item.number <= last))


class TellsAllIsSettled(Core):
    """Wrong value (step 1): what has a number is said to be stable."""

    def report(self) -> Report:
        """Say the highest number."""
        return structs.replace(super().report(), settled=self._queues.last_number)


class KeepsHoles(Core):
    """Missing step (step 3, `cut_holes`): a number stays in Msg behind one that nobody has reported."""

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Put all in."""
        agreed = super().merge(reports, missing)
        numbers = {item.number: item for report in reports for item in report.numbered}
        numbers.update((item.number, item) for item in agreed.numbered)
        return structs.replace(
            agreed,
            settled=max([agreed.settled, *numbers]),
            numbered=tuple(numbers[number] for number in sorted(numbers)),
        )


class LosesTheUnnumbered(Core):
    """Missing step (step 3, `order_received`): what has no number is in no Msg."""

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Take it out."""
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
    """Wrong order (step 3, `order_received`): what has no number is ordered from the last message on."""

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Turn it round."""
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
    """Missing condition (step 6): all of Msg is delivered, also what was."""

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Begin with the first number of Msg."""
        if agreed.numbered:
            self._last_delivered = min(self._last_delivered, agreed.numbered[0].number - 1)
        return super().adopt(agreed)


class DeliversOneLess(Core):
    """Off by one (step 6): the last message of Msg is not delivered."""

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Drop it."""
        deliveries = super().adopt(agreed)
        return None if deliveries is None else deliveries[:-1]


class ForgetsWhereItStands(Core):
    """Forgotten update (step 6): lastdelivered stays what it was."""

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Put it back."""
        before = self._last_delivered
        deliveries = super().adopt(agreed)
        self._last_delivered = before
        return deliveries


class DeliversFromTheLast(Core):
    """Wrong order (step 6): Msg is delivered from its end."""

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Turn it round."""
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
"""By their names."""
