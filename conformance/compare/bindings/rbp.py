"""Figure 16 and its implementation speak of the same things by these names.

| paper            | specification `Rbp`       | implementation `Core`         |
|------------------|---------------------------|-------------------------------|
| recvQ_p          | received[p]               | observe()["received"]         |
| seqQ_p           | numbered[p]               | observe()["numbers"]          |
| ts_p             | last_number[p]            | observe()["last_number"]      |
| lastdelivered_p  | last_delivered[p]         | observe()["last_delivered"]   |
| message id_p     | message_id[p]             | observe()["message_id"]       |
| m                | Message(k)                | payload b"k"                  |
| B                | Identifier(Process(i), j) | Identifier(i, j)              |
| in flight        | network, a set of packets | the encoded datagrams         |

The specification's packets carry no sender but in requests, so datagrams of several senders may stand for the
same packet.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from antiphon.conformance.compare.bindings.binding import Bound, described
from antiphon.conformance.compare.bindings.core_binding import NOW, CoreBinding, message_of
from antiphon.conformance.compare.bindings.rbp_driven import driven
from antiphon.conformance.compare.bindings.rbp_faults import FAULTS, SIZE_FAULTS
from antiphon.impl.protocols.rbp import FIGURE_16, Core, Observation, Snapshot, Timer, ring
from antiphon.impl.protocols.rbp import messages as wire_messages
from antiphon.model.engines import compiled_machine
from antiphon.spec.lang import Machine, Step, program
from antiphon.spec.protocols.rbp import figure16 as spec
from antiphon.spec.protocols.rbp.bounds import RbpBounded
from antiphon.spec.services import Process


def identifier_of(name: tuple[int, int] | None) -> spec.Identifier | None:
    """The specification's B."""
    return None if name is None else spec.Identifier(Process(name[0]), name[1])


class RbpBinding(CoreBinding[wire_messages.Message]):
    """The repaired figure 16 and the core of `antiphon.impl.protocols.rbp`, or a faulty core by its name."""

    internal = frozenset({"accept", "sequence", "deliver"})

    exempt: Mapping[str, str] = {
        "catching_up": "repaired, it only repeats that the number of `arriving` was not reached when the "
        "token came",
        "lost": "counts the faults of the network, which is not the implementation's",
        "expired": "counts the timer rounds that the exploration allows",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        bounded = program(RbpBounded, repairs="all", **constants)
        kind = Core if fault is None else (FAULTS | SIZE_FAULTS)[fault]
        super().__init__(bounded, driven(kind, FIGURE_16), ordered=bool(bounded.constants["urgent"]))

    def offers(self, me: int, snapshot: Snapshot) -> frozenset[Step]:
        """Accept, sequence and deliver, where a core of its own, put to this snapshot, would do it."""
        probe = self.probe(me, snapshot)
        found: set[Step] = set()
        if probe.deliverable:
            view = probe.observe()
            number = view["last_delivered"] + 1
            found.add(
                Step("deliver", (Process(me), spec.Sequenced(identifier_of(view["numbers"][number]), number)))
            )
        for attempt in (probe.accept, probe.sequence):
            if attempt(NOW):
                found.add(Step(attempt.__name__, (Process(me),)))
                probe.restore(snapshot, NOW)
        return frozenset(found)

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """What the core of `me` shows, in the specification's values."""
        view = self.probe(me, snapshot).observe()
        return {
            "received": tuple(_body(name, payload) for name, payload in view["received"].items()),
            "numbered": frozenset(_sequenced(view, number) for number in view["numbers"]),
            "last_number": view["last_number"],
            "last_delivered": view["last_delivered"],
            "message_id": view["message_id"],
            "pending": None if view["pending"] is None else _body(view["pending"], _payload(view)),
            "arriving": None if view["arriving"] is None else _sequenced(view, view["arriving"]),
            "holding": view["holding"],
            "passed": None if view["passed"] is None else _sequenced(view, view["passed"]),
            "broadcasts": view["message_id"],
        }

    def packet(self, sender: int, to: int, message: wire_messages.Message) -> spec.Packet:
        """The specification's packet that a message on its way stands for."""
        receiver = Process(to)
        match message:
            case wire_messages.Data(identifier=name, payload=payload):
                return spec.Data(receiver, _body(name, payload))
            case wire_messages.Ack(identifier=name, number=number, next_holder=holder):
                return spec.Ack(receiver, identifier_of(name), number, Process(holder))
            case wire_messages.Numbered(identifier=name, number=number):
                return spec.Numbered(receiver, identifier_of(name), number)
            case wire_messages.Request(identifier=name):
                return spec.Request(receiver, Process(sender), identifier_of(name))
            case wire_messages.RequestNumbers(first=first, last=last):
                return spec.RequestNumbers(receiver, Process(sender), first, last)
            case wire_messages.Gone():
                raise AssertionError("all members are in the ring: nobody is told that something is gone")

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """All processes together have broadcast what each has."""
        assert variable == "broadcasts"
        return sum(shares)

    def waits(self, me: int, snapshot: Snapshot) -> list[Timer]:
        """The timers that the specification would let expire if nothing bounded it."""
        machine = _unbounded(self.members, int(self.program.constants["messages"]))
        (state,) = machine.initial()
        view, values = self.project(me, snapshot), dict(zip(self.program.variables, state, strict=True))
        for name in view.keys() - {"broadcasts"}:  # the others' values decide nothing about its timers
            values[name] = (*values[name][:me], view[name], *values[name][me + 1 :])
        values |= {self.channel: frozenset(), "broadcasts": self.program.constants["messages"]}
        enabled = set(machine.enabled(tuple(values.values())))
        return [timer for timer in Timer if Step(timer.value, (Process(me),)) in enabled]


@cache
def _unbounded(processes: int, messages: int) -> Machine:
    """The specification without the bounds that an exploration puts on timers."""
    unbounded = program(RbpBounded, repairs="all", processes=processes, messages=messages, unlimited=True)
    return compiled_machine(unbounded)


def _body(name: tuple[int, int], payload: bytes) -> spec.Body:
    return spec.Body(message_of(payload), spec.Identifier(Process(name[0]), name[1]))


def _sequenced(view: Observation, number: int) -> spec.Sequenced:
    return spec.Sequenced(identifier_of(view["numbers"].get(number)), number)


def _payload(view: Observation) -> bytes:
    pending = view["pending"]
    return b"" if pending is None else view["received"][pending]


RBP = Bound(
    RbpBinding,
    small={"processes": 3, "messages": 1, "losses": 1, "timeouts": 1, "urgent": True},
    random={"processes": 3, "messages": 3, "losses": 1, "timeouts": 1, "urgent": True},
    faults=described(FAULTS | SIZE_FAULTS),
    implementation=lambda fault: ring(
        FIGURE_16, Core if fault is None else (FAULTS | SIZE_FAULTS)[fault]
    ),
)
"""Figure 16."""
