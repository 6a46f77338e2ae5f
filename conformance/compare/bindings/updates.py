"""Common part of the bindings of CM and Pinwheel over queues, with corresponding names.

| paper                    | specification `InQueues` | implementation `Updates`, its snapshot      |
|--------------------------|--------------------------|---------------------------------------------|
| how many ACKs p has      | acknowledged[p]          | acknowledged                                |
| who has which MSG        | obtained[p]              | obtained, a count for each source           |
| (ACKs beyond a gap)      | early[p]                 | early                                       |
| the local buffer         | buffer[p]                | buffer                                      |
| delivered up to          | status[p]                | status                                      |
| U                        | Message(k)               | payload b"k"                                |
| U_id                     | `first` and `step`       | Identifier(i, l)                            |
| in flight                | channel[s][p]            | the encoded datagrams, in order             |

An ACK names its update by the U_id alone, so that the U_id must determine the update: it is the l-th update
of process i by `first` and `step`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Refused
from antiphon.conformance.compare.bindings.core_binding import CoreBinding, message_of
from antiphon.conformance.compare.bindings.driven import Asked
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.updates import UpdatesSnapshot
from antiphon.spec.lang import Step
from antiphon.spec.protocols.chang_maxemchuk import queues as spec
from antiphon.spec.services import Message, Process


class UpdatesBinding(CoreBinding[Any]):
    """Binding of a specification over queues to cores made from `impl.protocols.updates`."""

    queues = "channel"
    internal = ("deliver", "acknowledge")
    exempt: Mapping[str, str] = {
        "order": "says which update has a gsn: that is compared in each ACK and each delivery",
        "source": "belongs to the update, whose source every MSG has",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Set up the binding, with room for all updates in a queue."""
        super().__init__(fault=fault, **{"room": constants.get("messages", 3), **constants})
        given = {name: int(value) for name, value in self.program.constants.items()}
        sources = [(given["first"] + k * given["step"]) % self.members for k in range(given["messages"])]
        self._updates = {
            Identifier(source, sources[: k + 1].count(source)): Message(k) for k, source in enumerate(sources)
        }

    @property
    def window(self) -> int:
        """Return the largest number of a process's own updates that may be without a gsn."""
        return 1

    def packet(self, sender: int, to: int, message: Any) -> spec.Packet:
        """Return the specification's packet that a datagram stands for; a MSG has no number."""
        del sender, to
        return spec.Packet(self.update(message.identifier), getattr(message, "number", 0))

    def offered(self, me: int, snapshot: UpdatesSnapshot, probe: Any, action: str) -> Step:
        """Return the step with its arguments: a delivery names the gsn, an acknowledgement the update."""
        del snapshot
        after: UpdatesSnapshot = probe.snapshot()
        if action == "deliver":
            return Step(action, (Process(me), after.status))
        return Step(action, (Process(me), self.update(dict(after.names)[after.acknowledged])))

    def project(self, me: int, snapshot: UpdatesSnapshot) -> Mapping[str, object]:
        """Return the values of the snapshot in the specification's terms."""
        return {
            "obtained": frozenset(
                self.update(Identifier(source, number + 1))
                for source, count in enumerate(snapshot.obtained)
                for number in range(count)
            ),
            "acknowledged": snapshot.acknowledged,
            "early": frozenset(number for number, _, _ in snapshot.early),
            "buffer": frozenset(message_of(payload) for _, payload in snapshot.buffer),
            "status": snapshot.status,
            "assigned": snapshot.acknowledged,
            "broadcasts": snapshot.obtained[me],
        }

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Join the shares of all processes: the broadcasts are the union, and each gsn is known to some
        process.
        """
        return max(shares) if variable == "assigned" else super().join(variable, shares)

    def busy(self, me: int, snapshot: UpdatesSnapshot) -> bool:
        """Return True while as many own updates as the window allows have no number."""
        return snapshot.obtained[me] - snapshot.numbered[me] >= self.window

    def update(self, name: Identifier) -> Message:
        """Return the specification's update with this U_id."""
        if name not in self._updates:
            raise Refused(f"{tuple(name)} names no update")
        return self._updates[name]

    def reported(
        self, me: int, before: UpdatesSnapshot, after: UpdatesSnapshot, asked: Asked
    ) -> tuple[object, tuple[tracing.Event, ...]]:
        """Return the result of the step and the events that the core must have traced: a delivery belongs to
        its own step.
        """
        if asked.action != "deliver":
            return super().reported(me, before, after, asked)
        number = after.status
        name = dict(before.names)[number]
        payload = dict(before.buffer)[name]
        return Delivery(*name, number, payload), (tracing.Deliver(me, name, number, payload),)

    def traced_step(
        self, me: int, before: UpdatesSnapshot, after: UpdatesSnapshot, action: str
    ) -> tracing.Step:
        """Return the event with which the core must trace a step; that of an acknowledgement has the update
        and its gsn.
        """
        if action != "acknowledge":
            return super().traced_step(me, before, after, action)
        return tracing.Step(me, action, dict(after.names)[after.acknowledged], after.acknowledged)
