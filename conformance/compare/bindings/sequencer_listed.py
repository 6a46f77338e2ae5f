"""Binding of SEQUENCER on lists: its core on a list, and the implementation's change of a list.

| document, figure 32       | specification `SequencerOnLists`  | implementation                          |
|---------------------------|-----------------------------------|-----------------------------------------|
| FORWARD, DATA             | `Forwarded`, `Ordered`            | `Forward`, `Data`                       |
| forward-table             | received, without a number        | `Snapshot.forward_table`                |
| ordered, and not stable   | numbered, received                | `HistorySnapshot.fresh`                 |
| who has what              | acknowledged, told, last_delivered | `acknowledged`, `told`, `history.stable` |
| the change                | as `irbp.py` has it               | as `irbp.py` has it                     |

External members and i-views are no part of figure 32; a suspicion is one of both detectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Bound, Refused, told_faults
from antiphon.conformance.compare.bindings.irbp import IRBP, IrbpBinding
from antiphon.conformance.compare.bindings.list_process import ListProcess, Past, Standing
from antiphon.conformance.compare.bindings.sequencer_listed_faults import FAULTS
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.listeners import Stable
from antiphon.impl.protocols.sequencer import ListedCore, sequencer_listed
from antiphon.impl.protocols.sequencer.listed import Ack
from antiphon.impl.protocols.sequencer.messages import Data, Forward
from antiphon.spec.lang import Step
from antiphon.spec.protocols.irbp.normal_phase import Sequenced
from antiphon.spec.protocols.sequencer import on_lists as packets
from antiphon.spec.protocols.sequencer.on_lists import SequencerOnLists
from antiphon.spec.services import Message, Process

__all__ = ["SEQUENCER_ON_LISTS", "SequencerOnListsBinding"]


class SequencerOnListsBinding(IrbpBinding):
    """Binding of SEQUENCER under figure 32, message by message, and members of a group that orders by it."""

    specification = SequencerOnLists
    faults = FAULTS
    internal = ("report", "propose", "adopt")

    def made(self, kind: type[Any] | None) -> Implementation[Any]:
        """Return the implementation of SEQUENCER on a list, or with this faulty class of cores."""
        return sequencer_listed(kind=kind or ListedCore)

    # Messages -----------------------------------------------------------------------------------------------

    def packet(self, me: int, past: Past, message: Any, to: int) -> object | None:
        """Return the specification's packet of a message; DATA has the number that its sender gave it."""
        version = len(past.lists)
        match message:
            case Forward(identifier=name):
                self._for_the_first(me, message, to)
                return packets.Forwarded(self.message(past, name), version)
            case Data(identifier=name):
                fresh = self._live[me].core.snapshot().history.fresh
                (number,) = [item.number for item in fresh if item.identifier == name]
                return packets.Ordered(self.message(past, name), past.base + number, version)
            case Ack(number=number):
                self._for_the_first(me, message, to)
                return packets.Acked(Process(me), past.base + number, version)
            case Stable(number=number):
                return packets.StableTo(past.base + number, version)
        return None

    def _for_the_first(self, me: int, message: object, to: int) -> None:
        """Refuse a message for the coordinator that is sent to another member."""
        if to != 0:
            raise Refused(f"process {me} sends {message} to member {to}, and not to the coordinator")

    def is_for_one(self, packet: object) -> bool:
        """Return True for what goes to the coordinator alone."""
        return isinstance(packet, packets.Forwarded | packets.Acked)

    def check_report(self, past: Past, core: Any, report: Report) -> None:
        """Check that stable messages are delivered, and that the report counts them."""
        fresh = past.delivered - past.over
        counts = tuple(sum(1 for m in fresh if m % self.members == process) for process in past.members)
        if (report.settled, report.counts) != (core.history.stable, counts):
            told = f"{report.settled} is stable, so many of each member: {report.counts}"
            raise Refused(f"it reports that {told}; delivered are {core.history.stable}: {counts}")

    # Steps --------------------------------------------------------------------------------------------------

    def rest(self, process: ListProcess) -> None:
        """Do nothing: the core acts only on messages."""

    def act(self, process: ListProcess, step: Step) -> Iterable[Delivery] | None:
        """Return None: the core takes no internal step."""
        del process, step
        return None

    def offers_of_core(self, me: int, snapshot: Standing, probe: ListProcess) -> Iterable[Step]:
        """Return no steps: the core takes no internal step."""
        del me, snapshot, probe
        return ()

    # What is shown ------------------------------------------------------------------------------------------

    def project(self, me: int, snapshot: Standing) -> Mapping[str, object]:
        """Return the process's values of all compared variables, its own messages without a number too."""
        shown = {"acknowledged": (0,) * self.members, "told": 0, **super().project(me, snapshot)}
        past, core = snapshot.past, snapshot.core
        if not (past.down or past.left):
            place = past.members.index(me)
            ordered = core.core.received_table[place]
            own = (number for number, _ in core.core.forward_table if number > ordered)
            received: Any = shown["received"]
            shown["received"] = received | {self.message(past, (place, number)) for number in own}
        return shown

    def ring(self, past: Past, core: Any) -> Mapping[str, object]:
        """Return the values of the variables of the normal phase, without the own messages."""
        fresh = core.history.fresh
        over = (
            (place, number)
            for place, count in enumerate(core.history.counts)
            for number in range(1, count + 1)
        )
        heard = dict(core.acknowledged)
        return {
            **_NOTHING,
            "received": frozenset(self.message(past, item.identifier) for item in fresh),
            "numbered": frozenset(
                Sequenced(self.message(past, item.identifier), past.base + item.number) for item in fresh
            ),
            "collected": frozenset(map(Message, past.over)) | {self.message(past, name) for name in over},
            "last_delivered": past.base + core.history.stable,
            "last_number": past.base + core.history.last,
            "acknowledged": tuple(
                past.base + heard.get(past.members.index(q), 0) if q in past.members else past.base
                for q in range(self.members)
            ),
            "told": past.base + core.told,
        }

    def broadcasts(self, core: Any) -> int:
        """Return the number of messages that the process has broadcast on its list."""
        return int(core.core.last_number)

    def last_number(self, core: Any) -> int:
        """Return the number of the last delivered message; the numbers of the next list follow it."""
        return int(core.history.stable)


_NOTHING: Mapping[str, object] = {"waiting": (), "stable": frozenset(), "pending": None}

SEQUENCER_ON_LISTS = Bound(
    SequencerOnListsBinding,
    small={"processes": 3, "messages": 1, "highest": 1, "crashes": 1, "false_suspicions": 0, "views": 2},
    every={"false_suspicions": 1, "trusting": True},
    random={"processes": 3, "messages": 3, "highest": 3, "crashes": 1, "false_suspicions": 1, "views": 2},
    faults=told_faults(FAULTS),
    never=IRBP.never | {"sequence", "pass_null", "settle", "deliver"},
)
"""Binding of the change of views under SEQUENCER."""
