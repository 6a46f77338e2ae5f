"""Binding of figure 32 over the ring and the implementation's change of a list, with corresponding names.

| figure 32             | specification `IrbpByMessage`   | implementation                            |
|-----------------------|---------------------------------|-------------------------------------------|
| TL_i, i               | listed, version                 | the rosters of `Succession.adopt`         |
| recvQ, seqQ, stableQ  | received, numbered, stable      | the snapshot of the ring's core           |
| ts, lastdelivered     | last_number, last_delivered     | the core's, behind those of earlier lists |
| (reformation, i)      | called, calls, `Call`           | `ViewChange.kinds`, `Call`                |
| seqQ_k, as it was sent | reported, bodies, heard, `Told` | `ViewChange.heard`, `Told`                |
| initial_k, (TL, Msg)  | proposal, decision, `Decided`   | `Decision`, as the service has it         |
| where p stands        | phase                           | follows from what it has of the above     |
| m, B                  | Message(k)                      | payload b"k", Identifier                  |

The specification's numbers go on from list to list; the core of each list begins with 1. A message of the
normal phase may come from any process that has it, so that requests and their answers (`Numbered`, or `Data`
to one process) have no packets here. They are walked with figure 25 (`rbp_resilient.py`), as is the timer
that passes NULL. `listed.py` says what stands in place of detectors, channels and the consensus.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Bound, Refused, told_faults
from antiphon.conformance.compare.bindings.core_binding import NOW
from antiphon.conformance.compare.bindings.irbp_faults import FAULTS
from antiphon.conformance.compare.bindings.list_process import ListProcess, Past, Standing
from antiphon.conformance.compare.bindings.listed import ListedBinding, agreed_on
from antiphon.impl.membership.view_change import Decision
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.rbp import Core, Snapshot, Timer, irbp
from antiphon.impl.protocols.rbp import messages as wire_messages
from antiphon.spec.lang import Step
from antiphon.spec.protocols.irbp import by_message as packets
from antiphon.spec.protocols.irbp.by_message import IrbpByMessage
from antiphon.spec.protocols.irbp.figure32 import Phase, Proposal
from antiphon.spec.protocols.irbp.normal_phase import Ack, Data, Sequenced
from antiphon.spec.services import Message, Process

__all__ = ["IRBP", "IrbpBinding"]


class IrbpBinding(ListedBinding):
    """Binding of figure 32, message by message, and the members of a group that orders by the ring."""

    specification = IrbpByMessage
    fixed: Mapping[str, int | bool | str] = {
        "assigned": True, "announced": False, "detected_at_once": False, "urgent": False,
        "delivering": False,
    }  # fmt: skip
    """Constants of the comparison: message k is of process k mod n, each process notices a crash by itself,
    and steps have one order.
    """
    faults = FAULTS
    joint = frozenset({"listed", "called", "decision"})
    internal: tuple[str, ...] = ("sequence", "settle", "deliver", "report", "propose", "adopt")
    exempt: Mapping[str, str] = {
        "data": "what of `sent` is a message, as an invariant of the specification says",
        "acks": "what of `sent` is an acknowledgement, as an invariant says",
        "down": "who has crashed, which nobody tells a process",
        "false_so_far": "counts wrong suspicions, which the environment makes",
    }

    def made(self, kind: type[Any] | None) -> Implementation[Any]:
        """Return the implementation of the ring's core, or of this faulty class of cores, on a list."""
        return irbp(kind=kind or Core)

    # Messages -----------------------------------------------------------------------------------------------

    def packet(self, me: int, past: Past, message: wire_messages.Message, to: int) -> object | None:
        """Return the packet of a message or an acknowledgement; None for requests and their answers."""
        del to
        version = len(past.lists)
        match message:
            case wire_messages.Data(identifier=name):
                return Data(self.message(past, name), version)
            case wire_messages.Ack(identifier=name, number=number):
                return Ack(version, Process(me), self._named(past, name), past.base + number)
        return None

    def call_packet(self, me: int, past: Past) -> object:
        """Return the packet of a call (reformation, i)."""
        return packets.Call(Process(me), len(past.lists))

    def report_packet(self, me: int, past: Past) -> object:
        """Return the specification's packet of a report (figure 32, step 1)."""
        return packets.Told(Process(me), len(past.lists))

    def decision_packet(self, past: Past) -> object:
        """Return the specification's packet that carries the decision (figure 32, step 4)."""
        return packets.Decided(len(past.lists))

    def agreed(self, past: Past, decision: Decision) -> Proposal:
        """Return the decision (TL, Msg), with the bodies of Msg."""
        return Proposal(
            self.those(past, decision.core),
            frozenset(
                Sequenced(self._named(past, item.identifier), past.base + item.number)
                for item in decision.agreed.numbered
            ),
            frozenset(self.message(past, item.identifier) for item in decision.agreed.bodies),
        )

    def check_report(self, past: Past, core: Snapshot, report: Report) -> None:
        """Check that stable messages are delivered, and that the report counts them."""
        fresh = past.delivered - past.over
        counts = tuple(sum(1 for m in fresh if m % self.members == process) for process in past.members)
        if (report.settled, report.counts) != (core.last_delivered, counts):
            told = f"{report.settled} is stable, so many of each member: {report.counts}"
            raise Refused(f"it reports that {told}; delivered are {core.last_delivered}: {counts}")

    def _reported(self, past: Past) -> tuple[object, object]:
        """Return the reported seqQ_k and recvQ_k in the specification's values."""
        if not past.reports:
            return frozenset(), frozenset()
        names, report = past.reports[-1]
        return (
            frozenset(
                Sequenced(self._named(names, item.identifier), names.base + item.number)
                for item in report.numbered
            ),
            frozenset(self.message(names, item.identifier) for item in report.bodies),
        )

    # Steps --------------------------------------------------------------------------------------------------

    def rest(self, process: ListProcess) -> None:
        """Take a token that has arrived, once all numbers and bodies up to it are here."""
        while not process.succession.stopped and process.core.accept(NOW):
            pass

    def act(self, process: ListProcess, step: Step) -> Iterable[Delivery] | None:
        """Take one internal step of the ring; return the deliveries, or None if the step was not possible."""
        core, done = process.core, False
        match step:
            case Step("sequence"):
                done = core.sequence(NOW)
            case Step("pass_null"):
                done = core.expire(Timer.PASS_ON, NOW) or core.expire(Timer.PASS_NULL, NOW)
            case Step("settle", (_, Sequenced(number=number))):
                done = core.collect(number - process.past.base, NOW)
            case Step("deliver"):
                done = core.deliverable
                delivery = core.deliver()
                return (() if delivery is None else (delivery,)) if done else None
        return () if done else None

    def offers_of_core(self, me: int, snapshot: Standing, probe: ListProcess) -> Iterable[Step]:
        """Return the internal steps of the core: to number, to make stable, to deliver."""
        p, past, core = Process(me), snapshot.past, snapshot.core
        if probe.core.sequence(NOW):
            yield Step("sequence", (p,))
            probe.core.restore(core, NOW)
        for number, name in core.numbers:
            if probe.core.collect(number, NOW):
                yield Step("settle", (p, Sequenced(self._named(past, name), past.base + number)))
                probe.core.restore(core, NOW)
        if probe.core.deliverable:
            number = core.last_delivered + 1
            (name,) = [name for at, name, _ in core.stable if at == number]
            yield Step("deliver", (p, Sequenced(self._named(past, name), past.base + number)))

    # What is shown ------------------------------------------------------------------------------------------

    def shown(self, snapshot: Standing) -> Mapping[str, object]:
        """Return the values of the specification's variables for a process: the queues, the lists, and the
        phase.
        """
        past, core, change = snapshot.past, snapshot.core, snapshot.change
        gone = past.down or past.left
        reported, bodies = self._reported(past)
        ringed: Mapping[str, object] = _NOTHING if gone else self.ring(past, core)
        views = int(self.program.constants["views"])
        version, called = len(past.lists), bool(change.kinds)
        lists = [frozenset(map(Process, members)) for members in past.lists]
        return {
            **ringed,
            "begins": False,
            "listed": (*lists, *([frozenset()] * (views - len(lists)))),
            "version": version,
            "left": past.left,
            "calls": called,
            "called": tuple(v < version or (v == version and called) for v in range(1, views + 1)),
            "phase": self._phase(snapshot),
            "reported": reported,
            "bodies": bodies,
        }  # fmt: skip

    def _phase(self, snapshot: Standing) -> Phase:
        if snapshot.past.left:
            return Phase.adopting
        if not snapshot.succession[0]:
            return Phase.normal
        return Phase.changing if snapshot.change.value is None else Phase.agreeing

    def ring(self, past: Past, core: Snapshot) -> Mapping[str, object]:
        """Return the values of the variables of the normal phase."""
        kept = {name for _, name in core.numbers}
        over = (
            (place, name)
            for place, last in enumerate(core.numbered)
            for name in range(1, last + 1)
            if (place, name) not in kept
        )
        return {
            "received": frozenset(self.message(past, name) for name, _ in core.received),
            "waiting": tuple(self.message(past, name) for name in core.waiting),
            "numbered": frozenset(
                Sequenced(self._named(past, name), past.base + number) for number, name in core.numbers
            ),
            "stable": frozenset(
                Sequenced(self._named(past, name), past.base + number) for number, name, _ in core.stable
            ),
            "collected": frozenset(map(Message, past.over)) | {self.message(past, name) for name in over},
            "last_delivered": past.base + core.last_delivered,
            "last_number": past.base + core.last_number,
            "pending": self._named(past, core.pending),
        }

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value of a variable from the shares of all processes: `listed` is what those know who
        have had a list, and `called` is true for a list whose call any process has.
        """
        match variable:
            case "listed":
                return tuple(agreed_on(known, frozenset()) for known in zip(*shares, strict=True))
            case "called":
                return tuple(any(known) for known in zip(*shares, strict=True))
        return super().join(variable, shares)

    def broadcasts(self, core: Snapshot) -> int:
        """Return the number of messages that the process has broadcast on its list."""
        return core.message_id

    def last_number(self, core: Snapshot) -> int:
        """Return the number of the last delivered message; the numbers of the next list follow it."""
        return core.last_delivered

    def _named(self, past: Past, name: tuple[int, int] | None) -> Message | None:
        return None if name is None else self.message(past, name)


_NOTHING: Mapping[str, object] = {
    "received": frozenset(), "waiting": (), "numbered": frozenset(), "stable": frozenset(),
    "collected": frozenset(), "last_delivered": 0, "last_number": 0, "pending": None,
}  # fmt: skip
"""Values of a process that is gone."""

IRBP = Bound(
    IrbpBinding,
    small={"processes": 3, "messages": 1, "highest": 4, "crashes": 1, "false_suspicions": 0, "views": 2},
    every={"false_suspicions": 1, "trusting": True},
    random={"processes": 3, "messages": 2, "highest": 6, "crashes": 1, "false_suspicions": 1, "views": 2},
    faults=told_faults(FAULTS),
    never=frozenset({"receive", "receive_late", "hear", "hear_late", "install"}),
)
"""Binding of the change of views under the ring."""
