"""The ordering machine without numbers: it hands each process every message once at most, in any order.

The machine promises integrity only. It may stand still, so that a message need not arrive. It has no order,
as `BroadcastChecked` shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.spec.lang import Map, Set, Step, action, emit, everywhere, require, witness
from antiphon.spec.services.events import Broadcast, Deliver, Group, Message, Process
from antiphon.spec.services.order import TotalOrderBroadcast


class BroadcastMachine(Group):
    """Machine of broadcast without an order: submit a message, deliver it at a process."""

    submitted: Set[Message] = Set()
    handed: Map[Process, Set[Message]] = everywhere(Set())

    @action
    def submit(self, p: Process, m: Message) -> None:
        """Hand m to the service at p."""
        require(m not in self.submitted)
        self.submitted |= {m}
        emit(Broadcast(p, m))

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver m at p, which was submitted and which p has not delivered."""
        require(m in self.submitted)
        require(m not in self.handed[p])
        self.handed[p] |= {m}
        emit(Deliver(p, m))

    @witness
    def Delivered(self) -> bool:
        """Witness: every process has delivered a message."""
        return all(len(self.handed[p]) > 0 for p in self.each(Process))


class BroadcastChecked(BroadcastMachine, TotalOrderBroadcast):
    """Machine of broadcast without an order, judged by total order broadcast, which must find a violation."""

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every process has delivered every message."""
        return all(self.delivered[p][m] for p in self.each(Process) for m in self.each(Message))


def deliveries_between(
    before: Mapping[str, Any], after: Mapping[str, Any], events: tuple[Any, ...]
) -> tuple[Step, ...]:
    """Return the steps of the machine that would explain this change: submissions, then deliveries. They are
    candidates: the machine decides whether they are possible.

    Args:
        before: the state of the machine by the names of its variables; the map is a tuple in the order of the
            processes.
        after: the state of the machine after the change, in the same form.
        events: what the protocol emitted; they tell who submitted a message.
    """
    origins = {event.message: event.process for event in events if isinstance(event, Broadcast)}
    fresh = sorted(after["submitted"] - before["submitted"], key=lambda m: m.index)
    steps = [Step("submit", (origins.get(m, Process(0)), m)) for m in fresh]
    for p, (old, new) in enumerate(zip(before["handed"], after["handed"], strict=True)):
        steps += [Step("deliver", (Process(p), m)) for m in sorted(new - old, key=lambda m: m.index)]
    return tuple(steps)
