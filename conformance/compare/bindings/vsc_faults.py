"""Plausible mistakes in view-synchronous multicast on a list: cores with one thing wrong.

`antiphon lockstep vsc --fault NAME` shows the shortest trace to where it differs. Those in the change itself
are in `listed_faults.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from antiphon.conformance.compare.bindings.listed_faults import CHANGE_FAULTS
from antiphon.impl.protocols.core import Delivery, Send
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.vsc import Ack, Core, Message, Stable

__all__ = ["FAULTS"]


class AcknowledgesToAll(Core):
    """Wrong receiver (the stability detector): everybody gets the acknowledgement, and not the source."""

    def outputs(self) -> list[Send[Message]]:
        """Send it to all."""
        sent = super().outputs()
        acks = [send.message for send in sent if isinstance(send.message, Ack)]
        rest = [send for send in sent if not isinstance(send.message, Ack)]
        return rest + [Send(to, ack) for ack in acks for to in self._others]


class AcknowledgesNothing(Core):
    """Forgotten message (the stability detector): no acknowledgement is sent."""

    def outputs(self) -> list[Send[Message]]:
        """Leave it out."""
        return [send for send in super().outputs() if not isinstance(send.message, Ack)]


class ForgetsAtTheFirst(Core):
    """Any for all (the stability detector): one acknowledgement makes a message stable."""

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Take the highest."""
        super().receive(sender, message, now)
        if isinstance(message, Ack):
            self._forget(self.me, max(self._acknowledged.values()))


class ForgetsNothing(Core):
    """Leak (the stability detector): what is stable is kept."""

    def _forget(self, source: int, number: int) -> None:
        """Keep it."""


class KeepsStability(Core):
    """Forgotten message (the stability detector): the source tells nobody that all have a message."""

    def outputs(self) -> list[Send[Message]]:
        """Leave it out."""
        return [send for send in super().outputs() if not isinstance(send.message, Stable)]


class TellsStabilityToOne(Core):
    """Off by one (the stability detector): the first of the others is told that all have a message."""

    def outputs(self) -> list[Send[Message]]:
        """Leave the others out."""
        sent = super().outputs()
        return [s for s in sent if not isinstance(s.message, Stable) or s.to == self._others[0]]


class DeliversOwnLate(Core):
    """Missing step (VSCast): the own copy is not taken."""

    def _take(self, source: int, payload: bytes) -> None:
        """Look whose it is."""
        if source != self.me:
            super()._take(source, payload)


class KeepsNoOwn(Core):
    """Missing part (unstable_k): the own messages are not kept."""

    def _take(self, source: int, payload: bytes) -> None:
        """Drop it."""
        super()._take(source, payload)
        if source == self.me:
            self._unstable[source].clear()


class ReportsOwn(Core):
    """Missing part (step 1): a process reports what it has sent, and not what it has received."""

    def report(self) -> Report:
        """Take the own."""
        told = super().report()
        return structs.replace(
            told, bodies=tuple(item for item in told.bodies if item.identifier.source == self.me)
        )


class ReportsReceived(Core):
    """Wrong value (step 1): what was received is said to be stable."""

    def report(self) -> Report:
        """Say it."""
        return structs.replace(super().report(), counts=tuple(self._received))


class MergesStable(Core):
    """Missing condition (step 3): what somebody knows to be stable is in Msg."""

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Take the lowest."""
        counts = tuple(min(report.counts[at] for report in reports) for at in range(self.members))
        before, self._stable = self._stable, list(counts)
        agreed = super().merge([structs.replace(report, counts=counts) for report in reports], missing)
        self._stable = before
        return agreed


class MergesWhatAllHave(Core):
    """Intersection for union (step 3): what one of the reports lacks is not in Msg."""

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Cut it."""
        names = set.intersection(*({item.identifier for item in report.bodies} for report in reports))
        cut = [
            structs.replace(
                report, bodies=tuple(item for item in report.bodies if item.identifier in names)
            )
            for report in reports
        ]
        return super().merge(cut, missing)


class DeliversMsgAgain(Core):
    """Missing condition (step 6): all of Msg is delivered, also what was."""

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Forget what was."""
        for item in agreed.bodies:
            self._received[item.identifier.source] = 0
        return super().adopt(agreed)


class DeliversNoMsg(Core):
    """Missing step (step 6): what others have received is not delivered."""

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver nothing."""
        return [] if super().adopt(agreed) is not None else None


FAULTS: Mapping[str, type[Any]] = {
    "acknowledges-to-all": AcknowledgesToAll,
    "acknowledges-nothing": AcknowledgesNothing,
    "forgets-at-the-first": ForgetsAtTheFirst,
    "forgets-nothing": ForgetsNothing,
    "keeps-stability": KeepsStability,
    "tells-stability-to-one": TellsStabilityToOne,
    "delivers-own-late": DeliversOwnLate,
    "keeps-no-own": KeepsNoOwn,
    "reports-own": ReportsOwn,
    "reports-received": ReportsReceived,
    "merges-stable": MergesStable,
    "merges-what-all-have": MergesWhatAllHave,
    "delivers-msg-again": DeliversMsgAgain,
    "delivers-no-msg": DeliversNoMsg,
    **{name: kind for name, kind in CHANGE_FAULTS.items() if name != "turns-the-list-round"},
}
"""By their names. The order of a list without a ring says nothing: one that all turn round is as good."""
