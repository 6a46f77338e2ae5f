"""Binding of TOTAL on lists: its core on a list, and the implementation's change of a list.

| document, figure 32       | specification `TotalOnLists`      | implementation                          |
|---------------------------|-----------------------------------|-----------------------------------------|
| TOTAL_REQUEST, TOTAL_BCAST | `Requested`, `Bcast`             | `Request`, `Bcast`                      |
| TOTAL_CUM_SEQ_ACK         | `CumAck`, acknowledged            | `CumAck`, `Snapshot.acknowledged`       |
| numbered, and not stable  | numbered, received                | `HistorySnapshot.fresh`                 |
| queued                    | queue                             | `Snapshot.queue`                        |
| own, and not delivered    | pending, received                 | `Snapshot.pending`                      |
| what is stable            | stable_to, told, last_delivered   | `heard`, `told`, `HistorySnapshot.stable` |
| the change                | as `irbp.py` has it               | as `irbp.py` has it                     |

What a process sends again by its timers is in `sent` already. It is a part that is compared at each state
(`drive`), as whether the process is busy is. An answer to TOTAL_RESEND is walked with TOTAL itself. External
members and i-views are no part of figure 32; a suspicion is one of both detectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Bound, Misreports, Refused, told_faults
from antiphon.conformance.compare.bindings.core_binding import NOW, payload_of
from antiphon.conformance.compare.bindings.irbp import IRBP, IrbpBinding
from antiphon.conformance.compare.bindings.list_process import ListProcess, Past, Standing
from antiphon.conformance.compare.bindings.total_listed_faults import FAULTS
from antiphon.impl.protocols.core import Delivery, Identifier, Implementation, Send
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.listeners import Stable
from antiphon.impl.protocols.total import ListedCore, total_listed
from antiphon.impl.protocols.total.listed import ListedTimer
from antiphon.impl.protocols.total.messages import Bcast, CumAck, Request, Resend
from antiphon.impl.protocols.total.process import SEQUENCER, Timer
from antiphon.spec.lang import Step
from antiphon.spec.protocols.irbp.normal_phase import Sequenced
from antiphon.spec.protocols.total import on_lists as packets
from antiphon.spec.protocols.total.on_lists import TotalOnLists
from antiphon.spec.services import Message, Process

__all__ = ["TOTAL_ON_LISTS", "TotalOnListsBinding"]

FAR_MS = 100_000.0
"""Time after which every timer that runs has expired."""


class TotalOnListsBinding(IrbpBinding):
    """Binding of TOTAL under figure 32, message by message, and members of a group that orders by it."""

    specification = TotalOnLists
    faults = FAULTS
    internal = ("report", "propose", "adopt")

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Set up the binding, with no state whose timers were looked at."""
        super().__init__(fault=fault, **constants)
        self._seen: set[tuple[int, Standing]] = set()

    def made(self, kind: type[Any] | None) -> Implementation[Any]:
        """Return the implementation of TOTAL on a list, or with this faulty class of cores."""
        return total_listed(kind=kind or ListedCore)

    # Messages -----------------------------------------------------------------------------------------------

    def packet(self, me: int, past: Past, message: Any, to: int) -> object | None:
        """Return the specification's packet of a message; None for TOTAL_RESEND."""
        version = len(past.lists)
        match message:
            case Request(identifier=name):
                self._for_the_first(me, message, to)
                return packets.Requested(self.message(past, name), version)
            case Bcast(number=number, identifier=name):
                return packets.Bcast(self.message(past, name), past.base + number, version)
            case CumAck(number=number):
                self._for_the_first(me, message, to)
                return packets.CumAck(Process(me), past.base + number, version)
            case Stable(number=number):
                return packets.StableTo(past.base + number, version)
        return None

    def _for_the_first(self, me: int, message: object, to: int) -> None:
        """Refuse a message for the sequencer that is sent to another member."""
        if to != 0:
            raise Refused(f"process {me} sends {message} to member {to}, and not to the sequencer")

    def is_for_one(self, packet: object) -> bool:
        """Return True for what goes to the sequencer alone, and for its answer to an acknowledgement."""
        to_one = packets.Requested | packets.CumAck
        return isinstance(packet, to_one) or (self.in_vain and isinstance(packet, packets.StableTo))

    def answer_to(self, packet: object) -> type | None:
        """Return the type of the answer to a message that comes again: a broadcast is acknowledged, and an
        acknowledgement answered with what is stable.
        """
        answers = {packets.Bcast: packets.CumAck, packets.CumAck: packets.StableTo}
        return answers.get(type(packet))

    def check_report(self, past: Past, core: Any, report: Report) -> None:
        """Check that stable messages are delivered, and that the report counts them."""
        fresh = past.delivered - past.over
        counts = tuple(sum(1 for m in fresh if m % self.members == process) for process in past.members)
        if (report.settled, report.counts) != (core.history.stable, counts):
            told = f"{report.settled} is stable, so many of each member: {report.counts}"
            raise Refused(f"it reports that {told}; delivered are {core.history.stable}: {counts}")

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """Check, once for each state of a process in the normal phase, whether it is busy, which timers run,
        and what they send again.

        Raises:
            Misreports: other timers run, or send something else, than the state calls for.
        """
        del datagram
        past = snapshot.past
        stopped = past.down or past.left or snapshot.succession[0] or snapshot.core is None
        if step is not None or stopped or (me, snapshot) in self._seen:
            return
        core, probe = snapshot.core, self.probe(me, snapshot).core
        shown: Any = self.project(me, snapshot)
        if probe.busy != (shown["pending"] is not None):
            raise Misreports(f"process {me}: busy", not probe.busy, probe.busy)
        wanted = self._sent_again(past, past.members.index(me), shown)
        running = {timer for timer, _, _ in (*core.core.timers, *core.timers)}
        if running != wanted.keys():
            raise Misreports(f"process {me}: the timers that run", set(wanted), running)
        probe.tick(NOW + FAR_MS)
        told = sorted(probe.outputs(), key=repr)
        if told != (expected := sorted((send for sends in wanted.values() for send in sends), key=repr)):
            raise Misreports(f"process {me}: what is sent again", expected, told)
        if _untimed(probe.snapshot()) != _untimed(core):
            raise Misreports(f"process {me}: its state after its timers", _untimed(core), probe.snapshot())
        self._seen.add((me, snapshot))

    def _sent_again(self, past: Past, me: int, shown: Any) -> dict[Timer | ListedTimer, list[Send[Any]]]:
        """Return the timers that run at the member `me` of the list, each with the messages that it sends,
        from the values of the specification's variables.
        """
        last, delivered = shown["last_number"] - past.base, shown["last_delivered"] - past.base
        pending, queue = shown["pending"], [item.number - past.base for item in shown["queue"]]
        wanted: dict[Timer | ListedTimer, list[Send[Any]]] = {}
        if pending is not None:
            again = Send(SEQUENCER, Request(self._identifier(past, pending), payload_of(pending)))
            wanted[Timer.REQUEST_AGAIN] = [again] if me != SEQUENCER else []
        if queue:
            wanted[Timer.ASK] = [Send(SEQUENCER, Resend(number)) for number in range(last + 1, min(queue))]
        if me != SEQUENCER:
            if last > delivered:
                wanted[ListedTimer.ACKNOWLEDGE_AGAIN] = [Send(SEQUENCER, CumAck(last))]
        elif last > delivered:
            has = {at: shown["acknowledged"][q] - past.base for at, q in enumerate(past.members) if at != me}
            wanted[Timer.SEND_SUFFIX] = [
                Send(at, Bcast(number, self._identifier(past, item.message), payload_of(item.message)))
                for item in shown["numbered"]
                for at in has
                if has[at] < (number := item.number - past.base)
            ]
        return wanted

    def _identifier(self, past: Past, m: Message) -> Identifier:
        """Return the identifier of a message on the list: each process has one message at most."""
        return Identifier(past.members.index(m.index % self.members), 1)

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
        """Return the process's values of all compared variables, its own undelivered message too."""
        shown = {**_GONE, "acknowledged": (0,) * self.members, **super().project(me, snapshot)}
        past, core = snapshot.past, snapshot.core
        if not (past.down or past.left):
            place = past.members.index(me)
            own = [self.message(past, (place, number)) for number, _ in core.core.pending]
            received: Any = shown["received"]
            shown["received"] = received.union(own)
            shown["pending"] = own[0] if own else None
        return shown

    def ring(self, past: Past, core: Any) -> Mapping[str, object]:
        """Return the values of the variables of the normal phase, without the own message."""
        fresh, heard = core.history.fresh, core.core.acknowledged
        over = (
            (place, number)
            for place, count in enumerate(core.history.counts)
            for number in range(1, count + 1)
        )
        return {
            "waiting": (),
            "stable": frozenset(),
            "received": frozenset(self.message(past, item.identifier) for item in fresh),
            "numbered": self._sequenced(past, fresh),
            "queue": self._sequenced(past, core.core.queue),
            "collected": frozenset(map(Message, past.over)) | {self.message(past, name) for name in over},
            "last_delivered": past.base + core.history.stable,
            "last_number": past.base + core.history.last,
            "acknowledged": tuple(
                past.base + (heard[past.members.index(q)] if q in past.members else 0)
                for q in range(self.members)
            ),
            "told": past.base + core.told,
            "stable_to": None if core.heard is None else past.base + core.heard,
        }

    def _sequenced(self, past: Past, items: Iterable[Any]) -> frozenset[Sequenced]:
        """Return messages with their numbers in the specification's values."""
        return frozenset(
            Sequenced(self.message(past, item.identifier), past.base + item.number) for item in items
        )

    def broadcasts(self, core: Any) -> int:
        """Return the number of messages that the process has broadcast on its list."""
        return int(core.core.last_id)

    def last_number(self, core: Any) -> int:
        """Return the number of the last delivered message; the numbers of the next list follow it."""
        return int(core.history.stable)


def _untimed(core: Any) -> Any:
    """Return a core's snapshot without its timers."""
    return core._replace(core=core.core._replace(timers=()), timers=())


_GONE: Mapping[str, object] = {"told": 0, "stable_to": None, "queue": frozenset()}

TOTAL_ON_LISTS = Bound(
    TotalOnListsBinding,
    small={"processes": 3, "messages": 1, "highest": 1, "crashes": 1, "false_suspicions": 0, "views": 2},
    every={"false_suspicions": 1, "trusting": True},
    random={"processes": 3, "messages": 3, "highest": 3, "crashes": 1, "false_suspicions": 1, "views": 2},
    faults=told_faults(FAULTS),
    never=IRBP.never | {"sequence", "pass_null", "settle", "deliver"},
)
"""Binding of the change of views under TOTAL."""
