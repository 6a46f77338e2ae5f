"""Binding of figure 29 to view-synchronous multicast with the change of a list, with corresponding names.

| figure 29                  | specification `VscByMessage`   | implementation                          |
|----------------------------|--------------------------------|-----------------------------------------|
| v_i(g), i                  | group, in_view                 | the rosters of `Succession.adopt`       |
| (i, m)                     | `Copy`                         | `Data`                                  |
| message stability detector | `Acked`, acked, `Stable`       | `Ack`, `Stable`                         |
| unstable_k                 | unstable                       | the core's snapshot                     |
| VS-delivered               | handed                         | what was delivered on all lists         |
| R-Broadcast(view-change, i) | taken, `Call`                 | `ViewChange.kinds`, `Call`              |
| unstable_k, as it was sent | sent_unstable, heard, `Told`   | `ViewChange.heard`, `Told`              |
| init_k, (View, Msg)        | proposal, decided, `Decided`   | `Decision`, as the service has it       |

Each process multicasts one message at most, so that the order of each source, which the queues below the core
keep, does not matter; `listed.py` names the stand-ins for detectors, channels and the consensus.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Bound, Refused, told_faults
from antiphon.conformance.compare.bindings.list_process import ListProcess, Past, Standing
from antiphon.conformance.compare.bindings.listed import ListedBinding
from antiphon.conformance.compare.bindings.vsc_faults import FAULTS
from antiphon.impl.membership.view_change import Decision
from antiphon.impl.protocols import vsc as impl
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.protocols.flush import Report
from antiphon.spec.lang import SpecError, Step
from antiphon.spec.protocols.vsc import by_message as packets
from antiphon.spec.protocols.vsc.by_message import VscByMessage
from antiphon.spec.protocols.vsc.figure29 import Initial
from antiphon.spec.services import Message, Process

__all__ = ["VSC", "VscBinding"]


class VscBinding(ListedBinding):
    """Binding of figure 29, message by message, to the members of a group with views and without
    total order.
    """

    specification = VscByMessage
    fixed: Mapping[str, int | bool | str] = {
        "assigned": True, "stability": True, "called_once": False, "detected_at_once": False, "joiners": 0,
    }  # fmt: skip
    """Required constants: message k is of process k, each process notices a crash by itself, and any process
    may call.
    """
    faults = FAULTS
    joint = frozenset({"decided", "sent_unstable", "sent_stable"})
    decisions = "decided"
    reports_at_once = True
    keeps_suspicions = True
    internal = ("propose", "adopt")
    exempt: Mapping[str, str] = {
        "network": "what of `sent` has not come: what has come is in `handed`",
        "down": "who has crashed, which nobody tells a process",
        "false_so_far": "counts wrong suspicions, which the environment makes",
        "sent_by": "who has multicast what, as the environment knows it",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Make the binding with these constants, after checking them.

        Raises:
            SpecError: a process would multicast more than one message.
        """
        super().__init__(fault=fault, **constants)
        messages = int(self.program.constants["messages"])
        if messages > self.members:
            told = f"messages is {messages}; these members are compared where each has one at most"
            raise SpecError(f"{told}: with {self.members} processes so many")

    def made(self, kind: type[Any] | None) -> Implementation[Any]:
        """Return the implementation of view-synchronous multicast on a list, with `kind` as its class of
        cores if a fault is planted.
        """
        return impl.vsc_listed(kind=kind or impl.Core)

    # Messages -----------------------------------------------------------------------------------------------

    def packet(self, me: int, past: Past, message: impl.Message, to: int) -> object | None:
        """Return the packet for a message, an acknowledgement or a note of stability."""
        view, own = len(past.lists), past.members.index(me)
        match message:
            case impl.Data(number=number):
                return packets.Copy(self.message(past, (own, number)), view)
            case impl.Ack(number=number):
                return packets.Acked(Process(me), self.message(past, (to, number)), view)
            case impl.Stable(number=number):
                return packets.Stable(self.message(past, (own, number)), view)

    def is_for_one(self, packet: object) -> bool:
        """Return True for an acknowledgement, which goes to the source alone."""
        return isinstance(packet, packets.Acked)

    def call_packet(self, me: int, past: Past) -> object:
        """Return the packet of a call, (view-change, i)."""
        return packets.Call(Process(me), len(past.lists))

    def report_packet(self, me: int, past: Past) -> object:
        """Return the specification's packet of a report (figure 29, step 1)."""
        return packets.Told(Process(me), len(past.lists))

    def decision_packet(self, past: Past) -> object:
        """Return the specification's packet that carries the decision (figure 29, step 4)."""
        return packets.Decided(len(past.lists))

    def agreed(self, past: Past, decision: Decision) -> Initial:
        """Return an agreed value as (View, Msg)."""
        return Initial(
            self.those(past, decision.core),
            frozenset(self.message(past, item.identifier) for item in decision.agreed.bodies),
        )

    def check_report(self, past: Past, core: impl.Snapshot, report: Report) -> None:
        """Check that the report has every received message, and that every received message was delivered."""
        fresh = past.delivered - past.over
        received = tuple(sum(1 for m in fresh if m % self.members == process) for process in past.members)
        if (report.settled, core.received) != (len(fresh), received):
            raise Refused(f"it reports {report.settled} and has {core.received}; delivered are {received}")

    # Steps --------------------------------------------------------------------------------------------------

    def rest(self, process: ListProcess) -> None:
        """Do nothing: the core acts only on messages."""

    def proposing(self, p: Process, heard: frozenset[Process]) -> tuple[object, ...]:
        """Return the arguments of a step `propose`: the process alone."""
        return p, heard, p

    def act(self, process: ListProcess, step: Step) -> Iterable[Delivery] | None:
        """Return None: the core takes no internal step."""
        del process, step
        return None

    def offers_of_core(self, me: int, snapshot: Standing, probe: ListProcess) -> Iterable[Step]:
        """Return no steps: the core takes no internal step."""
        del me, snapshot, probe
        return ()

    # What is shown ------------------------------------------------------------------------------------------

    def shown(self, snapshot: Standing) -> Mapping[str, object]:
        """Return the values of the specification's variables for a process: the messages, the views, and the
        phase.
        """
        past, core, change = snapshot.past, snapshot.core, snapshot.change
        view = len(past.lists)
        later = int(self.program.constants["views"]) - len(past.reports)
        proposed = None if past.left else snapshot.proposed
        return {
            "suspected": tuple(q in past.suspected for q in range(self.members)),
            "proposal": None if proposed is None else self.agreed(past, proposed),
            "in_view": view,
            "group": frozenset(map(Process, past.members)),
            "handed": frozenset(map(Message, past.delivered)),
            "unstable": frozenset(self.message(past, name) for name, _ in core.unstable),
            "acked": self.those(past, (place for place, count in core.acknowledged if count)),
            "taken": frozenset(range(1, view + 1 if change.kinds else view)),
            "cast": frozenset(),
            "left_out": past.left,
            "unread": (None,) * self.members,
            "sent_unstable": (
                *(
                    frozenset(self.message(names, item.identifier) for item in report.bodies)
                    for names, report in past.reports
                ),
                *([None] * later),
            ),
            "sent_stable": (
                *(
                    frozenset(
                        self.message(names, (place, number))
                        for place, count in enumerate(report.counts)
                        for number in range(1, count + 1)
                    )
                    for names, report in past.reports
                ),
                *([frozenset()] * later),
            ),
        }

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value of a variable from the shares of all processes: the sets of a view become a map
        over their senders.
        """
        if variable in ("sent_unstable", "sent_stable"):
            return tuple(zip(*shares, strict=True))
        return super().join(variable, shares)

    def broadcasts(self, core: impl.Snapshot) -> int:
        """Return the number of own multicasts on the list: of the one source that is not acknowledged."""
        others = {place for place, _ in core.acknowledged}
        return sum(count for place, count in enumerate(core.received) if place not in others)

    def last_number(self, core: impl.Snapshot) -> int:
        """Return 0: the numbers of a list do not follow those of the list before."""
        del core
        return 0


VSC = Bound(
    VscBinding,
    small={"processes": 3, "messages": 1, "crashes": 1, "false_suspicions": 0, "views": 2},
    every={"false_suspicions": 1},
    random={"processes": 3, "messages": 3, "crashes": 1, "false_suspicions": 1, "views": 2},
    faults=told_faults(FAULTS),
    never=frozenset({"receive", "receive_cast", "receive_last_cast", "stabilise", "lose", "change"}),
)
"""Binding of the change of views under view-synchronous multicast."""
