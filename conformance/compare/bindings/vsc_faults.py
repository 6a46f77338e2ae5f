"""Planted faults in view-synchronous multicast on a list, each a core with one mistake.

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
    """Planted fault in view-synchronous multicast (stability detector), wrong receiver: an acknowledgement
    goes to all. Correct: to the source.
    """

    def outputs(self) -> list[Send[Message]]:
        """Send the acknowledgements to all."""
        sent = super().outputs()
        acks = [send.message for send in sent if isinstance(send.message, Ack)]
        rest = [send for send in sent if not isinstance(send.message, Ack)]
        return rest + [Send(to, ack) for ack in acks for to in self._others]


class AcknowledgesNothing(Core):
    """Planted fault in view-synchronous multicast (stability detector), forgotten message: no acknowledgement
    is sent. Correct: each message is acknowledged.
    """

    def outputs(self) -> list[Send[Message]]:
        """Return the messages to send without acknowledgements."""
        return [send for send in super().outputs() if not isinstance(send.message, Ack)]


class ForgetsAtTheFirst(Core):
    """Planted fault in view-synchronous multicast (stability detector), any for all: one acknowledgement
    makes a message stable. Correct: those of all members do.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Take the highest acknowledgement as that of all."""
        super().receive(sender, message, now)
        if isinstance(message, Ack):
            self._forget(self.me, max(self._acknowledged.values()))


class ForgetsNothing(Core):
    """Planted fault in view-synchronous multicast (stability detector), leak: stable messages stay in memory.
    Correct: they are deleted.
    """

    def _forget(self, source: int, number: int) -> None:
        """Keep a stable message in memory."""


class KeepsStability(Core):
    """Planted fault in view-synchronous multicast (stability detector), forgotten message: the source does
    not announce stability. Correct: it does.
    """

    def outputs(self) -> list[Send[Message]]:
        """Send no notes of stability."""
        return [send for send in super().outputs() if not isinstance(send.message, Stable)]


class TellsStabilityToOne(Core):
    """Planted fault in view-synchronous multicast (stability detector), off by one: stability is announced to
    the first other member alone. Correct: to all.
    """

    def outputs(self) -> list[Send[Message]]:
        """Send the note of stability to one member."""
        sent = super().outputs()
        return [s for s in sent if not isinstance(s.message, Stable) or s.to == self._others[0]]


class DeliversOwnLate(Core):
    """Planted fault in view-synchronous multicast (VSCast), missing step: a process does not take its own
    copy. Correct: it delivers it.
    """

    def _take(self, source: int, payload: bytes) -> None:
        """Deliver a message unless it is this process's own."""
        if source != self.me:
            super()._take(source, payload)


class KeepsNoOwn(Core):
    """Planted fault in view-synchronous multicast (unstable_k), missing part: a process does not keep its own
    messages. Correct: they are unstable until acknowledged.
    """

    def _take(self, source: int, payload: bytes) -> None:
        """Store a message unless it is this process's own."""
        super()._take(source, payload)
        if source == self.me:
            self._unstable[source].clear()


class ReportsOwn(Core):
    """Planted fault in view-synchronous multicast (step 1), missing part: a report has the sent messages
    alone. Correct: it has the received ones too.
    """

    def report(self) -> Report:
        """Report the own messages alone."""
        told = super().report()
        return structs.replace(
            told, bodies=tuple(item for item in told.bodies if item.identifier.source == self.me)
        )


class ReportsReceived(Core):
    """Planted fault in view-synchronous multicast (step 1), wrong value: received messages are reported as
    stable. Correct: only acknowledged ones are.
    """

    def report(self) -> Report:
        """Report the received messages as stable."""
        return structs.replace(super().report(), counts=tuple(self._received))


class MergesStable(Core):
    """Planted fault in view-synchronous multicast (step 3), missing condition: Msg has messages that a member
    knows to be stable. Correct: it has none.
    """

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Merge from the lowest stable number."""
        counts = tuple(min(report.counts[at] for report in reports) for at in range(self.members))
        before, self._stable = self._stable, list(counts)
        agreed = super().merge([structs.replace(report, counts=counts) for report in reports], missing)
        self._stable = before
        return agreed


class MergesWhatAllHave(Core):
    """Planted fault in view-synchronous multicast (step 3), intersection for union: Msg lacks messages that
    one report lacks. Correct: Msg is the union.
    """

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Merge to the intersection."""
        names = set.intersection(*({item.identifier for item in report.bodies} for report in reports))
        cut = [
            structs.replace(
                report, bodies=tuple(item for item in report.bodies if item.identifier in names)
            )
            for report in reports
        ]
        return super().merge(cut, missing)


class DeliversMsgAgain(Core):
    """Planted fault in view-synchronous multicast (step 6), missing condition: all of Msg is delivered, also
    delivered messages. Correct: only the others.
    """

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Forget the deliveries, and adopt."""
        for item in agreed.bodies:
            self._received[item.identifier.source] = 0
        return super().adopt(agreed)


class DeliversNoMsg(Core):
    """Planted fault in view-synchronous multicast (step 6), missing step: messages of Msg that a process
    lacks are not delivered. Correct: they are.
    """

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Adopt without delivering Msg."""
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
"""Faulty cores by name. The fault `turns-the-list-round` is left out: without a ring a list that all members
reverse is as good as the agreed one.
"""
